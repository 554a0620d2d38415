"""Breadth-first search: q⟨¬v⟩ = q ⊕.⊗ A, then v⟨q⟩ = depth, until q is empty (push-pull, Algorithm 1).

q   the frontier        v   the visited vertices with their depths        A   the adjacency matrix
"""

from __future__ import annotations

from typing import Any

from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.jobs import Question
from hopwave.plan import Plan, PlanUsed
from hopwave.results.search import BFSResult
from hopwave.rules import Sizes
from hopwave.trace import Level, Trace


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
    if levels is None:
        levels = host_loop(engine, graph, q, question, plan)
    found = engine.fetch(q)
    return BFSResult(
        **found,
        sources=sources,
        plan=PlanUsed(plan, why, engine.without(plan)),
        engine=engine.name,
        trace=Trace(levels) if trace else None,
        graph=graph,
    )


def host_loop(engine: Engine, graph: Graph, q: Any, question: Question, plan: Plan) -> list[Level]:
    """One level after another, the rule asked before each."""
    levels: list[Level] = []
    nf0 = mf0 = 0
    last = -1
    while q.nf and (question.depth_limit is None or q.depth < question.depth_limit):
        nf, mf = q.nf, q.mf
        last = plan.rule.choose(Sizes(graph.n, graph.m, nf, mf, q.mu, nf0, mf0, last))
        levels.append(engine.advance(q, plan.steps[last], last))
        nf0, mf0 = nf, mf
    return levels
