"""Plans: a published algorithm as a record of its choices.

Every search computes q⟨¬v⟩ = q ⊕.⊗ A, level by level. The papers differ in how they compute a level (the steps) and in
how they choose a step for it (the rule). A plan records these choices and contains no arrays; engines read it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hopwave.errors import PlanError
from hopwave.planning.jobs import SearchJob
from hopwave.planning.rules import ByFunction, Rule


class _Checked:
    """A record with checked words: a word that its field's Literal type does not list raises a PlanError."""

    def __post_init__(self) -> None:
        for name, field in _hints(self.__class__).items():
            value, words = getattr(self, name), get_args(field)
            if get_origin(field) is Literal and value not in words:
                known = " or ".join(map(repr, words))
                raise PlanError(f"{name}={value!r} is not known for {type(self).__name__}; use {known}")


_hints: Callable[[Any], dict[str, Any]] = cache(get_type_hints)


@dataclass(frozen=True)
class Push(_Checked):
    """Vertices of the frontier write to their out-neighbours: a product by columns.

    mapping         threads per list of neighbours: one "thread"; "twc", a thread, a warp or a block, by its
                    length; "merge", equal shares of all lists; "edge", one thread per arc of the graph
    output          how the next frontier is built: a "queue" filled during the push, a "scan" of the status array
                    afterwards, a "dense" vector, a "sort" of all neighbours; "reuse" reads the queue of the last pull
    claim           how a vertex is marked as visited: by an "atomic" operation, or by plain stores of equal values,
                    "benign"
    structure_only  whether the sort moves only keys; False sorts keys with values
    """

    mapping: Literal["thread", "twc", "merge", "edge"]
    output: Literal["queue", "scan", "dense", "sort", "reuse"] = "queue"
    claim: Literal["atomic", "benign"] = "atomic"
    structure_only: bool = True

    direction = "push"
    early_exit = False

    def __str__(self) -> str:
        return f"push({self.mapping}, {self.output})"


@dataclass(frozen=True)
class Pull(_Checked):
    """Unvisited vertices search their in-neighbours for the frontier: a product by masked rows.

    mapping       one "thread" or one "warp" per row; "merge", equal shares of all rows' arcs, if every arc is read
    rows          which rows are computed: "all" (masked afterwards), the "unvisited" ones, or a "compacted" list
    operand       a row searches for the "frontier", or any "visited" vertex, with one result (push-pull, section 5.4)
    early_exit    whether a row stops at the first neighbour found
    asynchronous  whether a row may also find vertices of the next level (XBFS, section 5.2)
    balance       how threads get rows: "static", in advance; fetched at run time, one by each "thread" or 32 by
                  each "warp"; "donate", as "warp" with all threads of a warp on its last row (XBFS, section 5.1.2)
    """

    mapping: Literal["thread", "warp", "merge"]
    rows: Literal["all", "unvisited", "compacted"] = "unvisited"
    operand: Literal["frontier", "visited"] = "frontier"
    early_exit: bool = True
    asynchronous: bool = False
    balance: Literal["static", "thread", "warp", "donate"] = "static"

    direction = "pull"

    def __str__(self) -> str:
        words = self.mapping, self.rows, "visited" * (self.operand == "visited"), "exit" * self.early_exit
        return f"pull({', '.join(filter(None, (*words, 'async' * self.asynchronous)))})"


Step = Push | Pull


