"""A written graph reads back unchanged: in every format, every trap that the format can store."""

from __future__ import annotations

import io
import warnings
from itertools import combinations

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import hopwave.io as hio
from hopwave.errors import FormatError, GraphError, LostDirectionWarning
from hopwave.graph import Graph
from hopwave.io.format import compact

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
    "one arc": Graph.from_edges([0], [1], directed=True),
}
NAMED = {
    "names": Graph.from_edges(["ann", "bob", "ann"], ["bob", "cyd", "dan"]),
    "names, directed": Graph.from_edges(["b", "a", "c"], ["a", "c", "b"], directed=True),
    "names like numbers": Graph.from_edges(["1", "2"], ["2", "x"]),
    "only numbers as names": Graph.from_edges(["10", "2"], ["2", "7"]),
    "names in another order": Graph.from_edges([2, 1], [1, 0], labels=["zoé", "ann", "bob"]),
    "names without an edge": Graph.from_edges([0], [2], n=4, labels=["p", "q", "r", "s"]),
    "integer labels": Graph.from_edges([0, 1], [1, 2], labels=np.array([10, 20, 35])),
    "integer labels without an edge": Graph.from_edges([0, 1], [1, 3], n=5, labels=np.array([5, 6, 9, 10**12, 10**13])),
}
# What a format cannot store by definition: writing it must be refused, not silently changed.
REFUSED = {
    "metis": {"directed", "loops", "loops, directed", "isolated, directed", "empty, directed", "one arc"},
    "dimacs-col": {"directed", "loops, directed", "isolated, directed", "empty, directed", "one arc"},
    "gapbs-el": {"isolated vertices", "isolated, directed", "no edges", "empty", "empty, directed"},
    "graph500": {"isolated vertices", "isolated, directed", "no edges", "empty", "empty, directed"},
}
ONLY_WITH_WEIGHTS = {"gapbs-wel", "gapbs-wsg"}  # tests/io/test_io_weights.py tests these with weights
FORMATS = {known.name: known for known in hio.formats() if known.name not in ONLY_WITH_WEIGHTS}


def there_and_back(path, graph, **options):
    known = next(known for known in hio.formats() if path.name.removesuffix(".gz").endswith(known.extensions))
    directed = graph.directed if known.assumes is not None else None
    hio.write(path, graph, directed=directed, **options)
    return hio.read(path, directed=directed)


@pytest.mark.parametrize("name", [known.name for known in hio.formats()])
def test_a_direction_that_the_file_cannot_hold_is_not_lost_silently(name, tmp_path):
    """It is read back as it was, or refused, or a warning says what to read it with, unless `directed=` does."""
    known = next(known for known in hio.formats() if known.name == name)
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
            assert f"read it with directed={graph.directed}" in str(warning.message)
        hio.write(path, graph, weights=weights, directed=graph.directed)
    with pytest.raises(GraphError, match="directed=True is not what the graph is"):
        hio.write(path, Graph.from_edges([0], [1]), directed=True)


@pytest.mark.parametrize("packed", ["", ".gz"], ids=["plain", "gz"])
@pytest.mark.parametrize("trap", GRAPHS)
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_keeps_every_graph_or_refuses_it(name, trap, packed, tmp_path):
    path = tmp_path / f"graph{FORMATS[name].extensions[0]}{packed}"
    if trap in REFUSED.get(name, ()):
        with pytest.raises(FormatError, match=r"graph\."):
            hio.write(path, GRAPHS[trap])
        assert list(tmp_path.iterdir()) == []
    else:
        assert there_and_back(path, GRAPHS[trap]) == GRAPHS[trap]
        assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(packed)


PARALLEL = {
    f"{'directed' if directed else 'undirected'}{', weights' if weights else ''}": Graph.from_edges(
        [0, 0, 1, 1, 2, 2, 0], [1, 1, 0, 2, 2, 2, 1], n=5, directed=directed, weights=weights, repeats="keep"
    )
    for directed in (True, False)
    for weights in (None, [1.5, 2.5, 0.5, 1, 2, 1, 0.25])
}


