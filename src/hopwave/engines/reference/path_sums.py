"""The specification of stress, load and the paths through a group: whole numbers and fractions, rounded at the end.

σ(v)   shortest paths from s to v, some of which avoid the group      τ(v)   as in cpu/betweenness/path_sums.py
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hopwave.engines.reference.betweenness import hops
from hopwave.graph import Graph
from hopwave.planning.jobs import Floats
from hopwave.planning.many_sources import PathSums, Poll


def path_sums(graph: Graph, job: PathSums, poll: Poll) -> Floats:
    """Stress or load of every vertex; for a group, the sum over the targets of each source."""
    n = graph.n
    heads = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(n)]
    arcs = [[(w, 1.0, 0) for w in row] for row in heads]
    member = [False] * n if job.group is None else job.group.tolist()
    score: list[Fraction] = [Fraction(0)] * n
    for s in range(n):
        d = hops(arcs, s, math.inf if job.cutoff is None else job.cutoff)
        after = {v: [w for w in heads[v] if d.get(w) == d[v] + 1] for v in d}
        into = {w: sum(row.count(w) for row in after.values()) for w in d} if job.kind == "load" else {}
        sigma, avoiding = dict.fromkeys(d, 0), dict.fromkeys(d, 0)
        sigma[s], avoiding[s] = 1, int(not member[s])
        for v in d:
            for w in after[v]:
                sigma[w] += sigma[v]
                avoiding[w] += 0 if member[w] else avoiding[v]
        if job.kind == "group":
            ends = [t for t in d if t != s and (job.endpoints or not (member[s] or member[t]))]
            score[s] = sum((1 - Fraction(avoiding[t], sigma[t]) for t in ends), Fraction(0))
        else:
            tau = dict.fromkeys(d, Fraction(0))
            for v in reversed(d):  # farthest first
                tau[v] = sum((Fraction(1 + tau[w], into.get(w, 1)) for w in after[v]), Fraction(0))
                if v != s:
                    score[v] += tau[v] * (1 if job.kind == "load" else sigma[v])
        poll(s + 1)
    return np.array([_rounded(x) for x in score], np.float64)


def _rounded(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf
