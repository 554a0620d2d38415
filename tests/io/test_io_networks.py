"""GraphML, GML and Pajek: we read what NetworkX writes, NetworkX reads what we write, and nothing is lost."""

from __future__ import annotations

import gzip
import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hopwave.io as hio
from hopwave.errors import FormatError
from hopwave.graph import Graph

GRAPHML = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'


def weighted(make, names=None):
    g = make([(0, 1, {"weight": 2.5}), (2, 1, {"weight": -1e-7}), (2, 2, {"weight": 4.0})])
    g.add_node(3)
    return nx.relabel_nodes(g, names) if names else g


NETWORKX = {
    "plain": nx.path_graph(5),
    "directed": nx.DiGraph([(0, 1), (2, 1), (1, 0), (3, 3)]),
    "other order": nx.Graph([(2, 0), (0, 1)]),
    "weights": weighted(nx.Graph),
    "weights, directed": weighted(nx.DiGraph),
    "names": weighted(nx.DiGraph, {0: "Zoé & <co>", 1: "two words", 2: "x", 3: "alone"}),
    "integers": nx.Graph([(10, 20), (7, 10)]),
    "no edges": nx.empty_graph(3),
}
WRITERS = {".graphml": nx.write_graphml_xml, ".gml": nx.write_gml, ".net": nx.write_pajek}
READERS = {".graphml": nx.read_graphml, ".gml": nx.read_gml, ".net": nx.read_pajek}
READERS_OF_NAMES = pytest.mark.parametrize("extension", list(READERS))


def simple(g):
    """A simple graph: NetworkX reads Pajek as a multigraph."""
    return (nx.DiGraph if g.is_directed() else nx.Graph)(g)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("trap", NETWORKX)
@pytest.mark.parametrize("extension", WRITERS)
def test_what_networkx_writes(extension, trap, packed, tmp_path):
    g = NETWORKX[trap].copy()
    path = tmp_path / f"g{extension}"
    WRITERS[extension](g, path)
    if packed:
        path.write_bytes(gzip.compress(path.read_bytes()))
    expected = Graph.from_networkx(g)
    if extension == ".net" and not expected.is_weighted and expected.m:
        expected = expected.with_weights(np.ones(expected.m))  # NetworkX writes the weight 1 for every edge
    assert hio.read(path) == expected


def same(ours, g):
    """Equal vertices, edges and weights, with names compared as text."""
    names = [str(name) for name in (ours.labels if ours.labels is not None else range(ours.n))]
    assert set(map(str, g)) == set(names)
    theirs = {(str(u), str(v)): weight for u, v, weight in g.edges(data="weight")}
    edges = ours.edges()
    weights = edges.weights.tolist() if edges.weights is not None else [None] * len(edges)
    mine = dict(
        zip(((names[u], names[v]) for u, v in zip(edges.source, edges.target, strict=True)), weights, strict=True)
    )
    if not ours.directed:
        theirs, mine = ({tuple(sorted(ends)): w for ends, w in found.items()} for found in (theirs, mine))
    assert mine == theirs


@pytest.mark.parametrize("trap", NETWORKX)
@READERS_OF_NAMES
def test_what_networkx_reads(extension, trap, tmp_path):
    graph = Graph.from_networkx(NETWORKX[trap])
    path = tmp_path / f"g{extension}"
    hio.write(path, graph)
    g = READERS[extension](path)
    assert g.is_directed() == graph.directed
    same(graph, simple(g))


names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"]), min_size=1, max_size=4).filter(
    lambda name: name == name.strip() and '"' not in name and len(name.splitlines()) == 1
)
numbers_as_names = st.integers(-5, 30).map(str)


@given(
    pairs=st.lists(
        st.tuples(names | numbers_as_names, names | numbers_as_names, st.floats(allow_nan=False, width=32)),
        min_size=1,
        max_size=8,
        unique_by=lambda edge: frozenset(edge[:2]),
    ),
    directed=st.booleans(),
    has_weights=st.booleans(),
    single=st.booleans(),
    extension=st.sampled_from([".graphml", ".gml", ".net", ".graphml.gz"]),
)
def test_any_graph_is_read_back(pairs, directed, has_weights, single, extension, tmp_path_factory):
    u, v, w = zip(*pairs, strict=True)
    weights = np.array(w, np.float32 if single else np.float64) if has_weights else None
    graph = Graph.from_edges(list(u), list(v), directed=directed, weights=weights)
    path = tmp_path_factory.mktemp("any") / f"g{extension}"
    hio.write(path, graph)
    back = hio.read(path)
    assert back == graph
    assert all(type(label) is str for label in back.labels)
    if has_weights and extension.startswith(".graphml"):
        assert back.weights.dtype == graph.weights.dtype


@pytest.mark.parametrize("text", ["[", "]", 'quo"te', "&amp;", "new\nline", " spaces ", "#", "é", ""])
@pytest.mark.parametrize("extension", [".graphml", ".gml"])
def test_awkward_names(extension, text, tmp_path):
    graph = Graph.from_edges([text, "b"], ["b", "c"], weights=[np.inf, -np.inf], names=True)
    hio.write(tmp_path / f"g{extension}", graph)
    assert hio.read(tmp_path / f"g{extension}") == graph


def test_what_cannot_be_stored_is_refused(tmp_path):
    for name in ('"', "a\nb", " a"):
        with pytest.raises(FormatError, match=r"Pajek cannot store.*labels=False"):
            hio.write(tmp_path / "g.net", Graph.from_edges([name], ["b"]))
    with pytest.raises(FormatError, match=r"XML cannot store.*labels=False"):
        hio.write(tmp_path / "g.graphml", Graph.from_edges(["\x01"], ["b"]))


# ---------------------------------------------------------------- GraphML


