"""Sums of dependencies on the GPU: our three regimes behind one class (regimes.py says which is for what).

Whatever the regime, sources are taken in order, block by block; no sum is made by atomics on floating point numbers. So
the same run on the same GPU gives the same bits, and so does one that was broken off and taken up again. Two things
depend on the memory there is: the regime that is chosen, and the size of a batch that scores arcs. deterministic=True
holds them still.
"""

from __future__ import annotations

import cupy
import numpy as np

from hopwave.engines.cuda.betweenness import batch, block, regimes
from hopwave.engines.cuda.launch import free_memory, machine
from hopwave.engines.cuda.renumber import neighbours_near, renumbered


def instances():
    """Every kernel there is: header and name expression."""
    yield from block.instances()
    yield from batch.instances()


def why_not(plan, job):
    """None, or why this plan cannot run for that job."""
    return None


def search(loaded, source):
    """A search on the same GPU, from a vertex by its number."""
    from hopwave.api.search import bfs

    return bfs(loaded.graph, loaded.graph.label(source), predecessors=False, device="cuda")


def probe(loaded):
    """How deep a search from the vertex of highest degree goes; kept with the graph."""
    if "depth" not in loaded.kept:
        loaded.kept["depth"] = search(loaded, int(loaded.graph.degrees.argmax())).depth if loaded.m else 0
    return loaded.kept["depth"]


def near(loaded, job, depth):
    """The graph with near vertices near in memory, where it is deep and the run repays it; kept with the graph."""
    room = free_memory() if job.memory_limit is None else job.memory_limit
    if not regimes.worth_renumbering(loaded.n, loaded.m, len(job.sources), depth, room):
        return None
    if "near" not in loaded.kept:
        loaded.kept["near"] = None
        if regimes.scattered(loaded.n, neighbours_near(loaded)):
            loaded.kept["near"] = renumbered(loaded, lambda source: cupy.asarray(search(loaded, source).distances))
    return loaded.kept["near"]


def choose(loaded, job):
    """The regime for a job, and why. Regimes differ in their last bits: where those matter, what is free must not."""
    room = free_memory() if job.memory_limit is None else job.memory_limit
    if job.deterministic:
        room = machine().memory
    return regimes.choose(loaded.n, loaded.m, len(job.sources), probe(loaded), room)


class Accumulation:
    """A run over many sources that can stop after any block and go on: see hopwave.algorithms.brandes."""

    def __init__(self, loaded, job, plan):
        self.loaded, self.job = loaded, job
        n, m, k = loaded.n, loaded.m, len(job.sources)
        self.total = np.zeros(m if job.edges else n * (2 if job.squares else 1))
        self.certificate = np.zeros((k, 2))
        self._state = None, 0
        self.regime = regime(loaded, job, plan.regime)
        self.size = self.regime.size
        self.blocks = -(-k // self.size)

    done = property(lambda self: self._state[1])
    extended = property(lambda self: self.regime.extended)

    def advance(self, first, poll):
        """Blocks from number first on, until all are done or poll(done) says pause. Returns how many are done then."""
        from hopwave.engines.cuda.errors import LESS_MEMORY, explained

        with explained("adding up dependencies", self.loaded.graph, LESS_MEMORY), self.loaded.lock:
            # What a block adds to is a copy, and it counts from the moment that it takes the place of the sums before:
            # a Ctrl-C finds either all of a block or nothing.
            self._state = cupy.asarray(self.total) if first else cupy.zeros(len(self.total), np.float64), first
            try:
                for number in range(first, self.blocks):
                    if number > first and poll(number):
                        break
                    self._block(number)
            finally:
                self.total[:] = self._state[0].get()
        return self.done

    def _block(self, number):
        total = self._state[0].copy()
        begin = number * self.size
        end = min(begin + self.size, len(self.job.sources))
        self.certificate[begin:end] = self.regime.add(self.job.sources[begin:end], total)
        self._state = total, number + 1


def regime(loaded, job, name):
    """The regime of that name, ready to add up sources."""

    def room():
        return free_memory() if job.memory_limit is None else min(job.memory_limit, free_memory())

    here, depth = machine(), probe(loaded)
    at_once = 1 if name == "wide" else len(job.sources)
    blocks = block.Blocks(loaded, job, here, depth, room, near(loaded, job, depth), at_once)
    if name == "block" or depth > regimes.LEVELS:
        return blocks
    lanes = 1 if name == "wide" else regimes.lanes_for(len(job.sources))
    return batch.Batches(loaded, job, here, depth, room, lanes, blocks)


def alone(loaded, job, sources):
    """Scores (as a total) and certificates of sources whose path counts another way cannot hold."""
    blocks = regime(loaded, job, "block")
    total = cupy.zeros(loaded.m if job.edges else loaded.n * (2 if job.squares else 1), np.float64)
    certificate = blocks.add(np.asarray(sources), total)
    return total.get(), certificate
