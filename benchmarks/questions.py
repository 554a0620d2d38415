"""Every public question, found by itself: python -m benchmarks.questions [--seconds 100] [--scale 18] [--calls 3]

A public function of hopwave is a question if its first argument is a graph. Other arguments that it requires are those
of ARGUMENTS, or of GIVEN in src/hopwave/cli/given.py. Questions whose work grows with n · m are
asked of SMALL graphs, those that search until bounds meet of MIDDLE ones, and those about arcs that lead one way of an
acyclic orientation. The page has each question on one core, on all cores and on the GPU of a machine, with the slowest
call after the second and its number; benchmarks/against.py asks the same questions of two source trees.

`--calls 60 --parts all gpu` checks a rule: no call after the second takes more than 4 times the median and more than
10 ms. Calls that break it are listed at the end, and the exit status is 1. The page shows this record, too; one of two
cores is named by `--name questions-calls-2`.
"""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from runpy import run_path
from typing import Any

import numpy as np

from benchmarks import setting
from benchmarks.pages import Record, publish
from benchmarks.setting import command_line, generate, giant_sources, hw

NOT_QUESTIONS = {
    "estimate_memory": "says what another question would take",
    "strength": "adds up the weights of the arcs with NumPy, on any machine",
    "read": "reads a file: graphs.md has its times",
    "write": "writes a file: graphs.md has its times",
    "plan": "is about plans, not about a graph",
}
GIVEN = run_path(str(setting.ROOT / "src/hopwave/cli/given.py"))  # of this tree, also if `against` times an older one
NEW: set[str] = set()  # not on the page yet, which a maintainer measures on a machine with a GPU
SMALL = {
    "average_shortest_path_length", "barycenter", "distance_blocks", "global_efficiency",
    "group_betweenness_centrality", "load_centrality", "local_efficiency", "percolation_centrality",
    "square_clustering", "stress_centrality", "wiener_index",
}  # fmt: skip
DIRECTED = {
    "condensation", "in_degree_centrality", "is_directed_acyclic_graph", "is_strongly_connected",
    "out_degree_centrality", "strongly_connected_components", "topological_order",
}  # fmt: skip
WEIGHTED = {"nearest", "sssp", "sssp_each", "sssp_many"}
MIDDLE = {"center", "diameter", "periphery", "radius"}
CACHED = {  # with the graph: each call gets a new one
    "connected_components", "is_connected", "is_strongly_connected", "is_weakly_connected",
    "strongly_connected_components", "weakly_connected_components",
}  # fmt: skip
LIVES_THERE = {"validate"}  # runs where the graph is, and not where device= says
SEVERAL = {"all_shortest_paths", "bfs_each", "distance_blocks", "sssp_each"}  # iterators
ANY_IS_RIGHT = {"all_shortest_paths", "shortest_path", "shortest_paths", "shortest_path, weights", "topological_order"}
MOST = 1000  # items that are asked for: a mesh has more shortest paths than anyone can list
GRAPHS: dict[str, Callable[[int], hw.Graph]] = {
    "kron": lambda scale: generate.kronecker(scale, 16, seed=1),
    "delaunay": lambda scale: generate.delaunay(1 << scale, seed=1),
}
LONGEST = 8  # seconds that one question may take altogether
STALL_RATIO, STALL_MS = 4, 10.0  # times the median, and milliseconds: a call after the second stays below one of both