@pytest.mark.parametrize("trap", PARALLEL)
@pytest.mark.parametrize("name", FORMATS)
def test_parallel_arcs_are_kept_or_refused(name, trap, tmp_path):
    known, graph = FORMATS[name], PARALLEL[trap]
    path = tmp_path / f"graph{known.extensions[0]}"
    assert graph.has_parallel_arcs
    if known.holds_parallel:
        named = graph.relabel(["a", "b", "c", "d", "e"])
        for one in (graph, named, graph.arranged()):
            assert there_and_back(path, one) == one._ascending()
        both = hio.read(path, directed=True)
        assert (both.directed, both.m) == (True, graph.m), "an undirected edge becomes two arcs"
        if graph.is_weighted:
            assert hio.read(path, combine="min").weights.min() == 0.25
    else:
        with pytest.raises(FormatError, match=r"cannot store weights|the graph has parallel arcs"):
            hio.write(path, graph)
        merged = Graph.from_edges(*graph.to_edges(), graph.n, graph.directed)
        assert not merged.has_parallel_arcs


def test_an_archive_with_parallel_arcs_is_checked(tmp_path):
    arrays = {"hopwave": np.array(3), "parallel": np.array(True), "directed": np.array(False)}
    for indptr, indices in (([0, 2, 2], [1, 1]), ([0, 2, 3], [1, 0, 0]), ([0, 2, 4], [1, 7, 0, 0]), ([0, 9], [0])):
        np.savez(tmp_path / "g.npz", indptr=np.array(indptr), indices=np.array(indices), **arrays)
        with pytest.raises(FormatError, match="not a graph"):
            hio.read(tmp_path / "g.npz")


@pytest.mark.parametrize("extension", [ext for known in FORMATS.values() for ext in known.extensions])
def test_every_extension_works(extension, tmp_path):
    assert there_and_back(tmp_path / f"graph{extension}", GRAPHS["undirected"]) == GRAPHS["undirected"]


@pytest.mark.parametrize("trap", NAMED)
@pytest.mark.parametrize("extension", [".txt", ".csv", ".tsv.gz", ".parquet", ".npz", ".graphml", ".gml", ".net"])
def test_labels_come_back(extension, trap, tmp_path):
    graph = there_and_back(tmp_path / f"graph{extension}", NAMED[trap])
    assert graph == NAMED[trap]
    assert [type(label) for label in graph.labels.tolist()] == [type(label) for label in NAMED[trap].labels.tolist()]


@pytest.mark.parametrize("name", [known.name for known in FORMATS.values() if not known.holds_labels])
def test_formats_without_labels_refuse_them_unless_told_to_drop(name, tmp_path):
    path = tmp_path / f"graph{FORMATS[name].extensions[0]}"
    with pytest.raises(FormatError, match=r"cannot store labels.*labels=False"):
        hio.write(path, NAMED["names"])
    hio.write(path, NAMED["names"], directed=False, labels=False)
    plain = hio.read(path, directed=False)
    assert plain.labels is None and plain.m == NAMED["names"].m


@pytest.mark.parametrize("extension", [".txt", ".csv", ".parquet", ".npz"])
def test_labels_of_other_types_are_refused(extension, tmp_path):
    graph = Graph.from_edges([("a", 1)], ["b"])
    with pytest.raises(FormatError, match=r"tuple.*labels=False"):
        hio.write(tmp_path / f"graph{extension}", graph)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ['quo"te', "com,ma", "new\nline", " spaces ", "semi;colon", "tab\t", "Straße", "source"]
)
def test_a_table_keeps_awkward_names(name, tmp_path):
    graph = Graph.from_edges([name, "b"], ["b", "c"])
    assert there_and_back(tmp_path / "graph.csv", graph) == graph
    assert there_and_back(tmp_path / "graph.tsv", graph) == graph


def test_isolated_vertices_are_dropped_only_when_told(tmp_path):
    for name in ("graph.el", "graph.graph500"):
        hio.write(tmp_path / name, GRAPHS["isolated vertices"], directed=False, isolated=False)
        assert hio.read(tmp_path / name, directed=False).n == 5
        assert hio.read(tmp_path / name, directed=False, n=7) == GRAPHS["isolated vertices"]


