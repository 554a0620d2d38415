"""The ranks of a job: who we are among them, and how the failure of one becomes the end of all.

MPI itself waits for ever for a rank that has raised. So errors that can be foreseen are shared (`World.together`):
every rank raises the same one. What nobody foresaw ends the whole job at once, with one line that says where and why.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, NoReturn, TypeVar

from hopwave import errors
from hopwave.errors import EngineError, HopwaveError

T = TypeVar("T")


class World:
    """An MPI communicator: `rank` of `size`, and `near` of the ranks on this machine (`machine_rank` among them).

    >>> from hopwave.distributed import world
    >>> world().size >= 1
    True
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        near = comm.Split_type(_mpi().COMM_TYPE_SHARED, self.rank)
        self.machine_rank: int = near.Get_rank()
        self.near: int = near.Get_size()
        near.Free()

    def together(self, action: Callable[[], T]) -> T:
        """action() on every rank. Where it fails on one, all ranks raise that error, and none is left waiting."""
        said, cause, answer = None, None, None
        try:
            answer = action()
        except (HopwaveError, OSError, MemoryError) as error:
            said, cause = _word(error), error
        for rank, word in enumerate(self.comm.allgather(said)):
            if word is not None:
                kind, message = word
                where = f"rank {rank} of {self.size}: " if self.size > 1 else ""
                shared = getattr(errors, kind)(f"{where}{message}")
                shared.everywhere = True
                raise shared from cause
        return answer  # type: ignore[return-value]

    def abort(self, message: str, code: int = 1) -> NoReturn:
        """End every rank of the job now; the message stands on one line."""
        line = " ".join(message.split())
        sys.stderr.write(f"hopwave: rank {self.rank} of {self.size} failed: {line}\n")  # one piece, so one line
        sys.stderr.flush()
        self.comm.Abort(code)
        raise SystemExit(code)  # where an MPI library came back from Abort

    def __repr__(self) -> str:
        return f"World(rank={self.rank}, size={self.size})"


def _word(error: BaseException) -> tuple[str, str]:
    """The class of ours that stands for an error, and what it says."""
    if isinstance(error, HopwaveError):
        kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == errors.__name__)
        return kind, str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return "FormatError", f"{error.filename}: {reason}" if error.filename is not None else reason
    return "EngineError", f"out of memory ({error or 'no size given'}); use more ranks, or machines with more memory"


def _mpi() -> Any:
    if importlib.util.find_spec("mpi4py") is None:
        raise EngineError("several ranks need mpi4py, which is not installed; run: pip install 'hopwave[mpi]'")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        said = " ".join(str(error).split())
        raise EngineError(
            f"mpi4py is installed but finds no MPI library ({said}); run: pip install mpich, or load your cluster's"
        ) from None
    return MPI


@cache
def world() -> World:
    """All ranks of this job. Joining them makes any error that nobody catches end the whole job.

    >>> from hopwave.distributed import world
    >>> world().rank
    0
    """
    joined = World(_mpi().COMM_WORLD)
    if joined.size > 1:
        _end_all_on_error(joined)
    return joined


def _end_all_on_error(joined: World) -> None:
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if getattr(error, "everywhere", False):  # every rank is on its way out: one of them tells
            if joined.rank == 0:
                before(kind, error, traceback)
            return
        before(kind, error, traceback)
        joined.abort(f"{kind.__name__}: {error}")

    sys.excepthook = hook


def joined() -> World | None:
    """The world where this process has joined one of several ranks, else None; never starts MPI."""
    if world.cache_info().currsize and world().size > 1:
        return world()
    return None


def started_by_mpi() -> bool:
    """Whether a launcher such as mpiexec or srun started this process as one of several, as far as it tells.

    >>> isinstance(started_by_mpi(), bool)
    True
    """
    import os

    sizes = ("PMI_SIZE", "PMIX_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS")
    return any(os.environ.get(name, "1") not in ("", "1") for name in sizes) or "PMIX_RANK" in os.environ
