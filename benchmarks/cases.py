"""The cases of all benchmarks that compare a public call with peers, as data: see benchmarks/harness.py.

A benchmark has a title, a note and a device (BENCHMARKS). Each of its cases is one row (CASES).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.harness import Case, Peer, Setup, array_of
from benchmarks.setting import agree, hw, timed
from hopwave import linalg as la
from hopwave.arrays import Structure

Ask = Callable[[Setup], Callable[[], Any]]


@dataclass(frozen=True)
class Benchmark:
    """What a page says of a benchmark, and the device of its rows."""

    title: str
    note: str = ""
    device: str = "cpu"


PER = "Milliseconds per source. "
BEST_GPU = (
    "*Best GPU code* is the fastest of five published codes on the same GPU model and graph family, timed earlier. "
)
BENCHMARKS = {
    "cpu-search": Benchmark("Breadth-first search on the CPU", f"{PER}`times X` is the speedup over X."),
    "cpu-betweenness": Benchmark("Along hops, compared with igraph and rustworkx", PER),
    "cpu-betweenness-weighted": Benchmark("Along weights, compared with igraph and NetworkX", PER),
    "cpu-betweenness-by-degree": Benchmark(
        "Vertices renumbered by degree, compared with their given order",
        f"{PER}Renumbering happens once per graph, in the first run, and is not part of the time.",
    ),
    "cpu-many": Benchmark("Along hops", "NetworkX's times are extrapolated from some vertices."),
    "cpu-many-weighted": Benchmark("Along weights", "Times of SciPy are extrapolated from some vertices."),
    "cpu-distance-sums": Benchmark(
        "Closeness and harmonic centrality by reduction", "All vertices. *Unreduced* is extrapolated from some sources."
    ),
    "cpu-reduction": Benchmark(
        "Exact betweenness by reduction, compared with the unreduced run",
        "All sources. *Unreduced* is extrapolated from some sources.",
    ),
    "cpu-sssp": Benchmark("From one source, compared with SciPy and igraph", "Milliseconds per source of 5."),
    "cpu-k-paths": Benchmark("The k shortest simple paths"),
    "cpu-tables": Benchmark("On CPU cores", "Times of SciPy are extrapolated from 20 sources."),
    "gpu-tables": Benchmark("On one GPU", "Times of SciPy are extrapolated from 20 sources.", "cuda"),
    "cpu-gap-16": Benchmark(
        "The six kernels of the GAP benchmark",
        "Wall-clock time of the public call after warm-up, compared with the time that GAPBS's program prints for its "
        "kernel; the best of some rounds each, in alternation. For 2 threads: `--name cpu-gap-2` with "
        "HOPWAVE_NUM_THREADS=2.",
    ),
    "linalg-algorithms": Benchmark(
        "PageRank, shortest paths and triangles on the CPU",
        "python-graphblas runs LAGraph's methods; the best of its methods counts.",
    ),
    "linalg-search": Benchmark("BFS through linalg and the dedicated search", PER),
    "linalg-search-cuda": Benchmark("BFS through linalg on one GPU", PER, "cuda"),
    "gpu-search": Benchmark("Breadth-first search on one GPU", f"{PER}{BEST_GPU}For XBFS: kernel time alone.", "cuda"),
    "gpu-calls": Benchmark("Wall-clock and device time of calls on one GPU", "Milliseconds per call.", "cuda"),
    "gpu-betweenness": Benchmark("Betweenness on one GPU", f"{BEST_GPU}Scores are compared first.", "cuda"),
    "gpu-pagerank": Benchmark("PageRank on one GPU", "Until all changes of a round add up to less than 1e-6.", "cuda"),
    "gpu-many": Benchmark("Along hops, compared with the CPU engine", device="cuda"),
    "gpu-many-large": Benchmark(
        "Along hops, on large graphs", "Sources in the giant component. GTEPS: sources × edges / time / 10⁹.", "cuda"
    ),
    "gpu-unions": Benchmark(
        "Many graphs as one graph, on one GPU",
        "*unionN*: N graphs of 500 vertices as one graph. All vertices are sources. Answers were compared with "
        "those of the CPU engine. Of 10,000 graphs, each hundred equals the first hundred, and so must its answers.",
        "cuda",
    ),
    "gpu-many-weighted": Benchmark("Along weights, compared with the CPU engine", device="cuda"),
    "gpu-sssp": Benchmark("Shortest paths on one GPU", "Weights 1 to 255.", "cuda"),
}
# Milliseconds of the fastest published GPU code on one H200, timed before hopwave was written; for a search, and for
# betweenness from one source (None: every one of them returns garbage).
BEST_SEARCH = {
    "email-Enron": (0.57, "XBFS"), "kron18e43": (0.4, "XBFS"), "kron21e44": (0.64, "Gunrock 1.2"),
    "rmat22e64": (0.73, "Gunrock 1.2"), "uniform20": (0.59, "XBFS"), "mycielskian17": (0.19, "XBFS"),
    "delaunay20": (10.9, "GSWITCH"), "grid1000": (32.5, "GSWITCH"), "luxembourg_osm": (19.2, "TurboBFS"),
    "osm-netherlands-cities": (15.4, "GSWITCH"),
}  # fmt: skip
BEST_BETWEENNESS = {
    "kron18e43": 2.3, "kron21e44": 8.0, "uniform20": 2.9, "luxembourg_osm": 8.6, "delaunay20": None, "grid1000": None,
}  # fmt: skip


# ---------------------------------------------------------------- how hopwave is asked


def ask(function: Callable[..., Any], weights: str = "", /, **given: Any) -> Ask:
    """A call with the graph on the device; arguments that are functions are called with the setup."""

    def prepare(setup: Setup) -> Callable[[], Any]:
        known = peers.named(setup, given) | {"device": setup.device}
        if weights:
            known.setdefault("weights", True)
        return partial(function, setup.there(weights), **known)

    return prepare


def each(function: Callable[..., Any], count: int, weights: str = "", /, **given: Any) -> Ask:
    """One call per source."""

    def prepare(setup: Setup) -> Callable[[], Any]:
        graph, sources = setup.there(weights), setup.sources(count)
        return lambda: [function(graph, source, device=setup.device, **given) for source in sources]

    return prepare


def some(count: int) -> Callable[[Setup], list[int]]:
    """That many sources of the giant component."""
    return lambda setup: setup.sources(count)


def quiet(**given: Any) -> dict[str, Any]:
    """Arguments of a question that reports progress."""
    return given | {"progress": False}


def connected(graph: hw.Graph) -> hw.Graph:
    """The largest component, undirected and without loops."""
    return graph.to_undirected().remove_self_loops().largest_component().relabel(None)


def reached(results: list[Any]) -> list[int]:
    return [result.reached for result in results]


def lengths(paths: list[Any]) -> list[float]:
    return sorted(length for length, _ in paths)


def rows_of(results: list[Any]) -> Any:
    return np.stack([array_of(result) for result in results])


# ---------------------------------------------------------------- CPU


def searches() -> Iterator[Case]:
    for name in (
        *("smallworld", "delaunay18", "grid1000", "mycielskian14", "mycielskian15"),
        *("kron18", "rmat18-directed", "kron20", "uniform20"),
    ):
        others = {
            "SciPy": order_of_visits,
            "igraph": lambda s: Peer(partial(igraph_visits, s.made("igraph", s.graph.to_igraph), s.sources(16))),
            "python-graphblas": peers.graphblas_search,
        }
        yield Case("cpu-search", name, "bfs", each(hw.bfs, 16), others, reached, 16)


def order_of_visits(setup: Setup) -> Peer:
    from scipy.sparse.csgraph import breadth_first_order

    A = setup.graph.to_scipy(np.float64)
    return Peer(lambda: [len(breadth_first_order(A, s)[0]) for s in setup.sources(16)])


def igraph_visits(graph: Any, sources: list[int]) -> list[int]:
    return [len(graph.bfs(s, mode="out")[0]) for s in sources]


def betweenness() -> Iterator[Case]:
    ours = quiet(normalized=False)
    for name in ("smallworld", "delaunay18", "mycielskian14", "kron18"):
        other = peers.igraph("betweenness", sources=some(16), targets=None, directed=lambda s: s.graph.directed)
        call = ask(hw.betweenness_centrality, sources=some(16), **ours)
        what = "betweenness, 16 sources, per source"
        yield Case("cpu-betweenness", name, what, call, {"igraph": other}, per=16, more=certified)
    for name in ("barabasi5000", "delaunay12"):
        call = ask(hw.betweenness_centrality, **quiet())
        what, others = "betweenness, exact, per source", {"rustworkx": peers.rustworkx_betweenness}
        yield Case("cpu-betweenness", name, what, call, others, per=0, more=certified)
    for name, count, few in (("barabasi5000", 512, 16), ("delaunay12", 512, 16), ("grid64", 512, 16), ("kron14", 64, 2),
                             ("smallworld", 8, 1), ("delaunay18", 8, 1), ("kron16", 16, 1)):  # fmt: skip
        given = {"sources": some(count), "targets": None, "directed": lambda s: s.graph.directed}
        others = {"igraph": peers.igraph("betweenness", "1 to 255", **given)}
        others["NetworkX"] = peers.networkx_betweenness(few)
        call = ask(hw.betweenness_centrality, "1 to 255", sources=some(count), **ours)
        what = f"betweenness along weights, {count} sources, per source"
        yield Case("cpu-betweenness-weighted", name, what, call, others, per=count, more=certified)
    for name in ("kron18", "rmat18-directed", "kron20"):
        call = ask(hw.betweenness_centrality, sources=some(32), **quiet())
        what = "betweenness, 32 sources, per source"
        yield Case("cpu-betweenness-by-degree", name, what, call, {"as given": peers.as_given(call)}, per=32)


def certified(answer: Any, _: Any) -> dict[str, Any]:
    return {"certificate": answer.certificate.error}


def distances() -> Iterator[Case]:
    name, near = "email-Enron", peers.igraph("closeness", answer=np.nan_to_num, normalized=True)
    others = {"igraph": near, "NetworkX": peers.networkx_closeness}
    yield Case("cpu-many", name, "closeness", ask(hw.closeness_centrality, **quiet(wf_improved=False)), others)
    for what, method in (("diameter", "diameter"), ("average_shortest_path_length", "average_path_length")):
        call = ask(getattr(hw, what), **quiet())
        yield Case("cpu-many", name, what, call, {"igraph": peers.igraph(method, directed=False)}, change=connected)
    for name in ("luxembourg_osm", "delaunay_n16", "email-Enron", "kron14"):
        for kind in ("1 to 255", "fractions"):
            vertices = lambda s: s.sample(32).tolist()  # noqa: E731
            means = lambda rows: (rows.shape[1] - 1) / rows.sum(1)  # noqa: E731
            others = {"SciPy": peers.scipy_rows(kind, means, vertices, 32)}
            others["igraph"] = peers.igraph("closeness", kind, vertices=vertices, normalized=True)
            call = ask(hw.closeness_centrality, kind, sources=vertices, **quiet())
            what = f"closeness, 32 vertices, per vertex, weights {kind}"
            yield Case("cpu-many-weighted", name, what, call, others, per=32, change=connected, within=1e-11)
            vertices = lambda s: s.sample(1024).tolist()  # noqa: E731
            call, many = ask(hw.closeness_centrality, kind, sources=vertices, **quiet()), what.replace("32", "1,024")
            others = {"SciPy": peers.scipy_rows(kind, means, vertices, 32)}
            yield Case("cpu-many-weighted", name, many, call, others, per=1024, change=connected, within=1e-11)


ROADS = ("luxembourg_osm", "moscow-roads", "osm-netherlands-cities")
NETWORKS = ("PGPgiantcompo", "p2p-Gnutella31", "email-Enron", "delaunay_n15")


def reductions() -> Iterator[Case]:
    options = {"directed": False, "weights": False}
    for name in (*ROADS, *NETWORKS, "wiki-Vote", "ca-AstroPh"):
        for kind in ("", "1 to 255"):
            along = kind or "hops"
            for score in ("closeness", "harmonic") if name in (*ROADS, *NETWORKS) else ():
                function = getattr(hw, f"{score}_centrality")
                others = {"unreduced": peers.unreduced(function, kind)}
                call = ask(function, kind, **quiet(weights=bool(kind)))
                yield Case(
                    "cpu-distance-sums",
                    name,
                    f"{score}, {along}",
                    call,
                    others,
                    options=options,
                    rounds=1,
                    more=removed,
                )
            call = ask(hw.betweenness_centrality, kind, **quiet(weights=bool(kind)))
            others = {"unreduced": peers.unreduced(hw.betweenness_centrality, kind)}
            yield Case(
                "cpu-reduction", name, f"betweenness, {along}", call, others, options=options, rounds=1, more=removed
            )


def removed(answer: Any, _: Any) -> dict[str, Any]:
    about = answer.reduction
    return {name: about and getattr(about, name) for name in ("vertices", "chains", "twins")}


def paths() -> Iterator[Case]:
    for name in ("luxembourg_osm", "grid1000", "delaunay18", "smallworld", "kron18"):
        others = {
            "1 thread": lambda s: Peer(lambda: rows_of(each(hw.sssp, 5, "1 to 255", threads=1)(s)())),
            "SciPy": peers.scipy("dijkstra", "1 to 255", indices=some(5)),
            "igraph": peers.igraph("distances", "1 to 255", source=some(5)),
        }
        call = each(hw.sssp, 5, "1 to 255")
        yield Case(
            "cpu-sssp", name, "sssp, weights 1 to 255", call, others, rows_of, 5, 0.0, options={"weights": False}
        )
    for name, k in (("kron12", 128), ("kron16", 128)):
        others = {program: peers.ranked_paths(program, k) for program in ("SciPy", "NetworkX", "igraph")}
        call = ask(hw.k_shortest_paths, "sevenths", source=lambda s: s.sources(2)[0], target=lambda s: s.sources(2)[1],
                   k=k)  # fmt: skip
        yield Case("cpu-k-paths", name, f"{k} shortest paths", call, others, lengths, within=1e-12)


def tables(device: str) -> Iterator[Case]:
    page = "cpu-tables" if device == "cpu" else "gpu-tables"
    for name in ("luxembourg_osm", "osm-netherlands-cities"):
        ends, options = (lambda s: s.sample(1000)), {"weights": False}
        to_ends = lambda s, ends=ends: peers.scipy_rows("sevenths", lambda rows: rows[:, ends(s)], ends)(s)  # noqa: E731
        call = ask(hw.distance_table, "sevenths", sources=ends, targets=ends, **quiet())
        yield Case(page, name, "table, 1,000 × 1,000", call, {"SciPy": to_ends}, options=options, within=0.0)
        limit = 5000.0
        within = peers.scipy_rows("sevenths", lambda rows: (rows <= limit).sum(1)[:, None, None], ends)  # noqa: B023
        call = ask(hw.accessibility, "sevenths", sources=ends, limit=limit, **quiet())
        yield Case(page, name, "accessibility of 1,000 vertices", call, {"SciPy": within}, options=options)
        if device == "cpu":
            nearest = peers.scipy("dijkstra", "sevenths", indices=ends, min_only=True)
            call = lambda s: partial(hw.nearest_of, s.weighted("sevenths"), s.sample(1000))  # noqa: E731
            first = lambda found: found.distances[:, 0]  # noqa: E731
            yield Case(page, name, "nearest of 1,000 facilities", call, {"SciPy": nearest}, first, options=options)


WIDTHS = (2, 8, 16, 32, 64, 128, 256, 512)  # Δ of other programs; the best counts


def gap() -> Iterator[Case]:
    plain = {"change": hw.Graph.remove_self_loops}
    for name in ("smallworld17", "delaunay18", "grid1000", "kron20", "uniform20"):
        tol = lambda s: 1e-4 / s.graph.n  # noqa: E731
        for what, call, other, per in (
            ("PageRank", ask(hw.pagerank, tol=tol), peers.gapbs("pr", "pr_spmv", repeat=5), 1),
            ("components", new_components, peers.gapbs("cc", "cc_sv", repeat=10), 1),
            ("triangles", ask(hw.triangle_count), peers.gapbs("tc", repeat=3), 1),
            ("sssp", each(hw.sssp, 2, "1 to 255"), peers.gapbs("sssp", of_sources=2, widths=WIDTHS), 2),
            ("bfs", each(hw.bfs, 2), peers.gapbs("bfs", repeat=10, of_sources=2), 2),
            ("betweenness, 4 sources", ask(hw.betweenness_centrality, sources=some(4), **quiet()),
             peers.gapbs("bc", more=("-i", 4)), 1),
        ):  # fmt: skip
            summed = (lambda s, other=other, per=per: scaled(other(s), per)) if per > 1 else other
            others = {"GAPBS": summed}
            if what == "sssp":
                wasp = peers.gapbs("sssp", of_sources=2, widths=WIDTHS, variable="WASP")
                others["Wasp"] = lambda s, wasp=wasp: scaled(wasp(s), 2)
            yield Case("cpu-gap-16", name, what, call, others, per=per, rounds=5, **plain)


def scaled(peer: Peer | None, per: int) -> Peer | None:
    """GAPBS's mean per source, as the time of all of them."""
    return None if peer is None else Peer(peer.call, per, said=True)


