"""The ranks of a job, and error handling when one rank fails.

MPI waits forever for a rank that raised an error. So all ranks raise an expected error together (`World.together`), and
any other error ends the job. A rank that ends without an error tells its two neighbours in the ring of all ranks how
many exchanges it took part in: a neighbour that waits in a later exchange ends the job. The ring suffices: somewhere
in it, a waiting rank is next to a rank that has ended.
"""

import atexit
import importlib.util
import os
import sys
import time
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import numpy as np

import hopwave
from hopwave import errors
from hopwave.errors import EngineError, HopwaveError
from hopwave.graph.columns import as_column
from hopwave.system.mpi import by_open_mpi, mismatch
from hopwave.system.optional import install

T = TypeVar("T")

ENDED = 4  # MPI tag of a rank's notice that it has ended
POLL_SECONDS = 5e-5  # interval between tests of a pending request
COLUMN = ("to_numpy", "__dlpack__", "__cuda_array_interface__")  # attributes of columns whose repr omits values
TESTS_PER_WATCH = 1 << 10  # tests of a request per check whether a neighbour has ended
FLUSH_SECONDS = 0.3  # time for the launcher to read the last line before it kills the ranks


class NeighbourWatch:
    """Watches this rank's neighbours; `exchanges` counts the exchanges in which this rank has started to wait."""

    def __init__(self, comm: Any, mpi: Any, abort: Callable[[str], Any]) -> None:
        self.comm, self.mpi, self.abort, self.exchanges = comm.Dup(), mpi, abort, 0
        rank, size = comm.Get_rank(), comm.Get_size()
        self.neighbours = {(rank - 1) % size, (rank + 1) % size} - {rank}
        self.ended: dict[int, int] = {}
        atexit.register(self.leave)  # runs before mpi4py's own exit handler

    def missing(self) -> int | None:
        """A neighbour that has ended before the exchange in which this rank waits, or None."""
        status, count = self.mpi.Status(), np.empty(1, np.int64)
        while self.comm.Iprobe(self.mpi.ANY_SOURCE, ENDED, status):
            self.comm.Recv(count, status.Get_source(), ENDED)
            self.ended[status.Get_source()] = int(count[0])
        return next((rank for rank, made in self.ended.items() if made < self.exchanges), None)

    def leave(self) -> None:
        """Notify the neighbours, and wait until they also end. MPI_Finalize would wait with a busy core."""
        if self.mpi.Is_finalized():
            return
        try:
            count = np.array([self.exchanges], np.int64)
            notices = [self.comm.Isend(count, rank, ENDED) for rank in self.neighbours]
            while not self.neighbours <= set(self.ended):
                self.missing()
                time.sleep(POLL_SECONDS)
            for notice in notices:
                notice.Wait()
        except self.mpi.Exception as error:  # a neighbour without the notice would wait forever
            self.abort(f"{type(error).__name__}: {error}")


_watches: list[NeighbourWatch] = []  # at most one watch, if this process has joined several ranks


