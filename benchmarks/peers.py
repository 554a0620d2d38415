"""Other programs, as peers of a case: SciPy, igraph, NetworkX, rustworkx, python-graphblas and GAPBS.

Each function returns what prepares the program for one graph, outside the clock (harness.Prepare). A program that is
not installed is omitted, with a printed line. NetworkX, and others where it says so, answer for some vertices, and
their time is extrapolated to all.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.harness import Peer, Prepare, Setup
from benchmarks.setting import hw

SAMPLE = 12  # vertices for which NetworkX is asked
FEW = 2000  # sources of the unreduced runs


def named(setup: Setup, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments; those that are functions are called with the setup."""
    return {name: one(setup) if callable(one) else one for name, one in given.items()}


# ---------------------------------------------------------------- libraries


def igraph(method: str, weights: str = "", answer: Callable[[Any], Any] = lambda found: found, **given: Any) -> Prepare:
    """A method of igraph's Graph."""

    def prepare(setup: Setup) -> Peer:
        graph = setup.weighted(weights) if weights else setup.graph
        other = setup.made(("igraph", weights), graph.to_igraph)
        known = named(setup, given) | ({"weights": other.es["weight"]} if weights else {})
        return Peer(lambda: answer(getattr(other, method)(**known)))

    return prepare


def scipy(
    function: str, weights: str = "", answer: Callable[[Any], Any] = lambda found: found, **given: Any
) -> Prepare:
    """A function of scipy.sparse.csgraph."""

    def prepare(setup: Setup) -> Peer:
        graph = setup.weighted(weights) if weights else setup.graph
        matrix = setup.made(("SciPy", weights), lambda: graph.to_scipy("float64"))
        known, run = named(setup, given), getattr(import_module("scipy.sparse.csgraph"), function)
        return Peer(lambda: answer(run(matrix, **known)))

    return prepare


def scipy_rows(weights: str, sums: Callable[[Any], Any], sources: Callable[[Setup], Any], few: int = 20) -> Prepare:
    """SciPy's Dijkstra from some of the sources; `sums`: what is compared of its rows."""

    def prepare(setup: Setup) -> Peer:
        from scipy.sparse.csgraph import dijkstra

        matrix = setup.made(("SciPy", weights), setup.weighted(weights).to_scipy)
        some = np.asarray(sources(setup))[:few]
        scale = len(sources(setup)) / len(some)
        return Peer(lambda: sums(dijkstra(matrix, indices=some)), scale, lambda found: array_part(found, len(some)))

    return prepare


def array_part(found: Any, count: int) -> Any:
    """The first rows of an answer."""
    for name in ("scores", "sums", "values"):
        if getattr(found, name, None) is not None:
            return np.asarray(getattr(found, name))[:count]
    return np.asarray(found)[:count]


def networkx_closeness(setup: Setup) -> Peer:
    """NetworkX's closeness of some vertices."""
    import networkx as nx

    g, some = setup.made("NetworkX", setup.graph.to_networkx), setup.sample(SAMPLE).tolist()
    ask = lambda: [nx.closeness_centrality(g, v, backend="networkx") for v in some]  # noqa: E731
    return Peer(ask, setup.graph.n / SAMPLE, lambda found: found.scores[some])


def networkx_betweenness(few: int) -> Prepare:
    """NetworkX's betweenness along weights from some sources."""

    def prepare(setup: Setup) -> Peer:
        import networkx as nx

        g, graph = setup.made("NetworkX", setup.weighted().to_networkx), setup.weighted()
        sources = setup.sources(512)
        begin, every = sources[:few], list(g)

        def ask() -> list[float]:
            found = nx.betweenness_centrality_subset(g, begin, every, weight="weight", backend="networkx")
            return [found[v] for v in every]

        ours = {"sources": begin, "normalized": False, "weights": True, "progress": False}
        return Peer(ask, len(sources) / few, lambda _: hw.betweenness_centrality(graph, **ours))

    return prepare


def rustworkx_betweenness(setup: Setup) -> Peer:
    """rustworkx, exact, all cores."""
    import rustworkx

    g = rustworkx.PyGraph()
    g.add_nodes_from(range(setup.graph.n))
    g.add_edges_from_no_data(list(zip(*(side.tolist() for side in setup.graph.to_edges()), strict=True)))

    def ask() -> list[float]:
        scores = rustworkx.betweenness_centrality(g)
        return [scores[v] for v in range(setup.graph.n)]

    return Peer(ask)


def ranked_paths(program: str, k: int) -> Prepare:
    """The lengths of the k shortest paths by SciPy, NetworkX or igraph."""

    def prepare(setup: Setup) -> Peer:
        graph = setup.weighted("sevenths")
        s, t = setup.sources(2)
        if program == "SciPy":
            from scipy.sparse.csgraph import yen

            matrix = graph.to_scipy()
            return Peer(lambda: np.sort(yen(matrix, s, t, k)))
        if program == "NetworkX":
            import networkx as nx

            g = graph.to_networkx()
            paths = lambda: islice(nx.shortest_simple_paths(g, s, t, "weight"), k)  # noqa: E731
            return Peer(lambda: sorted(nx.path_weight(g, path, "weight") for path in paths()))
        other, weights = graph.to_igraph(), np.asarray(graph.edges().weights)
        given = {"k": k, "weights": weights.tolist(), "output": "epath"}
        return Peer(lambda: sorted(float(weights[path].sum()) for path in other.get_k_shortest_paths(s, t, **given)))

    return prepare