def new_components(setup: Setup) -> Callable[[], Any]:
    """Components of a graph that is on the device: what earlier calls cached with it is dropped first."""
    G = setup.there()
    return lambda: (G._prepared.pop(Structure, None), hw.weakly_connected_components(G, device=setup.device))[1]


# ---------------------------------------------------------------- linear algebra


def linear_algebra() -> Iterator[Case]:
    for name in ("ca-AstroPh", "email-Enron", "cit-HepPh", "ego-Twitter", "cnr-2000", "kron14"):
        call = lambda s: partial(la.algorithms.pagerank, la.Matrix.from_graph(s.graph), tol=1e-6 / s.graph.n)  # noqa: E731
        first = lambda found: found.values  # noqa: E731
        others = {"python-graphblas": lagraph_pagerank}
        # Both stop when the sum of changes is at most 10⁻⁶, after different numbers of rounds.
        yield Case("linalg-algorithms", name, "PageRank", call, others, first, 1, 1e-3, 5, change=undirected)
        others = {"python-graphblas": lagraph_paths}
        call = ask(hw.sssp, "1 to 255", source=lambda s: s.hub)
        yield Case("linalg-algorithms", name, "shortest paths", call, others, rounds=5, within=0.0, change=undirected)
        others = {"python-graphblas": lagraph_triangles}
        yield Case("linalg-algorithms", name, "triangles", ask(hw.triangle_count), others, rounds=5, change=undirected)


