"""Distances along weights from many sources, the plain way: one search per source, sums by `fsum`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hopwave.engines.reference.betweenness import arcs_of, lengths
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats
from hopwave.planning.many_sources import Poll, Sweep, Swept
from hopwave.planning.valued import Valued


def sweep(graph: Graph, job: Sweep, poll: Poll) -> Swept:
    """All searches of the job, and what is kept of them (see `Sweep`)."""
    n, k = graph.n, len(job.sources)
    out = arcs_of(graph, weighted=True)
    limit = math.inf if job.limit is None else float(job.limit)
    reached, (total, inverse, farthest) = np.zeros(k, np.int64), np.zeros((3, k))
    rows = np.full((k if job.keep == "rows" else 0, n), np.inf)
    valued = job.valued
    values = np.zeros((k, len(valued.columns), len(valued.limits)) if valued else (0, 0, 0))
    columns, of_block = np.zeros((2, n if job.keep == "columns" else 0, 3))
    targets: list[int] = []
    distances: list[float] = []
    for i, source in enumerate(job.sources.tolist()):
        found = lengths(out, source, limit)
        total[i], farthest[i] = math.fsum(found.values()), max(found.values())
        inverse[i], reached[i] = math.fsum(1 / d for d in found.values() if d > 0), len(found)
        if job.keep == "rows":
            rows[i, list(found)] = list(found.values())
        if job.keep == "columns":
            for v, d in found.items():
                weight = _column_weight(d, job)
                of_block[v] += 1, weight, weight * weight
            if i + 1 == k or (i + 1) % (job.block or k) == 0:
                columns += of_block
                of_block[:] = 0.0
        if valued is not None:
            values[i] = _added_up(found, valued)
        if job.keep == "pairs":
            listed = [v for v in found if v != source and not (job.upwards and v < source)]
            targets += listed
            distances += [found[v] for v in listed]
            reached[i] = len(listed)
        poll(i + 1)
    pairs: Any = np.array(targets, np.int32), np.array(distances, np.float64)
    rows = rows if job.targets is None else rows[:, job.targets]
    return Swept(reached, total, farthest, inverse, np.zeros(0, np.int64), columns, rows, pairs, values)


def _added_up(found: dict[int, float], valued: Valued) -> Floats:
    """Σ value · f(d) for every column and limit."""
    vertices, d = np.array(list(found)), np.array(list(found.values()))
    terms = valued.columns[:, vertices] * valued.decay(d)
    return np.array([[math.fsum(row[d <= limit]) for limit in valued.limits] for row in terms])


def _column_weight(d: float, job: Sweep) -> float:
    """w(d), in units of 2^-shift."""
    if job.weight == "inverse":
        return math.ldexp(1.0, job.shift) / d if d > 0 else 0.0
    return math.ldexp(d, job.shift)
