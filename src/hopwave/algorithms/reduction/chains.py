"""Chains of vertices of degree two: only the core, the vertices of degree three and more, is searched.

    a chain P has ends x ≠ y in the core, a length L, and inner vertices at distances α from x

The core keeps one arc per pair of ends, the shortest, and counts how many edges and chains are as short. Every pair
(s, t) becomes demand between core vertices: s leaves its chain at one end, t is entered from one, or both by the share
of shortest paths. From s at α, the way to a core vertex w is by x if 2α < L + d(y, w) − d(x, w), and by y if it is
more. So the inner vertices that leave at x for w are the first ones of the chain, and a lookup in its prefix sums adds
all of them; chain to chain, only vertices between two such thresholds are looked at one by one. One search and one way
back per core vertex e, with the demand D(e, ·) that leaves there, then serve all sources of the graph.

Scores inside of a chain are sums over what leaves and comes in by its two ends, what stays inside, and an equal part of
what passes the core's arc. (Bentert et al. 2018 do without searches from vertices of degree two, too; that all pairs
share one demand between core vertices is hopwave's. docs/reduction.md)

Certificate: at every vertex, the scores of its edges add up to twice its own and to the pairs that end there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.algorithms.reduction.lengths import as_whole
from hopwave.algorithms.scaling import of_both_directions
from hopwave.engines.cpu.betweenness.core_run import LONGEST, CoreRun
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.planning.jobs import BetweennessJob, Floats, Progress

LEAST_GAIN = 1.5  # arcs that searches of all sources look at, divided by those of the core and the lookups


def core_of(graph: Graph, demand: Floats, weighted: bool, work: int, threads: int | None) -> CoreRun | None:
    """A run over the core of a graph whose components are blocks, if that is less than `work`."""
    lengths = as_whole(graph) if weighted else np.ones(graph.m, np.int64)
    if lengths is None or lengths.sum() >= 2**31 or not graph.n:
        return None
    run = CoreRun(graph, lengths, demand, threads)
    if not run.chains or run.longest > LONGEST or work < LEAST_GAIN * run.work:
        return None
    return run


def add_up(
    run: CoreRun, graph: Graph, demand: Floats, job: BetweennessJob, title: str, progress: Progress, file: File
) -> tuple[Floats, brandes.Certificate] | None:
    """The sums of a job over the whole graph, by its core; None if path counts outgrow float64."""
    run.prepare()
    saved = None
    if file is not None:
        saved = Checkpoint(file, key_of(graph, job.weighted, demand, "core"))
    rows = BetweennessJob(np.arange(len(run.core)), endpoints=True)  # its sums have no total to compare
    brandes.accumulate(run, rows, title, progress, saved)
    if run.too_wide:
        return None
    vertices, arcs = run.scores()
    certificate = brandes.certify(both_sides(graph, demand, run.label, vertices, of_both_directions(graph, arcs)))
    return (arcs if job.edges else vertices), certificate


def both_sides(graph: Graph, demand: Floats, label: Any, vertices: Floats, edges: Floats) -> Floats:
    """Per vertex, the sum of its edges' scores, and what it must be."""
    found = np.bincount(arc_tails(graph), edges, minlength=graph.n)
    total = np.stack([np.bincount(label, demand[:, k])[label] for k in (0, 1)], axis=1)
    ends = demand[:, 0] * (total[:, 1] - demand[:, 1]) + demand[:, 1] * (total[:, 0] - demand[:, 0])
    return np.stack([found, 2 * vertices + ends], axis=1)