def undirected(graph: hw.Graph) -> hw.Graph:
    return graph.without_weights().to_undirected().remove_self_loops()


def lagraph_triangles(setup: Setup) -> Peer:
    from benchmarks import lagraph

    return Peer(partial(lagraph.triangles, lagraph.matrix(setup.graph)))


def lagraph_pagerank(setup: Setup) -> Peer:
    import graphblas as gb

    from benchmarks import lagraph

    AT = lagraph.matrix(setup.graph)
    degrees = gb.Vector.from_dense(setup.graph.degrees.astype(np.float64), missing_value=0.0)
    sinks = gb.Vector(bool, setup.graph.n)
    sinks(~degrees.S) << True
    return Peer(lambda: lagraph.pagerank(AT, degrees, sinks, 0.85, 1e-6, 100).to_dense())


def lagraph_paths(setup: Setup) -> Peer:
    """The best of Bellman-Ford and of Δ-stepping with three widths."""
    from benchmarks import lagraph

    W = lagraph.matrix(setup.weighted(), np.asarray(setup.weighted().weights))
    ways = [lambda: lagraph.bellman_ford(W, setup.hub)]
    ways += [partial(lagraph.delta_stepping, W, setup.hub, width) for width in (64.0, 256.0, 1024.0)]
    best = min(ways, key=lambda way: timed(way, 2)[0])
    return Peer(lambda: best().to_dense(np.inf))