class World:
    """An MPI communicator: `rank` of `size` ranks in total, `machine_rank` of the `machine_size` ranks on this machine.

    >>> from hopwave.distributed import world
    >>> world().size >= 1
    True
    """

    def __init__(self, comm: Any) -> None:
        self.comm: Any = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()
        machine = comm.Split_type(_mpi().COMM_TYPE_SHARED, self.rank)
        self.machine_rank: int = machine.Get_rank()
        self.machine_size: int = machine.Get_size()
        bound = hasattr(os, "sched_getaffinity")
        usable = machine.allgather(os.sched_getaffinity(0) if bound else set(range(os.cpu_count() or 1)))
        machine.Free()
        # Average number of ranks per core of this rank: a launcher may bind every rank to separate cores.
        mine = usable[self.machine_rank]
        self.ranks_per_core: float = sum(core in cores for cores in usable for core in mine) / len(mine)
        # True on all ranks if any machine has more ranks than cores, so that all ranks wait in the same way.
        crowded = self.machine_size > len(set().union(*usable))
        self.oversubscribed: bool = bool(comm.allreduce(int(crowded), _mpi().MAX))
        self._grids: dict[int, tuple[Any, Any]] = {}
        versions = self.comm.allgather(hopwave.__version__)
        if len(set(versions)) > 1:
            other = next(rank for rank, version in enumerate(versions) if version != versions[0])
            found = f"rank 0 runs hopwave {versions[0]} and rank {other} runs {versions[other]}"
            raise everywhere(EngineError(f"{found}; install the same version for all ranks"))

    def together(self, action: Callable[[], T]) -> T:
        """Run action() on every rank. If it fails on one rank, all ranks raise its error, so none waits forever."""
        failure, cause, result = None, None, None
        try:
            result = action()
        except (HopwaveError, OSError, MemoryError, OverflowError) as error:
            failure, cause = _described(error), error
        if not self.total(int(failure is not None)):
            return result  # type: ignore[return-value]
        rank, (kind, message) = next(
            (rank, described) for rank, described in enumerate(self.allgather(failure)) if described is not None
        )
        where = f"rank {rank} of {self.size}: " if self.size > 1 else ""
        raise everywhere(getattr(errors, kind, OverflowError)(f"{where}{message}")) from cause

    def agree(self, call: str, **arguments: Any) -> None:
        """Raise a GraphError on every rank if ranks call different functions or pass different arguments.

        Every collective function starts with this check: otherwise ranks could wait for each other forever.
        """
        if self.size == 1:
            return
        texts = {name: repr(plain(value)) for name, value in arguments.items()}
        given = {name: (text[:100], zlib.crc32(text.encode())) for name, text in texts.items()}
        digests = np.empty(self.size, np.int64)
        mine = np.array([zlib.crc32(repr((call, given)).encode())], np.int64)
        wait_for(self.comm.Iallgather(mine, digests), self.oversubscribed)
        if bool((digests == digests[0]).all()):
            return
        other = int(np.argmax(digests != digests[0]))
        calls = self.allgather((call, given))
        (first, ours), (second, theirs) = calls[0], calls[other]
        if first != second:
            found = f"rank {other} calls {second}, but rank 0 calls {first}"
        else:
            name = next((name for name in ours if theirs[name] != ours[name]), "")
            values = f": {name}={theirs[name][0]}, but on rank 0 {name}={ours[name][0]}" if name else ""
            found = f"rank {other} and rank 0 pass different arguments to {call}{values}"
        raise everywhere(errors.GraphError(f"{found}; all ranks must make the same calls with the same arguments"))

    def grid(self, columns: int) -> tuple[Any, Any]:
        """The communicators of this rank's row and column in a grid with `columns` columns."""
        if columns not in self._grids:
            self.barrier()
            row, column = divmod(self.rank, columns)
            self._grids[columns] = self.comm.Split(row, column), self.comm.Split(column, row)
        return self._grids[columns]

    def barrier(self) -> None:
        """Barrier. Also called before every blocking MPI exchange, which would keep a core busy."""
        if self.size > 1:
            wait_for(self.comm.Ibarrier(), self.oversubscribed)

    def allgather(self, mine: Any) -> list[Any]:
        """The objects of all ranks, on every rank."""
        self.barrier()
        return list(self.comm.allgather(mine))

    def shared(self, mine: Any, rank: int = 0) -> Any:
        """The object of one rank, on every rank."""
        self.barrier()
        return self.comm.bcast(mine, rank)

    def gather(self, mine: Any) -> list[Any] | None:
        """The objects of all ranks on rank 0; None on other ranks."""
        self.barrier()
        found: list[Any] | None = self.comm.gather(mine)
        return found

    def total(self, mine: int) -> int:
        """The sum of one number per rank, on every rank."""
        return int(self.allreduce(np.array([mine], np.int64))[0])

    def allreduce(self, mine: Any, how: str = "SUM") -> Any:
        """The sum of one array per rank (or another operation of MPI), on every rank."""
        if self.size == 1:
            return mine
        found = np.empty_like(mine)
        wait_for(self.comm.Iallreduce(mine, found, getattr(_mpi(), how)), self.oversubscribed)
        return found

    def abort(self, message: str, code: int = 1) -> NoReturn:
        """End every rank of the job now, with the message on one line."""
        end_job(self.comm, self.rank, self.size, message, code)

    def __repr__(self) -> str:
        return f"World(rank={self.rank}, size={self.size})"


def end_job(comm: Any, rank: int, size: int, message: str, code: int = 1) -> NoReturn:
    """End every rank of a communicator now, with the message on one line."""
    sys.stderr.write(f"hopwave: rank {rank} of {size} failed: {' '.join(message.split())}\n")  # one write: one line
    sys.stderr.flush()
    time.sleep(FLUSH_SECONDS)
    comm.Abort(code)
    raise SystemExit(code)  # some MPI libraries return from Abort


