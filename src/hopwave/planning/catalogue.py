"""All published plans: each has a line of description and a line of choices. A new plan adds two lines.

Plans are named as in their papers. TurboBFS's "top-down CSC" gathers over in-neighbours, so it is a pull.
"""

from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from typing import Any

from hopwave.errors import PlanError
from hopwave.planning.plan import Plan, PlanTable, Pull, Push, Step
from hopwave.planning.rules import XBFS, Always, Beamer, Fewer, Growing, OneWay, Ratio

# Papers, and below each its plans: name (section): summary.
WORDS = """
hopwave
  hopwave (docs/plans.md): the full search in one call, including the rule; the choice of plan='auto' on a CPU
  hopwave-dense (docs/plans.md): hopwave, pulling sooner; the choice of plan='auto' on a GPU, and on a CPU for a mean
    degree of at least 16
  hopwave-paths (docs/plans.md): hopwave, summing every term; the choice of plan='auto' for path counts
Artiles & Saeed, TurboBFS, IPDPSW 2021
  turbobfs-td-sccooc (III-B, Algorithm 3): one thread per arc scatters into a dense vector; counts paths
  turbobfs-td-sccsc (III-B, Algorithm 4): one thread per vertex sums its in-neighbours, masked; counts paths
  turbobfs-td-vecsc (III-B, Algorithm 5): one warp per vertex sums its in-neighbours, masked; counts paths
  turbobfs-bu-sc (III-C, Algorithm 6): one thread per vertex looks for a parent and stops at the first
  turbobfs-bu-ve (III-C, Algorithm 7): one warp per vertex looks for a parent and stops at the first
  turbobfs-tdbu (III-C): top-down gather until 10% of the vertices are in the frontier, then bottom-up
  turbobfs-tdbu-ve (III-C): turbobfs-tdbu with one warp per vertex top-down, Algorithm 5 in place of 4
Hiragushi & Takahashi, Efficient Hybrid BFS on GPUs, ICA3PP 2013
  hiragushi-hybrid (3.2-3.5, Figure 3): two-phase push with an exact bitmap, compacted bottom-up, neighbours by degree
Merrill, Garland & Grimshaw, PPoPP 2012, as in Hiragushi
  merrill (3.2): two-phase push only: the baseline of Hiragushi
Gaihre et al., XBFS, HPDC 2019
  xbfs (4.3, 5.1-5.2, Algorithms 2 and 3): four methods to build a queue, one per level; warp-balanced asynchronous
    bottom-up
  xbfs-static (5.1.2): xbfs with rows assigned to threads in advance
  xbfs-thread (5.1.2, Algorithm 1): xbfs with threads fetching one row at a time
  xbfs-donate (5.1.2): xbfs with all threads of a warp on its last row
  xbfs-sync (5.2): xbfs without looking ahead into the next level
Yang, Buluç & Owens, Push-Pull in GraphBLAS, ICPP 2018
  pushpull-baseline (Table 2, 6.2): column product by gather, key-value sort and reduce
  pushpull-structure (Table 2, 5.5): … sorting keys only
  pushpull-direction (Table 2, 5.1): … and unmasked row products when the frontier is large
  pushpull-masking (Table 2, 5.2): … and rows masked by the unvisited vertices
  pushpull-exit (Table 2, 5.3): … and early exit
  pushpull (5-6, Algorithms 1-3): … and operand reuse: all five optimisations
Artiles & Saeed, TurboBC, ICPP Workshops 2021
  turbobc-sccooc (3.3, Algorithm 2): betweenness, one thread per arc, forward and backward
  turbobc-sccsc (3.3, Algorithm 3): betweenness, one thread per vertex
  turbobc-vecsc (3.3, Algorithm 4): betweenness, one warp per vertex
Brandes, A Faster Algorithm for Betweenness Centrality, J. Math. Sociology 2001
  brandes-dijkstra (3 and 4): betweenness along weights: Dijkstra's algorithm, one source per worker
hopwave
  hopwave-block (docs/plans.md): betweenness, one source per worker, many sources at a time: small or deep graphs
  hopwave-batch (docs/plans.md): betweenness, in batches of sources that share every read: shallow or dense graphs
  hopwave-wide (docs/plans.md): betweenness, all workers on one source: huge graphs, few samples
Dijkstra, A Note on Two Problems in Connexion with Graphs, Numerische Mathematik 1959
  dijkstra (problem 2): shortest paths, nearest vertex first, from a heap, on one core; the choice of 'auto' for small
    graphs
  dijkstra-buckets (problem 2): shortest paths, nearest first, from a ring of buckets; used by Δ-stepping if one core
    is faster than several
Meyer & Sanders, Δ-Stepping: A Parallelizable Shortest Path Algorithm, J. Algorithms 2003
  delta-stepping (2): shortest paths, one bucket of distances after another, on all cores, or by products on a GPU
hopwave
  near-far (docs/plans.md): shortest paths, a full search in one launch, near vertices before far ones; the choice of
    'auto' on a GPU
Kepner & Gilbert, Graph Algorithms in the Language of Linear Algebra, SIAM 2011
  bellman-ford (5): shortest paths, rounds of products over min-plus, of the shortened distances or of all
"""

