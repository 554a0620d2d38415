"""Every published plan, one record each. A new paper is a new record.

The plans have the names that their papers use. One of these names is misleading: TurboBFS's "top-down CSC" gathers over
in-neighbours without early exit, so it is a pull. Only its COOC variant scatters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from hopwave.errors import PlanError
from hopwave.planning.plan import Plan, PlanTable, Pull, Push
from hopwave.planning.rules import XBFS, Always, Beamer, Fewer, Growing, OneWay, Ratio

TURBOBFS = "Artiles & Saeed, TurboBFS, IPDPSW 2021"
HIRAGUSHI = "Hiragushi & Takahashi, Efficient Hybrid BFS on GPUs, ICA3PP 2013"
XBFS_PAPER = "Gaihre et al., XBFS, HPDC 2019"
PUSHPULL = "Yang, Buluç & Owens, Push-Pull in GraphBLAS, ICPP 2018"
MERRILL = "Merrill, Garland & Grimshaw, PPoPP 2012, as in Hiragushi"
TURBOBC = "Artiles & Saeed, TurboBC, ICPP Workshops 2021"
BRANDES = "Brandes, A Faster Algorithm for Betweenness Centrality, J. Math. Sociology 2001"
DIJKSTRA = "Dijkstra, A Note on Two Problems in Connexion with Graphs, Numerische Mathematik 1959"
MEYER = "Meyer & Sanders, Δ-Stepping: A Parallelizable Shortest Path Algorithm, J. Algorithms 2003"
KEPNER = "Kepner & Gilbert, Graph Algorithms in the Language of Linear Algebra, SIAM 2011"
OURS = "hopwave"

gather = Pull("thread", early_exit=False)
gather_by_warps = replace(gather, mapping="warp")
two_phase = Push("twc", "queue", "atomic")
scatter = Push("edge", "dense", "atomic")
sort = Push("merge", "sort", "atomic", structure_only=True)
row = Pull("thread", "all", "frontier", early_exit=False)
masked = replace(row, rows="unvisited")
relax = Push("thread", "queue")
ours = Push("merge", "queue", "atomic"), Pull("thread", "unvisited", "frontier")
ours_counting = ours[0], gather

Choices = dict[str, Any]
SWITCH: Choices = {"rule": Ratio(0.01, 0.01)}
SCORES: Choices = {"task": "betweenness"}
PATHS: Choices = {"task": "paths", "lengths": "weights"}
ONE_LAUNCH: Choices = {"loop": "device"}


def _plan(paper: str, section: str, name: str, summary: str, *steps: Push | Pull, **choices: Any) -> Plan:
    """One record; its rule is Always() unless `choices` has another."""
    choices.setdefault("rule", Always())
    return Plan(name, paper, section, summary, steps, **choices)


def _xbfs(name: str, section: str, summary: str, **choices: Any) -> Plan:
    """XBFS with some choices of its pull changed."""
    ahead: Choices = {"asynchronous": True, "balance": "warp"}
    pull = Pull("thread", "compacted", "frontier", **ahead | choices)
    steps = two_phase, Push("twc", "scan", "benign"), pull, Push("twc", "reuse", "atomic"), two_phase
    return _plan(XBFS_PAPER, section, name, summary, *steps, rule=XBFS(0.1))


def _hopwave(name: str, summary: str, *steps: Push | Pull, **choices: Any) -> Plan:
    """A plan of our own; a whole search in one call, unless `choices` say otherwise."""
    return _plan(OURS, "docs/plans.md", name, summary, *steps, **ONE_LAUNCH | choices)


def _regime(regime: str, summary: str) -> Plan:
    """One of our regimes of betweenness."""
    return _hopwave(f"hopwave-{regime}", summary, *ours_counting, rule=Fewer(1.5, 32), regime=regime, **SCORES)


_turbobfs: Callable[..., Plan] = partial(_plan, TURBOBFS)
_turbobc: Callable[..., Plan] = partial(_plan, TURBOBC, **SCORES)
_pushpull: Callable[..., Plan] = partial(_plan, PUSHPULL)
_sssp: Callable[..., Plan] = partial(_plan, **ONE_LAUNCH | PATHS)
_search: Callable[..., Plan] = partial(_hopwave, order="degree")

PLANS = [
    _search(
        "hopwave",
        "the whole search in one call, with the rule inside; what plan='auto' picks on a CPU",
        *ours,
        rule=Growing(5, 18),
    ),
    _search(
        "hopwave-dense",
        "hopwave, pulling sooner: what plan='auto' picks on a GPU, and on a CPU for mean degrees of at least 16",
        *ours,
        rule=Growing(12, 18),
    ),
    _search(
        "hopwave-paths",
        "hopwave, adding up every term: what plan='auto' picks for path counts",
        *ours_counting,
        rule=Growing(5, 18),
    ),
    _turbobfs(
        "III-B, Algorithm 3",
        "turbobfs-td-sccooc",
        "one thread per arc scatters into a dense vector; counts paths",
        scatter,
    ),
    _turbobfs(
        "III-B, Algorithm 4",
        "turbobfs-td-sccsc",
        "one thread per vertex sums its in-neighbours, masked; counts paths",
        gather,
    ),
    _turbobfs(
        "III-B, Algorithm 5",
        "turbobfs-td-vecsc",
        "one warp per vertex sums its in-neighbours, masked; counts paths",
        gather_by_warps,
    ),
    _turbobfs(
        "III-C, Algorithm 6",
        "turbobfs-bu-sc",
        "one thread per vertex looks for a parent and stops at the first",
        Pull("thread"),
    ),
    _turbobfs(
        "III-C, Algorithm 7",
        "turbobfs-bu-ve",
        "one warp per vertex looks for a parent and stops at the first",
        Pull("warp"),
    ),
    _turbobfs(
        "III-C",
        "turbobfs-tdbu",
        "top-down gather until 10% of the vertices are in the frontier, then bottom-up",
        *(gather, Pull("thread")),
        rule=OneWay(0.10),
    ),
    _plan(
        *(HIRAGUSHI, "3.2-3.5, Figure 3", "hiragushi-hybrid"),
        "two-phase push with an exact bitmap, compacted bottom-up, neighbours by degree",
        *(two_phase, Pull("thread", "compacted", "visited")),
        rule=Beamer(48, 20),
        order="degree",
    ),
    _plan(MERRILL, "3.2", "merrill", "two-phase push only: the baseline of Hiragushi", Push("twc", "queue", "benign")),
    _xbfs(
        "xbfs",
        "4.3, 5.1-5.2, Algorithms 2 and 3",
        "four ways to make a queue, one chosen per level; warp-balanced asynchronous bottom-up",
    ),
    _xbfs("xbfs-static", "5.1.2", "xbfs with rows assigned to threads in advance", balance="static"),
    _xbfs("xbfs-thread", "5.1.2, Algorithm 1", "xbfs with threads fetching one row at a time", balance="thread"),
    _xbfs("xbfs-donate", "5.1.2", "xbfs with all threads of a warp on its last row", balance="donate"),
    _xbfs("xbfs-sync", "5.2", "xbfs without looking ahead into the next level", asynchronous=False),
    # Table 2 of the push-pull paper: each row adds one optimisation to the row before.
    _pushpull(
        "Table 2, 6.2",
        "pushpull-baseline",
        "column product by gather, key-value sort and reduce",
        replace(sort, structure_only=False),
    ),
    _pushpull("Table 2, 5.5", "pushpull-structure", "… sorting keys only", sort),
    _pushpull(
        "Table 2, 5.1",
        "pushpull-direction",
        "… and unmasked row products when the frontier is large",
        *(sort, replace(row, mapping="merge")),
        **SWITCH,
    ),
    _pushpull(
        "Table 2, 5.2", "pushpull-masking", "… and rows masked by the unvisited vertices", sort, masked, **SWITCH
    ),
    _pushpull("Table 2, 5.3", "pushpull-exit", "… and early exit", sort, replace(masked, early_exit=True), **SWITCH),
    _pushpull(
        "5-6, Algorithms 1-3",
        "pushpull",
        "… and operand reuse: all five optimisations",
        *(sort, Pull("thread", "unvisited", "visited")),
        **SWITCH,
    ),
    _turbobc("3.3, Algorithm 2", "turbobc-sccooc", "betweenness, one thread per arc, forward and backward", scatter),
    _turbobc("3.3, Algorithm 3", "turbobc-sccsc", "betweenness, one thread per vertex", gather),
    _turbobc("3.3, Algorithm 4", "turbobc-vecsc", "betweenness, one warp per vertex", gather_by_warps),
    _plan(
        *(BRANDES, "3 and 4", "brandes-dijkstra"),
        "betweenness along weights: Dijkstra's algorithm, one source per worker",
        relax,
        **SCORES | {"regime": "block", "lengths": "weights"},
    ),
    _regime("block", "betweenness, one source per worker, many sources at a time: small or deep graphs"),
    _regime("batch", "betweenness, a batch of sources shares every read of the graph: shallow or dense graphs"),
    _regime("wide", "betweenness, all workers on one source: huge graphs, few samples"),
    # In sssp, a push offers distances to neighbours, which take a distance that is shorter than their own.
    _sssp(
        *(DIJKSTRA, "problem 2", "dijkstra"),
        "shortest paths, the nearest vertex first, from a heap, on one core; what 'auto' picks for small graphs",
        relax,
    ),
    _sssp(
        *(DIJKSTRA, "problem 2", "dijkstra-buckets"),
        "shortest paths, nearest first, from a ring of buckets; for Δ-stepping where one core is faster than several",
        relax,
    ),
    _sssp(
        *(MEYER, "2", "delta-stepping"),
        "shortest paths, one bucket of distances after another, on all cores, or by products on a GPU",
        relax,
    ),
    _sssp(
        *(OURS, "docs/plans.md", "near-far"),
        "shortest paths, a whole search in one launch, near vertices before far ones; what 'auto' picks on a GPU",
        ours[0],
    ),
    _plan(
        *(KEPNER, "5", "bellman-ford"),
        "shortest paths, rounds of products over min-plus, of the distances that became shorter or of all",
        *(Push("thread", "dense"), Pull("thread", "all", "visited", early_exit=False)),
        **PATHS | {"rule": Ratio(0.3, 0.2)},
    ),
]
CATALOGUE: dict[str, Plan] = {plan.name: plan for plan in PLANS}


def plan(name: str | Plan, task: str | None = None) -> Plan:
    """The plan of that name.

    Parameters
    ----------
    name : str or Plan
        A name of `plans()`. A plan is returned as it is.
    task : {"search", "betweenness", "paths"}, optional
        What the plan is for: an error then names only those that do that.

    Raises
    ------
    PlanError
        There is no plan of that name; the message has the nearest names.

    See Also
    --------
    plans : all plans.

    Examples
    --------
    >>> plan("xbfs").steps[2].asynchronous
    True
    >>> plan("xbf")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopwave.errors.PlanError: plan 'xbf' is not known; did you mean 'xbfs'? Use 'auto' or one of hopwave, ...
    """
    if isinstance(name, Plan):
        return name
    if not isinstance(name, str) or name not in CATALOGUE:
        lower = name.lower() if isinstance(name, str) else ""
        fitting = [other.name for other in CATALOGUE.values() if task is None or other.task == task]
        near = [lower] if lower in fitting else get_close_matches(lower, fitting)
        meant = f"did you mean {' or '.join(map(repr, near))}? Use" if near else "use"
        raise PlanError(f"plan {name!r} is not known; {meant} 'auto' or one of {', '.join(fitting)}")
    return CATALOGUE[name]


def plans() -> PlanTable:
    """All plans; prints as a table.

    Returns
    -------
    PlanTable
        One `Plan` per published algorithm.

    See Also
    --------
    plan : one plan by its name.

    Examples
    --------
    >>> "xbfs" in [plan.name for plan in hw.plans()]
    True
    """
    return PlanTable(CATALOGUE.values())
