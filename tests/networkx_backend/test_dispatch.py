"""Conversion, cache, can_run, should_run and configuration of the NetworkX backend."""

import copy
import os
import random
import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

import _hopwave_nx_info as info
from hopwave.networkx_backend import backend, dispatch
from hopwave.networkx_backend.convert import convert_from_nx, convert_to_nx

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


def labelled(kind: type[nx.Graph], edges: int = 12) -> nx.Graph:
    """A graph with labels and neighbours in random order, a self-loop and parallel edges."""
    generator = random.Random(edges)
    nodes: list[Any] = ["z", (1, 2), 7, frozenset({3}), "a", 2.5, 0]
    G = kind(name="odd labels")
    G.add_nodes_from(nodes)
    G.add_edge("z", "z")
    for _ in range(edges):
        G.add_edge(generator.choice(nodes[:-1]), generator.choice(nodes[:-1]))
    return G


LATER = set() if dispatch.SINCE_3_7 else {"centroid"}  # functions that this NetworkX lacks or defines differently
LISTED = {name: about for name, about in info.FUNCTIONS.items() if name not in LATER}


def test_the_list_for_networkx_is_the_list_served_with_its_signatures() -> None:
    """A function uses arguments of NetworkX's, and takes only the keywords in addition that get_info lists."""
    assert set(LISTED) == set(dispatch.FUNCTIONS) and len(LISTED) >= 60
    registered = nx.utils.backends._registered_algorithms
    for name in LISTED.keys() & registered.keys():
        served = dispatch.FUNCTIONS[name]
        assert set(served.own) <= set(registered[name].__wrapped__.__signature__.parameters), name
        assert set(served.keywords) == {keyword.partition(" ")[0] for keyword in LISTED[name][1]}, name


# ------------------------------------------------------------------ conversion


@pytest.mark.parametrize("kind", KINDS)
def test_order_survives_both_conversions(kind: type[nx.Graph]) -> None:
    G = labelled(kind)
    H = convert_from_nx(G)
    assert list(H) == H.nodes == list(G) and len(H) == len(G)
    assert (H.is_directed(), H.is_multigraph()) == (G.is_directed(), G.is_multigraph())
    assert H.number_of_edges() == G.number_of_edges() and str(H) == str(G)
    again = convert_to_nx(H)
    assert type(again) is kind and again.graph == G.graph
    assert [(u, list(near)) for u, near in again.adj.items()] == [(u, list(near)) for u, near in G.adj.items()]
    assert sorted(map(str, again.edges())) == sorted(map(str, G.edges()))
    if G.is_directed():
        assert [(u, list(near)) for u, near in again.pred.items()] == [(u, list(near)) for u, near in G.pred.items()]


def test_membership_tests_accept_what_networkx_accepts() -> None:
    H = convert_from_nx(nx.path_graph(3))
    assert 2 in H and 2.0 in H and 3 not in H and [0] not in H and ([0],) not in H


# ------------------------------------------------------------------ can_run and should_run


G, ARCS, SEVERAL = nx.path_graph(3), nx.DiGraph([(0, 1)]), nx.MultiGraph([(0, 1), (0, 1)])
LEFT_TO_NETWORKX: list[tuple[str, Any, dict[str, Any], str]] = [  # function, graph, arguments, word of the reason
    ("newman_betweenness_centrality", G, {"weight": "km"}, "weight='km'"),
    ("group_closeness_centrality", G, {"S": [0], "weight": "km"}, "weight='km'"),
    *((name, G, {"weight": len}, "weight is a Python function") for name in ("betweenness_centrality", "diameter")),
    ("shortest_path", G, {"source": 0, "weight": len}, "a Python function"),
    ("single_source_dijkstra", G, {"source": 0, "weight": len}, "a Python function"),
    ("closeness_centrality", G, {"distance": len}, "distance is a Python function"),
    ("bfs_edges", G, {"source": 0, "sort_neighbors": sorted}, "sort_neighbors"),
    ("generic_bfs_edges", G, {"source": 0, "neighbors": iter}, "neighbors"),
    ("edge_betweenness_centrality", SEVERAL, {}, "key"),
    ("eccentricity", G, {"sp": {}}, "sp="),
    ("centroid" if hasattr(nx, "centroid") else "barycenter", G, {"attr": "b"}, "attr="),
    ("bridges", G, {"root": 0}, "root="),
    ("percolation_centrality", G, {}, "states="),
    ("average_shortest_path_length", G, {"method": "floyd-warshall"}, "floyd-warshall"),
    ("shortest_path", G, {"weight": "km", "method": "bellman-ford"}, "Bellman-Ford"),
    ("local_reaching_centrality", G, {"v": 0, "paths": {}}, "paths="),
    ("has_path", G, {"source": 0}, "target"),
    ("has_path", G, {"source": 0, "target": 1, "speed": 9}, "speed"),
    ("pagerank", SEVERAL, {}, "sums the weights of parallel edges"),
    ("hits", SEVERAL, {}, "sums the weights of parallel edges"),
    ("hits", G, {"nstart": {0: 1}}, "nstart does not contain every node"),
    ("katz_centrality", G, {"nstart": [1, 1, 1]}, "nstart does not contain every node"),
    ("square_clustering", ARCS, {}, "no squares in directed"),
    ("square_clustering", G, {"nodes": [0]}, "nodes=[0]"),
    ("clustering", SEVERAL, {}, "parallel edges"),
    ("transitivity", ARCS, {}, "no triangles in directed"),
    ("average_clustering", G, {"weight": "km"}, "weight='km'"),
    ("degree_centrality", SEVERAL, {}, "parallel edges once"),
]


