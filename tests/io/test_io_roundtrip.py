"""A written graph reads back unchanged, or is rejected: every format, every trap, labels and weights bit for bit."""

import gzip
import math
import warnings
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hopwave.io as hio
from hopwave.distributed.construct import read_share
from hopwave.errors import FormatError, LostDirectionWarning
from hopwave.graph import Graph
from hopwave.io.format import Format, compact

ENDS = [0, 0, 1, 1, 2, 2, 0], [1, 1, 0, 2, 2, 2, 1]
GRAPHS = {
    "undirected": Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 0]),
    "directed": Graph.from_edges([0, 1, 3, 2], [1, 0, 2, 3], directed=True),
    "loops": Graph.from_edges([0, 1, 1, 2], [0, 1, 2, 2]),
    "loops, directed": Graph.from_edges([0, 1, 2], [0, 2, 2], directed=True),
    "isolated vertices": Graph.from_edges([1, 3], [3, 4], n=7),
    "isolated, directed": Graph.from_edges([4, 3], [3, 1], n=7, directed=True),
    "isolated inside": Graph.from_edges([0, 3], [3, 5]),
    "no edges": Graph.from_edges([], [], n=4),
    "empty": Graph.from_edges([], [], n=0),
    "empty, directed": Graph.from_edges([], [], n=0, directed=True),
    "names": Graph.from_edges(["ann", "bob", "ann"], ["bob", "cyd", "dan"]),
    "names, directed": Graph.from_edges(["b", "a", "c"], ["a", "c", "b"], directed=True),
    "names like titles": Graph.from_edges(["u", "v"], ["v", "weight"]),
    "names like numbers": Graph.from_edges(["1", "2"], ["2", "x"]),
    "only numbers as names": Graph.from_edges(["10", "2"], ["2", "7"]),
    "names in another order": Graph.from_edges([2, 1], [1, 0], labels=["zoé", "ann", "bob"], weights=[0.25, 7]),
    "names without an edge": Graph.from_edges([0], [2], n=4, labels=["p", "q", "r", "s"], weights=[0.5]),
    "integer labels": Graph.from_edges([0, 1], [1, 2], labels=np.array([10, 20, 35]), weights=[0.25, 7]),
    "integer labels without an edge": Graph.from_edges([0, 1], [1, 3], n=5, labels=np.array([5, 6, 9, 10**12, 10**13])),
    "tuples as names": Graph.from_edges([("a", 1)], ["b"]),
    "weights": Graph.from_edges([0, 1, 2], [1, 2, 2], weights=[3, 1, 2]),
    "negative zero": Graph.from_edges([0, 1], [1, 2], directed=True, weights=[-0.0, 5.0]),
    "parallel": Graph.from_edges(*ENDS, n=5, repeats="keep"),
    "parallel, directed": Graph.from_edges(*ENDS, n=5, repeats="keep", directed=True, labels=list("abcde")),
    "parallel, weights": Graph.from_edges(*ENDS, repeats="keep", weights=[1.5, 2.5, 0.5, 1, 2, 1, 0.25]).arranged(),
}  # fmt: skip
RANGE = {"dimacs": (0, 2**53), "metis": (1, 2**31 - 1), "gapbs-wel": (-(2**31), 2**31 - 1)}
RANGE["gapbs-wsg"] = RANGE["gapbs-wel"]
FORMATS = pytest.mark.parametrize("known", hio.formats(), ids=lambda known: known.name)


