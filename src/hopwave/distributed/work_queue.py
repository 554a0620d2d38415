"""Sources dealt to ranks as they get through with them: large blocks first, small ones at the end, so that all end
together. Rank 0 keeps the count; a thread of it answers the others while it works itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np

from hopwave.distributed.world import World

ASK, TAKE = 1, 2  # tags of a question and of its answer
SHARES = 4  # a block is what is left, over so many blocks a rank
LEAST = 16  # sources a block: each costs an engine some arrays
NAP = 0.0005


class Dealer:
    """Iterates over (begin, end) of the blocks that fall to this rank, in a `with` that all ranks enter and leave."""

    def __init__(self, world: World, count: int) -> None:
        from mpi4py import MPI

        self.world, self.count, self.next = world, count, 0
        self._mpi: Any = MPI
        self._lock = threading.Lock()
        self._server: threading.Thread | None = None
        # Without a thread to answer, sources are dealt beforehand.
        self.dynamic = world.size > 1 and world.total(int(MPI.Query_thread())) == (MPI.THREAD_MULTIPLE * world.size)

    def __enter__(self) -> Dealer:
        self.world.queue()
        self._comm = self.world.comm.Dup()
        if self.dynamic and self.world.rank == 0:
            self._server = threading.Thread(target=self._serve, name="hopwave-dealer", daemon=True)
            self._server.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._server is not None and kind is None:
            self._server.join()
        if kind is None:
            self._comm.Free()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        if not self.dynamic:
            step = max(LEAST, -(-self.count // (self.world.size * SHARES)))
            for begin in range(self.world.rank * step, self.count, self.world.size * step):
                yield begin, min(begin + step, self.count)
            return
        while True:
            begin, end = self._ask(0)
            if begin == end:
                return
            yield begin, end

    def stop(self) -> None:
        """Let nobody begin on another block."""
        if self.dynamic:
            self._ask(1)

    def _ask(self, stop: int) -> tuple[int, int]:
        if self.world.rank == 0:
            return self._take(bool(stop))
        answer = np.empty(2, np.int64)
        self._comm.Send(np.array([stop], np.int64), 0, ASK)
        self._comm.Recv(answer, 0, TAKE)
        return int(answer[0]), int(answer[1])

    def _take(self, stop: bool) -> tuple[int, int]:
        with self._lock:
            if stop:
                self.next = self.count
            begin = self.next
            size = max(LEAST, (self.count - begin) // (SHARES * self.world.size))
            self.next = min(begin + size, self.count)
            return begin, self.next

    def _serve(self) -> None:
        """Answer until every other rank has been told that nothing is left."""
        busy = self.world.size - 1
        question, status = np.empty(1, np.int64), self._mpi.Status()
        while busy:
            if not self._comm.Iprobe(self._mpi.ANY_SOURCE, ASK):
                time.sleep(NAP)
                continue
            self._comm.Recv(question, self._mpi.ANY_SOURCE, ASK, status)
            block = self._take(bool(question[0]))
            busy -= block[0] == block[1]
            self._comm.Send(np.array(block, np.int64), status.Get_source(), TAKE)
