"""A queue of sources from which ranks take blocks.

Blocks are large first and small at the end, so that all ranks finish at about the same time. Rank 0 keeps the count;
one of its threads answers the other ranks while rank 0 works, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np

from hopwave.distributed.ranks import World
from hopwave.system import threads
from hopwave.system.threads import Flag

REQUEST, REPLY = 1, 2  # tags
BLOCKS_PER_RANK = 4  # block size = sources left / (BLOCKS_PER_RANK · ranks)
MIN_BLOCK = 16  # sources per block, at least, because an engine allocates arrays for each block
POLL_SECONDS = 0.0005  # between two looks of rank 0's thread for a request


class WorkQueue:
    """Yields (begin, end) of each block that this rank gets. All ranks enter and leave its `with` block together."""

    def __init__(self, world: World, count: int, least: int = MIN_BLOCK) -> None:
        from mpi4py import MPI

        self.world, self.count, self.next, self._least = world, count, 0, least
        self._mpi: Any = MPI
        self._lock = threading.Lock()
        self._over: Flag | None = None  # set once the thread of rank 0 has ended
        # If MPI does not allow a thread that answers, each rank's blocks are fixed from the start.
        self.dynamic = world.size > 1 and world.total(int(MPI.Query_thread())) == (MPI.THREAD_MULTIPLE * world.size)

    def __enter__(self) -> WorkQueue:
        self.world.barrier()
        self._comm = self.world.comm.Dup()
        if self.dynamic and self.world.rank == 0:
            self._over = Flag()
            if not threads.crew.start(1, self._serve):
                self.world.abort("the system starts no further thread, and dealing sources to ranks needs one")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        while self._over is not None and kind is None and not self._over.wait(threads.LOOK_SECONDS):
            pass
        if kind is None:
            self._comm.Free()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        if not self.dynamic:
            step = max(self._least, -(-self.count // (self.world.size * BLOCKS_PER_RANK)))
            for begin in range(self.world.rank * step, self.count, self.world.size * step):
                yield begin, min(begin + step, self.count)
            return
        while True:
            begin, end = self._request(0)
            if begin == end:
                return
            yield begin, end

    def stop(self) -> None:
        """Give no rank another block."""
        if self.dynamic:
            self._request(1)

    def _request(self, stop: int) -> tuple[int, int]:
        if self.world.rank == 0:
            return self._take(bool(stop))
        block = np.empty(2, np.int64)
        self._comm.Send(np.array([stop], np.int64), 0, REQUEST)
        self._comm.Recv(block, 0, REPLY)
        return int(block[0]), int(block[1])

    def _take(self, stop: bool) -> tuple[int, int]:
        with self._lock:
            if stop:
                self.next = self.count
            begin = self.next
            size = max(self._least, (self.count - begin) // (BLOCKS_PER_RANK * self.world.size))
            self.next = min(begin + size, self.count)
            return begin, self.next

    def _serve(self, number: int) -> None:
        """The thread of rank 0. If it fails, it ends the job: the other ranks would wait for its replies for ever."""
        try:
            self._reply()
        except BaseException as error:
            self.world.abort(f"{type(error).__name__}: {error}")
        finally:
            if self._over is not None:
                self._over.set()

    def _reply(self) -> None:
        """Reply to requests until every other rank has been told that nothing is left."""
        busy = self.world.size - 1
        request, status = np.empty(1, np.int64), self._mpi.Status()
        while busy:
            if not self._comm.Iprobe(self._mpi.ANY_SOURCE, REQUEST):
                time.sleep(POLL_SECONDS)
                continue
            self._comm.Recv(request, self._mpi.ANY_SOURCE, REQUEST, status)
            block = self._take(bool(request[0]))
            busy -= block[0] == block[1]
            self._comm.Send(np.array(block, np.int64), status.Get_source(), REPLY)
