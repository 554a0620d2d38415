"""Betweenness on the calling thread: of small graphs, and before workers are compiled. Names are those of state.py."""

import numpy as np

from hopwave.engines.cpu.betweenness.state import counts, demand_of, hop_limit
from hopwave.engines.cpu.crew import check_threads
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import outer
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level

UNVISITED = np.int32(2**31 - 1)  # larger than every depth: "is a successor" is then one comparison


class SmallAccumulation:
    """A run in blocks of `size` sources. `otherwise` creates the run that scales path counts, if necessary."""

    workers = 1

    def __init__(self, loaded, job, threads, otherwise, size):
        check_threads(threads)
        count = len(job.sources)
        self.job, self.size, self.blocks = job, size, -(-count // size)
        self.total = np.zeros(loaded.m if job.edges else loaded.n * (2 if job.squares else 1))
        self.certificate = np.zeros((count, 2))
        self.done = self.extended = 0
        self._loaded = loaded
        self._otherwise = otherwise

    def advance(self, first, poll):
        job, (targets, origins) = self.job, demand_of(self.job)
        options = hop_limit(job.cutoff), self._loaded.degree_bits, job.endpoints, job.edges, job.squares
        self.done = first
        while self.done < self.blocks:
            some, row = slice(self.done * self.size, (self.done + 1) * self.size), np.zeros(len(self.total))
            arrays = job.sources[some], targets, origins[some], row, self.certificate[some]
            if not sum_dependencies(*self._loaded.rows, *arrays, *options):  # path counts must be scaled
                run, done = self._otherwise(), 0
                while done < run.blocks:
                    done = run.advance(done, poll)
                self.total, self.certificate[:], self.extended = run.total, run.certificate, run.extended
                self.done = self.blocks
                break
            self.total, self.done = self.total + row, self.done + 1  # no signal comes between the two
            if poll(self.done):
                break
        return self.done


@outer
def sum_dependencies(
    indptr, indices, sources, targets, origins, total, certificate, cutoff, degree_bits, endpoints, edges, squares
):
    """Add Σ δ to total, Σ δ² behind it; write each certificate. Returns False if path counts exceed float64."""
    n = np.uint64(indptr.size - 1)
    depth, sigma, share = np.full(indptr.size - 1, UNVISITED, np.int32), np.empty(n), np.empty(n)
    queue, starts = np.empty(n + U1, np.uint32), np.empty(n + U1, np.uint64)
    successors = np.empty(indices.size + 1, np.uint32)
    extra = 1.0 if endpoints else 0.0
    for s in range(np.uint64(sources.size)):
        # Forward pass.
        source, demand = np.uint32(sources[s]), origins[s] if origins.size else 1.0
        depth[source], sigma[source], queue[0] = 0, 1.0, source
        begin, end, used, level, bound = U0, U1, U0, np.int32(0), np.int64(0)
        while begin < end and end < n and level < cutoff:
            level += np.int32(1)
            tail = end
            for i in range(begin, end):
                u = queue[i]
                paths = sigma[u]
                starts[i] = used
                for j in range(np.uint64(indptr[u]), np.uint64(indptr[u + ONE])):
                    v = indices[j]
                    there = depth[v]
                    if there >= level:  # branch-free test for a new vertex: a branch is hard to predict
                        new = there > level
                        depth[v] = level
                        sigma[v] = (0.0 if new else sigma[v]) + paths
                        queue[tail] = v
                        tail += np.uint64(new)
                        successors[used] = np.uint32(j) if edges else v
                        used += U1
            begin, end = end, tail
            bound += degree_bits
            if bound + degree_bits > LARGEST:
                bound, shift = rescale_level(sigma, queue, np.int64(begin), np.int64(end), degree_bits)
                if shift != 0:
                    return False
        for i in range(begin, end + U1):  # the last level has no successors
            starts[i] = used
        # Backward pass.
        found, due, counted = 0.0, 0.0, 0.0
        i = end
        while i > U0:
            i -= U1
            u = queue[i]
            gathered = 0.0
            if edges:
                for p in range(starts[i], starts[i + U1]):
                    j = successors[p]
                    flow = share[indices[j]]
                    total[j] += sigma[u] * flow
                    gathered += flow
            else:
                for p in range(starts[i], starts[i + U1]):
                    gathered += share[successors[p]]
            delta = sigma[u] * gathered
            weight = counts(demand, targets, u)
            share[u] = (weight + delta) / sigma[u]
            if edges:
                found += delta
            if i > U0:
                due += (depth[u] if edges else depth[u] - 1) * weight
                counted += weight
                if not edges:
                    found += delta
                    total[u] += delta + extra * weight
                    if squares:
                        total[n + np.uint64(u)] += delta * delta
            elif not edges:
                total[u] += extra * counted  # the source is an endpoint of every path
            depth[u] = UNVISITED
        certificate[s, 0], certificate[s, 1] = found, due
    return True
