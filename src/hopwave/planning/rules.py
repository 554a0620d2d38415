"""Rules: functions that choose the step of a plan for the next level.

A rule is a pure function of the sizes of a level; it returns the number of a step. The CPU engine compiles the same
functions into its loop, and tests replay them against the trace of every engine. Rules are therefore plain arithmetic
on numbers, without Python objects:

    n, m      vertices and arcs of the graph
    nf, mf    vertices of the frontier, and arcs that leave them
    mu        arcs that leave unvisited vertices
    nf0, mf0  nf and mf of the previous level (0 at the source)
    last      the step of the previous level (-1 at the source)
    a, b      the parameters of the rule
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hopwave.checks.numbers import is_whole
from hopwave.errors import PlanError


@dataclass(frozen=True)
class Sizes:
    """The inputs of a rule. The module's docstring explains the letters."""

    n: int
    m: int
    nf: int
    mf: int
    mu: int
    nf0: int = 0
    mf0: int = 0
    last: int = -1


def always(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """The same step for every level."""
    return 0


def beamer(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Push until mf > mu/α, pull until nf < n/β (Hiragushi, section 2, after Beamer et al. 2012).

    Hiragushi prints nf > |V|/β for the switch back to push; Beamer et al. and the paper's text state the opposite.
    """
    if last == 1:
        return 0 if nf * b < n else 1
    return 1 if mf * a > mu else 0


def one_way(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Push until the frontier contains the share a of the vertices, then pull to the end (TurboBFS, section III-C)."""
    return 1 if last == 1 or nf >= a * n else 0


def ratio(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """With r = nf/n: pull once r rises above α, push once it falls below β (push-pull, section 6.3)."""
    if last == 1:
        return 0 if nf < nf0 and nf < b * n else 1
    return 1 if nf > nf0 and nf > a * n else 0


def xbfs(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """The five boxes of XBFS's Figure 7 (section 4.3): four methods to build a queue.

    0 scan-free, 1 single-scan, 2 double-scan (the pull), 3 none, 4 scan-free again. Pull while mf/|E| ≥ α. Before the
    pull, use the single scan if the growth λ = mf/mf0 predicts that this push is the last (equation 2). After the
    pull, push once from the queue of the pull, then scan-free to the end.
    """
    if mf >= a * m:
        return 2
    if last >= 2:
        return 3 if last == 2 else 4
    if mf0 > 0 and mf * (mf / mf0) >= a * m:
        return 1
    return 0


def growing(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """hopwave's rule: Beamer's two tests, each used only while the frontier changes in its direction.

    Start to pull only while the frontier grows: near the end of a search mu approaches 0, and mf > mu/α holds for tiny
    frontiers. A pull reads the bitmap of visited vertices, so it must save more arcs than n/64 words. If the mean
    degree of the frontier is above the graph's, pull up to four times sooner: such hubs come first in the rows of
    their neighbours. Return to push only while the frontier shrinks, with nf ≤ n/β, and only if mf arcs are fewer than
    the mu arcs and n/64 words of a pull.
    """
    if last == 1:
        return 0 if nf < nf0 and nf * b <= n and mf * 64 < mu * 64 + n else 1
    if nf <= nf0 or mf * 64 <= n:
        return 0
    hubs = min(4.0, max(1.0, (mf / nf) * (n / max(m, 1))))
    return 1 if mf * a * hubs > mu else 0


def fewer(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """For sums over all terms: pull if it reads fewer arcs, mu < α·mf, and mf justifies the bitmaps, b·mf > n."""
    return 1 if mf * a > mu and mf * b > n else 0


# The code of a rule is its index in this tuple; compiled engines dispatch on the code.
FUNCTIONS = (always, beamer, one_way, ratio, xbfs, growing, fewer)


class Rule:
    """A rule with its parameters; `code` is the index of its function in `FUNCTIONS`, `choices` the number of steps."""

    code: ClassVar[int]
    choices: ClassVar[int] = 2

    @property
    def function(self) -> Callable[..., int]:
        """The function of a, b and the sizes that chooses a step."""
        return FUNCTIONS[self.code]

    def parameters(self) -> tuple[float, float]:
        """The parameters a and b of the function."""
        given = [float(value) for value in vars(self).values()]
        return (*given, 0.0, 0.0)[:2]  # type: ignore[return-value]

    def choose(self, sizes: Sizes) -> int:
        """The number of the chosen step.

        >>> Beamer(alpha=48, beta=20).choose(Sizes(n=100, m=1000, nf=10, mf=100, mu=900))
        1
        """
        s = sizes
        return self.function(*self.parameters(), s.n, s.m, s.nf, s.mf, s.mu, s.nf0, s.mf0, s.last)

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{value:g}' for value in vars(self).values())})"


@dataclass(frozen=True)
class Always(Rule):
    """The same step for every level."""

    code: ClassVar[int] = 0
    choices: ClassVar[int] = 1


@dataclass(frozen=True)
class Beamer(Rule):
    """Push, pull, push, by the arcs of the frontier and of unvisited vertices. See `beamer`."""

    alpha: float
    beta: float
    code: ClassVar[int] = 1


@dataclass(frozen=True)
class OneWay(Rule):
    """Push, then pull to the end. See `one_way`."""

    share: float
    code: ClassVar[int] = 2


@dataclass(frozen=True)
class Ratio(Rule):
    """Push, pull, push, by the share of the vertices in the frontier. See `ratio`."""

    rising: float
    falling: float
    code: ClassVar[int] = 3


@dataclass(frozen=True)
class XBFS(Rule):
    """Scan-free, single-scan, double-scan, no queue, scan-free. See `xbfs`."""

    alpha: float
    code: ClassVar[int] = 4
    choices: ClassVar[int] = 5


@dataclass(frozen=True)
class Growing(Rule):
    """Beamer's rule, used only while the frontier changes in its direction. See `growing`."""

    alpha: float
    beta: float
    code: ClassVar[int] = 5


@dataclass(frozen=True)
class Fewer(Rule):
    """Pull if pulling reads fewer arcs; for sums. See `fewer`."""

    alpha: float
    floor: float
    code: ClassVar[int] = 6


@dataclass(frozen=True)
class ByFunction(Rule):
    """A caller's function from the `Sizes` of a level to the number of a step: `Plan(…, rule=function)`.

    The function is called before each level, on every engine.
    """

    given: Callable[[Sizes], int]
    steps: int
    code: ClassVar[int] = -1

    @property
    def choices(self) -> int:  # type: ignore[override]
        """The number of steps it chooses from."""
        return self.steps

    @property
    def function(self) -> Callable[..., int]:
        return lambda a, b, *sizes: self._checked(self.given(Sizes(*sizes)))

    def _checked(self, choice: Any) -> int:
        if not is_whole(choice) or not 0 <= choice < self.steps:
            raise PlanError(f"{self} chose step {choice!r}; return an integer from 0 to {self.steps - 1}")
        return int(choice)

    def parameters(self) -> tuple[float, float]:
        return 0.0, 0.0

    def __str__(self) -> str:
        return getattr(self.given, "__name__", repr(self.given))
