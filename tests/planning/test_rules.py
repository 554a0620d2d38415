"""Rules compared with their papers: sizes of hand-made levels, and the papers' steps for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwave.planning import rules
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.rules import XBFS, Always, Beamer, ByFunction, Fewer, Growing, OneWay, Ratio, Rule, Sizes

PUSH, PULL = 0, 1
SCAN_FREE, SINGLE_SCAN, DOUBLE_SCAN, NO_QUEUE, SCAN_FREE_AGAIN = range(5)

RULES: list[Rule] = [
    Always(),
    Beamer(48, 20),
    OneWay(0.10),
    Ratio(0.01, 0.01),
    XBFS(0.1),
    Growing(15, 18),
    Fewer(1.5, 32),
]

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


def road(length: int) -> list[tuple[int, int, int]]:
    """A road network: a frontier of a few hundred vertices throughout."""
    vertices = [min(300, 1 + 3 * level, 1 + 3 * (length - 1 - level)) for level in range(length)]
    left = m = 2 * sum(vertices)
    levels = []
    for nf in vertices:
        left -= 2 * nf
        levels.append((nf, 2 * nf, left))
    assert levels[-1][2] == 0 and m > 0
    return levels


def test_always_takes_its_one_step() -> None:
    assert replay(Always(), KRON_N, KRON_M, KRON) == [0] * 6


# ---------------------------------------------------------------- push-pull, section 6.3


def test_pushpull_figure_5() -> None:
    taken = replay(Ratio(0.01, 0.01), KRON_N, KRON_M, KRON)
    assert taken == [PUSH, PUSH, PULL, PULL, PULL, PUSH]


def test_ratio_switches_only_while_the_frontier_changes_that_way() -> None:
    rule = Ratio(0.01, 0.01)
    assert rule.choose(Sizes(1000, 9000, nf=11, mf=99, mu=8000, nf0=5, mf0=9, last=PUSH)) == PULL
    assert rule.choose(Sizes(1000, 9000, nf=11, mf=99, mu=8000, nf0=50, mf0=9, last=PUSH)) == PUSH, "it is falling"
    assert rule.choose(Sizes(1000, 9000, nf=9, mf=80, mu=500, nf0=50, mf0=9, last=PULL)) == PUSH
    assert rule.choose(Sizes(1000, 9000, nf=9, mf=80, mu=500, nf0=5, mf0=9, last=PULL)) == PULL, "it is rising"


@pytest.mark.parametrize("nf, step", [(10, PUSH), (11, PULL)])
def test_ratio_pulls_above_one_percent(nf: int, step: int) -> None:
    assert Ratio(0.01, 0.01).choose(Sizes(1000, 9000, nf=nf, mf=90, mu=8000, nf0=1, mf0=9, last=PUSH)) == step


# ---------------------------------------------------------------- Hiragushi, sections 2 and 3.5


def test_hiragushi_alpha_48_beta_20() -> None:
    assert CATALOGUE["hiragushi-hybrid"].rule == Beamer(48, 20)
    assert replay(Beamer(48, 20), KRON_N, KRON_M, KRON) == [PUSH, PUSH, PULL, PULL, PULL, PUSH]


@pytest.mark.parametrize("mu, step", [(4800, PUSH), (4799, PULL)])
def test_beamer_pulls_when_mf_exceeds_mu_over_alpha(mu: int, step: int) -> None:
    assert Beamer(48, 20).choose(Sizes(1000, 10_000, nf=30, mf=100, mu=mu, nf0=3, mf0=10, last=PUSH)) == step


@pytest.mark.parametrize("nf, step", [(50, PULL), (49, PUSH)])
def test_beamer_pushes_again_when_nf_falls_below_n_over_beta(nf: int, step: int) -> None:
    assert Beamer(48, 20).choose(Sizes(1000, 10_000, nf=nf, mf=100, mu=100, nf0=400, mf0=10, last=PULL)) == step


# ---------------------------------------------------------------- TurboBFS, section III-C


def test_turbobfs_switches_at_ten_percent_and_never_back() -> None:
    levels = [(1, 9, 9000), (99, 900, 8000), (100, 950, 7000), (600, 6000, 900), (20, 90, 9), (1, 1, 0)]
    assert replay(OneWay(0.10), 1000, 10_000, levels) == [PUSH, PUSH, PULL, PULL, PULL, PULL]


@given(n=st.integers(1, 2**31 - 2), data=st.data())
def test_turbobfs_ten_percent_is_exact(n: int, data: st.DataObject) -> None:
    nf = data.draw(st.integers(1, n) | st.just(max(1, n // 10)) | st.just(min(n, n // 10 + 1)))
    step = OneWay(0.10).choose(Sizes(n, n, nf=nf, mf=nf, mu=0, last=PUSH))
    assert step == (PULL if 10 * nf >= n else PUSH)


# ---------------------------------------------------------------- XBFS, section 4.3


def test_xbfs_figure_7() -> None:
    """Scan-free, single-scan just before bottom-up, double-scan, one level without a queue, scan-free to the end."""
    edges = [2, 8, 40, 400, 300, 60, 5, 1]
    levels = [(mf, mf, 1000) for mf in edges]
    assert replay(XBFS(0.1), 1000, 1000, levels) == [
        SCAN_FREE,
        SCAN_FREE,
        SINGLE_SCAN,
        DOUBLE_SCAN,
        DOUBLE_SCAN,
        NO_QUEUE,
        SCAN_FREE_AGAIN,
        SCAN_FREE_AGAIN,
    ]


def test_xbfs_never_returns_to_a_single_scan_after_a_pull() -> None:
    """The second top-down phase ends scan-free (section 4.3), also where its frontier grows as equation 2 asks."""
    levels = [(mf, mf, 1000) for mf in (40, 400, 2, 40, 90)]
    steps = [SCAN_FREE, DOUBLE_SCAN, NO_QUEUE, SCAN_FREE_AGAIN, SCAN_FREE_AGAIN]
    assert replay(XBFS(0.1), 1000, 1000, levels) == steps
    first_phase = [(mf, mf, 1000) for mf in (2, 40, 90)]
    assert replay(XBFS(0.1), 1000, 1000, first_phase) == [SCAN_FREE, SINGLE_SCAN, SINGLE_SCAN]
    again = Sizes(1000, 1000, nf=9, mf=100, mu=500, nf0=9, mf0=90, last=SCAN_FREE_AGAIN)
    assert XBFS(0.1).choose(again) == DOUBLE_SCAN, "the direction follows α alone"


@pytest.mark.parametrize("mf, step", [(100, DOUBLE_SCAN), (99, SCAN_FREE)])
def test_xbfs_pulls_from_alpha_on(mf: int, step: int) -> None:
    assert XBFS(0.1).choose(Sizes(1000, 1000, nf=9, mf=mf, mu=500, nf0=99, mf0=990, last=SCAN_FREE)) == step


@pytest.mark.parametrize("mf0, step", [(16, SINGLE_SCAN), (17, SCAN_FREE)])
def test_xbfs_equation_2_predicts_the_last_push(mf0: int, step: int) -> None:
    """λ = 40/mf0, and 40·λ ≥ 0.1·1000 holds up to mf0 = 16."""
    assert XBFS(0.1).choose(Sizes(1000, 1000, nf=9, mf=40, mu=900, nf0=4, mf0=mf0, last=SCAN_FREE)) == step


def test_xbfs_reuses_a_queue_only_right_after_a_pull() -> None:
    assert XBFS(0.1).choose(Sizes(1000, 1000, nf=9, mf=10, mu=9, nf0=90, mf0=500, last=DOUBLE_SCAN)) == NO_QUEUE
    for last, step in [
        *((before, SCAN_FREE) for before in (-1, SCAN_FREE, SINGLE_SCAN)),
        *((after, SCAN_FREE_AGAIN) for after in (NO_QUEUE, SCAN_FREE_AGAIN)),
    ]:
        assert XBFS(0.1).choose(Sizes(1000, 1000, nf=9, mf=10, mu=9, nf0=90, mf0=500, last=last)) == step


# ---------------------------------------------------------------- hopwave's own rules


def test_growing_on_a_kronecker_graph() -> None:
    assert replay(Growing(15, 18), KRON_N, KRON_M, KRON) == [PUSH, PUSH, PULL, PULL, PULL, PUSH]


def test_growing_never_pulls_at_the_end_of_a_road() -> None:
    """Beamer's test mf > mu/α holds at the end of any search; on roads it would pull over rows that nothing reaches."""
    levels = road(1000)
    n = sum(nf for nf, _, _ in levels)
    m = 2 * n
    assert PULL in replay(Beamer(15, 18), n, m, levels)[-60:]
    assert replay(Growing(15, 18), n, m, levels) == [PUSH] * 1000


