"""Breadth-first search: q⟨¬v⟩ = q ⊕.⊗ A, then v⟨q⟩ = depth, until q is empty (push-pull, Algorithm 1).

q   the frontier        v   the visited vertices with their depths        A   the adjacency matrix
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import FoundBySearch, SearchJob
from hopwave.planning.plan import Plan
from hopwave.planning.trace import Level


def search(
    engine: Engine,
    graph: Graph,
    sources: tuple[int, ...],
    question: SearchJob,
    plan: Plan,
    trace: bool = False,
    threads: int | None = None,
) -> tuple[FoundBySearch, list[Level]]:
    """Run the plan on the engine. Returns the result of `Engine.fetch`, and the levels."""
    A = engine.load(graph, plan)
    q = engine.start(A, sources, question, threads)
    levels = engine.run(q, plan, trace)
    return engine.fetch(q), levels


def hops(engine: Engine, graph: Graph, sources: tuple[int, ...], threads: int | None = None) -> npt.NDArray[Any]:
    """The distance of every vertex from the nearest source, −1 if unreachable, by the fastest method."""
    question, plan = SearchJob(predecessors=False), CATALOGUE["hopwave"]
    direct = engine.direct_search(graph, question, plan, False, threads)
    found = None if direct is None else direct(sources, None)
    if found is None:
        found, _ = search(engine, graph, sources, question, plan, threads=threads)
    return np.asarray(found["distances"])
