"""Which way the next level goes: rules, pure functions of the level's sizes.

A rule picks one of a plan's steps, by its number. The same functions, compiled, run inside the CPU engine's loop, and
tests replay them against every engine's trace. They are therefore plain arithmetic on numbers, without Python objects:

    n, m      vertices and arcs of the graph
    nf, mf    vertices of the frontier, and arcs that leave them
    mu        arcs that leave unvisited vertices
    nf0, mf0  nf and mf one level before (0 at the source)
    last      the step taken one level before (-1 at the source)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Sizes:
    """What a rule may look at; the letters are explained at the top of this file.

    >>> Sizes(n=10, m=40, nf=1, mf=4, mu=36).last
    -1
    """

    n: int
    m: int
    nf: int
    mf: int
    mu: int
    nf0: int = 0
    mf0: int = 0
    last: int = -1


def always(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """One step for the whole search."""
    return 0


def beamer(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Push until mf > mu/α, pull until nf < n/β (Hiragushi, section 2, after Beamer et al. 2012).

    Hiragushi prints nf > |V|/β for the way back; Beamer et al. and the text around it say that the frontier must have
    become small, so nf < n/β it is.
    """
    if last == 1:
        return 0 if nf * b < n else 1
    return 1 if mf * a > mu else 0


def one_way(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Pull from the level on whose frontier holds a share a of the vertices; never back (TurboBFS, section III-C)."""
    return 1 if last == 1 or nf >= a * n else 0


def ratio(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """With r = nf/n: pull once r rises above α, push once it falls below β (push-pull, section 6.3)."""
    if last == 1:
        return 0 if nf < nf0 and nf < b * n else 1
    return 1 if nf > nf0 and nf > a * n else 0


def xbfs(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Four ways to a queue (XBFS, section 4.3): 0 scan-free, 1 single-scan, 2 double-scan (the pull), 3 no queue made.

    Pull while mf/|E| ≥ α. Before that, single-scan on the one level that the growth λ = mf/mf0 says is the last push
    (equation 2). After it, one push from the queue that the pull left behind; then scan-free to the end.
    """
    if mf >= a * m:
        return 2
    if last == 2:
        return 3
    if mf0 > 0 and mf * (mf / mf0) >= a * m:
        return 1
    return 0


def growing(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """hopwave's own: Beamer's two tests, each believed only while the frontier moves that way.

    Near the end of any search mu goes to 0 and mf > mu/α holds for frontiers of a handful: on roads and meshes Beamer's
    rule then pulls, level after level, through rows that nothing reaches. A pull must read every unvisited vertex, so
    it also has to have as many arcs to save as there are words of 64 vertices to read. And a frontier of hubs, whose
    mean degree is above the graph's, is pulled up to four times sooner: hubs stand first in their neighbours' rows.

    A pull looks at no more than the unvisited arcs and those words, so it also goes on where that is less than a push.
    """
    if last == 1:
        return 0 if nf < nf0 and nf * b <= n and mf * 64 < mu * 64 + n else 1
    if nf <= nf0 or mf * 64 <= n:
        return 0
    hubs = min(4.0, max(1.0, (mf / nf) * (n / max(m, 1))))
    return 1 if mf * a * hubs > mu else 0


def fewer(a: float, b: float, n: int, m: int, nf: int, mf: int, mu: int, nf0: int, mf0: int, last: int) -> int:
    """Where every term counts: pull whenever it looks at fewer arcs, mu < α·mf, and mf pays for the bitmaps, b·mf > n.

    Without early exit a pull looks at every arc into the unvisited vertices, so the two sides can simply be compared.
    """
    return 1 if mf * a > mu and mf * b > n else 0


# A rule's code is its place here; compiled engines choose by it.
FUNCTIONS = (always, beamer, one_way, ratio, xbfs, growing, fewer)


class Rule:
    """A rule with its parameters: `Always`, `Beamer`, `OneWay`, `Ratio`, `XBFS`, `Growing`, `Fewer`.

    `code` names its function to compiled engines, `choices` is how many steps it picks from.
    """

    code: ClassVar[int]
    choices: ClassVar[int] = 2

    def parameters(self) -> tuple[float, float]:
        """The function's a and b."""
        given = [float(value) for value in vars(self).values()]
        return (*given, 0.0, 0.0)[:2]  # type: ignore[return-value]

    def choose(self, sizes: Sizes) -> int:
        """The number of the step to take.

        >>> Beamer(alpha=48, beta=20).choose(Sizes(n=100, m=1000, nf=10, mf=100, mu=900))
        1
        """
        s = sizes
        return FUNCTIONS[self.code](*self.parameters(), s.n, s.m, s.nf, s.mf, s.mu, s.nf0, s.mf0, s.last)

    def __str__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{value:g}' for value in vars(self).values())})"


@dataclass(frozen=True)
class Always(Rule):
    """One step for the whole search."""

    code: ClassVar[int] = 0
    choices: ClassVar[int] = 1


@dataclass(frozen=True)
class Beamer(Rule):
    """Push, pull, push by the arcs of frontier and unvisited; see `beamer`."""

    alpha: float
    beta: float
    code: ClassVar[int] = 1


@dataclass(frozen=True)
class OneWay(Rule):
    """Push, then pull to the end; see `one_way`."""

    share: float
    code: ClassVar[int] = 2


@dataclass(frozen=True)
class Ratio(Rule):
    """Push, pull, push by the frontier's share of the vertices; see `ratio`."""

    rising: float
    falling: float
    code: ClassVar[int] = 3


@dataclass(frozen=True)
class XBFS(Rule):
    """Scan-free, single-scan, double-scan or no queue; see `xbfs`."""

    alpha: float
    code: ClassVar[int] = 4
    choices: ClassVar[int] = 4


@dataclass(frozen=True)
class Growing(Rule):
    """Beamer's rule, believed only while the frontier moves that way; see `growing`."""

    alpha: float
    beta: float
    code: ClassVar[int] = 5


@dataclass(frozen=True)
class Fewer(Rule):
    """Pull where that is fewer arcs, for sums; see `fewer`."""

    alpha: float
    floor: float
    code: ClassVar[int] = 6