@pytest.mark.parametrize("nf0, last, step", [(40, PUSH, PULL), (60, PUSH, PUSH), (60, PULL, PUSH), (40, PULL, PULL)])
def test_growing_switches_only_while_the_frontier_changes_that_way(nf0: int, last: int, step: int) -> None:
    """Both of Beamer's tests hold here: mf > mu/α, and nf < n/β."""
    assert Growing(15, 18).choose(Sizes(1000, 4000, nf=50, mf=100, mu=200, nf0=nf0, mf0=90, last=last)) == step


def test_growing_needs_enough_arcs_to_be_worth_reading_the_bitmap() -> None:
    small = Sizes(6400, 20_000, nf=9, mf=100, mu=10, nf0=1, mf0=5, last=PUSH)
    assert Growing(15, 18).choose(small) == PUSH, "100 arcs, 100 words of 64 vertices"
    assert Growing(15, 18).choose(Sizes(6399, 20_000, nf=9, mf=100, mu=10, nf0=1, mf0=5, last=PUSH)) == PULL


@pytest.mark.parametrize("mu, step", [(99, PULL), (100, PULL), (101, PUSH)])
def test_growing_keeps_pulling_if_little_is_left(mu: int, step: int) -> None:
    """A push would follow 200 arcs; a pull reads 100 words of 64 vertices and at most mu arcs."""
    here = Sizes(6400, 20_000, nf=20, mf=200, mu=mu, nf0=500, mf0=5000, last=PULL)
    assert Growing(15, 18).choose(here) == step


