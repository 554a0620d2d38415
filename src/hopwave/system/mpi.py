"""MPI without starting it: whether a launcher started this process, and whether the launcher matches mpi4py."""

import importlib.util
import os
import shutil
import subprocess
import sys

_SIZES = ("PMI_SIZE", "PMIX_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")
_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")
_ASK = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"
OPEN_MPI, OTHER = "Open MPI", "MPICH"


def copies() -> int:
    """The number of copies of this process that a launcher such as mpiexec or srun started, from the environment."""
    sizes = (os.environ.get(name, "") for name in _SIZES)
    return max((int(size) for size in sizes if size.isdecimal()), default=1) or 1


def is_first() -> bool:
    """Whether this process is the first of the copies."""
    return all(os.environ.get(name, "0") == "0" for name in _RANKS)


def by_open_mpi() -> bool:
    """Whether Open MPI's launcher started this process."""
    return "OMPI_COMM_WORLD_SIZE" in os.environ


def mismatch() -> str | None:
    """Why the mpiexec that started this process, or the one on the path, does not match mpi4py; None if it does."""
    launcher = shutil.which("mpiexec")
    if launcher is None or importlib.util.find_spec("mpi4py") is None:
        return None
    starts = OPEN_MPI if by_open_mpi() else _family([launcher, "--version"])
    library = _family([sys.executable, "-c", _ASK])
    if starts is None or library is None or starts == library:
        return None
    return (
        f"{launcher} belongs to {starts}, but mpi4py uses {library}: programs abort, or run as separate copies; use "
        f"the mpiexec of {library} (pip installs MPICH's next to python), or install an mpi4py for {starts}"
    )


def _family(command: list[str]) -> str | None:
    """Open MPI, or MPICH and its derivatives such as Intel MPI, from the version that a program prints."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PMI", "OMPI_", "PRTE"))}
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=20, env=plain, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    if any(word in said for word in ("Open MPI", "OpenRTE", "Open-MPI", "PRRTE")):
        return OPEN_MPI
    return OTHER if any(word in said for word in ("MPICH", "HYDRA", "Intel(R) MPI")) else None
