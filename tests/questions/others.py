"""Products, their algorithms, generators, files, and what hopwave says about a call."""

import shutil
import tempfile
import weakref
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave import generate
from hopwave import linalg as la
from hopwave.planning.catalogue import CATALOGUE
from questions import CPU, WITH_REFERENCE, Row, check_independent, partition, undirected
from questions.cases import SAFE, Case
from questions.values import eigenvector

MATRIX = "matrix"


# ---------------------------------------------------------------- products: as dense arrays, with 0 for no entry


def values(found: Any) -> Any:
    """A vector, or a matrix, as a dense array."""
    there = found.to("cpu")
    return there.to_dense(0.0) if isinstance(there, la.Vector) else there.to_scipy().toarray()


def entries(c: Case, name: str) -> dict[str, Any]:
    at = sorted(c.some())
    x = np.zeros(c.n)
    x[at] = [c.draw.choice((1.0, 2.0, 0.5)) for _ in at]
    c.memory[name] = x
    return {name: la.Vector.from_entries(at, x[at], c.n)}


def one(c: Case) -> dict[str, Any]:
    return entries(c, "u")


def two(c: Case) -> dict[str, Any]:
    return entries(c, "u") | entries(c, "v")


def safe(c: Case) -> bool:
    return c.kind in SAFE and len(c.edges) > 0


def by(c: Case) -> dict[str, Any]:
    """A vector and the direction of a product."""
    return entries(c, "x") | {"semiring": la.semiring.plus_times}


PRODUCTS = [
    Row("la.mxv", lambda c, **_: c.dense @ c.memory["x"], MATRIX, by, values, only=safe, devices=WITH_REFERENCE),
    Row("la.vxm", lambda c, **_: c.dense.T @ c.memory["x"], None, lambda c: by(c) | {"A": c.matrix}, values, only=safe,
        devices=WITH_REFERENCE),
    Row("la.mxm", lambda c, **_: c.dense @ c.dense, MATRIX,
        lambda c: {"B": c.matrix, "semiring": la.semiring.plus_times}, values, only=safe, devices=WITH_REFERENCE),
    Row("la.ewise_add", lambda c, **_: c.memory["u"] + c.memory["v"], None,
        lambda c: two(c) | {"op": la.binary.plus}, values, devices=WITH_REFERENCE),
    Row("la.ewise_mult", lambda c, **_: c.memory["u"] * c.memory["v"], None,
        lambda c: two(c) | {"op": la.binary.times}, values, devices=WITH_REFERENCE),
    Row("la.apply", lambda c, **_: -c.memory["u"], None, lambda c: one(c) | {"op": la.unary.negate}, values,
        devices=WITH_REFERENCE),
    Row("la.select", lambda c, **_: c.memory["u"] * (c.memory["u"] > 0.5), None,
        lambda c: one(c) | {"predicate": la.binary.gt, "thunk": 0.5}, values, devices=WITH_REFERENCE),
    Row("la.assign", lambda c, **_: np.full(c.n, 7.0), None, lambda c: entries(c, "w") | {"value": 7.0}, values,
        devices=WITH_REFERENCE),
    Row("la.extract", lambda c, indices, **_: c.memory["u"][indices], None,
        lambda c: one(c) | {"indices": c.some()}, values, devices=WITH_REFERENCE),
    Row("la.reduce", lambda c: float(c.dense.sum()), MATRIX, only=safe, devices=WITH_REFERENCE),
    Row("la.bfs", lambda c, source: hops(c, source), MATRIX, lambda c: {"source": c.vertex()}, values),
    Row("la.waves", lambda c, **_: hops(c, c.memory["start"]), None, lambda c: start(c), lambda r: values(r.levels)),
]  # fmt: skip


def hops(c: Case, source: int) -> Any:
    return np.where(np.isfinite(c.hops[source]), c.hops[source], 0)


def start(c: Case) -> dict[str, Any]:
    c.memory["start"] = c.vertex()
    return {"x": la.Vector.from_entries([c.memory["start"]], True, c.n), "A": c.matrix}


# ---------------------------------------------------------------- algorithms made of products


def simple(c: Case) -> dict[str, Any]:
    """A symmetric matrix without loops."""
    u, v = c.ends
    kept = u != v
    return {"A": la.Matrix.from_graph(hw.Graph.from_edges(u[kept], v[kept], n=c.n))}


def lengths(c: Case) -> dict[str, Any]:
    return {"source": c.vertex()}


def several(c: Case) -> dict[str, Any]:
    return {"source": c.some(3)}


def buckets(c: Case) -> dict[str, Any]:
    return several(c) | {"delta": c.draw.choice((None, 1e-3, 0.3, 1e3))}


def km(c: Case, source: list[int], **_: Any) -> Any:
    return c.km[source].min(0)


