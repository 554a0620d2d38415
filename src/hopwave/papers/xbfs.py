"""XBFS: eXploring Runtime Optimizations for Breadth-First Search on GPUs (Gaihre, Wu, Yao & Liu, 2019)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from statistics import fmean, median
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of, on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, Levels, WrongAnswer, ms_of, over, rows_of
from hopwave.papers.records import Case, Drawing, Exhibit, Paper, Row, left_out, numbers, table
from hopwave.planning.plan import Plan

CHOICES = {"scan-free": 0, "single-scan": 1, "no generation": 3, "double-scan": 2}  # the rule's numbers
BALANCES = {"thread-centric": "thread", "warp-centric": "warp", "donation": "donate"}
FEW = 4  # searches whose arcs are counted one by one
STATED = ("XBFS", "Enterprise", "Tigr", "Gunrock", "Ligra")

# Edges are doubled, as in section 2.3: thousands of vertices and arcs, then Table 2's milliseconds.
TABLE_1 = table("""
DB DBpedia               web    U  3967   27642   7.9  30.2  12.9  16.4  54
DP DBLP-author           social U  4000   17298   5.3  14     8.1  22.9  48.2
EW EnWiki                web    U 21504  533539  19.6  88.7  74.7 145.0  71.9
FR SNAP/com-Friendster   social U 65608 1421739 102.8 408   883.9 OOM   526.7
LJ SNAP/com-LiveJournal  social U  4037   69362   6.9  24    17.0  34.9  29.4
OR SNAP/com-Orkut        social U  3073  234370   2.83 14.2  48.7 154.1  29.8
TR Trackers              social U 27666  281228  28.1 101.3  73.4 171.2  95.1
US SNAP/cit-Patents      goods  U  3775   33038  10.2  21.2  17.7  28.3  62.6
WK Wiki-dbpedia          web    U 18269  344368  21.4  76.9  92.1 168.5 259.3
WL Wiki-link             web    U 12151  756285  23.6  59.5 120.7 262.8  58.3
""", STATED, "1")  # fmt: skip


# ---------------------------------------------------------------- Figure 5: queues by atomic operations or prefix sums

MILLIONS = (1, 4, 16, 64, 256, 512)  # statuses
SHARES = (1 / 64, 1 / 2)
HEADER = "steps/double_scan.cuh"
ATOMIC = r"""
namespace hopwave::steps {
template <class Offset>
__global__ void atomic_queue(const int *distance, u64 n, int level, int *queue, u64 *tail) {
  for (u64 v = thread_number(); v < n; v += thread_count())
    if (distance[v] == level) queue[enqueue_at(tail)] = (int)v;
}
}
"""


def queues(lab: Lab) -> list[Row]:
    """Milliseconds of each way, the best of five, for arrays of many sizes; every queue is checked."""
    if lab.device != "cuda":
        return [{"GPU": "none"} | left_out("the ways to make a queue are a GPU's: --device cuda")]
    rows = []
    for millions, share in product(MILLIONS[:2] if lab.quick else MILLIONS, SHARES):
        ms = queue_ms(millions << 20, share)
        shown = {f"{method} ms": taken for method, taken in ms.items()}
        shown |= {"gain": min(ms["double scan"], ms["CuPy"]) / ms["atomic"]}
        rows.append({"millions": millions, "share": share, **shown, "series": f"1 of {round(1 / share)} in the queue"})
        lab.release()
    return rows


def queue_ms(n: int, share: float) -> dict[str, float]:
    """Milliseconds of each method to make a queue of a share of n vertices."""
    import cupy

    from hopwave.engines.cuda.launch import BLOCK, kernels

    launch = kernels("int")
    status = (cupy.random.default_rng(1).random(n, dtype=cupy.float32) < share).astype(cupy.int32) - 1
    right = cupy.flatnonzero(status == 0)
    queue, tail = cupy.empty(n, cupy.int32), cupy.zeros(1, cupy.uint64)
    length = -(-n // (32 * min(-(-n // 32), BLOCK * launch.blocks))) * 32  # statuses of one thread's segment
    segments = -(-n // length)
    blocks = -(-segments // BLOCK)
    places, sums = cupy.empty(segments, cupy.uint32), cupy.empty(blocks, cupy.int64)
    # waits() selects unvisited vertices, so the same status arrays are used with -1 and 0 exchanged
    other = -1 - status
    sizes = np.uint64(n), np.int32(5), np.uint64(segments), np.uint64(length), places, sums, queue

    def atomic() -> None:
        tail.data.memset_async(0, 8)
        kernel = launch.get(HEADER, "atomic_queue", "", ATOMIC)
        kernel((launch.grid(n),), (BLOCK,), (status, np.uint64(n), np.int32(0), queue, tail))

    def double_scan() -> None:
        launch(HEADER, "scan_segments", n, other, *sizes, shape="1", blocks=blocks)
        launch(HEADER, "prefix_sum", blocks, sums, np.uint64(blocks), blocks=1)
        launch(HEADER, "scan_segments", n, other, *sizes, shape="2", blocks=blocks)

    found = {"atomic": best(atomic)}
    if int(tail[0]) != len(right):
        raise WrongAnswer("the atomic queue is wrong; please report this")
    found["double scan"] = best(double_scan)
    if not bool((queue[: len(right)] == right).all()):
        raise WrongAnswer("the double scan's queue is wrong; please report this")
    return found | {"CuPy": best(lambda: cupy.flatnonzero(status == 0))}


def best(call: Callable[[], Any], rounds: int = 5) -> float:
    import cupy

    call()
    times = []
    for _ in range(rounds):
        began, ended = cupy.cuda.Event(), cupy.cuda.Event()
        began.record()
        call()
        ended.record()
        ended.synchronize()
        times.append(cupy.cuda.get_elapsed_time(began, ended))
    return float(min(times))


# ---------------------------------------------------------------- Figures 9 and 10, Lemma 3: counts from distances


def arcs_into(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> tuple[Any, Any]:
    """The arcs (row, place) whose neighbour is in `level`, in the order of the rows."""
    arcs = xp.flatnonzero(distances[indices] == level)
    return xp.searchsorted(indptr, arcs.astype(indptr.dtype), side="right") - 1, arcs


def looks(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> tuple[Any, Any]:
    """Figure 9: degree and work (neighbours read until one of the level before is found) of the rows of `level`."""
    row, arc = arcs_into(xp, indptr, indices, distances, level - 1)
    degrees = xp.diff(indptr)
    work = degrees.copy()
    first = xp.ones(len(row), bool)
    first[1:] = row[1:] != row[:-1]
    work[row[first]] = arc[first] - indptr[row[first]] + 1
    waiting = (distances < 0) | (distances >= level)
    return degrees[waiting], work[waiting]


def chance_ahead(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> float:
    """Lemma 3: the mean probability that a vertex of level + 1 is found while bottom-up looks for `level`.

    P = 1 - (1 - s/|Q|)^N, where s is a vertex's place in the queue Q of unvisited vertices, and N the number of its
    neighbours in `level` (docs/papers.md says how the lemma prints it).
    """
    row, _ = arcs_into(xp, indptr, indices, distances, level)
    neighbours = xp.diff(xp.searchsorted(row, xp.arange(len(distances) + 1)))  # rows ascend
    waiting = (distances < 0) | (distances >= level)
    place = (xp.cumsum(waiting) - 1) / max(int(waiting.sum()), 1)
    there = distances == level + 1
    return float((1 - (1 - place[there]) ** neighbours[there]).mean())


# ---------------------------------------------------------------- searches


def ways(device: str) -> dict[str, Any]:
    """The plans to compare. On a CPU, which makes queues in one way, XBFS with and without asynchronous pulls.

    The baseline has none of XBFS's choices: every queue is made by a scan, and rows are assigned statically.
    """
    whole = hw.plan("xbfs")
    if device == "cpu":
        return {"warp-centric": "xbfs-sync", "XBFS": whole}
    scan_free, single_scan, pull, no_queue, _ = whole.steps

    def balanced(balance: str) -> Plan:
        step = replace(pull, asynchronous=False, balance=balance)  # type: ignore[arg-type]
        return replace(whole, name=f"xbfs-{balance}-sync", steps=(scan_free, single_scan, step, no_queue, scan_free))

    static = balanced("static")
    scans = (single_scan, single_scan, static.steps[2], single_scan, single_scan)
    plans = {"baseline": replace(whole, name="xbfs-scans", steps=scans), "+ Ad": static}
    return plans | {name: balanced(balance) for name, balance in BALANCES.items()} | {"XBFS": whole}


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """Every way to search one graph: Tables 1 and 2, and Figures 10 to 15."""
    graph = graph.to_undirected() if graph.directed else graph
    runs, _, right = lab.in_turn(graph, ways(lab.device), min(lab.effort.sources, 16))
    row: Row = {f"{name} ms": median(map(ms_of, some)) for name, some in runs.items()} | {"sources": len(runs["XBFS"])}
    by_choice = {name: {way: total_ms(some, number) for way, number in CHOICES.items()} for name, some in runs.items()}
    checked = {name: sum(one.checked for run in runs[name] for one in run if one.direction == "pull")
               for name in ("warp-centric", "XBFS")}  # fmt: skip
    if checked["warp-centric"]:
        row |= {"synchronous checks": checked["warp-centric"], "asynchronous checks": checked["XBFS"],
                "fewer checks %": 100 * (1 - checked["XBFS"] / checked["warp-centric"])}  # fmt: skip
    row |= ahead(graph, runs["XBFS"], right)
    row |= work(graph, runs["XBFS"][:FEW], right)
    if "baseline" not in runs:
        return row
    base = row["baseline ms"]
    row |= {
        "gain: Ad": base / row["+ Ad ms"],
        "gain: Ad + WB": base / row["warp-centric ms"],
        "gain: XBFS": base / row["XBFS ms"],
    }
    for name, short in (("baseline", "baseline"), ("+ Ad", "after Ad"), ("XBFS", "XBFS")):
        spent = sum(by_choice[name].values())
        row[f"bottom-up % ({short})"] = 100 * by_choice[name]["double-scan"] / spent
        row[f"top-down % ({short})"] = 100 - row[f"bottom-up % ({short})"]
    saved = {way: by_choice["baseline"][way] - by_choice["+ Ad"][way] for way in CHOICES}
    above = sum(max(value, 0.0) for value in saved.values())
    row |= {f"saved by {way} %": 100 * max(value, 0.0) / above if above else None for way, value in saved.items()}
    up = by_choice["+ Ad"]["double-scan"]
    for name in BALANCES:
        row[f"balance: {name}"] = row["+ Ad ms"] / row[f"{name} ms"]
        row[f"pulls: {name}"] = up / by_choice[name]["double-scan"] if by_choice[name]["double-scan"] else None
    return row


searches = over(one_graph, TABLE_1)


def total_ms(runs: Iterable[Levels], choice: int) -> float:
    """Milliseconds of all levels with this choice of the rule; its last choice, 4, is 0 again: scan-free."""
    return sum(ms_of([level for level in levels if level.choice % 4 == choice]) for levels in runs)


def first_pull(levels: Levels) -> Any:
    return next((level for level in levels if level.direction == "pull"), None)


def ahead(graph: Graph, runs: list[Levels], right: list[Any]) -> Row:
    """Figure 10 and Lemma 3: the share of the second bottom-up level that the first one found, and its probability."""
    shares, chances = [], []
    for levels, distances in list(zip(runs, right, strict=False))[:FEW]:
        first = first_pull(levels)
        following = 0 if first is None else int((distances == first.depth + 1).sum())
        if following:
            shares.append(first.ahead / following)
            xp: Any = module_of(distances)
            chances.append(chance_ahead(xp, *rows_of(graph, xp), distances, first.depth))
    return {"found ahead %": 100 * fmean(shares), "Lemma 3 %": 100 * fmean(chances)} if shares else {}


def work(graph: Graph, runs: list[Levels], right: list[Any]) -> Row:
    """Figure 9: for the first bottom-up level of a search, a sample of (degree, arcs read)."""
    for levels, distances in zip(runs, right, strict=False):
        if (first := first_pull(levels)) is None:
            continue
        xp: Any = module_of(distances)
        found = looks(xp, *rows_of(graph, xp), distances, first.depth)
        degrees, looked = map(on_host, found)
        some = np.random.default_rng(1).choice(len(degrees), min(300, len(degrees)), replace=False)
        few = degrees[degrees > 256]
        return {
            "points": [(int(degrees[at]), int(looked[at])) for at in some if degrees[at]],
            "arcs read %": 100 * float(looked.sum()) / max(1, int(degrees.sum())),
            "long rows read up to 5 %": 100 * float((looked[degrees > 256] <= 5).mean()) if len(few) else None,
        }
    return {}


def points(lab: Lab) -> list[Row]:
    """Figure 9: a point for each sampled vertex."""
    return [{"graph": row["graph"], "degree": degree, "arcs read": looks}
            for row in lab.measured("searches") for degree, looks in row.pop("points", ())]  # fmt: skip


def means(lab: Lab) -> list[Row]:
    """The numbers that the text states, as means over the graphs."""
    rows = lab.measured("searches")

    def mean(column: str) -> float | None:
        found = [row[column] for row in rows if row.get(column) is not None]
        return fmean(found) if found else None

    gpu = "" if lab.device == "cuda" else "needs a GPU: --device cuda"
    text = (
        ("Figure 5", "atomic queues over prefix sums, ×", "1.7 to 5.2", _between(lab.measured("queues"), "gain")),
        ("Figure 10", "vertices of the next level found ahead, %", 88, mean("found ahead %")),
        ("Figure 11", "adaptive queues over the baseline, ×", 2.3, mean("gain: Ad")),
        ("Figure 11", "… with workload balancing, ×", 3.1, mean("gain: Ad + WB")),
        ("Figure 12", "bottom-up, baseline, %", 70, mean("bottom-up % (baseline)")),
        ("Figure 12", "bottom-up, after adaptive queues, %", 68, mean("bottom-up % (after Ad)")),
        ("Figure 12", "bottom-up, XBFS, %", 57, mean("bottom-up % (XBFS)")),
        *(("Figure 13", f"share of {way}, %", paper, mean(f"saved by {way} %"))
          for way, paper in zip(CHOICES, (18, 15.7, 11.4, 54.9), strict=True)),
        *(("Figure 14", f"{name}, ×", paper, mean(f"balance: {name}"))
          for name, paper in zip(BALANCES, (1.6, 1.6, "0.95 to 0.99"), strict=True)),
        ("Figure 15", "fewer edge checks, %", 23.2, mean("fewer checks %")),
    )  # fmt: skip
    return [{"figure": figure, "what": what, "ours": ours, "paper": paper, "remark": "" if ours is not None else gpu}
            for figure, what, paper, ours in text]  # fmt: skip


def _between(rows: list[Row], column: str) -> str | None:
    found = [row[column] for row in rows if column in row]
    return f"{min(found):.1f} to {max(found):.1f}" if found else None


# The abstract's averages, and the means of Table 2.
CLAIMS = {
    f"× {name}": (value, fmean(numbers(TABLE_1, name, "XBFS")))
    for name, value in (("Enterprise", 3.5), ("Tigr", 4.9), ("Gunrock", 11.2), ("Ligra", 6.1))
}


def averages(lab: Lab) -> list[Row]:
    """The abstract: average speedups over other programs."""
    return lab.promised("searches", "", None, CLAIMS, {})


def _bars(columns: tuple[str, ...], unit: str, log: bool = False, form: str = "bars") -> tuple[Drawing, ...]:
    return (Drawing(form, "graph", columns, unit, (False, log)),)


GAINS = ("gain: Ad", "gain: Ad + WB", "gain: XBFS")
BALANCED = tuple(f"balance: {name}" for name in BALANCES)
PULLS = tuple(f"pulls: {name}" for name in BALANCES)
SAVED = tuple(f"saved by {way} %" for way in CHOICES)
CHECKS = ("synchronous checks", "asynchronous checks")
NOT_DRAWN = "Overviews and examples of the text; docs/papers.md names the code and the tests of each."

PAPER = Paper(
    "xbfs",
    "XBFS: eXploring Runtime Optimizations for Breadth-First Search on GPUs",
    "A. Gaihre, Z. Wu, F. Yao and H. Liu, HPDC 2019",
    "NVIDIA Quadro P6000; Ligra on 24 Xeon Platinum 8175M",
    {"queues": queues, "searches": searches, "points": points, "means": means, "averages": averages},
    (
        Exhibit("Abstract", "What the paper promises", "averages",
                ("claim", "ours", "paper", "paper's tables", "remark")),
        Exhibit("Text", "Means that sections 4 to 6 state", "means", ("figure", "what", "ours", "paper", "remark"),
                note="Figure 14's 1.6 are 'speedup increases over baseline with adaptive frontier queue generation': "
                "the paper does not say whether of full searches or of bottom-up levels; Figure 14 shows both."),
        Exhibit("Figures 1–4",
                "What is chosen at run time; the toy graph; the work of one level; queues of the toy graph",
                note=NOT_DRAWN),
        Exhibit("Table 1", "Graphs", "searches", ("graph", "n", "m", "from"),
                note="Each edge is stored in both directions, as in section 2.3."),
        Exhibit("Figure 5", "Queues by atomic operations over prefix sums", "queues",
                ("millions", "share", "atomic ms", "double scan ms", "CuPy ms", "gain", "from"), None,
                (Drawing("lines", "millions", ("gain",), "times faster", (True, False), "series"),),
                note="The paper's means: 5.2 on K80, 4.1 on P6000, 2.5 on Titan Xp, 1.7 on V100. The gain is over the "
                "faster of the two prefix sums. In the atomic queue every warp takes its places from one counter: on "
                "an H200 that wins on small arrays and loses on large ones."),
        Exhibit("Figures 6–8", "Double scan, the adaptive flow chart, and asynchronous traversal of the toy graph",
                note=NOT_DRAWN),
        Exhibit("Figure 9", "Degree and real work of each vertex in the first bottom-up level", "points",
                ("graph", "degree", "arcs read"), None,
                (Drawing("points", "degree", ("arcs read",), "arcs read", (True, True), "graph"),),
                "A sample of 300 vertices per graph.", listed=False),
        Exhibit("Figure 10", "Vertices of the next level found ahead", "searches",
                ("graph", "found ahead %", "Lemma 3 %", "from"), None,
                _bars(("found ahead %", "Lemma 3 %"), "% of the next level"),
                note="Of the second bottom-up level's vertices, those that the first one marks. Lemma 3 takes rows one "
                "by one. An H200 runs 270,336 threads at once, a P6000 61,440: where the queue is not much longer, few "
                "rows see what another has just found, and the share is below the lemma's."),
        Exhibit("Table 2", "Milliseconds beside other programs", "searches",
                ("graph", "sources", "XBFS ms", "baseline ms", "paper: XBFS", "paper: Enterprise", "paper: Tigr",
                 "paper: Gunrock", "paper: Ligra", "from"),
                note="The baseline is XBFS without its choices: every queue by a scan, rows assigned statically."),
        Exhibit("Figure 11", "Gains over the baseline, one contribution after another", "searches",
                ("graph", *GAINS, "from"), None, _bars(GAINS, "times faster than the baseline"),
                note="The paper's baseline is Enterprise, ours XBFS without its choices (Table 2). Ad: the method to "
                "make a queue is chosen at each level. WB: warps fetch rows of bottom-up levels. XBFS: with looking "
                "ahead."),
        *(Exhibit(f"Figure 12({part})", f"Time in top-down and bottom-up: {what}", "searches",
                  ("graph", f"top-down % ({short})", f"bottom-up % ({short})"), None,
                  _bars((f"top-down % ({short})", f"bottom-up % ({short})"), "% of the time", form="stacked"))
          for part, what, short in (("a", "baseline", "baseline"), ("b", "after adaptive queues", "after Ad"),
                                    ("c", "XBFS", "XBFS"))),
        Exhibit("Figure 13", "What each way to make a queue contributes", "searches", ("graph", *SAVED), None,
                _bars(SAVED, "% of the time saved", form="stacked"),
                note="Of the time that adaptive queues save; a method that costs time counts as 0."),
        Exhibit("Figure 14", "Balancing of bottom-up levels, over static assignment with adaptive queues", "searches",
                ("graph", *BALANCED, *PULLS), None,
                (*_bars(BALANCED, "times faster, full searches"), *_bars(PULLS, "times faster, bottom-up levels")),
                "The paper's baseline assigns rows by degree; over it, static assignment gains 1.4 times."),
        Exhibit("Figure 15", "Edge checks of synchronous and asynchronous bottom-up", "searches",
                ("graph", *CHECKS, "fewer checks %"), None, _bars(CHECKS, "arcs checked", log=True)),
        Exhibit("Figure 16", "XBFS on different GPUs", "searches", ("graph", "XBFS ms", "from"), None,
                _bars(("XBFS ms",), "ms", log=True),
                note="One machine: this one. The paper has 1.8, 2.3 and 4.1 times K80's speed for P6000, Titan Xp and "
                "V100."),
    ),
    "Median over up to 16 sources of the largest component, of the time inside the levels, by the GPU's clock on a "
    "GPU; all ways search from each source in turn, and every distance is compared with hopwave's own search. A CPU "
    "has one way to make a queue, so most figures need a GPU.",
)  # fmt: skip
