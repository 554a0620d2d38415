"""NetworkX with hopwave as its backend: small graphs, large graphs, and NetworkX's own tests.

    python -m benchmarks.networkx_calls small [--only NAME …] [--processes 14]
    python -m benchmarks.networkx_calls large [--device cpu] [--sample 100]
    python -m benchmarks.networkx_calls suite | karate

`small` times each function of the backend on graphs of 34 to 30,000 nodes: by NetworkX itself; by hopwave with the
conversion of the graph and on a converted graph; and as NetworkX dispatches it with hopwave in `backend_priority`,
where `should_run` decides. The thresholds of the backend come from these columns. Functions that take NetworkX longer
than 40 ms are not timed on larger graphs. Functions may be measured in several processes; hopwave then has one thread
in each. `large`: every call of hopwave starts with an empty cache, so its time includes the conversion; calls that
would take NetworkX hours are timed on a sample of vertices and extrapolated. `suite` counts NetworkX's own tests
through the backend (tests/networkx_backend/test_their_suite.py), `karate` compares hopwave's functions with igraph's.
Results are compared before a row is written. Times are the best of several rounds, all columns of a row in turn.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import networkx as nx

from benchmarks import setting
from benchmarks.pages import Record, publish
from benchmarks.setting import ROOT, command_line, generate, gpu, hw, real_graphs, tell, timed

SLOW = 0.04  # seconds of a NetworkX call from which larger graphs are left out
ROUNDS, ENOUGH = 40, 0.2  # rounds of a call, or until this many seconds have passed
COLUMNS = "NetworkX", "hopwave with conversion", "hopwave converted", "as dispatched", "as dispatched, converted"
OTHER_BY_DEFINITION = {"edge_betweenness_centrality_subset", "group_betweenness_centrality"}  # see docs/networkx.md

# Each call gets the graph, two of its nodes, and the keyword arguments that choose who answers.
Call = Callable[..., Any]


def register() -> None:
    """Register hopwave with NetworkX if the package is not installed and has no entry points."""
    known = nx.utils.backends
    if "hopwave" not in known.backends:
        from _hopwave_nx_info import get_info

        known.backends["hopwave"] = EntryPoint("hopwave", "hopwave.networkx_backend:backend", "networkx.backends")
        known.backend_info["hopwave"] = get_info()
        known._dispatchable.__call__ = known._dispatchable._call_if_any_backends_installed


def of(function: Any) -> Call:
    """A function of the graph alone."""
    return lambda G, s, t, **who: function(G, **who)


def from_one(function: Any) -> Call:
    """A function of the graph and a source."""
    return lambda G, s, t, **who: function(G, s, **who)


def pair(function: Any) -> Call:
    """A function of the graph and two nodes."""
    return lambda G, s, t, **who: function(G, s, t, **who)


def subset(function: Any) -> Call:
    """A function of the graph, some sources and some targets."""
    return lambda G, s, t, **who: function(G, list(G)[:10], list(G)[-10:], **who)


bipartite = nx.bipartite
OF_GRAPH = (  # of the graph alone
    "all_pairs_shortest_path", "all_pairs_shortest_path_length", "all_pairs_all_shortest_paths",
    "average_shortest_path_length", "betweenness_centrality", "edge_betweenness_centrality", "closeness_centrality",
    "harmonic_centrality", "global_reaching_centrality", "eccentricity", "diameter", "radius", "center", "periphery",
    "barycenter", "harmonic_diameter", "wiener_index", "hyper_wiener_index", "schultz_index", "gutman_index",
    "global_efficiency", "local_efficiency", "connected_components", "number_connected_components", "is_connected",
    "triangles", "square_clustering", "core_number", "pagerank", "hits",
)  # fmt: skip
OF_NODE = (  # of the graph and a source
    "generic_bfs_edges", "bfs_edges", "bfs_tree", "bfs_predecessors", "bfs_successors", "descendants", "ancestors",
    "single_source_shortest_path", "single_source_shortest_path_length", "single_target_shortest_path",
    "single_target_shortest_path_length", "predecessor", "single_source_all_shortest_paths",
    "local_reaching_centrality", "node_connected_component",
)  # fmt: skip
OF_PAIR = (  # of the graph and two nodes
    "bidirectional_shortest_path", "has_path", "shortest_path", "shortest_path_length", "all_shortest_paths",
    "efficiency",
)  # fmt: skip
OF_ARCS = (  # of a directed graph alone
    "weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected",
    "strongly_connected_components", "number_strongly_connected_components", "is_strongly_connected", "condensation",
    "attracting_components", "number_attracting_components", "is_attracting_component", "is_semiconnected",
)  # fmt: skip
UNDIRECTED: dict[str, Call] = {
    **{name: of(getattr(nx, name)) for name in OF_GRAPH},
    **{name: from_one(getattr(nx, name)) for name in OF_NODE},
    **{name: pair(getattr(nx, name)) for name in OF_PAIR},
    "bfs_layers": lambda G, s, t, **who: nx.bfs_layers(G, [s], **who),
    "bfs_labeled_edges": lambda G, s, t, **who: nx.bfs_labeled_edges(G, [s], **who),
    "descendants_at_distance": lambda G, s, t, **who: nx.descendants_at_distance(G, s, 2, **who),
    "ego_graph": lambda G, s, t, **who: nx.ego_graph(G, s, 2, **who),
    "shortest_path from one": from_one(nx.shortest_path),
    "shortest_path of all": of(nx.shortest_path),
    "shortest_path_length from one": from_one(nx.shortest_path_length),
    "shortest_path_length of all": of(nx.shortest_path_length),
    "betweenness_centrality k=10": lambda G, s, t, **who: nx.betweenness_centrality(G, 10, seed=1, **who),
    "betweenness_centrality_subset": subset(nx.betweenness_centrality_subset),
    "edge_betweenness_centrality_subset": subset(nx.edge_betweenness_centrality_subset),
    "group_betweenness_centrality": lambda G, s, t, **who: nx.group_betweenness_centrality(G, [s, t], **who),
    "newman_betweenness_centrality": of(nx.load_centrality),
    "closeness_centrality of one": from_one(nx.closeness_centrality),
    "group_closeness_centrality": lambda G, s, t, **who: nx.group_closeness_centrality(G, [s, t], **who),
    "eccentricity of one": from_one(nx.eccentricity),
    "eigenvector_centrality": lambda G, s, t, **who: nx.eigenvector_centrality(G, 1000, **who),
    "katz_centrality": lambda G, s, t, **who: nx.katz_centrality(G, 0.005, **who),
    "is_bipartite": of(bipartite.is_bipartite),
}
DIRECTED: dict[str, Call] = {name: of(getattr(nx, name)) for name in OF_ARCS}
TREES: dict[str, Call] = {
    "color": of(bipartite.color),
    "sets": of(bipartite.sets),
    "bipartite_betweenness_centrality": lambda G, s, t, **who: bipartite.betweenness_centrality(G, first(G), **who),
    "bipartite_closeness_centrality": lambda G, s, t, **who: bipartite.closeness_centrality(G, first(G), **who),
}


def first(G: nx.Graph) -> list[Any]:
    """One side of a tree; computed once, the same list for every call."""
    side: list[Any] = G.graph["side"]
    return side


def graphs() -> Iterator[tuple[str, nx.Graph]]:
    yield "karate", nx.karate_club_graph()
    yield "Les Misérables", nx.les_miserables_graph()
    for n in (300, 1000, 10_000, 30_000):
        yield f"random, {n:,}", nx.barabasi_albert_graph(n, 3, seed=1)


def consumed(result: Any) -> Any:
    """A result that can be compared: iterators are read to their end, graphs become edge lists."""
    if isinstance(result, nx.Graph) or hasattr(result, "__networkx_backend__"):
        result = nx.utils.backends._load_backend("hopwave").convert_to_nx(result)
        return list(result), list(result.edges())
    return list(result) if isinstance(result, Iterator) else result


def agree(mine: Any, theirs: Any) -> bool:
    """Equal, floats up to the last bits; a component's sets and lists may be in another order."""
    if isinstance(theirs, dict):
        return mine.keys() == theirs.keys() and all(agree(mine[key], theirs[key]) for key in theirs)
    if isinstance(theirs, float):
        return math.isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(map(agree, mine, theirs))
    return bool(mine == theirs)


