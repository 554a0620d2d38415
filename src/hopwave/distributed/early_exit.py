"""Notices that a rank has ended while others still wait for it, by sys.exit or because its script is over.

MPI would let both sides wait for ever. So a rank that ends tells its two neighbours in the ring of all ranks how many
exchanges it took part in. All ranks make the same exchanges in the same order. A rank that waits in exchange k, and
whose neighbour ended after fewer than k, would wait for ever, and ends the job instead. The ring is enough: somewhere
in it a rank that waits is next to one that has ended.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ENDED = 4  # the tag of a rank's notice
POLL_SECONDS = 5e-5  # between two looks at what a rank waits for


class NeighbourWatch:
    """Watches this rank's neighbours; `exchanges` counts the exchanges that this rank has begun to wait for.

    `abort(message)` ends the job.
    """

    def __init__(self, comm: Any, mpi: Any, abort: Callable[[str], Any]) -> None:
        self.comm, self.mpi, self.abort, self.exchanges = comm.Dup(), mpi, abort, 0
        rank, size = comm.Get_rank(), comm.Get_size()
        self.neighbours = {(rank - 1) % size, (rank + 1) % size} - {rank}
        self.ended: dict[int, int] = {}
        atexit.register(self.leave)  # runs before mpi4py's own exit handler

    def missing(self) -> int | None:
        """A neighbour that has ended and will not join the exchange that we wait in, or None."""
        status, count = self.mpi.Status(), np.empty(1, np.int64)
        while self.comm.Iprobe(self.mpi.ANY_SOURCE, ENDED, status):
            self.comm.Recv(count, status.Get_source(), ENDED)
            self.ended[status.Get_source()] = int(count[0])
        return next((rank for rank, made in self.ended.items() if made < self.exchanges), None)

    def leave(self) -> None:
        """Tell the neighbours, and wait until they end, too. MPI_Finalize also waits, but keeps a core busy.

        A neighbour that cannot be told would wait for ever: then the job ends.
        """
        if self.mpi.Is_finalized():
            return
        try:
            self._tell()
        except self.mpi.Exception as error:
            self.abort(f"{type(error).__name__}: {error}")

    def _tell(self) -> None:
        count = np.array([self.exchanges], np.int64)
        notices = [self.comm.Isend(count, rank, ENDED) for rank in self.neighbours]
        while not self.neighbours <= set(self.ended):
            self.missing()
            time.sleep(POLL_SECONDS)
        for notice in notices:
            notice.Wait()