def refusals(known: Format, graph: Graph) -> list[str]:
    """Words of the messages about what a format cannot store by definition; none: it must store the graph."""
    told, ends = [], np.concatenate(graph.to_edges())
    if graph.labels is not None:
        kinds = {type(label) for label in graph.labels.tolist()}
        told += ["cannot store labels"] * (not known.holds_labels) + ["all strings or all"] * (tuple in kinds)
    if graph.is_weighted:
        least, most = RANGE.get(known.name, (-math.inf, math.inf))
        weights: Any = graph.weights
        whole = (weights == np.trunc(weights)) & ~(np.signbit(weights) & (weights == 0))
        odd = (weights < least) | (weights > most) | (~whole & (known.name in RANGE))
        told += ["cannot store weights"] * (not known.holds_weights) + ["this format stores"] * bool(odd.any())
    if known.name in ("gapbs-wel", "gapbs-wsg") and not graph.is_weighted:
        told.append("the graph has no weights")
    if graph.has_parallel_arcs and not known.holds_parallel:
        told.append("parallel arcs")
    if known.name in ("metis", "dimacs-col") and graph.directed:
        told.append("a directed graph")
    if known.name == "metis" and (np.equal(*graph.to_edges())).any():
        told.append("self-loop")
    if known.name in ("gapbs-el", "gapbs-wel", "graph500") and ends.max(initial=-1) + 1 < max(graph.n, 1):
        told += ["have no edge", "without edges"]
    return told


def there_and_back(path: Path, graph: Graph, known: Format, **options: Any) -> Graph:
    directed = graph.directed if known.assumes is not None else None
    hio.write(path, graph, directed=directed, **options)
    return hio.read(path, directed=directed)


def check(known: Format, graph: Graph, folder: Path, packed: str = "") -> None:
    """The graph comes back with the same bits, or is refused for a reason, and no file is left."""
    path = folder / f"graph{known.extensions[0]}{packed}"
    words = refusals(known, graph)
    if words:
        with pytest.raises(FormatError, match=rf"graph\..*({'|'.join(words)})"):
            hio.write(path, graph, directed=graph.directed)
        assert list(folder.iterdir()) == []
        return
    back, right = there_and_back(path, graph, known), graph._ascending()
    assert back == right
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(packed)
    if right.weights is not None:
        assert hio.read(path, directed=graph.directed, weights=False) == right.without_weights()
        bits = [np.asarray(weights, np.float64).tobytes() for weights in (back.weights, right.weights)]
        assert bits[0] == bits[1] or known.name == "gapbs-wel"
        if known.name in ("parquet", "npz", "graphml") and right.m:
            assert back.weights.dtype == right.weights.dtype
    path.unlink()
    if right.labels is not None:
        assert [*map(type, back.labels.tolist())] == [*map(type, right.labels.tolist())]


@pytest.mark.parametrize("packed", ["", ".gz"], ids=["plain", "gz"])
@FORMATS
def test_every_format_keeps_every_graph_or_refuses_it(known: Format, packed: str, tmp_path: Path) -> None:
    for graph in GRAPHS.values():
        check(known, graph, tmp_path, packed)
        path, bare = tmp_path / f"g{known.extensions[0]}", graph.relabel(None).without_weights()
        if not refusals(known, bare):
            hio.write(path, graph, directed=graph.directed, labels=False, weights=False)
            assert hio.read(path, directed=graph.directed) == bare._ascending(), "dropped when told"
            path.unlink()


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Z"]), min_size=1, max_size=4).filter(
    lambda word: word[0] not in "#%" and len(word.encode().split()) == 1 and word == word.strip() and '"' not in word
)
doubles = st.sampled_from([0.0, -0.0, 1.0, -2.5, 0.1, 1e-300, 1e300, 5e-324, math.inf, -math.inf, 2.0**53, 1e23])
doubles |= st.floats(allow_nan=False)
WEIGHTS = {
    "none": st.none(), "doubles": doubles, "singles": st.floats(allow_nan=False, width=32),
    "whole": st.integers(-(2**53), 2**53).map(float), "small": st.integers(1, 2**31 - 1).map(float),
}  # fmt: skip