def linear_searches(device: str) -> Iterator[Case]:
    page = "linalg-search" if device == "cpu" else "linalg-search-cuda"
    graphs = ("kron18", "rmat18-directed", "uniform20", "delaunay18") if device == "cpu" else ("kron18e43", "kron21e44")
    for name in graphs:
        others = {"hw.bfs": as_rows(each(hw.bfs, 16, predecessors=False), rows_of), "six lines": as_rows(loops, dense)}
        if device == "cpu":
            others["python-graphblas"] = lambda s: Peer(peers.graphblas_search(s).call, part=dense_reached)
        yield Case(page, name, "linalg.bfs", linear_bfs, others, linear_value, 16)


def linear_bfs(setup: Setup) -> Callable[[], Any]:
    A = la.Matrix.from_graph(setup.graph).to(setup.device)
    return lambda: [la.bfs(A, source, device=setup.device) for source in setup.sources(16)]


def loops(setup: Setup) -> Callable[[], Any]:
    """The same search written out, as in docs/linear-algebra.md."""
    A, device = la.Matrix.from_graph(setup.graph).to(setup.device), setup.device

    def search(source: int) -> la.Vector:
        n = A.shape[0]
        f, v, d = la.Vector.from_entries([source], True, n).to(device), la.Vector(n, "int32").to(device), 0
        masked: dict[str, Any] = {"complement": True, "structural": True, "operand_reuse": True, "device": device}
        while f.nnz:
            la.assign(v, d, mask=f, structural=True, device=device)
            f = la.vxm(f, A, la.semiring.any_pair, mask=v, **masked)
            d += 1
        return v

    return lambda: [search(source) for source in setup.sources(16)]