@pytest.fixture
def file(tmp_path):
    def make(name, text):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    return make


def test_graphml_attributes(file):
    path = file(
        "g.graphml",
        GRAPHML
        + """<key id="k0" for="node" attr.name="city" attr.type="string"><default>Rome</default></key>
        <key id="k1" for="edge" attr.name="km" attr.type="float"><default>7</default></key>
        <graph edgedefault="undirected"><desc>x</desc>
        <edge source="a" target="b"><data key="k1">1.5</data></edge>
        <node id="b"><data key="k0">Bonn</data></node><node id="a"/>
        <edge source="b" target="b"/></graph></graphml>""",
    )
    plain = hio.read(path)
    assert not plain.is_weighted and plain.labels.tolist() == ["b", "a"]
    graph = hio.read(path, label="city", weight="km")
    assert graph == Graph.from_edges([0, 0], [1, 0], weights=[1.5, 7], labels=["Bonn", "Rome"])
    assert graph.weights.dtype == np.float32
    assert hio.read(path, labels=False).labels is None
    with pytest.raises(FormatError, match="no edge attribute 'miles'; expected one of those declared: 'km'"):
        hio.read(path, weight="miles")
    with pytest.raises(FormatError, match="node 'b' has no attribute 'town'"):
        hio.read(path, label="town")
    assert hio.read(path, directed=True).m == 3


def test_graphml_edges_of_both_kinds(file):
    path = file(
        "g.graphml",
        GRAPHML
        + """<key id="w" for="all" attr.name="weight"/><graph edgedefault="undirected"><node id="0"/><node id="1"/>
        <node id="2"/><edge source="0" target="1"><data key="w">3</data></edge><edge source="2" target="2"/>
        <edge source="1" target="2" directed="true"><data key="w">5</data></edge></graph></graphml>""",
    )
    assert hio.read(path) == Graph.from_edges([0, 1, 1, 2], [1, 0, 2, 2], directed=True, weights=[3, 3, 5, 1])
    assert hio.read(path, directed=False) == Graph.from_edges([0, 1, 2], [1, 2, 2], weights=[3, 5, 1])
    assert not hio.read(path, weight=None).is_weighted


def test_repeated_edges_with_other_weights_are_refused(file):
    path = file("g.net", "*Vertices 2\n*Edges\n1 2 3\n2 1 4\n")
    with pytest.raises(FormatError, match="combine="):
        hio.read(path)
    assert hio.read(path, combine="sum").weights.tolist() == [7, 7]
    assert not hio.read(path, weights=False).is_weighted


# ---------------------------------------------------------------- GML and Pajek


def test_gml_as_people_write_it(file):
    path = file(
        "g.gml",
        'Creator "me"\n# hi\ngraph [ comment "x\ny ] [" directed 1 node [ id 5 graphics [ x 1.0 label "no" ] '
        'label "A&amp;B" ]\n edge [ target 5 source -2 value 1 ]node[id -2 label "&#233;"]]\n',
    )
    assert hio.read(path) == Graph.from_edges([1], [0], directed=True, labels=["A&B", "é"])
    assert hio.read(path, label=None).labels.tolist() == [5, -2]
    assert hio.read(path, weight="value").weights.tolist() == [1]
    with pytest.raises(FormatError, match="no edge has 'km'"):
        hio.read(path, weight="km")
    assert hio.read(file("h.dat", path.read_bytes())).m == 1  # recognised by its content


def test_pajek_sections(file):
    text = '*Network x\n*Vertices 4 2\n1 "a b" 0.1 0.2 box\n2 c\n3 d ellipse\n% hi\n'
    graph = hio.read(file("g.net", text + '*Arcs :1 "knows"\n1 2 2.5 c Blue\n*Edges\n3 2\n'))
    expected = Graph.from_edges([0, 1, 2], [1, 2, 1], 4, True, weights=[2.5, 1, 1], labels=["a b", "c", "d", "4"])
    assert graph == expected
    graph = hio.read(file("g.net", "*vertices 4\n*arcslist\n1 2 3\n*edgeslist\n3 4\n"))
    assert graph == Graph.from_edges([0, 0, 2, 3], [1, 2, 3, 2], directed=True)
    matrix = hio.read(file("g.net", "*Vertices 2\n*Matrix\n0 1\n2.5 0\n"))
    assert matrix == Graph.from_edges([0, 1], [1, 0], directed=True, weights=[1, 2.5])
    assert not hio.read(file("g.net", "*Vertices 2\n*Matrix\n0 1\n1 0\n")).is_weighted
    twins = file("g.net", '*Vertices 2\n1 "a"\n2 "a"\n*Edges\n1 2\n')
    assert hio.read(twins, labels=False) == Graph.from_edges([0], [1])


def graphml(inside):
    return f'{GRAPHML}\n<graph edgedefault="directed">\n<node id="a"/>\n{inside}\n</graph></graphml>'


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("deep.gml", lambda k: "graph [ " + "a [ " * k + "] " * k + "]"),
        ("line.gml", lambda k: 'graph [ node [ id 1 label "' + "x\n" * k + '" ] ]'),
        ("deep.graphml", lambda k: graphml("<a>" * k + "</a>" * k)),
        ("text.graphml", lambda k: graphml("<desc>" + "x&amp;" * k + "</desc>")),
        ("wide.net", lambda k: f"*Vertices {k}\n*Arcslist\n" + " ".join(map(str, range(1, k + 1))) + "\n"),
    ],
)
def test_time_grows_with_the_size(name, make, tmp_path):
    (tmp_path / name).write_text(make(200_000))
    start = time.perf_counter()
    hio.read(tmp_path / name)
    assert time.perf_counter() - start < 20  # takes a fraction of a second; quadratic work would take hours