def networkx_rows(only: list[str]) -> Iterator[dict[str, Any]]:
    """One row per function and graph."""
    nx.config.backend_priority.algos = nx.config.backend_priority.generators = []
    slow: set[str] = set()
    for graph, G in graphs():
        tree = nx.Graph(nx.bfs_tree(G, next(iter(G)), backend="networkx").edges())
        tree.graph["side"] = sorted(bipartite.sets(tree, backend="networkx")[0], key=str)
        for H, calls in ((G, UNDIRECTED), (G.to_directed(), DIRECTED), (tree, TREES)):
            nodes = list(H)
            s, t = nodes[0], nodes[-1]
            for name, call in calls.items():
                if name in slow or (only and name.split()[0] not in only):
                    continue
                row = one_row(name, call, H, s, t)
                if row["NetworkX µs"] > SLOW * 1e6:
                    slow.add(name)
                row = {"call": name, "graph": graph, "arcs": sum(map(len, H._adj.values())), **row}
                yield tell(row)


def one_row(name: str, call: Call, G: nx.Graph, s: Any, t: Any) -> dict[str, Any]:
    """The times of one function on one graph, in microseconds: the best round of each column."""
    forget, priority = G.__networkx_cache__.clear, nx.config.backend_priority
    theirs = consumed(call(G, s, t, backend="networkx"))
    mine = consumed(call(G, s, t, backend="hopwave"))
    if name not in OTHER_BY_DEFINITION and not agree(mine, theirs):
        raise SystemExit(f"{name}: hopwave and NetworkX disagree on {G}")

    def as_dispatched() -> float:
        priority.algos = priority.generators = ["hopwave"]
        taken = seconds(lambda: call(G, s, t))
        priority.algos = priority.generators = []
        return taken

    found, began = dict.fromkeys(COLUMNS, math.inf), time.perf_counter()
    for _ in range(ROUNDS):
        forget()
        times = [seconds(lambda: call(G, s, t, backend="networkx"))]
        times += [seconds(lambda: call(G, s, t, backend="hopwave")) for _ in range(2)]
        times.insert(3, as_dispatched())
        forget()
        times.insert(3, as_dispatched())
        found = {column: min(found[column], taken) for column, taken in zip(COLUMNS, times, strict=True)}
        if time.perf_counter() - began > ENOUGH:
            break
    forget()
    return {f"{column} µs": taken * 1e6 for column, taken in found.items()}