def infinite(v: Any) -> Any:
    return v.to("cpu").to_dense(np.inf)


def ranks(c: Case) -> dict[str, Any]:
    return {"tol": 1e-13, "max_iter": 1000}


def triangles(c: Case, **_: Any) -> set[tuple[int, ...]]:
    return {tuple(sorted(clique)) for clique in nx.enumerate_all_cliques(c.simple) if len(clique) == 3}


def betweenness(c: Case, sources: list[int], **_: Any) -> Any:
    raw = nx.betweenness_centrality_subset(c.nx, sources, list(c.nx))
    return c.listed({v: score * (1 if c.directed else 2) for v, score in raw.items()})


ALGORITHMS = [
    Row("la.algorithms.bfs", lambda c, source: hops(c, source), MATRIX, lengths, values),
    Row("la.algorithms.sssp", km, MATRIX, several, infinite, exact=True),
    Row("la.algorithms.delta_stepping", km, MATRIX, buckets, infinite, only=lambda c: c.n > 1 and bool(c.edges),
        exact=True),
    Row("la.algorithms.betweenness", betweenness, MATRIX,
        lambda c: {"sources": c.some(), "batch": c.draw.randint(1, 5)}, values, only=lambda c: c.n <= 16),
    Row("la.algorithms.connected_components", lambda c, **_: partition(map(min, components(c))), None, simple,
        lambda v: partition(values(v).tolist()), only=undirected),
    Row("la.algorithms.core_numbers", lambda c, **_: c.listed(nx.core_number(c.simple)), None, simple, values,
        only=undirected),
    Row("la.algorithms.pagerank", lambda c, **how: c.listed(nx.pagerank(c.nx, **how)), MATRIX, ranks, values),
    Row("la.algorithms.katz_centrality",
        lambda c, alpha, **_: c.listed(nx.katz_centrality_numpy(c.nx, alpha=alpha, weight="weight")), MATRIX,
        lambda c: {"alpha": 0.5 / max(1.0, c.dense.sum(0).max(), c.dense.sum(1).max()), "tol": 1e-13, "max_iter": 1000},
        values, only=lambda c: c.n > 1 and safe(c)),
    Row("la.algorithms.eigenvector_centrality", lambda c, **how: eigenvector(c, True, **how), MATRIX,
        lambda c: {"max_iter": 1000}, values, refuses=hw.ConvergenceError),
    Row("la.algorithms.hits", lambda c, **_: 1.0, MATRIX, lambda c: {"max_iter": 10_000},
        lambda pair: float(values(pair[0]).sum()), only=safe),
    Row("la.algorithms.label_propagation", lambda c, **_: c.n, None, lambda c: simple(c) | {"seed": 1},
        lambda found: len(values(found[0] if isinstance(found, tuple) else found)), only=undirected),
    Row("la.algorithms.maximal_independent_set", None, None, lambda c: simple(c) | {"seed": 1}, None,
        check_independent, undirected),
    Row("la.algorithms.triangles", lambda c, **_: c.listed(nx.triangles(c.simple)), None, simple, values,
        only=undirected),
    Row("la.algorithms.triangle_count", lambda c, **_: len(triangles(c)), None, simple, only=undirected),
    Row("la.algorithms.triangle_list", triangles, None, simple,
        lambda rows: {tuple(sorted(row)) for row in rows.tolist()}, only=undirected),
]  # fmt: skip


def components(c: Case) -> list[set[int]]:
    of = {v: part for part in nx.connected_components(c.simple) for v in part}
    return [of[v] for v in range(c.n)]


# ---------------------------------------------------------------- generators


def same_as(make: Any) -> Any:
    """The graph of NetworkX, whose nodes are numbered in their order."""

    def due(c: Case, **given: Any) -> Any:
        g = nx.convert_node_labels_to_integers(make(**given))
        return g.number_of_nodes(), {tuple(sorted(edge)) for edge in g.edges()}

    return due


def shape(G: hw.Graph) -> Any:
    return G.n, {tuple(sorted(edge)) for edge in zip(*(column.tolist() for column in G.to_edges()[:2]), strict=True)}


def sized(**more: Any) -> Any:
    """A number of vertices and a seed."""
    return lambda c: {"n": 10 + c.n, "seed": c.draw.randrange(99), **more}


def check_drawn(call: Any, c: Case, G: hw.Graph, edges: Any = None, loops: bool = False, **given: Any) -> None:
    """A seed gives the same graph again; it has n vertices, no repeated edge, and loops only if its edges have."""
    n = given.get("n") or 1 << given["scale"]
    assert G.n == n and call(**given) == G
    if edges is not None:
        assert hw.Graph.from_edges(*edges(**given), n=n) == G
    else:
        u, v = G.to_edges()[:2]
        assert (loops or (u != v).all()) and (G.directed or len(shape(G)[1]) == len(u))