def dense(vectors: list[la.Vector]) -> Any:
    return np.stack([vector.to("cpu").to_dense(-1) for vector in vectors])


def dense_reached(vectors: list[la.Vector]) -> Any:
    return (dense(vectors) >= 0).sum(1)


def linear_value(found: Any) -> Any:
    return found if isinstance(found, np.ndarray) else dense(found)


def as_rows(call: Ask, value: Callable[[Any], Any]) -> Callable[[Setup], Peer]:
    """Another way of hopwave's to ask the same, as a peer."""
    return lambda setup: Peer(lambda run=call(setup): value(run()))


# ---------------------------------------------------------------- GPU


def on_gpu(page: str, name: str, what: str, call: Ask, value: Any = array_of, **more: Any) -> Case:
    """A row of a GPU, compared with the CPU engine on all cores."""
    return Case(page, name, what, call, {"CPU engine": peers.cpu_engine(call, value)}, value, **more)


def gpu() -> Iterator[Case]:
    for name, (ms, code) in BEST_SEARCH.items():
        best = lambda _, row, ms=ms, code=code: {  # noqa: E731
            "best GPU code ms": ms, "times best GPU code": ms / row["hopwave ms"], "code": code
        }  # fmt: skip
        call = each(hw.bfs, 16, predecessors=False)
        yield on_gpu("gpu-search", name, "bfs, distances only", call, rows_of, per=16, within=0.0, more=best, rounds=7)
    for name in ("kron18e43", "kron21e44", "email-Enron"):
        yield on_gpu("gpu-calls", name, "bfs", each(hw.bfs, 16), rows_of, per=16, within=0.0, rounds=7)
        many = lambda s: lambda: [r.depth for r in hw.bfs_each(s.there(), s.sources(256), device=s.device)]  # noqa: E731
        yield on_gpu("gpu-calls", name, "bfs_each, per search", many, per=256, within=0.0)
        one = ask(hw.betweenness_centrality, sources=some(1), **quiet())
        yield on_gpu("gpu-calls", name, "betweenness of one source", one, rounds=7)
    for name, ms in BEST_BETWEENNESS.items():
        best = lambda answer, row, ms=ms: {  # noqa: E731
            "best GPU code ms": ms, "times best GPU code": ms and ms / row["hopwave ms"], "plan": answer.plan.name,
            "certificate": answer.certificate.error,
        }  # fmt: skip
        for count, what in ((1, "betweenness, 1 source"), (64, "betweenness, 64 sources, per source")):
            call = ask(hw.betweenness_centrality, sources=some(count), **quiet())
            yield on_gpu("gpu-betweenness", name, what, call, per=count, more=best)
    for name in ("delaunay_n15", "email-Enron", "luxembourg_osm"):
        call = ask(hw.betweenness_centrality, **quiet())
        yield on_gpu("gpu-betweenness", name, "betweenness, exact", call, more=certified)
    for name in ("email-Enron", "luxembourg_osm", "kron18e43", "kron21e44", "grid1000", "delaunay20"):
        call = ask(hw.pagerank, tol=lambda s: 1e-6 / s.graph.n)
        yield on_gpu("gpu-pagerank", name, "PageRank to 1e-6 in total", call, within=1e-6, rounds=9)
        call = ask(hw.sssp, "1 to 255", source=lambda s: s.hub)
        yield on_gpu("gpu-sssp", name, "sssp, weights 1 to 255", call, within=0.0, rounds=7, options={"weights": False})
    for name, count in (("email-Enron", 0), ("ca-AstroPh", 0), ("cit-HepPh", 0), ("delaunay_n16", 2048),
                        ("luxembourg_osm", 2048), ("cnr-2000", 4096), ("kron18", 4096),
                        ("grid1000", 1024)):  # fmt: skip
        chosen = {"sources": lambda s, count=count: s.sample(count)} if count else {}
        call = ask(hw.closeness_centrality, **quiet(), **chosen)
        what = f"closeness, {f'{count:,}' if count else 'all'} sources, per source"
        yield on_gpu("gpu-many", name, what, call, per=count, within=1e-12)
        yield on_gpu("gpu-many", name, "components", new_components, within=0.0)
    for name in ("kron24", "kron26"):  # the CPU engine would take minutes
        call = ask(hw.closeness_centrality, sources=some(2048), **quiet())
        yield Case("gpu-many-large", name, "closeness, 2,048 sources", call, rounds=5, more=gteps)
    for name, kinds in (("union100", ("", "1 to 255")), ("union1000", ("", "1 to 255")), ("union10000", ("",))):
        for kind in kinds:
            for what, function in (("betweenness", hw.betweenness_centrality),
                                   ("edge betweenness", hw.edge_betweenness_centrality),
                                   ("closeness", hw.closeness_centrality),
                                   ("harmonic centrality", hw.harmonic_centrality),
                                   ("global efficiency", hw.global_efficiency)):  # fmt: skip
                call, question = ask(function, kind, **quiet()), f"{what}, {f'weights {kind}' if kind else 'hops'}"
                if name == "union10000":
                    yield Case("gpu-unions", name, question, call, rounds=1, more=repeated)
                else:
                    yield on_gpu("gpu-unions", name, question, call, rounds=2, within=1e-12)
    for name in ("luxembourg_osm", "email-Enron", "delaunay_n15"):
        for kind in ("1 to 255", "fractions"):
            for what, function in (("betweenness", hw.betweenness_centrality),
                                   ("edge betweenness", hw.edge_betweenness_centrality),
                                   ("closeness", hw.closeness_centrality)):  # fmt: skip
                call = ask(function, kind, sources=some(256), **quiet())
                yield on_gpu("gpu-many-weighted", name, f"{what}, 256 sources, weights {kind}", call)


def gteps(answer: Any, row: Any) -> dict[str, Any]:
    """Billions of traversed edges per second."""
    return {"GTEPS": len(answer.scores) * row["arcs"] / 2 / (row["hopwave ms"] * 1e6)}


def repeated(answer: Any, _: Any) -> dict[str, Any]:
    """Ends the run if equal graphs of a union have unequal scores."""
    scores = np.reshape(array_of(answer), (1 if isinstance(answer, float) else 100, -1))
    agree("equal graphs", scores, np.broadcast_to(scores[0], scores.shape), 1e-12)
    return {}


CASES: list[Case] = [
    *searches(), *betweenness(), *distances(), *reductions(), *paths(), *tables("cpu"), *gap(), *linear_algebra(),
    *linear_searches("cpu"), *linear_searches("cuda"), *tables("cuda"), *gpu(),
]  # fmt: skip
