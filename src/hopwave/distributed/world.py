"""The ranks of a job: who we are among them, and how the failure of one becomes the end of all.

MPI itself waits for ever for a rank that has raised. So errors that can be foreseen are shared (`World.together`):
every rank raises the same one. What nobody foresaw ends the whole job at once, with one line that says where and why.
A rank that simply ends is missed by its neighbours (leaving.py).
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import numpy as np

from hopwave import errors
from hopwave.distributed.leaving import Watch
from hopwave.errors import EngineError, HopwaveError

T = TypeVar("T")

_watches: list[Watch] = []  # one, once this process has joined several ranks

NAP = 5e-5  # seconds
BETWEEN_ROLL_CALLS = 1 << 10  # looks at a request between two looks at who has left
LAST_WORDS = 0.3  # seconds for the launcher to pass a line on: what it has not read when it kills the ranks is lost


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
        # On any machine: all ranks must wait the same way, for one way has an exchange more.
        self.crowded = bool(comm.allreduce(int(self.near > _cores()), _mpi().MAX))
        self._grids: dict[int, tuple[Any, Any]] = {}

    def together(self, action: Callable[[], T]) -> T:
        """action() on every rank. Where it fails on one, all ranks raise that error, and none is left waiting."""
        said, cause, answer = None, None, None
        try:
            answer = action()
        except (HopwaveError, OSError, MemoryError) as error:
            said, cause = _word(error), error
        if not self.total(int(said is not None)):
            return answer  # type: ignore[return-value]
        for rank, word in enumerate(self.allgather(said)):
            if word is not None:
                kind, message = word
                where = f"rank {rank} of {self.size}: " if self.size > 1 else ""
                shared = getattr(errors, kind)(f"{where}{message}")
                shared.everywhere = True
                raise shared from cause
        raise AssertionError("a rank failed, and none says so")

    def grid(self, columns: int) -> tuple[Any, Any]:
        """The communicators of our row and of our column in a grid of so many columns, made once for each grid."""
        if columns not in self._grids:
            self.queue()
            row, column = divmod(self.rank, columns)
            self._grids[columns] = self.comm.Split(row, column), self.comm.Split(column, row)
        return self._grids[columns]

    def meet(self) -> None:
        """Wait until every rank is here."""
        if self.size > 1:
            wait_for(self.comm.Ibarrier(), self.crowded)

    def queue(self) -> None:
        """Before an exchange that waits MPI's way, which takes a core and never ends where a rank is missing."""
        self.meet()

    def allgather(self, mine: Any) -> list[Any]:
        """Everybody's object, on every rank."""
        self.queue()
        return list(self.comm.allgather(mine))

    def gather(self, mine: Any) -> list[Any] | None:
        """Everybody's object, on rank 0."""
        self.queue()
        found: list[Any] | None = self.comm.gather(mine)
        return found

    def total(self, mine: int) -> int:
        """Σ over all ranks."""
        return int(self.add_up(np.array([mine], np.int64))[0])

    def add_up(self, mine: Any) -> Any:
        """Σ over all ranks of arrays."""
        if self.size == 1:
            return mine
        everybody = np.empty_like(mine)
        wait_for(self.comm.Iallreduce(mine, everybody), self.crowded)
        return everybody

    def abort(self, message: str, code: int = 1) -> NoReturn:
        """End every rank of the job now; the message stands on one line."""
        line = " ".join(message.split())
        sys.stderr.write(f"hopwave: rank {self.rank} of {self.size} failed: {line}\n")  # one piece, so one line
        sys.stderr.flush()
        time.sleep(LAST_WORDS)
        self.comm.Abort(code)
        raise SystemExit(code)  # where an MPI library came back from Abort

    def __repr__(self) -> str:
        return f"World(rank={self.rank}, size={self.size})"


class Alone:
    """A World of one process, where no MPI need be installed.

    >>> Alone().allgather("a")
    ['a']
    """

    rank, size, comm = 0, 1, None

    def meet(self) -> None:
        """Nobody to wait for."""

    def queue(self) -> None:
        """Nobody to wait for."""

    def allgather(self, mine: Any) -> list[Any]:
        """Everybody's object: ours."""
        return [mine]

    def total(self, mine: int) -> int:
        """Σ over all ranks."""
        return mine


def wait_for(request: Any, crowded: bool) -> None:
    """Wait; where ranks outnumber cores, by looking now and then, so that those who are waited for can run.

    MPI waits by looking all the time, and gives its core away only when the system takes it: some milliseconds each.
    Whoever is waited for may have left: that is looked for, too, and ends the job.
    """
    watch = _watches[-1] if _watches else None
    if watch is not None:
        watch.exchanges += 1
    looks = 0
    while not request.Test():
        looks += 1
        if crowded:
            nap()
        if watch is not None and looks % BETWEEN_ROLL_CALLS == 0:
            gone = watch.missing()
            if gone is not None:
                if world().rank != (gone + 1) % world().size:
                    time.sleep(2 * LAST_WORDS)  # the neighbour on the other side says it
                world().abort(f"rank {gone} has ended, and the others wait for it")


def nap() -> None:
    """Leave the core to others for a moment."""
    time.sleep(NAP)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
        _watches.append(Watch(joined.comm, _mpi()))
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
    sizes = ("PMI_SIZE", "PMIX_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")
    return any(os.environ.get(name, "1") not in ("", "1") for name in sizes) or "PMIX_RANK" in os.environ
