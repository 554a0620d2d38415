"""Every published plan, one record each. A new paper is a new record.

The plans have the names that their papers use. One of these names is misleading: TurboBFS's "top-down CSC" gathers over
in-neighbours without early exit, so it is a pull. Only its COOC variant scatters.
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

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
two_phase = Push("twc", "queue", "atomic")

_turbobfs = [
    Plan(
        "turbobfs-td-sccooc",
        TURBOBFS,
        "III-B, Algorithm 3",
        "one thread per arc scatters into a dense vector; counts paths",
        (Push("edge", "dense", "atomic"),),
        Always(),
    ),
    Plan(
        "turbobfs-td-sccsc",
        TURBOBFS,
        "III-B, Algorithm 4",
        "one thread per vertex sums its in-neighbours, masked; counts paths",
        (gather,),
        Always(),
    ),
    Plan(
        "turbobfs-td-vecsc",
        TURBOBFS,
        "III-B, Algorithm 5",
        "one warp per vertex sums its in-neighbours, masked; counts paths",
        (replace(gather, mapping="warp"),),
        Always(),
    ),
    Plan(
        "turbobfs-bu-sc",
        TURBOBFS,
        "III-C, Algorithm 6",
        "one thread per vertex looks for a parent and stops at the first",
        (Pull("thread"),),
        Always(),
    ),
    Plan(
        "turbobfs-bu-ve",
        TURBOBFS,
        "III-C, Algorithm 7",
        "one warp per vertex looks for a parent and stops at the first",
        (Pull("warp"),),
        Always(),
    ),
    Plan(
        "turbobfs-tdbu",
        TURBOBFS,
        "III-C",
        "top-down gather until 10% of the vertices are in the frontier, then bottom-up",
        (gather, Pull("thread")),
        OneWay(0.10),
    ),
]

_hiragushi = [
    Plan(
        "hiragushi-hybrid",
        HIRAGUSHI,
        "3.2-3.5, Figure 3",
        "two-phase push with an exact bitmap, compacted bottom-up, neighbours by degree",
        (two_phase, Pull("thread", "compacted", "visited")),
        Beamer(48, 20),
        order="degree",
    ),
    Plan(
        "merrill",
        MERRILL,
        "3.2",
        "two-phase push only: the baseline of Hiragushi",
        (Push("twc", "queue", "benign"),),
        Always(),
    ),
]

_xbfs = Plan(
    "xbfs",
    XBFS_PAPER,
    "4.3, 5.1-5.2, Algorithms 2 and 3",
    "four ways to make a queue, one chosen per level; warp-balanced asynchronous bottom-up",
    (
        Push("twc", "queue", "atomic"),
        Push("twc", "scan", "benign"),
        Pull("thread", "compacted", "frontier", asynchronous=True, balance="warp"),
        Push("twc", "reuse", "atomic"),
        Push("twc", "queue", "atomic"),
    ),
    XBFS(0.1),
)


def _xbfs_with(name: str, section: str, summary: str, **changes: object) -> Plan:
    scan_free, single_scan, pull, no_queue, to_the_end = _xbfs.steps
    steps = (scan_free, single_scan, replace(pull, **changes), no_queue, to_the_end)  # type: ignore[arg-type]
    return replace(_xbfs, name=name, section=section, summary=summary, steps=steps)


_xbfs_variants = [
    _xbfs,
    _xbfs_with("xbfs-static", "5.1.2", "xbfs with rows assigned to threads in advance", balance="static"),
    _xbfs_with("xbfs-thread", "5.1.2, Algorithm 1", "xbfs with threads fetching one row at a time", balance="thread"),
    _xbfs_with("xbfs-donate", "5.1.2", "xbfs with all threads of a warp on its last row", balance="donate"),
    _xbfs_with("xbfs-sync", "5.2", "xbfs without looking ahead into the next level", asynchronous=False),
]

# Table 2 of the push-pull paper: each row adds one optimisation to the row before.
_sort = Push("merge", "sort", "atomic", structure_only=True)
_row = Pull("thread", "all", "frontier", early_exit=False)
_pushpull = [
    Plan(
        "pushpull-baseline",
        PUSHPULL,
        "Table 2, 6.2",
        "column product by gather, key-value sort and reduce",
        (replace(_sort, structure_only=False),),
        Always(),
    ),
    Plan("pushpull-structure", PUSHPULL, "Table 2, 5.5", "… sorting keys only", (_sort,), Always()),
    Plan(
        "pushpull-direction",
        PUSHPULL,
        "Table 2, 5.1",
        "… and unmasked row products when the frontier is large",
        (_sort, replace(_row, mapping="merge")),
        Ratio(0.01, 0.01),
    ),
    Plan(
        "pushpull-masking",
        PUSHPULL,
        "Table 2, 5.2",
        "… and rows masked by the unvisited vertices",
        (_sort, replace(_row, rows="unvisited")),
        Ratio(0.01, 0.01),
    ),
    Plan(
        "pushpull-exit",
        PUSHPULL,
        "Table 2, 5.3",
        "… and early exit",
        (_sort, replace(_row, rows="unvisited", early_exit=True)),
        Ratio(0.01, 0.01),
    ),
    Plan(
        "pushpull",
        PUSHPULL,
        "5-6, Algorithms 1-3",
        "… and operand reuse: all five optimisations",
        (_sort, Pull("thread", "unvisited", "visited")),
        Ratio(0.01, 0.01),
    ),
]

_hopwave = Plan(
    "hopwave",
    OURS,
    "docs/plans.md",
    "the whole search in one call, with the rule inside; what plan='auto' picks on a CPU",
    (Push("merge", "queue", "atomic"), Pull("thread", "unvisited", "frontier")),
    Growing(5, 18),
    loop="device",
    order="degree",
)

_dense = replace(
    _hopwave,
    name="hopwave-dense",
    summary="hopwave, pulling sooner: what plan='auto' picks on a GPU, and on a CPU for mean degrees of at least 16",
    rule=Growing(12, 18),
)

_paths = replace(
    _hopwave,
    name="hopwave-paths",
    summary="hopwave, adding up every term: what plan='auto' picks for path counts",
    steps=(_hopwave.steps[0], gather),
)

_betweenness = [
    Plan(
        "turbobc-sccooc",
        TURBOBC,
        "3.3, Algorithm 2",
        "betweenness, one thread per arc, forward and backward",
        (Push("edge", "dense", "atomic"),),
        Always(),
        task="betweenness",
    ),
    Plan(
        "turbobc-sccsc",
        TURBOBC,
        "3.3, Algorithm 3",
        "betweenness, one thread per vertex",
        (gather,),
        Always(),
        task="betweenness",
    ),
    Plan(
        "turbobc-vecsc",
        TURBOBC,
        "3.3, Algorithm 4",
        "betweenness, one warp per vertex",
        (replace(gather, mapping="warp"),),
        Always(),
        task="betweenness",
    ),
    Plan(
        "brandes-dijkstra",
        BRANDES,
        "3 and 4",
        "betweenness along weights: Dijkstra's algorithm, one source per worker",
        (Push("thread", "queue", "atomic"),),
        Always(),
        task="betweenness",
        regime="block",
        lengths="weights",
    ),
]
for _regime, _summary in {
    "block": "betweenness, one source per worker, many sources at a time: small or deep graphs",
    "batch": "betweenness, a batch of sources shares every read of the graph: shallow or dense graphs",
    "wide": "betweenness, all workers on one source: huge graphs, few samples",
}.items():
    _betweenness.append(
        Plan(
            f"hopwave-{_regime}",
            OURS,
            "docs/plans.md",
            _summary,
            _paths.steps,
            Fewer(1.5, 32),
            loop="device",
            task="betweenness",
            regime=_regime,  # type: ignore[arg-type]
        )
    )


def _along_weights(name: str, paper: str, section: str, summary: str, step: Push = Push("thread", "queue")) -> Plan:
    """A plan of sssp. A push offers distances to neighbours, which take a distance that is shorter than their own."""
    return Plan(name, paper, section, summary, (step,), Always(), loop="device", task="paths", lengths="weights")


_shortest_paths = [
    _along_weights(
        "dijkstra",
        DIJKSTRA,
        "problem 2",
        "shortest paths, the nearest vertex first, from a heap, on one core; what 'auto' picks for small graphs",
    ),
    _along_weights(
        "dijkstra-buckets",
        DIJKSTRA,
        "problem 2",
        "shortest paths, nearest first, from a ring of buckets; for Δ-stepping where one core is faster than several",
    ),
    _along_weights(
        "delta-stepping",
        MEYER,
        "2",
        "shortest paths, one bucket of distances after another, on all cores, or by products on a GPU",
    ),
    _along_weights(
        "near-far",
        OURS,
        "docs/plans.md",
        "shortest paths, a whole search in one launch, near vertices before far ones; what 'auto' picks on a GPU",
        Push("merge", "queue", "atomic"),
    ),
    Plan(
        "bellman-ford",
        KEPNER,
        "5",
        "shortest paths, rounds of products over min-plus, of the distances that became shorter or of all",
        (Push("thread", "dense"), Pull("thread", "all", "visited", early_exit=False)),
        Ratio(0.3, 0.2),
        task="paths",
        lengths="weights",
    ),
]

CATALOGUE: dict[str, Plan] = {
    plan.name: plan
    for plan in [
        *(_hopwave, _dense, _paths),
        *_turbobfs,
        *_hiragushi,
        *_xbfs_variants,
        *_pushpull,
        *_betweenness,
        *_shortest_paths,
    ]
}


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