@given(
    edges=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20),
    called=st.none() | st.lists(names | st.integers(-5, 30).map(str), min_size=9, max_size=9, unique=True),
    spare=st.integers(0, 3),
    directed=st.booleans(),
    kind=st.sampled_from(list(WEIGHTS)),
    data=st.data(),
)
@FORMATS
def test_any_graph(
    known: Format, edges: Any, called: Any, spare: int, directed: bool, kind: str, data: Any, tmp_path_factory: Any
) -> None:
    if known.name == "metis":
        directed, edges = False, [edge for edge in edges if edge[0] != edge[1]]
    n = max((max(edge) for edge in edges), default=-1) + 1 + (spare if called is None else 0)
    options: dict[str, Any] = {}
    if kind != "none" and edges:
        values = data.draw(st.lists(WEIGHTS[kind], min_size=len(edges), max_size=len(edges)))
        options = {"weights": np.array(values, np.float32 if kind == "singles" else np.float64), "combine": "first"}
    labels = None if called is None or not n or known.name in ("snap", "table") else called[:n]
    graph = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n, directed, labels=labels, **options)
    if called is not None and edges and labels is None:  # names in the order of the edges
        ends = [[called[edge[i]] for edge in edges] for i in (0, 1)]
        graph = Graph.from_edges(*ends, directed=directed, names=True, **options)
    check(known, graph, tmp_path_factory.mktemp("any"))


