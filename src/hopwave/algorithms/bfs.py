"""Breadth-first search: q⟨¬v⟩ = q ⊕.⊗ A, then v⟨q⟩ = depth, until q is empty (push-pull, Algorithm 1).

q   the frontier        v   the visited vertices with their depths        A   the adjacency matrix
"""

from __future__ import annotations

from typing import Any

from hopwave.engines import Engine
from hopwave.graph import Graph
from hopwave.jobs import Question
from hopwave.plan import Plan
from hopwave.rules import Sizes
from hopwave.trace import Level


def search(
    engine: Engine,
    graph: Graph,
    sources: tuple[int, ...],
    question: Question,
    plan: Plan,
    trace: bool = False,
    threads: int | None = None,
) -> tuple[dict[str, Any], list[Level]]:
    """Run the plan on the engine. Returns what `Engine.fetch` found, and the levels."""
    A = engine.load(graph, plan)
    q = engine.start(A, sources, question, threads)
    levels = engine.run(q, plan, trace)
    if levels is None:
        levels = host_loop(engine, graph, q, question, plan)
    return engine.fetch(q), levels


def host_loop(engine: Engine, graph: Graph, q: Any, question: Question, plan: Plan) -> list[Level]:
    """One level after another. Before each, the rule chooses the step."""
    levels: list[Level] = []
    nf0 = mf0 = 0
    last = -1
    while q.nf and (question.depth_limit is None or q.depth < question.depth_limit):
        nf, mf = q.nf, q.mf
        last = plan.rule.choose(Sizes(graph.n, graph.m, nf, mf, q.mu, nf0, mf0, last))
        levels.append(engine.advance(q, plan.steps[last], last))
        nf0, mf0 = nf, mf
    return levels