def seconds(call: Callable[[], Any]) -> float:
    """Seconds of one call, including reading its result to the end."""
    began = time.perf_counter()
    consumed(call())
    return time.perf_counter() - began


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of one function, in a separate process."""
    register()
    nx.config.warnings_to_ignore.add("cache")
    return list(networkx_rows([name]))


def rows_by_processes(count: int) -> list[dict[str, Any]]:
    """All rows, with functions measured in `count` processes at a time, in the order of one process."""
    os.environ["HOPWAVE_NUM_THREADS"] = "1"
    names = list(dict.fromkeys(name.split()[0] for name in (*UNDIRECTED, *DIRECTED, *TREES)))
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn")) as pool:
        rows = [row for some in pool.map(rows_of, names) for row in some]
    order = {graph: i for i, (graph, _) in enumerate(graphs())}
    return sorted(rows, key=lambda row: order[row["graph"]])


def declined() -> tuple[float, float]:
    """Microseconds by which hopwave slows a call that it declines, and how long its own decision takes."""
    G, priority = nx.karate_club_graph(), nx.config.backend_priority
    backend, name = nx.utils.backends._load_backend("hopwave"), "is_connected"
    taken = []
    for priority.algos in ([], ["hopwave"], []):
        taken += in_turn([lambda: nx.is_connected(G)])
    answers = in_turn([lambda: backend.can_run(name, (G,), {}), lambda: backend.should_run(name, (G,), {})])
    return taken[1] - min(taken), sum(answers)


def note_on(rows: list[dict[str, Any]], more: float, own: float) -> str:
    """The text below the page's table: what dispatch costs, and which calls it makes slower than NetworkX alone."""
    slower = []
    for row in rows:
        alone, excess = row["NetworkX µs"], row["as dispatched µs"] - row["NetworkX µs"]
        if excess > max(0.1 * alone, 3 * more):
            slower.append(f"{row['call']} on {row['graph']} ({row['as dispatched µs'] / alone:.2f})")
    return (
        "Where `as dispatched` is close to NetworkX's time, `should_run` left the call to NetworkX. A call that is "
        f"declined takes {more:.1f} µs longer than without a backend; {own:.1f} of them are hopwave's answers to "
        "`can_run` and `should_run`, the others NetworkX's own dispatch.\n\n"
        "Slower as dispatched, with the conversion, than NetworkX by more than a tenth and three such dispatches, "
        "in NetworkX's times: " + ("; ".join(slower) or "none") + "."
    )