@pytest.mark.parametrize("packed", [True, False])
def test_graph500_edges_of_both_sizes(packed, tmp_path):
    path = tmp_path / "graph.graph500"
    hio.write(path, GRAPHS["undirected"], packed=packed)
    assert path.stat().st_size == (12 if packed else 16) * 4
    assert hio.read(path) == hio.read(path, packed=packed) == GRAPHS["undirected"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_graph500_edges_are_never_read_as_the_other_kind(directed, packed, tmp_path):
    """All graphs of three vertices whose files have a size that fits both kinds."""
    pairs = [(u, v) for u in range(3) for v in range(3) if directed or u <= v]
    for count in range(4 if packed else 3, len(pairs) + 1, 4 if packed else 3):
        for edges in combinations(pairs, count):
            graph = Graph.from_edges(edges, n=3, directed=directed)
            hio.write(tmp_path / "g.graph500", graph, directed=directed, packed=packed, isolated=False)
            assert hio.read(tmp_path / "g.graph500", directed=directed, n=3) == graph


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_archives_of_scipy(kind, make, tmp_path):
    A = make(np.array([[0, 1, 0], [0, 0, 2], [0, 0, 5]]))
    sp.save_npz(tmp_path / "A.npz", A.asformat(kind))
    graph = hio.read(tmp_path / "A.npz", weights=False)
    assert graph == Graph.from_edges([0, 1, 2], [1, 2, 2], directed=True)
    assert hio.read(tmp_path / "A.npz") == graph.with_weights([1, 2, 5])
    sp.save_npz(tmp_path / "A.npz", (A + A.T).asformat(kind))
    assert hio.read(tmp_path / "A.npz") == Graph.from_edges([0, 1, 2], [1, 2, 2], weights=[1, 2, 10])


def test_a_graph_of_another_program_is_the_same_in_all_formats(tmp_path):
    graph = Graph.from_edges([0, 0, 1, 3], [1, 2, 2, 4])
    texts = {
        "g.mtx": "%%MatrixMarket matrix coordinate real symmetric\n% hi\n\n5 5 4\n2 1 1.5\n3 1 -2e-3\n3 2 0\n5 4 inf\n",
        "g.txt": "# Nodes: 5 Edges: 4\n0 1\r\n0\t2 99\n\n 1 2 x y\n3 4\n",
        "g.csv": "from;to;weight\n0;1;a\n0;2;b\n1;2;c\n3;4;d\n",
        "g.graph": "% hi\n5 4 11 2\n9 9 2 7 3 7\n9 9 1 7 3 7\n% more\n9 9 1 7 2 7\n9 9 5 7\n9 9 4 7\n\n",
        "g.col": "c hi\np edge 5 4\ne 1 2\nc more\ne 1 3\ne 2 3\ne 4 5\n",
        "g.el": "0 1\n0 2\n1 2\n3 4\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, newline="")
        assert hio.read(tmp_path / name, directed=False, weights=False) == graph, name
    (tmp_path / "g.gr").write_text("c hi\np sp 5 4\na 1 2 10\na 1 3 1\na 2 3 4\na 4 5 1.5\n")
    ends = [0, 0, 1, 3], [1, 2, 2, 4]
    assert hio.read(tmp_path / "g.gr") == Graph.from_edges(*ends, directed=True, weights=[10, 1, 4, 1.5])


def test_parquet_of_other_programs(tmp_path):
    frame = pandas.DataFrame({"weight": [1.0, 2.0], "dst": ["b", "c"], "src": ["a", "b"]})
    frame.to_parquet(tmp_path / "g.parquet")
    assert hio.read(tmp_path / "g.parquet") == Graph.from_edges(["a", "b"], ["b", "c"], weights=[1, 2])
    assert hio.read(tmp_path / "g.parquet", source="dst", target="src").labels.tolist() == ["b", "a", "c"]
    assert hio.read(tmp_path / "g.parquet", labels=False).labels is None
    frame["src"] = frame["src"].astype("category")
    frame.to_parquet(tmp_path / "g.parquet")
    assert hio.read(tmp_path / "g.parquet", directed=True).m == 2
    pandas.DataFrame({"x": [7, 9], "y": [9, 12]}).to_parquet(tmp_path / "g.parquet")
    assert hio.read(tmp_path / "g.parquet").labels.tolist() == [7, 9, 12]
    assert hio.read(tmp_path / "g.parquet", labels=False).n == 13


edges = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20)


@given(
    edges=edges,
    spare=st.integers(0, 3),
    directed=st.booleans(),
    extension=st.sampled_from([".mtx", ".txt", ".csv", ".gr", ".sg", ".npz"]),
)
def test_any_graph(edges, spare, directed, extension, tmp_path_factory):
    n = max((max(edge) for edge in edges), default=-1) + 1 + spare
    graph = Graph.from_edges([u for u, _ in edges], [v for _, v in edges], n=n, directed=directed)
    assert there_and_back(tmp_path_factory.mktemp("any") / f"g{extension}", graph) == graph


words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1, max_size=4)
names = words.filter(lambda word: word[0] not in "#%" and len(word.encode().split()) == 1 and word.strip())


