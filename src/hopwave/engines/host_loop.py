"""The loop of a search on the host, for engines that compute one level at a time."""

from __future__ import annotations

from typing import Any, Protocol

from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Step
from hopwave.planning.trace import Level


class Search(Protocol):
    """A search under way, with the sizes that a rule looks at."""

    @property
    def question(self) -> SearchJob: ...

    @property
    def depth(self) -> int: ...

    @property
    def nf(self) -> int:
        """Vertices in the frontier."""

    @property
    def mf(self) -> int:
        """Arcs that leave the frontier."""

    @property
    def mu(self) -> int:
        """Arcs that leave unvisited vertices."""


class Stepwise(Protocol):
    """An engine that computes one level at a time."""

    def advance(self, search: Any, step: Step, choice: int) -> Level:
        """One level, computed by that step, which is the rule's choice of that number."""


def by_levels(engine: Stepwise, search: Search, n: int, m: int, plan: Plan, trace: bool = True) -> list[Level]:
    """One level after another of a graph with n vertices and m arcs; before each, the plan's rule chooses its step.

    Returns the levels, or nothing without a trace. The rule is called as `Rule.choose` calls it, but without a record
    of the sizes: small levels on a GPU take no longer than such a record.
    """
    levels: list[Level] = []
    rule, (a, b) = plan.rule.function, plan.rule.parameters()
    depth_limit = search.question.depth_limit
    nf0 = mf0 = 0
    last = -1
    while search.nf and (depth_limit is None or search.depth < depth_limit):
        nf, mf = search.nf, search.mf
        last = rule(a, b, n, m, nf, mf, search.mu, nf0, mf0, last)
        level = engine.advance(search, plan.steps[last], last)
        if trace:
            levels.append(level)
        nf0, mf0 = nf, mf
    return levels