def igraph_rows() -> Iterator[dict[str, Any]]:
    """hopwave's public functions on karate, compared with igraph's."""
    import igraph

    G = hw.Graph.from_networkx(nx.karate_club_graph(), weight=None)
    theirs = igraph.Graph.Famous("Zachary")
    calls: list[tuple[str, Callable[[], Any], Callable[[], Any] | None]] = [
        ("bfs(G, 0)", lambda: hw.bfs(G, 0), lambda: theirs.bfs(0)),
        ("bfs(G, 0, predecessors=False)", lambda: hw.bfs(G, 0, predecessors=False), lambda: theirs.distances(0)),
        ("bfs(G, 0, path_counts=True)", lambda: hw.bfs(G, 0, path_counts=True), None),
        ("bfs_each over all, per search", lambda: list(hw.bfs_each(G, range(34))), None),
        ("betweenness_centrality(G)", lambda: hw.betweenness_centrality(G), theirs.betweenness),
        ("edge_betweenness_centrality(G)", lambda: hw.edge_betweenness_centrality(G), theirs.edge_betweenness),
    ]
    for name, mine, other in calls:
        found = in_turn([mine] if other is None else [mine, other])
        per = 34 if "per search" in name else 1
        row = {"call": name, "graph": "karate", "hopwave µs": found[0] / per, "igraph µs": found[1] if other else None}
        yield tell(row)


def in_turn(calls: list[Callable[[], Any]], times: int = 20, rounds: int = 200) -> list[Any]:
    """Microseconds of each call: the best of many short rounds, taken in turn so that a busy machine disturbs all."""
    found = [math.inf] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            began = time.perf_counter()
            for _ in range(times):
                call()
            found[i] = min(found[i], (time.perf_counter() - began) / times * 1e6)
    return found


# ---------------------------------------------------------------- large graphs


def fresh(G: nx.Graph, call: Callable[[], Any]) -> tuple[float, Any]:
    """The best of five rounds, each on a graph that has not been converted."""
    best, result = math.inf, None
    for _ in range(5):
        G.__networkx_cache__.clear()
        took, result = timed(call, 1)
        best = min(best, took)
    return best, result


def large_row(
    what: str, name: str, G: nx.Graph, device: str, theirs: Callable[[list[Any]], Any], sample: int, **more: Any
) -> Record:
    """hopwave's time with the conversion, and NetworkX's for a sample of vertices (0: the whole call)."""
    function = getattr(nx, what)
    took, mine = fresh(G, lambda: function(G, backend="hopwave", device=device, **more))
    some = random.Random(1).sample(list(G), sample) if sample else list(G)
    slow, right = timed(lambda: theirs(some), 1)
    if isinstance(right, dict):
        setting.agree(f"{what} on {name}", [mine[v] for v in right], list(right.values()))
    elif right is not None:
        setting.agree(f"{what} on {name}", mine, right)
    arguments = "".join(f", {key}={value}" for key, value in more.items() if key != "seed")
    row: Record = {
        "call": f"{what}(G{arguments})",
        "graph": f"{name} ({len(G):,} nodes, {G.number_of_edges():,} edges)",
    }
    row |= {"hopwave s": took, "NetworkX s": slow * len(G) / sample if sample else slow}
    how = f"extrapolated from {sample} vertices" if sample else "the whole call"
    return tell(row | {"NetworkX": how, "times NetworkX": row["NetworkX s"] / took})