gather = Pull("thread", early_exit=False)
gather_by_warps = replace(gather, mapping="warp")
two_phase = Push("twc", "queue", "atomic")
scatter = Push("edge", "dense", "atomic")
sort = Push("merge", "sort", "atomic", structure_only=True)
row = Pull("thread", "all", "frontier", early_exit=False)
masked = replace(row, rows="unvisited")
relax = Push("thread", "queue")  # offers distances to neighbours, which keep the shorter one
ours = Push("merge", "queue", "atomic"), Pull("thread", "unvisited", "frontier")
ours_counting = ours[0], gather
ahead = Pull("thread", "compacted", "frontier", asynchronous=True, balance="warp")
before_pull, after_pull = (two_phase, Push("twc", "scan", "benign")), (Push("twc", "reuse", "atomic"), two_phase)

Choices = dict[str, Any]
USUAL: Choices = {"rule": Always()}
SWITCH: Choices = {"rule": Ratio(0.01, 0.01)}
FIVE: Choices = {"rule": XBFS(0.1)}
SCORES: Choices = {"task": "betweenness"}
PATHS: Choices = {"task": "paths", "lengths": "weights"}
SEARCH: Choices = {"loop": "device", "order": "degree"}
REGIME: Choices = {"loop": "device", "rule": Fewer(1.5, 32)} | SCORES
SSSP: Choices = {"loop": "device"} | PATHS

# For each plan, its steps and the fields of `Plan` that differ from the defaults.
RECORDS: dict[str, tuple[tuple[Step, ...], Choices]] = {
    "hopwave": (ours, SEARCH | {"rule": Growing(5, 18)}),
    "hopwave-dense": (ours, SEARCH | {"rule": Growing(12, 18)}),
    "hopwave-paths": (ours_counting, SEARCH | {"rule": Growing(5, 18)}),
    "turbobfs-td-sccooc": ((scatter,), {}),
    "turbobfs-td-sccsc": ((gather,), {}),
    "turbobfs-td-vecsc": ((gather_by_warps,), {}),
    "turbobfs-bu-sc": ((Pull("thread"),), {}),
    "turbobfs-bu-ve": ((Pull("warp"),), {}),
    "turbobfs-tdbu": ((gather, Pull("thread")), {"rule": OneWay(0.10)}),
    "turbobfs-tdbu-ve": ((gather_by_warps, Pull("thread")), {"rule": OneWay(0.10)}),
    "hiragushi-hybrid": (
        (two_phase, Pull("thread", "compacted", "visited")),
        {"rule": Beamer(48, 20), "order": "degree"},
    ),
    "merrill": ((replace(two_phase, claim="benign"),), {}),
    "xbfs": ((*before_pull, ahead, *after_pull), FIVE),
    "xbfs-static": ((*before_pull, replace(ahead, balance="static"), *after_pull), FIVE),
    "xbfs-thread": ((*before_pull, replace(ahead, balance="thread"), *after_pull), FIVE),
    "xbfs-donate": ((*before_pull, replace(ahead, balance="donate"), *after_pull), FIVE),
    "xbfs-sync": ((*before_pull, replace(ahead, asynchronous=False), *after_pull), FIVE),
    # Table 2 of the push-pull paper: each row adds one optimisation to the previous row.
    "pushpull-baseline": ((replace(sort, structure_only=False),), {}),
    "pushpull-structure": ((sort,), {}),
    "pushpull-direction": ((sort, replace(row, mapping="merge")), SWITCH),
    "pushpull-masking": ((sort, masked), SWITCH),
    "pushpull-exit": ((sort, replace(masked, early_exit=True)), SWITCH),
    "pushpull": ((sort, Pull("thread", "unvisited", "visited")), SWITCH),
    "turbobc-sccooc": ((scatter,), SCORES),
    "turbobc-sccsc": ((gather,), SCORES),
    "turbobc-vecsc": ((gather_by_warps,), SCORES),
    "brandes-dijkstra": ((relax,), SCORES | {"regime": "block", "lengths": "weights"}),
    "hopwave-block": (ours_counting, REGIME | {"regime": "block"}),
    "hopwave-batch": (ours_counting, REGIME | {"regime": "batch"}),
    "hopwave-wide": (ours_counting, REGIME | {"regime": "wide"}),
    "dijkstra": ((relax,), SSSP),
    "dijkstra-buckets": ((relax,), SSSP),
    "delta-stepping": ((relax,), SSSP),
    "near-far": ((ours[0],), SSSP),
    "bellman-ford": (
        (Push("thread", "dense"), Pull("thread", "all", "visited", early_exit=False)),
        PATHS | {"rule": Ratio(0.3, 0.2)},
    ),
}


def _read(words: str) -> Iterator[Plan]:
    """The plans of `words`, in order."""
    paper = ""
    for line in words.replace("\n    ", " ").strip().splitlines():
        if not line.startswith(" "):
            paper = line
            continue
        head, _, summary = line.strip().partition("): ")
        name, _, section = head.partition(" (")
        steps, choices = RECORDS[name]
        yield Plan(name, paper, section, summary, steps, **USUAL | choices)


CATALOGUE: dict[str, Plan] = {plan.name: plan for plan in _read(WORDS)}


def plan(name: str | Plan, task: str | None = None) -> Plan:
    """The plan with this name.

    Parameters
    ----------
    name : str or Plan
        A name from `plans()`. A Plan is returned unchanged.
    task : {"search", "betweenness", "paths"}, optional
        Task of the plan: an error then lists only plans for this task.

    Raises
    ------
    PlanError
        No plan has this name; the message suggests similar names.

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
    """All plans, one per published algorithm; prints as a table.

    Examples
    --------
    >>> "xbfs" in [plan.name for plan in hw.plans()]
    True
    """
    return PlanTable(CATALOGUE.values())
