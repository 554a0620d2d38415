"""Rules compared with their papers: sizes of hand-made levels, and the papers' steps for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwave.planning import rules
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.rules import XBFS, Always, Beamer, ByFunction, Fewer, Growing, OneWay, Ratio, Rule, Sizes

PUSH, PULL = 0, 1
SCAN_FREE, SINGLE_SCAN, DOUBLE_SCAN, NO_QUEUE, SCAN_FREE_AGAIN = range(5)

TEN, ONE = OneWay(0.10), Ratio(0.01, 0.01)
HIRAGUSHI, X, OURS, SUMS = Beamer(48, 20), XBFS(0.1), Growing(15, 18), Fewer(1.5, 32)
RULES: list[Rule] = [Always(), HIRAGUSHI, TEN, ONE, X, OURS, SUMS]

# A Kronecker graph of scale 21, as push-pull's section 5.1 and Figure 5a describe it: 2M vertices, 182M edges, a few
# supervertices by iteration 3, a peak at iteration 4, a small frontier again at 6; 1.5M vertices are connected.
KRON_N, KRON_M = 2_097_152, 182_000_000
KRON = [  # (vertices of the frontier, arcs that leave it, arcs that leave the unvisited)
    (1, 20, 181_999_980),
    (20, 40_000, 181_959_980),
    (25_000, 95_000_000, 86_959_980),
    (1_100_000, 85_000_000, 1_959_980),
    (400_000, 1_950_000, 9_980),
    (2_000, 9_900, 80),
]


def replay(rule: Rule, n: int, m: int, levels: list[tuple[int, int, int]]) -> list[int]:
    """The steps that a rule takes in a search with these sizes."""
    taken: list[int] = []
    nf0 = mf0 = 0
    for nf, mf, mu in levels:
        taken.append(rule.choose(Sizes(n, m, nf, mf, mu, nf0, mf0, taken[-1] if taken else -1)))
        nf0, mf0 = nf, mf
    return taken


def road(length: int) -> tuple[int, int, list[tuple[int, int, int]]]:
    """A road network: a frontier of a few hundred vertices throughout."""
    vertices = [min(300, 1 + 3 * level, 1 + 3 * (length - 1 - level)) for level in range(length)]
    return sum(vertices), 2 * sum(vertices), [(nf, 2 * nf, 2 * sum(vertices[i + 1 :])) for i, nf in enumerate(vertices)]


def xbfs(*edges: int) -> tuple[int, int, list[tuple[int, int, int]]]:
    """Levels whose vertices have one arc each, of a graph of 1000 arcs."""
    return 1000, 1000, [(mf, mf, 1000) for mf in edges]


ON_KRON, ROAD = (KRON_N, KRON_M, KRON), road(1000)
TURBO = [(1, 9, 9000), (99, 900, 8000), (100, 950, 7000), (600, 6000, 900), (20, 90, 9), (1, 1, 0)]


@pytest.mark.parametrize(
    ("rule", "search", "steps"),
    [
        (Always(), ON_KRON, [0] * 6),
        # Beamer's test mf > mu/α holds at the end of any search; on roads it would pull over rows that nothing reaches.
        (Beamer(15, 18), ROAD, [PUSH] * 969 + [PULL, PUSH] * 15 + [PULL]),
        (OURS, ROAD, [PUSH] * 1000),
        (ONE, ON_KRON, [PUSH, PUSH, PULL, PULL, PULL, PUSH]),  # push-pull, Figure 5
        (HIRAGUSHI, ON_KRON, [PUSH, PUSH, PULL, PULL, PULL, PUSH]),  # Hiragushi, section 3.5
        (OURS, ON_KRON, [PUSH, PUSH, PULL, PULL, PULL, PUSH]),
        (TEN, (1000, 10_000, TURBO), [PUSH, PUSH, PULL, PULL, PULL, PULL]),  # TurboBFS III-C: never back
        # XBFS, Figure 7: single-scan just before bottom-up, one level without a queue, scan-free to the end.
        (
            X,
            xbfs(2, 8, 40, 400, 300, 60, 5, 1),
            [SCAN_FREE, SCAN_FREE, SINGLE_SCAN, DOUBLE_SCAN, DOUBLE_SCAN, NO_QUEUE, SCAN_FREE_AGAIN, SCAN_FREE_AGAIN],
        ),
        # Section 4.3: no single scan after a pull, also where the frontier grows as equation 2 asks.
        (X, xbfs(40, 400, 2, 40, 90), [SCAN_FREE, DOUBLE_SCAN, NO_QUEUE, SCAN_FREE_AGAIN, SCAN_FREE_AGAIN]),
        (X, xbfs(2, 40, 90), [SCAN_FREE, SINGLE_SCAN, SINGLE_SCAN]),
    ],
)
def test_whole_searches(rule: Rule, search: tuple[int, int, list[tuple[int, int, int]]], steps: list[int]) -> None:
    assert replay(rule, *search) == steps


@given(n=st.integers(1, 2**31 - 2), data=st.data())
def test_turbobfs_ten_percent_is_exact(n: int, data: st.DataObject) -> None:
    nf = data.draw(st.integers(1, n) | st.just(max(1, n // 10)) | st.just(min(n, n // 10 + 1)))
    step = OneWay(0.10).choose(Sizes(n, n, nf=nf, mf=nf, mu=0, last=PUSH))
    assert step == (PULL if 10 * nf >= n else PUSH)


@pytest.mark.parametrize(
    ("rule", "sizes", "step"),  # sizes: n, m, nf, mf, mu, nf0, mf0, last
    [
        # Ratio switches only while the frontier changes that way, and pulls above 1%.
        (ONE, (1000, 9000, 11, 99, 8000, 5, 9, PUSH), PULL),
        (ONE, (1000, 9000, 11, 99, 8000, 50, 9, PUSH), PUSH),
        (ONE, (1000, 9000, 9, 80, 500, 50, 9, PULL), PUSH),
        (ONE, (1000, 9000, 9, 80, 500, 5, 9, PULL), PULL),
        (ONE, (1000, 9000, 10, 90, 8000, 1, 9, PUSH), PUSH),
        (ONE, (1000, 9000, 11, 90, 8000, 1, 9, PUSH), PULL),
        # Beamer pulls when mf > mu / α, and pushes again when nf < n / β.
        (HIRAGUSHI, (1000, 10_000, 30, 100, 4800, 3, 10, PUSH), PUSH),
        (HIRAGUSHI, (1000, 10_000, 30, 100, 4799, 3, 10, PUSH), PULL),
        (HIRAGUSHI, (1000, 10_000, 50, 100, 100, 400, 10, PULL), PULL),
        (HIRAGUSHI, (1000, 10_000, 49, 100, 100, 400, 10, PULL), PUSH),
        # XBFS pulls from α on. Equation 2: λ = 40 / mf0, and 40 · λ ≥ 0.1 · 1000 holds up to mf0 = 16.
        (X, (1000, 1000, 9, 100, 500, 99, 990, SCAN_FREE), DOUBLE_SCAN),
        (X, (1000, 1000, 9, 99, 500, 99, 990, SCAN_FREE), SCAN_FREE),
        (X, (1000, 1000, 9, 40, 900, 4, 16, SCAN_FREE), SINGLE_SCAN),
        (X, (1000, 1000, 9, 40, 900, 4, 17, SCAN_FREE), SCAN_FREE),
        (X, (1000, 1000, 9, 100, 500, 9, 90, SCAN_FREE_AGAIN), DOUBLE_SCAN),
        # XBFS reuses a queue only right after a pull.
        (X, (1000, 1000, 9, 10, 9, 90, 500, DOUBLE_SCAN), NO_QUEUE),
        *((X, (1000, 1000, 9, 10, 9, 90, 500, last), SCAN_FREE) for last in (-1, SCAN_FREE, SINGLE_SCAN)),
        *((X, (1000, 1000, 9, 10, 9, 90, 500, last), SCAN_FREE_AGAIN) for last in (NO_QUEUE, SCAN_FREE_AGAIN)),
        # Growing switches only while the frontier changes that way; both of Beamer's tests hold here.
        (OURS, (1000, 4000, 50, 100, 200, 40, 90, PUSH), PULL),
        (OURS, (1000, 4000, 50, 100, 200, 60, 90, PUSH), PUSH),
        (OURS, (1000, 4000, 50, 100, 200, 60, 90, PULL), PUSH),
        (OURS, (1000, 4000, 50, 100, 200, 40, 90, PULL), PULL),
        # 100 arcs are not worth reading a bitmap of 100 words of 64 vertices.
        (OURS, (6400, 20_000, 9, 100, 10, 1, 5, PUSH), PUSH),
        (OURS, (6399, 20_000, 9, 100, 10, 1, 5, PUSH), PULL),
        # A push would follow 200 arcs; a pull reads 100 words and at most mu arcs.
        *((OURS, (6400, 20_000, 20, 200, mu, 500, 5000, PULL), PULL) for mu in (99, 100)),
        (OURS, (6400, 20_000, 20, 200, 101, 500, 5000, PULL), PUSH),
        # 1000 arcs leave nf vertices of a graph of mean degree 10: α counts up to four times.
        *(
            (OURS, (10_000, 100_000, nf, 1000, 15_000 * sooner + more, 1, 10, PUSH), step)
            for nf, sooner in ((100, 1), (50, 2), (25, 4), (5, 4))
            for more, step in ((-1, PULL), (0, PUSH))
        ),
        # Fewer: mu < 1.5 mf, and 32 mf > n = 100, whatever the last step was.
        *(
            (SUMS, (100, 4000, 50, mf, mu, nf0, 90, last), step)
            for mf, mu, step in ((100, 149, PULL), (100, 150, PUSH), (3, 1, PUSH), (4, 1, PULL))
            for nf0, last in ((0, -1), (1000, PUSH), (1, PULL))
        ),
    ],
)
def test_single_levels(rule: Rule, sizes: tuple[int, ...], step: int) -> None:
    assert rule.choose(Sizes(*sizes)) == step


counts = st.integers(0, 2**40)


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(n=st.integers(1, 2**31 - 2), data=st.data())
def test_rules_are_pure_and_return_a_step(rule: Rule, n: int, data: st.DataObject) -> None:
    vertices, last = st.integers(0, n), st.integers(-1, rule.choices - 1)
    sizes = st.builds(Sizes, st.just(n), counts, vertices, counts, counts, vertices, counts, last)
    here = data.draw(sizes)
    step = rule.choose(here)
    assert type(step) is int and 0 <= step < rule.choices
    rule.choose(data.draw(sizes))
    assert rule.choose(here) == step, "a rule keeps no state between levels"


def test_every_rule_is_tested_here() -> None:
    assert {type(rule) for rule in RULES} == set(Rule.__subclasses__()) - {ByFunction}  # tests/planning/test_plan.py
    assert sorted(rule.code for rule in RULES) == list(range(len(rules.FUNCTIONS)))
    assert {type(plan.rule) for plan in CATALOGUE.values()} <= {type(rule) for rule in RULES}
    assert " ".join(map(str, RULES[1:4])) == "Beamer(48, 20) OneWay(0.1) Ratio(0.01, 0.01)"