def large(device: str, sample: int) -> None:
    """Betweenness, closeness, harmonic centrality, eccentricity, diameter and sums of distances."""
    graphs = real_graphs(("cit-HepPh", "email-Enron")) or {"kronecker 11": generate.kronecker(11)}
    rows, alone = [], {"backend": "networkx"}
    for name, graph in graphs.items():
        G = graph.to_networkx()
        whole = lambda some, G=G: nx.betweenness_centrality(G, k=100, seed=1, **alone)  # noqa: E731
        rows.append(large_row("betweenness_centrality", name, G, device, whole, 0, k=100, seed=1))
        if name == "cit-HepPh":  # directed, and not strongly connected
            continue
        near = lambda some, G=G: {v: nx.closeness_centrality(G, u=v, **alone) for v in some}  # noqa: E731
        rows.append(large_row("closeness_centrality", name, G, device, near, sample))
        harmonic = lambda some, G=G: nx.harmonic_centrality(G, nbunch=some, **alone)  # noqa: E731
        rows.append(large_row("harmonic_centrality", name, G, device, harmonic, sample))
        giant = G.subgraph(max(nx.connected_components(G), key=len)).copy()
        far = lambda some, G=giant: nx.eccentricity(G, v=some, **alone)  # noqa: E731
        rows.append(large_row("eccentricity", f"{name}, giant component", giant, device, far, sample))
        for what in ("diameter", "average_shortest_path_length", "wiener_index"):
            none = lambda some, far=far: far(some) and None  # noqa: E731
            rows.append(large_row(what, f"{name}, giant component", giant, device, none, sample))
    where = gpu(device)
    name = where["gpu"].split()[-1].lower() if where else device
    note = "hopwave's times include the conversion of the graph, but not compilation on the first call."
    publish(f"networkx-{name}", f"NetworkX {nx.__version__} through hopwave, device={device}", rows, note, where)


def suite() -> None:
    """NetworkX's own tests, with the calls that hopwave serves dispatched to it."""
    sys.path.insert(0, str(ROOT / "tests" / "networkx_backend"))
    import test_their_suite as theirs

    rows = []
    for through, environment in (
        ("hopwave", {"NETWORKX_TEST_BACKEND": "hopwave", "NETWORKX_FALLBACK_TO_NX": "True"}),
        ("NetworkX alone", {}),
    ):
        with tempfile.TemporaryDirectory() as folder:
            tests = [str(theirs.HOME / path) for path in theirs.TESTS]
            passed, failed, printed = theirs.run(tests, Path(folder), **environment)
        served = theirs.SERVED.search(printed)
        calls = served and int(served.group(1))
        rows.append(tell({"through": through, "passed": passed, "failed": len(failed), "calls": calls}))
    note = (
        "Tests of NetworkX's installed package about what hopwave serves. `make test` asserts that no test fails "
        "through hopwave that does not fail without it. Calls: those that hopwave answered; others went to NetworkX."
    )
    publish("networkx-suite", f"The tests of NetworkX {nx.__version__} through hopwave", rows, note)


def main() -> None:
    """Measure and publish."""
    given = command_line(__doc__, {"what": ["small"]}, only=[], processes=1, device="cpu", sample=100)
    register()
    nx.config.warnings_to_ignore.add("cache")
    state = {"load": f"{os.getloadavg()[0]:.1f}"}
    for what in given.what:
        if what == "large":
            large(given.device, given.sample)
        elif what == "suite":
            suite()
        elif what == "karate":
            publish("networkx-karate", "Calls on a graph of 34 vertices", list(igraph_rows()), "", state)
        else:
            rows = rows_by_processes(given.processes) if given.processes > 1 else list(networkx_rows(given.only))
            title = f"Every function of NetworkX {nx.__version__} that hopwave serves, on small graphs"
            if not given.only:
                publish("networkx-small", title, rows, note_on(rows, *declined()), state)


if __name__ == "__main__":
    main()