@FORMATS
def test_a_direction_that_the_file_cannot_hold_is_not_lost_silently(known: Format, tmp_path: Path) -> None:
    """It is read back as it was, or refused, or a warning says what to read it with, unless `directed=` does."""
    path, weights = tmp_path / f"graph{known.extensions[0]}", known.holds_weights
    for graph in (Graph.from_edges([0, 1], [1, 2], directed=directed, weights=[2, 3]) for directed in (True, False)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                hio.write(path, graph, weights=weights)
            except FormatError:
                continue
        assert (hio.read(path).directed != graph.directed) == bool(told)
        for warning in told:
            assert warning.category is LostDirectionWarning
            assert f"pass directed={graph.directed}" in str(warning.message)
        for extension in known.extensions:
            path = tmp_path / f"graph{extension}"
            hio.write(path, graph, weights=weights, directed=graph.directed)
            assert hio.read(path, directed=graph.directed) == (graph if weights else graph.without_weights())


def test_parallel_arcs_are_turned_and_combined(tmp_path: Path) -> None:
    for name in ("g.npz", "g.parquet"):
        hio.write(tmp_path / name, GRAPHS["parallel, weights"])
        both = hio.read(tmp_path / name, directed=True)
        assert (both.directed, both.m) == (True, GRAPHS["parallel, weights"].m), "an undirected edge becomes two arcs"
        assert hio.read(tmp_path / name, combine="min").weights.min() == 0.25
    arrays = {"hopwave": np.array(3), "parallel": np.array(True), "directed": np.array(False)}
    for indptr, indices in (([0, 2, 2], [1, 1]), ([0, 2, 3], [1, 0, 0]), ([0, 2, 4], [1, 7, 0, 0]), ([0, 9], [0])):
        np.savez(tmp_path / "g.npz", indptr=np.array(indptr), indices=np.array(indices), **arrays)
        with pytest.raises(FormatError, match="not a graph"):
            hio.read(tmp_path / "g.npz")


def test_isolated_vertices_are_dropped_only_when_told(tmp_path: Path) -> None:
    for name in ("graph.el", "graph.graph500"):
        hio.write(tmp_path / name, GRAPHS["isolated vertices"], directed=False, isolated=False)
        assert hio.read(tmp_path / name, directed=False).n == 5
        assert hio.read(tmp_path / name, directed=False, n=7) == GRAPHS["isolated vertices"]


@pytest.mark.parametrize("directed", [False, True])
def test_packed_edges_of_graph500_are_never_read_as_pairs(directed: bool, tmp_path: Path) -> None:
    """All graphs of three vertices whose files have a size that fits both kinds."""
    path = tmp_path / "g.graph500"
    pairs = [(u, v) for u in range(3) for v in range(3) if directed or u <= v]
    for edges in (edges for count in range(4, len(pairs) + 1, 4) for edges in combinations(pairs, count)):
        graph = Graph.from_edges(edges, n=3, directed=directed)
        hio.write(path, graph, directed=directed, packed=True, isolated=False)
        assert path.stat().st_size == 12 * len(edges)
        for read in (hio.read, partial(read_share, format=None, directed=None, rank=0, size=1)):
            with pytest.raises(FormatError, match="packed=True"):
                read(path)
        assert hio.read(path, directed=directed, packed=True, n=3) == graph


@given(
    ids=st.lists(st.tuples(st.integers(0, 5000) | st.integers(0, 2**62), st.integers(0, 60)), max_size=30),
    lone=st.lists(st.integers(0, 2**62), max_size=3),
    small=st.booleans(),
    compiled=st.booleans(),
)
def test_ids_are_renumbered_in_ascending_order(ids: Any, lone: Any, small: bool, compiled: bool) -> None:
    """By a table, compiled or not, and by sorting, for integer columns of any width."""
    kind = np.uint16 if small else np.int64
    u, v = (np.array([pair[i] % (5001 if small else 2**63) for pair in ids], kind) for i in (0, 1))
    alone = np.array([] if small else lone, kind)
    expected = np.unique(np.concatenate([u, v, alone]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hopwave.io.format.COMPILED_FROM", 0 if compiled else 1 << 40)
        a, b, n, labels = compact(u, v, alone)
    known = expected if labels is None else labels
    assert (labels is None) == (expected.tolist() == list(range(len(expected))))
    assert n == len(expected) and known.tolist() == expected.tolist()
    assert known[a].tolist() == u.tolist() and known[b].tolist() == v.tolist()
    assert labels is None or (labels.dtype == np.int64 and a.dtype == b.dtype == np.int32)


# ---------------------------------------------------------------- other programs


def weighted(make: Any, called: Any = None) -> Any:
    g = make([(0, 1, {"weight": 2.5}), (2, 1, {"weight": -1e-7}), (2, 2, {"weight": 4.0})])
    g.add_node(3)
    return nx.relabel_nodes(g, called) if called else g


NETWORKX = {
    "plain": nx.path_graph(5),
    "directed": nx.DiGraph([(0, 1), (2, 1), (1, 0), (3, 3)]),
    "other order": nx.Graph([(2, 0), (0, 1)]),
    "weights": weighted(nx.Graph),
    "names": weighted(nx.DiGraph, {0: "Zoé & <co>", 1: "two words", 2: "x", 3: "alone"}),
    "integers": nx.Graph([(10, 20), (7, 10)]),
    "no edges": nx.empty_graph(3),
}
PEERS = {
    ".graphml": (nx.write_graphml_xml, nx.read_graphml),
    ".gml": (nx.write_gml, nx.read_gml),
    ".net": (nx.write_pajek, nx.read_pajek),
}


@pytest.mark.parametrize("trap", NETWORKX)
@pytest.mark.parametrize("extension", PEERS)
def test_networkx_reads_and_writes_the_same(extension: str, trap: str, tmp_path: Path) -> None:
    g, path = NETWORKX[trap].copy(), tmp_path / f"g{extension}"
    PEERS[extension][0](g, path)
    graph = right = Graph.from_networkx(g)
    if extension == ".net" and not right.is_weighted and right.m:
        right = right.with_weights(np.ones(right.m))  # NetworkX writes the weight 1 for every edge
    assert hio.read(path) == right
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert hio.read(path) == right
    hio.write(path, graph)
    read = PEERS[extension][1](path)
    assert read.is_directed() == g.is_directed() and sorted(map(str, read)) == sorted(map(str, g))

    def edges(g: Any) -> dict[Any, Any]:
        keep = list if g.is_directed() else sorted
        return {tuple(keep(map(str, ends))): weight for *ends, weight in g.edges(data="weight")}

    assert edges((nx.DiGraph if g.is_directed() else nx.Graph)(read)) == edges(g)  # Pajek: a multigraph


@pytest.mark.filterwarnings("ignore:The default value for .spmatrix. is changing")
@pytest.mark.parametrize("field", ["pattern", "real", "integer"])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market_agrees_with_scipy(field: str, symmetry: str, tmp_path: Path) -> None:
    A = sp.random_array((30, 30), density=0.1, rng=np.random.default_rng(3))
    A.data = A.data if field == "real" else np.round(A.data * 100) + 1
    A = (A + A.T) if symmetry == "symmetric" else A
    scipy.io.mmwrite(tmp_path / "A.mtx", A, field=field, symmetry=symmetry)
    graph = hio.read(tmp_path / "A.mtx")
    assert graph.directed == (symmetry == "general")
    B = scipy.io.mmread(tmp_path / "A.mtx")
    assert graph == Graph.from_scipy(B, directed=graph.directed, weights=field != "pattern")
    hio.write(tmp_path / "B.mtx.gz", graph)
    assert (scipy.io.mmread(tmp_path / "B.mtx.gz").tocsr() != B.tocsr()).nnz == 0
    first = gzip.decompress((tmp_path / "B.mtx.gz").read_bytes()).split(b"\n")[0]
    assert first.decode() == f"%%MatrixMarket matrix coordinate {field} {symmetry}"


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_archives_of_scipy(kind: str, make: Any, tmp_path: Path) -> None:
    A = make(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 5]]))
    sp.save_npz(tmp_path / "A.npz", A.asformat(kind))
    graph = hio.read(tmp_path / "A.npz", weights=False)
    assert graph == Graph.from_edges([0, 1, 2], [1, 2, 2], directed=True)
    assert hio.read(tmp_path / "A.npz") == graph.with_weights([1, 2, 5])
    sp.save_npz(tmp_path / "A.npz", (A + A.T).asformat(kind))
    assert hio.read(tmp_path / "A.npz") == Graph.from_edges([0, 1, 2], [1, 2, 2], weights=[1, 2, 10])
    sp.save_npz(tmp_path / "A.npz", (A != 0).asformat(kind))
    assert hio.read(tmp_path / "A.npz") == graph, "bool has no weights"