@dataclass(frozen=True)
class Plan(_Checked):
    """A named algorithm: its steps, the rule that chooses a step, where the loop runs, and the order of neighbours.

    steps    the methods to compute a level
    rule     chooses a step for each level; it may be your own function of `hopwave.planning.rules.Sizes`
    loop     where the loop over levels runs: on the "host", or on the "device", including the rule
    order    the order of the neighbours in each row: "any", or by descending "degree"
    task     "search", "betweenness", or "paths": shortest paths along arcs with lengths
    regime   for betweenness, how sources are distributed: "source", one after the other, as the papers do; "block", one
             source per worker; "batch", many sources share every read of the graph; "wide", all workers on one source
    lengths  the length of a path: its number of "hops", or the sum of its arcs' "weights"

    Examples
    --------
    >>> plan = hw.plan("hiragushi-hybrid")
    >>> plan.rule.alpha, str(plan.steps[0])
    (48, 'push(twc, queue)')
    """

    name: str
    paper: str
    section: str
    summary: str
    steps: tuple[Step, ...]
    rule: Rule
    loop: Literal["host", "device"] = "host"
    order: Literal["any", "degree"] = "any"
    task: Literal["search", "betweenness", "paths"] = "search"
    regime: Literal["source", "block", "batch", "wide"] = "source"
    lengths: Literal["hops", "weights"] = "hops"

    def __post_init__(self) -> None:
        super().__post_init__()
        given: Any = self.rule
        if not isinstance(given, Rule):
            if not callable(given):
                raise PlanError(f"rule={given!r} is not a rule; pass one of hopwave.planning.rules, or a function")
            object.__setattr__(self, "rule", ByFunction(given, len(self.steps)))
        if isinstance(self.rule, ByFunction) and (self.loop == "device" or self.task != "search"):
            problem = f"plan {self.name!r} has a function as its rule, which only a search with loop='host' can call"
            raise PlanError(f"{problem}; pass loop='host' and task='search', or one of hopwave.planning.rules")
        if len(self.steps) != self.rule.choices:
            reason = f"plan {self.name!r} has {len(self.steps)} steps, but {self.rule} chooses from {self.rule.choices}"
            raise PlanError(f"{reason}; pass as many steps as the rule chooses from")

    def why_not(self, question: SearchJob) -> str | None:
        """The reason why this plan cannot run the job on any engine, or None.

        >>> hw.plan("turbobfs-td-sccsc").why_not(SearchJob(path_counts=True)) is None
        True
        """
        if self.task != "search":
            what = "betweenness" if self.task == "betweenness" else "shortest paths along lengths"
            return f"plan {self.name!r} computes {what}, not a search; hopwave.plans() lists plans for searches"
        # ⊕ = + needs all terms of its own level: a row that stops early or runs ahead counts wrongly. (The operand
        # "visited" is allowed: the visited neighbours of an unvisited vertex are all in the frontier.)
        if question.semiring.any_term or not any(s.early_exit or getattr(s, "asynchronous", False) for s in self.steps):
            return None
        problem = f"plan {self.name!r} stops a row at the first parent, so it cannot count paths"
        return f"{problem}; use plan='auto', or a plan without early exit such as 'turbobfs-td-sccsc'"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PlanUsed:
    """The plan that ran, the reason for choosing it, and the choices that the engine ignores.

    Compares equal to its name: `result.plan == "hopwave"`. `plan` is the full record.
    """

    plan: Plan
    why: str
    without: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The plan's name in the catalogue."""
        return self.plan.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PlanUsed):
            return (self.plan, self.why, self.without) == (other.plan, other.why, other.without)
        return other == self.name if isinstance(other, str) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.why})"

    def __repr__(self) -> str:
        steps = " · ".join(map(str, self.plan.steps))
        ignored = f"; this engine ignores: {', '.join(self.without)}" if self.without else ""
        return f"PlanUsed({self}; steps: {steps}; rule: {self.plan.rule}{ignored})"


class PlanTable(tuple[Plan, ...]):
    """A tuple of plans that prints as a table.

    >>> [plan.name for plan in hw.plans()][0]
    'hopwave'
    """

    def __str__(self) -> str:
        width = max(len(plan.name) for plan in self)
        return "\n".join(f"{plan.name:<{width}}  {plan.summary}  [{plan.paper}, {plan.section}]" for plan in self)

    __repr__ = __str__

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| plan | description | steps | rule | paper |", "|---|---|---|---|---|"]
        for plan in self:
            cells = plan.summary, " · ".join(map(str, plan.steps)), plan.rule, f"{plan.paper}, {plan.section}"
            lines.append(f"| `{plan.name}` | {' | '.join(map(str, cells))} |")
        return "\n".join(lines)
