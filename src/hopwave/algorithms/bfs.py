"""Breadth-first search: q⟨¬v⟩ = q ⊕.⊗ A, then v⟨q⟩ = depth, until q is empty (push-pull, Algorithm 1).

q   the frontier        v   the visited vertices with their depths        A   the adjacency matrix
"""

from __future__ import annotations

from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.jobs import Question
from hopwave.plan import Plan, PlanUsed
from hopwave.results.search import BFSResult
from hopwave.trace import Trace


def search(
    engine: Engine,
    graph: Graph,
    sources: tuple[int, ...],
    question: Question,
    plan: Plan,
    why: str,
    trace: bool,
    threads: int | None,
) -> BFSResult:
    """Run the plan on the engine and wrap what it found."""
    A = engine.load(graph, plan)
    q = engine.start(A, sources, question, threads)
    levels = engine.run(q, plan, trace)
    found = engine.fetch(q)
    return BFSResult(
        **found,
        sources=sources,
        plan=PlanUsed(plan, why, engine.without(plan)),
        engine=engine.name,
        trace=Trace(levels) if trace else None,
        graph=graph,
    )