@given(
    pairs=st.lists(st.tuples(names, names), min_size=1),
    directed=st.booleans(),
    extension=st.sampled_from([".txt", ".csv", ".npz", ".parquet"]),
)
def test_any_names(pairs, directed, extension, tmp_path_factory):
    graph = Graph.from_edges([u for u, _ in pairs], [v for _, v in pairs], directed=directed, names=True)
    assert there_and_back(tmp_path_factory.mktemp("any") / f"g{extension}", graph) == graph


@given(
    ids=st.lists(st.tuples(st.integers(0, 5000) | st.integers(0, 2**62), st.integers(0, 60)), max_size=30),
    lone=st.lists(st.integers(0, 2**62), max_size=3),
    small=st.booleans(),
)
def test_ids_are_renumbered_in_ascending_order(ids, lone, small):
    """By a table and by sorting, for integer columns of any width."""
    kind = np.uint16 if small else np.int64
    u, v = (np.array([pair[i] % (5001 if small else 2**63) for pair in ids], kind) for i in (0, 1))
    alone = np.array([] if small else lone, kind)
    expected = np.unique(np.concatenate([u, v, alone]))
    a, b, n, labels = compact(u, v, alone)
    known = expected if labels is None else labels
    assert (labels is None) == (expected.tolist() == list(range(len(expected))))
    assert n == len(expected) and known.tolist() == expected.tolist()
    assert known[a].tolist() == u.tolist() and known[b].tolist() == v.tolist()
    assert labels is None or (labels.dtype == np.int64 and a.dtype == b.dtype == np.int32)


def test_parquet_columns_of_any_integers(tmp_path):
    for kind in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
        frame = pandas.DataFrame({"source": np.array([7, 9], kind), "target": np.array([9, 12], kind)})
        frame.to_parquet(tmp_path / "g.parquet")
        assert hio.read(tmp_path / "g.parquet") == Graph.from_edges([0, 1], [1, 2], labels=np.array([7, 9, 12]))
    large = 2**62 + 1
    frame = pandas.DataFrame({"source": np.array([large], "uint64"), "target": np.array([large + 1], "int64")})
    frame.to_parquet(tmp_path / "g.parquet")
    assert hio.read(tmp_path / "g.parquet").labels.tolist() == [large, large + 1]
    frame = pandas.DataFrame({"source": np.array([2**63], "uint64"), "target": np.array([1], "uint64")})
    frame.to_parquet(tmp_path / "g.parquet")
    with pytest.raises(FormatError, match=r"too large; expected ids below 2\^63"):
        hio.read(tmp_path / "g.parquet")


def test_metis_keeps_any_simple_graph(tmp_path):
    rng = np.random.default_rng(5)
    for _ in range(20):
        u, v = rng.integers(0, 9, (2, 12))
        graph = Graph.from_edges(u[u != v], v[u != v], n=10)
        assert there_and_back(tmp_path / "g.metis", graph) == graph


def test_equal_graphs_give_equal_files(tmp_path):
    for name in ("a.mtx.gz", "b.mtx.gz"):
        hio.write(tmp_path / name, GRAPHS["loops"])
    assert (tmp_path / "a.mtx.gz").read_bytes() == (tmp_path / "b.mtx.gz").read_bytes()


@pytest.mark.filterwarnings("ignore:The default value for .spmatrix. is changing")
def test_other_readers_understand_our_files(tmp_path):
    import networkx as nx
    import scipy.io

    graph = GRAPHS["isolated vertices"]
    hio.write(tmp_path / "g.mtx.gz", graph)
    assert (scipy.io.mmread(tmp_path / "g.mtx.gz").toarray() == graph.to_scipy().toarray()).all()
    hio.write(tmp_path / "g.txt", graph)
    assert sorted(nx.read_edgelist(tmp_path / "g.txt", nodetype=int).edges) == [(1, 3), (3, 4)]
    hio.write(tmp_path / "g.npz", graph)
    with np.load(io.BytesIO((tmp_path / "g.npz").read_bytes()), allow_pickle=False) as arrays:
        assert arrays["indices"].tolist() == graph.indices.tolist()
