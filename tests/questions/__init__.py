"""One table of questions: a public function, its arguments, an oracle, and the devices that answer.

How to add a row. The files of this folder have a list ROWS each; a row is

    Row("hw.diameter", lambda c: nx.diameter(c.nx), only=connected)
    Row("hw.closeness_centrality", closeness, graph="weighted", given=lambda c: {"weights": True}, read=scores)

call      the function, as tests call it
due       the oracle: a function of the case and the arguments, by another program or by the definition
graph     the attribute of the case that is the first argument: plain, weighted, matrix; None: there is none
given     arguments: a function of the case, which may draw them with case.draw, vertex(), some(), maybe()
read      what is compared of the answer; None if `check` alone judges it
check     check(case, answer, **arguments) has assertions: for answers of which several are right
only      which cases have an answer
devices   which engines answer: CPU, EVERYWHERE ("cpu" and "cuda"), WITH_REFERENCE; or a function of the device's name
refuses   an error that stands for the answer None
exact     whether all bits must agree
more      arguments that the oracle does not get, such as plan=
large     whether the row is also asked about traps of thousands of vertices, so that its oracle must be fast

`device` and `threads` are drawn by the runner, for functions that have them. test_questions.py runs every row over all
trap graphs and over random graphs, on the CPU (small graphs take two ways), the reference and a GPU, with one to three
threads; tests/fuzz/long_run.py (`make fuzz`) asks for as long as you like. Rows that share `given` and `due` share
their arguments and the oracle's answer. A public function without a row fails a test that says which line is missing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np

import hopwave as hw
import public_calls
from hopwave import engines
from hopwave.arrays import on_host

CPU = ("cpu",)
EVERYWHERE = ("cpu", "cuda")
WITH_REFERENCE = ("cpu", "reference", "cuda")
CLOSE = {"rtol": 1e-9, "atol": 1e-12}
scores = attrgetter("scores")


class Difference(AssertionError):
    """Two answers to the same question differ; the message has the input."""


def nothing(case: Any) -> dict[str, Any]:
    return {}


def itself(answer: Any) -> Any:
    return answer


def always(case: Any) -> bool:
    return True


def directed(case: Any) -> bool:
    return bool(case.directed)


def undirected(case: Any) -> bool:
    return not case.directed


@dataclass(frozen=True)
class Row:
    """One question; the module says what the fields are."""

    call: str
    due: Callable[..., Any] | None = None
    graph: str | None = "plain"
    given: Callable[[Any], dict[str, Any]] = nothing
    read: Callable[[Any], Any] | None = itself
    check: Callable[..., Any] | None = None
    only: Callable[[Any], bool] = always
    devices: tuple[str, ...] | Callable[[str], bool] = EVERYWHERE
    refuses: type[Exception] | tuple[()] = ()
    exact: bool = False
    large: bool = False
    title: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.call}{f', {self.title}' * bool(self.title)}"

    @property
    def function(self) -> Callable[..., Any]:
        found: Any = {"hw": hw, "la": hw.linalg, "generate": hw.generate, "datasets": hw.datasets}
        first, *names = self.call.split(".")
        found = found[first]
        for name in names:
            found = getattr(found, name)
        return found  # type: ignore[no-any-return]

    def runs_on(self, device: str) -> bool:
        if callable(self.devices):
            return self.devices(device)
        return device in self.devices

    def ask(self, case: Any) -> int:
        """Ask about one case and compare. Returns how many answers were compared."""
        if not self.runs_on(case.device) or not self.only(case):
            return 0
        given, due = case.asked(self)
        where = self.more | case.where(public_calls.options(self.function).keys() - given.keys())
        about = f"{self} of {case} with {given}"
        first = () if self.graph is None else (getattr(case, self.graph),)
        refused = False
        try:
            answer = self.function(*first, **given, **where)
            answer = list(answer) if hasattr(answer, "__next__") else answer
        except self.refuses:
            answer, refused = None, True
        except Exception as error:
            if case.device == "cuda" and "device='cpu'" in str(error):
                return 0  # a GPU does not offer it, and says so
            raise Difference(f"{about}: {type(error).__name__}: {error}") from error
        if self.check is not None and not refused:
            try:
                self.check(case, answer, **given, **self.more)
            except AssertionError as error:
                raise Difference(f"{about} found {answer}: {error}") from error
        if self.due is not None and self.read is not None:
            found = None if refused else self.read(answer)
            if not agree(found, due, self.exact):
                raise Difference(f"{about} found {found}, expected {due}")
        return 1


def agree(found: Any, due: Any, exact: bool) -> bool:
    """Whether an answer is the oracle's: numbers up to rounding, unless all bits must agree."""
    if isinstance(due, dict):
        return found.keys() == due.keys() and agree([found[key] for key in due], list(due.values()), exact)
    if isinstance(due, tuple):
        return len(found) == len(due) and all(map(agree, found, due, [exact] * len(due)))
    if due is None or found is None or isinstance(due, bool | str | set | hw.Graph):
        return bool(found == due)
    try:
        mine, theirs = np.asarray(on_host(found)), np.asarray(due)
    except ValueError:  # rows of several lengths
        return bool(found == due)
    if mine.shape != theirs.shape:
        return False
    if exact or not (np.issubdtype(theirs.dtype, np.floating) or theirs.dtype == object):
        return bool((mine == theirs).all())
    return np.allclose(mine.astype(float), theirs.astype(float), **CLOSE, equal_nan=True)


def partition(labels: Any) -> list[int]:
    """Labels by lowest vertex: equal for equal partitions."""
    first: dict[int, int] = {}
    return [first.setdefault(label, v) for v, label in enumerate(list(labels))]


def check_independent(case: Any, found: Any, **_: Any) -> None:
    """No two vertices of the set are neighbours, and no vertex can be added."""
    chosen = set((found.to("cpu").indices if hasattr(found, "indices") else found).tolist())
    own = case.neighbours()
    assert not [v for v in chosen if own[v] & chosen]
    assert not [v for v in range(case.n) if v not in chosen and not own[v] & chosen]


def available(device: str) -> bool:
    """Whether an engine is here."""
    try:
        engines.engine(device)
    except hw.EngineError:
        return False
    return True