def test_calls_that_cannot_be_served_get_a_reason() -> None:
    for name, graph, arguments, word in LEFT_TO_NETWORKX:
        reason = backend.can_run(name, (graph,), arguments)
        assert isinstance(reason, str) and word in reason, (name, reason)
    for name, given in (
        ("newman_betweenness_centrality", {"weight": None}),
        ("diameter", {"weight": "km"}),
        ("shortest_path", {"source": 0, "method": "bellman-ford"}),
    ):
        assert backend.can_run(name, (G,), given) is True


class Complement(nx.Graph):  # type: ignore[type-arg]
    """Neighbours are the vertices that are *not* stored, as in networkx.algorithms.approximation.kcomponents."""

    def __getitem__(self, n: Any) -> Any:
        return {v: {} for v in set(self) - set(self._adj[n]) - {n}}


def test_graphs_with_their_own_neighbour_lookup_are_refused() -> None:
    """tests/fuzz/served.py has a class with a Graph's own neighbours, and views."""
    assert backend.can_run("descendants", (nx.PlanarEmbedding(),), {"source": 0}) is True
    reason = backend.can_run("core_number", (Complement([(0, 1)]),), {})
    assert reason == "Complement overrides __getitem__, which hopwave does not call"


def test_small_graphs_are_left_to_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny, small = nx.path_graph(10), nx.path_graph(dispatch.MANY_SEARCHES.converting)
    large, half = nx.path_graph(dispatch.PAIR.converted), nx.path_graph(dispatch.PAIR.converted // 4)
    assert "18 arcs" in str(backend.should_run("betweenness_centrality", (tiny,), {}))
    assert backend.should_run("betweenness_centrality", (small,), {}) is True
    assert backend.should_run("betweenness_centrality", (convert_from_nx(tiny),), {}) is True
    for name in ("has_path", "shortest_path"):  # one pair is no reason to convert
        assert backend.should_run(name, (large, 0, 1), {}) is not True
    assert backend.should_run("shortest_path", (large, 0), {}) is True
    for G in (large, half):
        nx.descendants(G, 0, backend="hopwave")
    assert backend.should_run("has_path", (large, 0, 1), {}) is True
    assert "cached conversion" in str(backend.should_run("has_path", (half, 0, 1), {}))
    assert backend.should_run("descendants", (half, 0), {}) is True
    monkeypatch.setattr(dispatch, "count_arcs", lambda adjacency: pytest.fail("counted"))
    assert "90 nodes" in str(backend.should_run("connected_components", (nx.complete_graph(90),), {}))


def test_graphs_of_other_backends_are_accepted_unread() -> None:
    other = type("Other", (), {"__networkx_backend__": "other", "is_multigraph": lambda self: False})()
    for name, more in (("betweenness_centrality", ()), ("connected_components", ()), ("has_path", (0, 1))):
        assert backend.can_run(name, (other, *more), {}) is True
        assert backend.should_run(name, (other, *more), {}) is True, "NetworkX would have to convert it, too"


THRESHOLDS = [
    (dispatch.PAIR, "shortest_path", (0, 1), {}),
    (dispatch.PAIR, "shortest_path_length", (), {"source": 0, "target": 1}),
    (dispatch.LISTED_PATHS, "shortest_path", (0,), {}),
    (dispatch.ONE_SEARCH, "shortest_path_length", (), {"target": 0}),
    (dispatch.MANY_SEARCHES, "shortest_path", (), {}),
    (dispatch.ONE_VERTEX, "eccentricity", (3,), {}),
    (dispatch.MANY_SEARCHES, "eccentricity", ([3, 4],), {}),
    (dispatch.ONE_VERTEX, "closeness_centrality", (), {"u": 3}),
    (dispatch.MANY_SEARCHES, "closeness_centrality", (), {}),
    (dispatch.DIJKSTRA, "closeness_centrality", (3,), {"distance": "km"}),
    (dispatch.TWO_SIDED_PAIR, "shortest_path", (0, 1, "km"), {}),
    (dispatch.DIJKSTRA_PAIR, "shortest_path_length", (0, 1, "km"), {}),
    (dispatch.LISTED_EDGES, "single_source_all_shortest_paths", (0,), {}),
    (dispatch.DIJKSTRA, "all_shortest_paths", (0, 1), {"weight": "km"}),
]


def test_a_threshold_may_depend_on_what_is_asked() -> None:
    for record, name, args, kwargs in THRESHOLDS:
        served = dispatch.FUNCTIONS[name]
        assert not isinstance(served.threshold, dispatch.Threshold)
        assert served.threshold(served.arguments((nx.path_graph(9), *args), kwargs)) is record, (name, args)


# ------------------------------------------------------------------ through NetworkX


def test_converted_graphs_can_be_passed_around() -> None:
    """A user may convert once and pass the result on; calls not served fall back through convert_to_nx."""
    G = nx.karate_club_graph()
    H = convert_from_nx(G)
    assert nx.closeness_centrality(H) == nx.closeness_centrality(G)
    with pytest.raises(AttributeError, match="fallback_to_nx"):
        backend.voterank  # noqa: B018
    with nx.config(fallback_to_nx=True):
        assert not hasattr(backend, "voterank") and nx.voterank(H) == nx.voterank(G)


def test_keywords_reach_the_engine() -> None:
    G = nx.karate_club_graph()
    expected = nx.betweenness_centrality(G, backend="networkx")
    with nx.config(warnings_to_ignore={"cache"}):
        for keywords in ({"device": "cpu", "threads": 1}, {"plan": "turbobc-sccsc"}):
            assert nx.betweenness_centrality(G, backend="hopwave", **keywords) == pytest.approx(expected)
        with pytest.raises(ValueError, match="nonsense"):
            nx.betweenness_centrality(G, backend="hopwave", plan="nonsense")


@pytest.mark.parametrize("seed", [1, np.random.RandomState(5), np.random.default_rng(5), random.Random(5)])
def test_samples_are_those_of_networkx(seed: Any) -> None:
    G = nx.karate_club_graph()
    theirs = nx.betweenness_centrality(G, k=7, seed=copy.deepcopy(seed), backend="networkx")
    assert nx.betweenness_centrality(G, k=7, seed=copy.deepcopy(seed), backend="hopwave") == pytest.approx(theirs)


def test_networkx_docstrings_mention_hopwave() -> None:
    page = nx.betweenness_centrality.__doc__
    assert "hopwave : Searches" in page and "device : str, optional" in page
    assert "hopwave follows the definition" in (nx.edge_betweenness_centrality_subset.__doc__ or "")
    assert "hopwave" not in (nx.voterank.__doc__ or "")


# ------------------------------------------------------------------ configuration


def run(code: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NETWORKX_", "HOPWAVE_"))}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], env=kept | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_networkx_imports_nothing_of_ours() -> None:
    code = "import sys, networkx; print([m for m in ('hopwave', 'numba', 'scipy', 'numpy') if m in sys.modules])"
    assert run(code) == "[]"


SCRIPT = """
import networkx as nx, logging
seen = []
class Keep(logging.Handler):
    def emit(self, record):
        seen.append(record.getMessage())
logging.getLogger("networkx.utils.backends").addHandler(Keep())
logging.getLogger("networkx.utils.backends").setLevel(logging.DEBUG)
G = nx.grid_2d_graph(170, 170)  # large enough for a single search to pay
assert nx.is_connected(G) and len(nx.bfs_tree(G, (0, 0))) == 28_900 and nx.triangles(G, (0, 0)) == 0
nx.is_connected(G)
print(sum("Using backend 'hopwave'" in line for line in seen), sum("Using cached" in line for line in seen))
"""


@pytest.mark.slow
def test_one_environment_variable_turns_it_on() -> None:
    assert run(SCRIPT) == "0 0"
    assert run(SCRIPT, HOPWAVE_AUTOCONFIG="1") == "3 2"
    assert run(SCRIPT, HOPWAVE_AUTOCONFIG="0") == "0 0"


def test_autoconfiguration_keeps_what_was_set() -> None:
    settings = {"NETWORKX_BACKEND_PRIORITY": "one, two", "NETWORKX_WARNINGS_TO_IGNORE": "cache"}
    info.autoconfigure(settings)
    info.autoconfigure(settings)
    assert settings["NETWORKX_BACKEND_PRIORITY_ALGOS"] == "one,two,hopwave"
    assert settings["NETWORKX_BACKEND_PRIORITY_GENERATORS"] == "hopwave"
    assert settings["NETWORKX_WARNINGS_TO_IGNORE"] == "cache"