@dataclass
class Case:
    """One of the two graphs, small and large, and what is derived from it; each is made when it is first needed."""

    name: str
    scale: int = 18
    middle_scale: int = 14
    small_scale: int = 11

    @cached_property
    def large(self) -> hw.Graph:
        return self.made(self.scale)

    @cached_property
    def middle(self) -> hw.Graph:
        return self.made(min(self.scale, self.middle_scale))

    @cached_property
    def small(self) -> hw.Graph:
        return self.made(min(self.scale, self.small_scale))

    def made(self, scale: int) -> hw.Graph:
        return GRAPHS[self.name](scale).largest_component().relabel(None)

    @cached_property
    def one_way(self) -> hw.Graph:
        """Every edge from its lower to its higher end."""
        tail, head = self.large.remove_self_loops().to_edges()
        return hw.Graph.from_edges(tail, head, self.large.n, directed=True)

    @cached_property
    def weighted(self) -> hw.Graph:
        """Lengths from 1 to 255, a hash of the ends."""
        G = self.large
        tail = np.repeat(np.arange(G.n, dtype=np.uint64), G.degrees)
        low, high = np.minimum(tail, G.indices), np.maximum(tail, G.indices)
        mixed = low.astype(np.uint64) * np.uint64(2654435761) + high.astype(np.uint64) * np.uint64(40503)
        return G.with_weights((mixed % np.uint64(255) + np.uint64(1)).astype(np.float32))

    @cached_property
    def grid(self) -> hw.Graph:
        return generate.grid(1 << self.scale // 2, 1 << self.scale // 2)

    @cached_property
    def sources(self) -> list[int]:
        return giant_sources(self.large, 64)

    @cached_property
    def search(self) -> hw.BFSResult:
        return hw.bfs(self.large, self.sources[0], device="cpu")

    @cached_property
    def communities(self) -> Any:
        return hw.connected_components(self.large, device="cpu")

    def graph(self, question: str) -> hw.Graph:
        """The graph that this question is asked of."""
        if question == "bipartite_sides":
            return self.grid
        if question in SMALL or question in MIDDLE:
            return self.small if question in SMALL else self.middle
        return self.one_way if question in DIRECTED else self.weighted if question in WEIGHTED else self.large


# What a question is asked with besides the graph: in words, and as arguments.
ARGUMENTS: dict[str, tuple[str, Callable[[Case], dict[str, Any]]]] = {
    "all_shortest_paths": ("the first 1,000", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "betweenness_centrality": ("64 sources", lambda c: {"sources": c.sources}),
    "bfs": ("", lambda c: {"source": c.sources[0]}),
    "bfs_each": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "bfs_many": ("64 sources", lambda c: {"sources": c.sources}),
    "closeness_centrality": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "accessibility": ("hops, 2, 64 sources", lambda c: {"limit": 2, "weights": False, "sources": c.sources}),
    "distance_table": ("64 × 64", lambda c: {"sources": c.sources, "targets": c.sources}),
    "isochrone": ("2 hops", lambda c: {"source": c.sources[0], "limits": 2, "weights": False}),
    "nearest_of": ("64 facilities", lambda c: {"facilities": c.sources}),
    "distance_histogram": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "eccentricity": ("256 vertices", lambda c: {"vertices": range(min(256, c.large.n))}),
    "edge_betweenness_centrality": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "eigenvector_centrality": ("tol = 10⁻⁴", lambda c: {"max_iter": 1000, "tol": 1e-4}),
    "group_betweenness_centrality": ("3 vertices", lambda c: {"group": [1, 2, 3]}),
    "group_closeness_centrality": ("3 vertices", lambda c: {"group": [1, 2, 3]}),
    "harmonic_centrality": ("256 sources", lambda c: {"sources": range(min(256, c.large.n))}),
    "has_path": ("two vertices", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "hyperball": ("2 runs", lambda c: {"runs": 2, "seed": 1}),
    "k_hop": ("2 hops", lambda c: {"vertex": c.sources[0], "k": 2}),
    "katz_centrality": ("α = 10⁻⁴", lambda c: {"alpha": 1e-4}),
    "label_propagation": ("", lambda c: {"seed": 1}),
    "maximal_independent_set": ("", lambda c: {"seed": 1}),
    "modularity": ("components", lambda c: {"communities": c.communities}),
    "k_shortest_paths": ("8 paths", lambda c: {"source": c.sources[0], "target": c.sources[1], "k": 8}),
    "shortest_paths": ("64 pairs", lambda c: {"pairs": [(c.sources[0], v) for v in c.sources]}),
    "nearest": ("100 vertices", lambda c: {"source": c.sources[0], "k": 100}),
    "pairs_within": ("2 hops, 64 sources", lambda c: {"d": 2, "sources": c.sources}),
    "shortest_path": ("two vertices", lambda c: {"source": c.sources[0], "target": c.sources[1]}),
    "sssp": ("", lambda c: {"source": c.sources[0]}),
    "sssp_each": ("4 sources", lambda c: {"sources": c.sources[:4]}),
    "sssp_many": ("16 sources", lambda c: {"sources": c.sources[:16]}),
    "validate": (
        "a search",
        lambda c: {
            "sources": c.sources[0],
            "distances": c.search.distances,
            "predecessors": c.search.predecessors,
        },
    ),
}
# Methods that rearrange a whole graph; the graph lives on the device.
METHODS: dict[str, Callable[[Case, str], Callable[[], Any]]] = {
    "Graph.subgraph": lambda c, device: partial(c.large.to(device).subgraph, np.arange(0, c.large.n, 2)),
    "Graph.to_undirected": lambda c, device: c.one_way.to(device).to_undirected,
    "generate.kronecker": lambda c, device: partial(generate.kronecker, c.scale, 16, seed=1),
    "shortest_path, weights": lambda c, device: partial(
        hw.shortest_path, c.weighted, c.sources[0], c.sources[1], device=device
    ),
}


def questions() -> list[str]:
    """The names of all public functions that ask something of a graph."""
    public = ((name, getattr(hw, name)) for name in hw.__all__)
    return sorted(
        name
        for name, function in public
        if inspect.isfunction(function) and name not in NOT_QUESTIONS and len(inspect.signature(function).parameters)
    )


def call(question: str, case: Case, device: str) -> Callable[[], Any] | None:
    """What asks the question; None if it does not run on that device."""
    if question in METHODS:
        return METHODS[question](case, device)
    function = getattr(hw, question)
    given = ARGUMENTS[question][1](case) if question in ARGUMENTS else GIVEN["required"](function)
    parameters = inspect.signature(function).parameters
    if "device" in parameters:
        given["device"] = device
    elif device != "cpu" and question not in LIVES_THERE:
        return None
    if "progress" in parameters:
        given["progress"] = False
    graph = case.graph(question)
    if question in LIVES_THERE:
        graph = graph.to(device)

    def ask() -> Any:
        asked = graph
        if question in CACHED:
            asked = hw.Graph.from_csr(graph.indptr, graph.indices, directed=graph.directed, check=False)
        answer = function(asked, **given)
        return list(islice(answer, MOST)) if question in SEVERAL else answer

    return ask


def title(question: str) -> str:
    """A question with its arguments, in words."""
    words = ARGUMENTS[question][0] if question in ARGUMENTS else ""
    return f"{question} ({words})" if words else question


def digest(answer: Any) -> float:
    """A number that other answers would hardly have; reading it waits for a GPU."""
    if isinstance(answer, bool | int | float | np.number):
        return float(answer)
    if isinstance(answer, hw.Graph):
        return float(answer.m)
    for name in ("scores", "distances", "labels", "hubs", "counts", "sizes", "ok", "value", "harmonic"):
        if getattr(answer, name, None) is not None:
            return digest(getattr(answer, name))
    if isinstance(answer, dict):
        return digest(list(answer.values()))
    if isinstance(answer, tuple | list) and not all(isinstance(one, int | float) for one in answer):
        return float(sum(digest(one) for one in answer))
    host = answer.get() if hasattr(answer, "__cuda_array_interface__") else answer
    found = np.asarray(host, np.float64)
    return float(found[np.isfinite(found)].sum())


class TooLong(KeyboardInterrupt):
    """The question took its time: the call ends as by Ctrl-C."""


def limited(seconds: float, work: Callable[[], Record]) -> Record:
    """What work returns, or why not."""

    def end(*_: Any) -> None:
        raise TooLong

    signal.signal(signal.SIGALRM, end)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)  # repeated, since a destructor may swallow one
            return work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except TooLong:
        return {"failed": f"not within {seconds} s"}
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


def calls_of(ask: Callable[[], Any], least: int, seconds: float) -> tuple[list[float], float]:
    """Milliseconds of every call in order, at least that many and for that long; and the answer's digest."""
    times, until, answer = [], time.perf_counter() + seconds, None
    while len(times) < least or (time.perf_counter() < until and len(times) < 60):
        began = time.perf_counter()
        answer = ask()
        value = digest(answer) if len(times) == 0 else touch(answer)
        times.append(1e3 * (time.perf_counter() - began))
        if len(times) >= 2 and sum(times) > 1e3 * LONGEST / 2:
            break
    return times, digest(answer) if value is None else value


def touch(answer: Any) -> float | None:
    """Wait for answers that a GPU is still making."""
    for one in answer if isinstance(answer, list) else ():
        touch(one)
    for name in ("scores", "distances", "labels"):
        if getattr(answer, name, None) is not None:
            break
    return None


def measured(question: str, case: Case, device: str, least: int) -> Record:
    """Best and median time, and the slowest call after the second with its number."""
    ask = call(question, case, device)
    if ask is None:
        return {"failed": "the CPU alone"}
    times, value = calls_of(ask, least, 0.15)
    later = times[2:] or times[-1:]
    slowest = int(np.argmax(later))
    return {
        "ms": min(times),
        "median ms": float(np.median(later)),
        "digest": value,
        "slowest ms": later[slowest],
        "slowest call": slowest + len(times) - len(later) + 1,
        "calls": len(times),
    }


def stalls(found: Record) -> bool:
    """Whether a call after the second took far longer than the others."""
    return bool(found.get("slowest ms", 0.0) > max(STALL_RATIO * found.get("median ms", 0.0), STALL_MS))


def asked(scale: int) -> Iterator[tuple[str, str, Case]]:
    for name in GRAPHS:
        case = Case(name, 8 if setting.QUICK else scale)
        yield from ((question, name, case) for question in [*questions(), *METHODS])


def part(kind: str, seconds: float, scale: int, least: int) -> None:
    """One process: every question on one core, on all cores or on the GPU; prints a line each."""
    if kind == "one":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # hopwave then uses one thread
    warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    until, device = time.monotonic() + seconds, "cuda" if kind == "gpu" else "cpu"
    for question, name, case in asked(scale):
        if time.monotonic() < until:
            row = {"graph": f"{name} {scale}", "question": title(question), "kind": kind}
            found = limited(LONGEST, lambda q=question, c=case: measured(q, c, device, least))
            print(json.dumps(row | found), flush=True)


def main() -> int:
    """Measure in one process per column, and publish; returns 1 if a call stalled."""
    given = command_line(__doc__, seconds=100.0, scale=18, part="", calls=3, parts=[str], name="")
    if given.part:
        part(given.part, given.seconds, given.scale, given.calls)
        return 0
    columns = {"one": "1 core ms", "all": "hopwave ms"} | ({"gpu": "GPU ms"} if len(hw.devices()) > 1 else {})
    rows: dict[tuple[str, str], Record] = {}
    stalled: list[Record] = []
    for kind in given.parts or columns:
        options = ["--part", kind, "--calls", given.calls, "--seconds", given.seconds, "--scale", given.scale]
        words = [sys.executable, "-m", "benchmarks.questions", *map(str, options)]
        hidden = {} if kind == "gpu" else {"CUDA_VISIBLE_DEVICES": ""}  # graphs, too, are then generated on the CPU
        todo: Any = {"stdout": subprocess.PIPE, "text": True, "check": True, "cwd": setting.ROOT}
        done = subprocess.run(words, env=os.environ | hidden, **todo)
        for found in map(json.loads, done.stdout.splitlines()):
            row = rows.setdefault((found["graph"], found["question"]), {k: found[k] for k in ("graph", "question")})
            row[columns[kind]] = found.get("ms")
            if "digest" in row and "digest" in found and differ(found["question"], row["digest"], found["digest"]):
                raise SystemExit(f"{found['question']} on {found['graph']}: {kind} has another answer")
            row.setdefault("digest", found.get("digest"))
            if kind != "one":
                before, names = "GPU: " * (kind == "gpu"), ["median ms"] * bool(given.parts)
                row |= {before + name: found.get(name) for name in (*names, "slowest ms", "slowest call")}
            print({key: found[key] for key in found if key != "digest"}, flush=True)
            stalled += [found] * stalls(found)
    print(
        f"{len(stalled)} questions with a call above {STALL_RATIO} × the median and {STALL_MS:g} ms", *stalled, sep="\n"
    )
    for row in rows.values():
        row.pop("digest", None)
    publish(
        given.name or ("questions-calls" if given.parts else "questions"),
        f"{given.calls} calls of every question" if given.parts else "Every public question",
        list(rows.values()),
        "Wall-clock time of the public call in milliseconds: the best of some calls. *hopwave ms* is on all cores. "
        "*slowest*: the longest call after the second, and its number. "
        "Questions about all pairs are asked of graphs of scale 11, those that search until bounds meet of scale 14. A "
        "dash: not measured within some seconds.",
        setting.gpu() if "gpu" in columns else {},
    )
    return int(bool(stalled))


def differ(question: str, one: float | None, other: float | None, within: float = 1e-3) -> bool:
    """Whether two digests are of different answers; eigenvectors have an error of 10⁻⁴, any shortest path is right."""
    if one is None or other is None or question.partition(" (")[0] in ANY_IS_RIGHT:
        return False
    return abs(one - other) > within * max(abs(one), abs(other))


if __name__ == "__main__":
    sys.exit(main())