def graphblas_search(setup: Setup) -> Peer:
    """q⟨¬v⟩ = q any.pair A, level after level, by python-graphblas: the vertices reached from each source."""
    import graphblas as gb

    graph = setup.graph
    A = gb.Matrix.from_csr(graph.indptr.astype(np.uint64), graph.indices.astype(np.uint64), True, ncols=graph.n)

    def search(source: int) -> int:
        v, q, depth = gb.Vector(int, graph.n), gb.Vector(bool, graph.n), 0
        q[source] = True
        while q.nvals:
            v(q.S) << depth
            depth += 1
            q(~v.S, replace=True) << gb.semiring.any_pair(q @ A)
        return int(v.nvals)

    return Peer(lambda: [search(source) for source in setup.sources(16)])


# ---------------------------------------------------------------- hopwave itself, otherwise


def cpu_engine(ask: Callable[[Setup], Callable[[], Any]], value: Callable[[Any], Any]) -> Prepare:
    """The same question to the CPU engine, on all cores; for rows of a GPU."""

    def prepare(setup: Setup) -> Peer:
        host = Setup(setup.name, setup.graph, "cpu", setup.count)
        host.kept = {key: made for key, made in setup.kept.items() if key == "sources" or "weighted" in key}
        call = ask(host)
        return Peer(lambda: value(call()))

    return prepare


def unreduced(ask: Callable[..., Any], weights: str, few: int = FEW) -> Prepare:
    """The same question from some sources without reduction, extrapolated to all."""

    def prepare(setup: Setup) -> Peer:
        graph = setup.weighted(weights) if weights else setup.graph
        some = setup.sample(few)
        given = {"sources": some, "weights": bool(weights), "reduce": False, "progress": False, "device": "cpu"}
        again = lambda _: ask(graph, **given | {"reduce": True})  # noqa: E731
        return Peer(lambda: np.asarray(ask(graph, **given).scores), graph.n / len(some), again)

    return prepare


def as_given(ask: Callable[[Setup], Callable[[], Any]]) -> Prepare:
    """The same betweenness without renumbering the vertices by degree."""

    def prepare(setup: Setup) -> Peer:
        from hopwave.engines.cpu import policy

        call = ask(setup)

        def run() -> Any:
            with patch.object(policy, "worth_renumbering", lambda loaded, job: False):
                return np.asarray(call().scores)

        return Peer(run)

    return prepare


# ---------------------------------------------------------------- GAPBS


def gapbs(
    *programs: str,
    repeat: int = 3,
    of_sources: int = 0,
    widths: tuple[int, ...] = (),
    more: tuple[object, ...] = (),
    variable: str = "GAPBS",
) -> Prepare:
    """GAPBS's programs: the best time that one of them prints, with as many threads as hopwave.

    The environment variable GAPBS is their folder, WASP that of Wasp's `sssp`, which has the same options.
    `widths`: Δ, of which the best counts. `of_sources`: the mean over that many sources, a run for each.
    """

    def prepare(setup: Setup) -> Peer | None:
        folder = os.environ.get(variable)
        if folder is None:
            print(f"left out: {variable}; set the variable {variable} to the folder of its programs", flush=True)
            return None
        weighted = programs[0] == "sssp"
        file = Path(tempfile.gettempdir()) / f"{setup.name}{'.wsg' if weighted else '.sg'}"
        if not file.exists():
            hw.write(file, as_gapbs(setup, weighted))
        threads = {"OMP_NUM_THREADS": os.environ.get("HOPWAVE_NUM_THREADS", str(len(os.sched_getaffinity(0))))}

        def once(program: str, *options: Any) -> float:
            command = [f"{folder}/{program}", "-f", str(file), "-n", str(repeat), *map(str, (*more, *options))]
            run = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, check=True)
            return min(float(seconds) for seconds in re.findall(r"Trial Time:\s+([\d.]+)", run.stdout))

        sources = [("-r", source) for source in setup.sources(of_sources)] if of_sources else [()]
        ways = [("-d", width) for width in widths] or [("-t", 1e-4) if programs[0] == "pr" else ()]
        mean = lambda program, way: float(np.mean([once(program, *way, *one) for one in sources]))  # noqa: E731
        return Peer(lambda: min(mean(program, way) for program in programs for way in ways), said=True)

    return prepare


def as_gapbs(setup: Setup, weighted: bool) -> hw.Graph:
    """The graph as GAPBS's file formats store it: weights are int32."""
    if not weighted:
        return setup.graph
    graph = setup.weighted()
    return graph.with_weights(np.asarray(graph.weights).astype(np.int32))
