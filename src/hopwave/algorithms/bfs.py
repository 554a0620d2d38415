"""Breadth-first search: q⟨¬v⟩ = q ⊕.⊗ A, then v⟨q⟩ = depth, until q is empty (push-pull, Algorithm 1).

q   the frontier        v   the visited vertices with their depths        A   the adjacency matrix
"""

from __future__ import annotations

from hopwave.engines import Engine
from hopwave.graph import Graph
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
    """Run the plan on the engine. Returns what `Engine.fetch` found, and the levels."""
    A = engine.load(graph, plan)
    q = engine.start(A, sources, question, threads)
    levels = engine.run(q, plan, trace)
    return engine.fetch(q), levels