def test_parquet_of_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "g.parquet"
    frame = pandas.DataFrame({"weight": [1.0, 2.0], "dst": ["b", "c"], "src": ["a", "b"]})
    frame.to_parquet(path)
    assert hio.read(path) == Graph.from_edges(["a", "b"], ["b", "c"], weights=[1, 2])
    assert hio.read(path, source="dst", target="src").labels.tolist() == ["b", "a", "c"]
    assert hio.read(path, labels=False).labels is None
    frame.astype({"src": "category", "weight": "f4"}).to_parquet(path)
    assert hio.read(path, directed=True).m == 2 and hio.read(path).weights.dtype == np.float32
    large = 2**62 + 1
    for kind, other, ids in (
        *((kind, kind, [7, 9, 12]) for kind in ("int8", "uint8", "int32", "uint32", "int64", "uint64")),
        ("uint64", "int64", [large, large + 1, large + 2]),
    ):
        pandas.DataFrame({"x": np.array(ids[:2], kind), "y": np.array(ids[1:], other)}).to_parquet(path)
        assert hio.read(path) == Graph.from_edges([0, 1], [1, 2], labels=np.array(ids))
    pandas.DataFrame({"source": np.array([2**63], "uint64"), "target": np.array([1], "uint64")}).to_parquet(path)
    with pytest.raises(FormatError, match=r"too large; ids must be below 2\^63"):
        hio.read(path)


def test_networkx_reads_our_files_and_equal_graphs_give_equal_files(tmp_path: Path) -> None:
    graph = GRAPHS["isolated vertices"]
    hio.write(tmp_path / "g.txt", graph)
    assert sorted(nx.read_edgelist(tmp_path / "g.txt", nodetype=int).edges) == [(1, 3), (3, 4)]
    for name in ("a.mtx.gz", "b.mtx.gz"):
        hio.write(tmp_path / name, graph)
    assert (tmp_path / "a.mtx.gz").read_bytes() == (tmp_path / "b.mtx.gz").read_bytes()
