"""XBFS: eXploring Runtime Optimizations for Breadth-First Search on GPUs (Gaihre, Wu, Yao & Liu, 2019)."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from statistics import fmean, median
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of, on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, Levels, WrongAnswer, claimed, ms_of, over, rows_of
from hopwave.papers.records import Case, Row, left_out, tables
from hopwave.planning.plan import Plan

CHOICES = {"scan-free": 0, "single-scan": 1, "no generation": 3, "double-scan": 2}  # step numbers of the rule
BALANCES = {"thread-centric": "thread", "warp-centric": "warp", "donation": "donate"}
FEW = 4  # number of searches whose arcs are counted individually
(TABLE_1,) = tables("xbfs")


# ---------------------------------------------------------------- Figure 5: queues by atomic operations or prefix sums

MILLIONS = (1, 4, 16, 64, 256, 512)  # millions of statuses
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
    """Milliseconds of each method, the best of five, for arrays of many sizes; every queue is checked."""
    if lab.device != "cuda":
        return [{"GPU": "none"} | left_out("queues are built only on a GPU; pass --device cuda")]
    rows = []
    for millions, share in product(MILLIONS[:2] if lab.quick else MILLIONS, SHARES):
        ms = queue_ms(millions << 20, share)
        shown = {f"{method} ms": taken for method, taken in ms.items()}
        shown |= {"gain": min(ms["double scan"], ms["CuPy"]) / ms["atomic"]}
        rows.append({"millions": millions, "share": share, **shown, "series": f"1 of {round(1 / share)} in the queue"})
        lab.release()
    return rows


def queue_ms(n: int, share: float) -> dict[str, float]:
    """Milliseconds of each method to build a queue of a share of n vertices."""
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
    """The arcs (row, position) whose neighbour is in `level`, in row order."""
    arcs = xp.flatnonzero(distances[indices] == level)
    return xp.searchsorted(indptr, arcs.astype(indptr.dtype), side="right") - 1, arcs


def looks(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> tuple[Any, Any]:
    """Figure 9: degree and work (neighbours read until one in the previous level is found) of the rows of `level`."""
    row, arc = arcs_into(xp, indptr, indices, distances, level - 1)
    degrees = xp.diff(indptr)
    work = degrees.copy()
    first = xp.ones(len(row), bool)
    first[1:] = row[1:] != row[:-1]
    work[row[first]] = arc[first] - indptr[row[first]] + 1
    waiting = (distances < 0) | (distances >= level)
    return degrees[waiting], work[waiting]


def chance_ahead(xp: Any, indptr: Any, indices: Any, distances: Any, level: int) -> float:
    """Lemma 3: the mean probability that a vertex of level + 1 is found while a pull computes `level`.

    P = 1 - (1 - s/|Q|)^N, with s the vertex's position in the queue Q of unvisited vertices, and N the number of its
    neighbours in `level` (docs/papers.md quotes the printed lemma).
    """
    row, _ = arcs_into(xp, indptr, indices, distances, level)
    neighbours = xp.diff(xp.searchsorted(row, xp.arange(len(distances) + 1)))  # rows are sorted
    waiting = (distances < 0) | (distances >= level)
    place = (xp.cumsum(waiting) - 1) / max(int(waiting.sum()), 1)
    there = distances == level + 1
    return float((1 - (1 - place[there]) ** neighbours[there]).mean())


# ---------------------------------------------------------------- searches


def ways(device: str) -> dict[str, Any]:
    """The plans to compare. On a CPU, which has one method to build queues, XBFS with and without asynchronous pulls.

    The baseline has none of XBFS's choices: every queue is built by a scan, and rows are assigned statically.
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
    """All plans on one graph: Tables 1 and 2, and Figures 10 to 15."""
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
    """Milliseconds of all levels with this choice of the rule; its last choice, 4, equals 0: scan-free."""
    return sum(ms_of([level for level in levels if level.choice % 4 == choice]) for levels in runs)


def first_pull(levels: Levels) -> Any:
    return next((level for level in levels if level.direction == "pull"), None)


def ahead(graph: Graph, runs: list[Levels], right: list[Any]) -> Row:
    """Figure 10 and Lemma 3: the share of the second bottom-up level that the first found, and its probability."""
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


STUDIES = {"queues": queues, "searches": searches, "points": points, "claims": claimed("xbfs")}
