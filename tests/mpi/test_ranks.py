"""Several ranks: the same answers as one process, and an end, with a reason, when one of them fails."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hopwave import graph500
from hopwave.api import choice

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(MPIEXEC is None, reason="there is no mpiexec; pip install mpich brings one"),
]
# Open MPI wants to be asked twice before it runs as root, and before it starts more ranks than cores; MPICH does not.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
UNTIL_ALL_END = 30  # seconds from a failure to the end of every rank; the start is counted in


def start(ranks: int, *command: str, seconds: float = 300, device: str = "cpu") -> subprocess.CompletedProcess[str]:
    """Run Python under mpiexec; a job that does not end is a failure."""
    assert MPIEXEC is not None
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOPWAVE_NUM_THREADS": "1"}
    known |= {"HOPWAVE_CHECK_DEVICE": device, **OPEN_MPI}
    return subprocess.run(
        [MPIEXEC, "-n", str(ranks), sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=seconds,
        env=known,
        check=False,
    )


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_everything_holds_on_so_many_ranks(ranks: int, tmp_path: Path) -> None:
    done = start(ranks, str(HERE / "checks.py"), str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    text = (HERE / "checks.py").read_text(encoding="utf-8")
    assert done.stdout.count("passed") == text.count("\ndef check_")


ON_A_GPU = (
    *("packets", "wires", "generated_in_place", "sources_and_limits", "bytes_sent", "wide_slots", "ids_beyond_32_bits"),
    *("validation_finds_what_is_wrong", "shortest_paths", "betweenness_by_sources", "every_trap_in_every_layout"),
)


@pytest.mark.gpu
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_that_share_a_gpu(ranks: int, tmp_path: Path) -> None:
    if not choice.has_gpu():
        pytest.skip("no GPU")
    done = start(ranks, str(HERE / "checks.py"), str(tmp_path), *ON_A_GPU, device="cuda")
    assert done.returncode == 0, done.stdout + done.stderr


FAILURES = {
    "raises": ("raise ValueError('out of sorts')", "failed: ValueError: out of sorts"),
    "is killed": ("os.kill(os.getpid(), 9)", "Killed (signal 9)"),
    "leaves": ("os._exit(3)", ""),
    "ends too soon": ("raise SystemExit(3)", "rank 1 has ended, and the others wait for it"),
    "a fault of the library's": ("parts.part = None", "failed: AttributeError"),
}


@pytest.mark.parametrize("how", FAILURES)
def test_a_rank_that_fails_ends_the_job(how: str) -> None:
    """The others are waiting for it in an exchange, where MPI by itself would leave them for ever."""
    action, reason = FAILURES[how]
    script = (
        "import os; from hopwave import distributed; parts = distributed.kronecker(6); world = distributed.world()\n"
        f"if world.rank == 1:\n    {action}\n"
        "while True: distributed.bfs(parts, 1)\n"
    )
    done = start(2, "-c", script, seconds=UNTIL_ALL_END)
    assert done.returncode != 0
    said = (done.stdout + done.stderr).splitlines()
    assert any(reason in line for line in said) or not reason, said


def test_a_damaged_file_ends_the_job_with_its_line(tmp_path: Path) -> None:
    """Only the last rank meets the damage; every rank raises, and one of them says so."""
    path = tmp_path / "web.mtx"
    rows = "".join(f"{i} {i + 1}\n" for i in range(1, 90))
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n100 100 90\n{rows}7 x\n")
    done = start(3, "-c", f"from hopwave import distributed; distributed.read({str(path)!r})", seconds=UNTIL_ALL_END)
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "web.mtx:92" in line]
    assert len(said) == 1 and "rank 2 of 3" in said[0] and "'x'" in said[0]


@pytest.mark.parametrize("layout", ["1d", "2d"])
def test_graph500_over_two_ranks(layout: str) -> None:
    """One report, every search valid, and as many input edges in each component as one process finds."""
    options = ["--scale", "10", "--nbfs", "4", "--seed", "7", "--device", "cpu", "--json", "--sssp"]
    done = start(2, "-m", "hopwave", "graph500", *options, "--layout", layout)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    alone = graph500.run(10, roots=4, seed=7, device="cpu").values()
    assert found["valid"] and found["ranks"] == 2 and found["NBFS"] == 4
    for name in ("min", "median", "max"):
        assert found[f"bfs_{name}_nedge"] == found[f"sssp_{name}_nedge"] == alone[f"bfs_{name}_nedge"]


def test_a_command_that_fails_says_so_once() -> None:
    done = start(2, "-m", "hopwave", "graph500", "--scale", "99", seconds=UNTIL_ALL_END)
    assert done.returncode == 3
    assert sum("scale=99" in line for line in done.stderr.splitlines()) == 1