@pytest.mark.parametrize("nf, sooner", [(100, 1), (50, 2), (25, 4), (5, 4)])
def test_growing_pulls_a_frontier_of_hubs_sooner(nf: int, sooner: int) -> None:
    """1000 arcs leave nf vertices of a graph of mean degree 10: α counts up to four times."""
    for more, step in ((-1, PULL), (0, PUSH)):
        here = Sizes(10_000, 100_000, nf=nf, mf=1000, mu=15 * sooner * 1000 + more, nf0=1, mf0=10, last=PUSH)
        assert Growing(15, 18).choose(here) == step


@pytest.mark.parametrize("mf, mu, step", [(100, 149, PULL), (100, 150, PUSH), (3, 1, PUSH), (4, 1, PULL)])
def test_fewer_compares_the_arcs_of_both_sides(mf: int, mu: int, step: int) -> None:
    """mu < 1.5 mf, and 32 mf > n = 100, whatever the last step was."""
    for nf0, last in ((0, -1), (1000, PUSH), (1, PULL)):
        assert Fewer(1.5, 32).choose(Sizes(100, 4000, nf=50, mf=mf, mu=mu, nf0=nf0, mf0=90, last=last)) == step


# ---------------------------------------------------------------- all rules

counts = st.integers(0, 2**40)


@st.composite
def sizes(draw: st.DrawFn, choices: int) -> Sizes:
    n = draw(st.integers(1, 2**31 - 2))
    nf, nf0 = draw(st.integers(0, n)), draw(st.integers(0, n))
    return Sizes(n, draw(counts), nf, draw(counts), draw(counts), nf0, draw(counts), draw(st.integers(-1, choices - 1)))


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(data=st.data())
def test_rules_are_pure_and_return_a_step(rule: Rule, data: st.DataObject) -> None:
    here = data.draw(sizes(rule.choices))
    step = rule.choose(here)
    assert type(step) is int
    assert 0 <= step < rule.choices
    other = data.draw(sizes(rule.choices))
    rule.choose(other)
    assert rule.choose(here) == step, "a rule keeps no state between levels"


def test_every_rule_is_tested_here() -> None:
    assert {type(rule) for rule in RULES} == set(Rule.__subclasses__()) - {ByFunction}  # tests/planning/test_plan.py
    assert sorted(rule.code for rule in RULES) == list(range(len(rules.FUNCTIONS)))
    assert {type(plan.rule) for plan in CATALOGUE.values()} <= {type(rule) for rule in RULES}


def test_rules_print_their_parameters() -> None:
    assert [str(rule) for rule in RULES] == [
        "Always()",
        "Beamer(48, 20)",
        "OneWay(0.1)",
        "Ratio(0.01, 0.01)",
        "XBFS(0.1)",
        "Growing(15, 18)",
        "Fewer(1.5, 32)",
    ]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rules_compile_to_the_same_choices(rule: Rule) -> None:
    """Compiled engines run the same functions."""
    import numba

    function = rules.FUNCTIONS[rule.code]
    compiled = numba.njit(function)
    last = -1
    nf0 = mf0 = 0
    for nf, mf, mu in KRON + road(50):
        arguments = (*rule.parameters(), KRON_N, KRON_M, nf, mf, mu, nf0, mf0, last)
        last = function(*arguments)
        assert compiled(*arguments) == last
        nf0, mf0 = nf, mf