def everywhere(error: Exception) -> Exception:
    """An error that every rank raises: rank 0 prints it, and it does not end the job."""
    error.everywhere = True  # type: ignore[attr-defined]
    return error


def plain(value: Any) -> Any:
    """A value whose repr is equal on all ranks that pass equal values."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return [(plain(key), plain(one)) for key, one in value.items()]
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return value.tolist()
        if value.dtype.kind in "iu":
            value = value.astype(np.int64)
        return value.shape, zlib.crc32(np.ascontiguousarray(value).reshape(-1).view(np.uint8).data)
    if getattr(value, "ndim", 1) == 1 and any(hasattr(value, name) for name in COLUMN):
        index = getattr(value, "index", None)  # index of pandas, which may name vertices
        return plain(as_column(value, "")), plain(index) if hasattr(index, "to_numpy") else None
    if isinstance(value, set | frozenset):  # the order of strings differs between processes
        return sorted(repr(plain(one)) for one in value)
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if hasattr(value, "indptr") and hasattr(value, "indices"):  # a Graph or a matrix on every rank
        kind = value.shape if hasattr(value, "shape") else value.directed
        values = value.weights if hasattr(value, "weights") else getattr(value, "data", None)
        return kind, *map(plain, (value.indptr, value.indices, values, getattr(value, "labels", None)))
    return value


def wait_for(request: Any, oversubscribed: bool) -> None:
    """Wait for an MPI request; end the job if a neighbour has ended and the request can never complete.

    With more ranks than cores, sleep between tests: MPI's wait would keep the core busy.
    """
    watch = _watches[-1] if _watches else None
    if watch is not None:
        watch.exchanges += 1
    tests = 0
    while not request.Test():
        tests += 1
        if oversubscribed:
            time.sleep(POLL_SECONDS)
        if watch is not None and tests % TESTS_PER_WATCH == 0:
            ended = watch.missing()
            if ended is not None:
                if world().rank != (ended + 1) % world().size:
                    time.sleep(2 * FLUSH_SECONDS)  # let the other neighbour report it: one line suffices
                world().abort(f"rank {ended} has ended, but other ranks wait for it")


def _described(error: BaseException) -> tuple[str, str]:
    """(name of hopwave's error class for this error, message)."""
    if isinstance(error, HopwaveError):
        kind = next(k.__name__ for k in type(error).__mro__ if k.__module__ == errors.__name__)
        return kind, str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
        return "FormatError", f"{error.filename}: {reason}" if error.filename is not None else reason
    if isinstance(error, OverflowError):
        return "OverflowError", str(error)
    return "EngineError", f"out of memory ({error or 'no size given'}); use more ranks, or machines with more memory"


def _mpi() -> Any:
    if importlib.util.find_spec("mpi4py") is None:
        raise EngineError(f"several ranks need mpi4py, which is not installed; run: {install('mpi')}")
    if by_open_mpi() and "mpi4py.MPI" not in sys.modules and (reason := mismatch()):
        raise EngineError(reason)  # MPICH would abort without a reason
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        message = " ".join(str(error).split())
        problem = f"mpi4py is installed but finds no MPI library ({message})"
        raise EngineError(f"{problem}; run: {install('mpi')}, or load your cluster's") from None
    return MPI


@cache
def world() -> World:
    """All ranks of this job. After the first call, an uncaught error on one rank ends the job.

    Raises
    ------
    EngineError
        mpi4py is not installed, or finds no MPI library.

    Examples
    --------
    >>> from hopwave.distributed import world
    >>> world().rank
    0
    """
    mpi = _mpi()
    comm = mpi.COMM_WORLD
    try:
        joined = World(comm)
        if joined.size > 1:
            _end_all_on_error(joined)
            _watches.append(NeighbourWatch(joined.comm, mpi, joined.abort))
    except mpi.Exception as error:  # other ranks may already wait for this rank
        if comm.Get_size() > 1:
            end_job(comm, comm.Get_rank(), comm.Get_size(), f"{type(error).__name__}: {error}")
        raise
    return joined


def _end_all_on_error(joined: World) -> None:
    before = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if getattr(error, "everywhere", False):  # raised on every rank: rank 0 prints it
            if joined.rank == 0:
                before(kind, error, traceback)
            return
        before(kind, error, traceback)
        joined.abort(f"{kind.__name__}: {error}")

    sys.excepthook = hook


def joined() -> World | None:
    """The world of this process if it has several ranks, else None; never starts MPI."""
    if world.cache_info().currsize and world().size > 1:
        return world()
    return None
