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

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from hopwave.algorithms import brandes
from hopwave.algorithms.checkpoint import Checkpoint, File, key_of
from hopwave.algorithms.reduction.twins import Twins
from hopwave.algorithms.reduction.union import Union
from hopwave.algorithms.scaling import of_both_directions
from hopwave.graph import Graph
from hopwave.graph.arrays import arc_tails
from hopwave.planning.jobs import Accumulation, BetweennessJob, Floats, Progress

Share = Callable[[Graph, BetweennessJob, Accumulation], Accumulation]

LEAST_INNER = 1 / 4  # of all vertices, of degree two: with fewer, the core is hardly less work
LEAST_GAIN = 2.0  # arcs that searches of all sources look at, divided by those of the core and the lookups


def core_of(part: Union | Twins, weighted: bool, engine: str, threads: int | None) -> Any:
    """A run of an engine over the core of a graph whose components are blocks, if that is less work."""
    graph = part.graph
    inner = np.count_nonzero(np.diff(graph.indptr) == 2)
    if inner <= LEAST_INNER * graph.n or (graph.m if graph.weights is None else graph.weights.sum()) >= 2**29:
        return None
    module = import_module(f"hopwave.engines.{engine}.betweenness.core_run")  # compiled code, loaded when it is used
    run = module.CoreRun(graph, part.demand, weighted, threads, part.copies)
    return run if run.chains and run.possible and part.work >= LEAST_GAIN * (run.passes + run.lookups) else None


def add_up(
    run: Any,
    graph: Graph,
    demand: Floats,
    job: BetweennessJob,
    share: Share,
    title: str,
    progress: Progress,
    file: File,
) -> tuple[Floats, brandes.Certificate] | None:
    """The sums of a job over the whole graph, by its core; None if path counts outgrow float64.

    `share`: makes a run of the same batches, which others may compute.
    """
    run.prepare()
    saved = None if file is None else Checkpoint(file, key_of(graph, job.weighted, demand, job.copies, "core by pairs"))
    rows = BetweennessJob(np.arange(run.K), endpoints=True)  # its sums have no total to compare
    try:
        shared = share(graph, job, run)
        brandes.accumulate(shared, rows, title, progress, saved)
        run.total = shared.total
    except OverflowError:
        if file is not None:
            Path(file).unlink(missing_ok=True)  # the sums of an earlier pause
        return None
    vertices, arcs = run.scores()
    edges = of_both_directions(graph, arcs.copy())
    certificate = brandes.certify(both_sides(graph, demand, run.label, vertices, edges), whose="vertex")
    return (arcs if job.edges else vertices), certificate


def both_sides(graph: Graph, demand: Floats, label: Any, vertices: Floats, edges: Floats) -> Floats:
    """Per vertex, the sum of its edges' scores, and what it must be: twice its score and what its own pairs count.

    The second counts the pair of the vertex with itself, twice. It is added to the first, rather than subtracted.
    """
    a, b = demand.T
    all_a, all_b = (np.bincount(label, one)[label] for one in (a, b))
    found = np.bincount(arc_tails(graph), edges, minlength=graph.n) + 2 * a * b
    return np.stack([found, 2 * vertices + a * all_b + b * all_a], axis=1)
