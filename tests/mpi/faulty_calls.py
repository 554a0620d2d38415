"""A job of two ranks in which one call of MPI fails on the last rank; test_ranks.py starts this file under mpiexec.

    mpiexec -n 2 python tests/mpi/faulty_calls.py NUMBER

The call with that number fails. With 0 none does, and the number of calls is printed.
"""

from __future__ import annotations

import sys
from typing import Any

from mpi4py import MPI

from hopwave import distributed

COUNTED = ("Iallgather", "Iallreduce", "Ibarrier", "allgather", "gather", "allreduce", "Ialltoallv", "Iallgatherv")


class Faulty:
    """A communicator whose calls are counted, and one of which fails."""

    def __init__(self, comm: Any, fails: int) -> None:
        self.comm, self.fails, self.count = comm, fails, 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.comm, name)
        if name not in COUNTED:
            return found

        def called(*given: Any, **more: Any) -> Any:
            self.count += 1
            if self.count == self.fails:
                raise MPI.Exception(MPI.ERR_OTHER)
            return found(*given, **more)

        return called


def main() -> None:
    """Searches and betweenness, with a communicator that fails."""
    world = distributed.world()
    if world.rank == world.size - 1:
        world.comm = Faulty(world.comm, int(sys.argv[1]))
    parts = distributed.kronecker(6)
    for source in (1, 2):
        distributed.bfs(parts, source)
    distributed.betweenness_centrality(parts, k=5, seed=1)
    if world.rank == world.size - 1:
        print(f"{world.comm.count} calls", flush=True)


if __name__ == "__main__":
    main()
