"""Plans: a published algorithm as a record of its choices.

Every search is the same formula, q⟨¬v⟩ = q ⊕.⊗ A, level after level. The papers differ in how a level is computed
(its steps) and which way is taken when (its rule). A plan writes that down and holds no arrays; engines read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from hopwave.errors import PlanError
from hopwave.jobs import Question
from hopwave.rules import Rule


@dataclass(frozen=True)
class Push:
    """Vertices of the frontier write to their out-neighbours: a product by columns.

    `mapping` is who works on a neighbour list: a thread, a warp, a block, all three by its length (twc), equal shares
    of all lists (merge), or a thread an arc of the whole graph (edge). `output` is how the next frontier is made: a
    queue filled on the way, a scan of the status array afterwards, a dense vector, a sort of all neighbours, or none at
    all ("reuse": the queue of the pull before is read again). `claim` is how a vertex is marked: by an atomic
    operation, or by plain stores where all writers write the same. `structure_only=False` carries
    values through the sort.
    """

    mapping: Literal["thread", "warp", "block", "twc", "merge", "edge"]
    output: Literal["queue", "scan", "dense", "sort", "reuse"] = "queue"
    claim: Literal["atomic", "benign"] = "atomic"
    structure_only: bool = True

    direction = "push"
    early_exit = False

    def __post_init__(self) -> None:
        _check_words(self)

    def __str__(self) -> str:
        return f"push({self.mapping}, {self.output})"


@dataclass(frozen=True)
class Pull:
    """Vertices not yet visited look among their in-neighbours for the frontier: a product by masked rows.

    `rows` are the rows computed: all of them (the mask applied afterwards), the unvisited ones, or a compacted list of
    them. `operand` is what is looked for: the frontier, or any visited vertex, which at this point is the same
    (push-pull, section 5.4). `early_exit` stops at the first one found. `asynchronous` also takes the level after this
    one where it can already tell (XBFS, section 5.2). `balance` is how rows are dealt to threads.
    """

    mapping: Literal["thread", "warp"]
    rows: Literal["all", "unvisited", "compacted"] = "unvisited"
    operand: Literal["frontier", "visited"] = "frontier"
    early_exit: bool = True
    asynchronous: bool = False
    balance: Literal["static", "thread", "warp"] = "static"

    direction = "pull"

    def __post_init__(self) -> None:
        _check_words(self)

    def __str__(self) -> str:
        extras = (
            [self.operand] * (self.operand == "visited") + ["exit"] * self.early_exit + ["async"] * self.asynchronous
        )
        return f"pull({', '.join([self.mapping, self.rows, *extras])})"


Step = Push | Pull


def _check_words(record: Any) -> None:
    """Every word of a record must be one its type lists: a typo is not a plan."""
    for name, kind in get_type_hints(type(record)).items():
        words, value = get_args(kind), getattr(record, name)
        if get_origin(kind) is Literal and value not in words:
            raise PlanError(
                f"{name}={value!r} is not known to {type(record).__name__}; use {' or '.join(map(repr, words))}"
            )


@dataclass(frozen=True)
class Plan:
    """A named algorithm: its steps, the rule that picks among them, where the loop runs, how neighbours are ordered.

    >>> import hopwave as hw
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
    task: Literal["search", "betweenness"] = "search"
    regime: Literal["source", "block", "batch", "wide"] = "source"

    def __post_init__(self) -> None:
        _check_words(self)
        if len(self.steps) != self.rule.choices:
            raise PlanError(
                f"plan {self.name!r} has {len(self.steps)} steps, but {self.rule} picks among {self.rule.choices}; "
                "give the rule as many steps as it chooses from"
            )

    def why_not(self, question: Question) -> str | None:
        """Why this plan cannot answer the question on any engine, or None.

        >>> import hopwave as hw
        >>> hw.plan("turbobfs-td-sccsc").why_not(Question(path_counts=True)) is None
        True
        """
        if self.task != "search":
            return f"plan {self.name!r} computes betweenness, not a search; hopwave.plans() lists those that search"
        if question.semiring.any_term:
            return None
        for step in self.steps:
            # ⊕ = + needs every term of its own level: a row that stops at the first, or runs ahead, counts wrongly.
            # (Looking at visited vertices is no harm: those beside an unvisited one are all in the frontier.)
            if isinstance(step, Pull) and (step.early_exit or step.asynchronous):
                return (
                    f"plan {self.name!r} stops a row at the first parent it finds, so it cannot count paths; "
                    "use plan='auto', or one that pulls without early exit such as 'turbobfs-td-sccsc'"
                )
        return None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class PlanUsed:
    """Which plan ran, why it was chosen, and which of its choices had no meaning on the engine.

    Compares equal to its name: `result.plan == "hopwave"`.
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
        without = f"; without {', '.join(self.without)}" if self.without else ""
        return f"{self.name} ({self.why}{without})"
