"""A rank that ends before the others: by sys.exit, or by running out of script while they still have exchanges to make.

MPI would let them wait for it for ever, and it for them. So a rank that ends tells its two neighbours, in the ring of
all ranks, how many exchanges it took part in. All ranks make the same exchanges in the same order: one that waits in a
later one than its neighbour ever made waits in vain, and can end the job. A ring suffices: somewhere in it a rank
that waits stands beside one that has left.
"""

from __future__ import annotations

import atexit
from typing import Any

import numpy as np

LEFT = 4  # the tag of such a notice


class Watch:
    """One rank's eye on its neighbours; `exchanges` counts those that it has begun to wait for."""

    def __init__(self, comm: Any, mpi: Any) -> None:
        self.comm, self.mpi, self.exchanges = comm.Dup(), mpi, 0
        rank, size = comm.Get_rank(), comm.Get_size()
        self.neighbours = {(rank - 1) % size, (rank + 1) % size} - {rank}
        self.left: dict[int, int] = {}
        atexit.register(self.leave)  # before mpi4py's own end, which comes after all of these

    def missing(self) -> int | None:
        """A neighbour who has left, and will not come to the exchange that we wait in; None where there is none."""
        status, count = self.mpi.Status(), np.empty(1, np.int64)
        while self.comm.Iprobe(self.mpi.ANY_SOURCE, LEFT, status):
            self.comm.Recv(count, status.Get_source(), LEFT)
            self.left[status.Get_source()] = int(count[0])
        return next((rank for rank, made in self.left.items() if made < self.exchanges), None)

    def leave(self) -> None:
        """Tell the neighbours, and wait until they leave, too, as MPI's own end would; but without taking a core."""
        from hopwave.distributed.world import nap

        if self.mpi.Is_finalized():
            return
        count = np.array([self.exchanges], np.int64)
        notices = [self.comm.Isend(count, rank, LEFT) for rank in self.neighbours]
        while not self.neighbours <= set(self.left):
            self.missing()
            nap()
        for notice in notices:
            notice.Wait()