def check_edges(c: Case, ends: Any, **given: Any) -> None:
    n = given.get("n") or 1 << given["scale"]
    source, target = ends
    assert len(source) == len(target) == 4 * n and min(source.min(), target.min()) >= 0
    assert max(source.max(), target.max()) < n


def scaled(c: Case) -> dict[str, Any]:
    return {"scale": c.draw.randint(2, 6), "edge_factor": 4, "seed": c.draw.randrange(99)}


GENERATORS = [
    Row("generate.path", same_as(nx.path_graph), None, lambda c: {"n": c.n}, shape),
    Row("generate.cycle", same_as(nx.cycle_graph), None, lambda c: {"n": c.n + 2}, shape),
    Row("generate.complete", same_as(nx.complete_graph), None, lambda c: {"n": c.n}, shape),
    Row("generate.star", same_as(lambda n: nx.star_graph(n - 1)), None, lambda c: {"n": c.n}, shape),
    Row("generate.grid", same_as(lambda rows, columns: nx.grid_2d_graph(rows, columns)), None,
        lambda c: {"rows": c.draw.randint(1, 5), "columns": c.draw.randint(1, 5)}, shape),
    Row("generate.diamonds", lambda c, k: (3 * k + 1, 4 * k), None, lambda c: {"k": c.draw.randint(1, 5)},
        lambda G: (G.n, G.m // 2)),
    Row("generate.mycielskian", lambda c, k: nx.mycielskian(nx.path_graph(2), k - 2).number_of_edges(), None,
        lambda c: {"k": c.draw.randint(2, 5)}, lambda G: G.m // 2),
    Row("generate.kronecker", None, None, scaled, None,
        partial(check_drawn, generate.kronecker, edges=generate.kronecker_edges)),
    Row("generate.rmat", None, None, scaled, None, partial(check_drawn, generate.rmat, loops=True)),
    Row("generate.uniform", None, None, sized(edge_factor=4), None,
        partial(check_drawn, generate.uniform, edges=generate.uniform_edges)),
    Row("generate.kronecker_edges", None, None, scaled, None, check_edges),
    Row("generate.uniform_edges", None, None, sized(edge_factor=4), None, check_edges),
    Row("generate.barabasi_albert", None, None, sized(k=2), None, partial(check_drawn, generate.barabasi_albert)),
    Row("generate.delaunay", None, None, sized(), None, partial(check_drawn, generate.delaunay)),
    Row("generate.geometric", None, None, sized(), None, partial(check_drawn, generate.geometric)),
    Row("generate.smallworld", None, None, sized(k=4), None, partial(check_drawn, generate.smallworld)),
]  # fmt: skip


# ---------------------------------------------------------------- files and words


def to_write(c: Case) -> dict[str, Any]:
    folder, graph = tempfile.mkdtemp(), c.weighted if c.flag() else c.plain
    c.memory["file"] = folder, graph
    weakref.finalize(c, shutil.rmtree, folder)
    return {"path": Path(folder) / c.draw.choice(("a.npz", "a.mtx", "a.mtx.gz")), "graph": graph}


def written(c: Case) -> dict[str, Any]:
    given = to_write(c)
    hw.write(**given)
    return {"path": given["path"]}


def check_written(c: Case, answer: Any, path: Path, graph: hw.Graph) -> None:
    assert hw.read(path) == graph


FILES = [
    Row("hw.read", lambda c, path: c.memory["file"][1], None, written),
    Row("hw.write", None, None, to_write, None, check_written),
    Row("hw.plan", lambda c, name: name, None, lambda c: {"name": c.draw.choice(list(CATALOGUE))}, lambda p: p.name),
    Row("hw.plans", lambda c: set(CATALOGUE), None, read=lambda found: {str(getattr(p, "name", p)) for p in found}),
    Row("hw.formats", lambda c: True, None, read=lambda found: len(found) > 10),
    Row("hw.devices", lambda c: "cpu", None, read=lambda found: found[0].kind),
    Row("hw.estimate_memory", lambda c, **_: True, given=lambda c: {"what": c.draw.choice(("bfs", "bfs_many"))},
        read=lambda said: said.bytes == sum(said.parts.values()) > 0, only=lambda c: bool(c.edges), devices=CPU),
    Row("generate.generators", lambda c: True, None, read=lambda found: "kronecker" in str(found)),
    Row("datasets.names", lambda c: True, None, read=lambda found: "karate" in found),
    Row("datasets.load", same_as(lambda name: nx.karate_club_graph()), None, lambda c: {"name": "karate"}, shape),
    Row("datasets.published", lambda c: True, None, read=lambda found: len(found) > 9),
    Row("datasets.cache_folder", lambda c: True, None, read=lambda found: isinstance(found, Path)),
]  # fmt: skip

ROWS = [*PRODUCTS, *ALGORITHMS, *GENERATORS, *FILES]
