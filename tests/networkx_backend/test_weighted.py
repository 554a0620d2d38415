"""Edge attributes and ranks: NetworkX's values and exceptions, conversions, what hopwave leaves to NetworkX, and where
hopwave follows the definition instead of NetworkX's values."""

import itertools
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import pytest
import served

from hopwave.networkx_backend import backend, convert
from hopwave.networkx_backend.convert import convert_from_nx, convert_to_nx
from hopwave.networkx_backend.dispatch import SINCE_3_7, Threshold

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("lengths", [(1, 0), (1.0, 1e-16), (1e200, 1.0)])
def test_paths_that_may_not_be_counted_are_left_to_networkx(
    lengths: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    G = nx.path_graph(3)
    nx.set_edge_attributes(G, dict(zip(G.edges, lengths, strict=True)), "km")
    with pytest.raises(NotImplementedError, match="'km' has a value that is 0 or vanishes in a sum"):
        backend.betweenness_centrality(convert_from_nx(G, edge_attrs={"km": 1}), weight="km")
    monkeypatch.setattr(Threshold, "why_not", lambda *_: None)  # so that hopwave is asked
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        found = nx.betweenness_centrality(G, weight="km")
    assert found == nx.betweenness_centrality(G, weight="km", backend="networkx")


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_lengths_that_are_left_to_networkx(kind: Any) -> None:
    """tests/fuzz/served.py has others: text, None, fractions, negative, huge and infinite numbers."""
    for value in (Decimal("0.1"), 2**70, 1e308, np.array([1, 2])):  # sums of the third overflow
        G = kind([(0, 1, {"km": 1}), (1, 2, {"km": value}), (2, 3, {"km": 2})])
        with pytest.raises(NotImplementedError, match="edge attribute 'km'"):
            convert_from_nx(G, edge_attrs={"km": 1})
        assert convert_from_nx(G).lengths == {}  # lengths do not matter for hops


def test_attributes_are_kept_with_the_converted_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    G = nx.MultiDiGraph([("a", "b", {"km": 2.5}), ("a", "b", {"km": 1.5}), ("b", "c", {"m": 7}), ("c", "a", {})])
    H = convert_from_nx(G, edge_attrs={"km": 1, "m": 2})
    assert H.lengths_of("km").values.tolist() == [1.5, 1.0, 1.0] and H.lengths_of("m").values.tolist() == [2, 7, 2]
    assert H.weighted("km").weights.tolist() == [1.5, 1.0, 1.0]  # type: ignore[union-attr]
    assert nx.diameter(H, weight="m") == nx.diameter(
        nx.DiGraph([("a", "b", {"m": 2}), ("b", "c", {"m": 7}), ("c", "a", {"m": 2})]), weight="m", backend="networkx"
    )
    again = convert_to_nx(H)
    assert nx.diameter(again, weight="km", backend="networkx") == nx.diameter(G, weight="km", backend="networkx")
    with pytest.raises(NotImplementedError, match="converted without the edge attribute 'toll'"):
        convert_from_nx(G).lengths_of("toll")
    whole = convert_from_nx(G, preserve_edge_attrs=True)
    assert whole.lengths_of("km").values.tolist() == [1.5, 1.0, 1.0]
    read, again = [], convert.read_lengths  # by each call once
    monkeypatch.setattr(convert, "read_lengths", lambda *arguments: read.append("km") or again(*arguments))
    assert backend.bidirectional_dijkstra(whole, "a", "c", "km") == (2.5, ["a", "b", "c"])
    assert len(dict(backend.all_pairs_dijkstra_path_length(whole, None, "km"))) == 3 and len(read) == 2


def test_what_only_the_lengths_tell_is_left_to_networkx() -> None:
    G = nx.path_graph(30)
    G.add_edge(0, 29, weight=-1)
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        for call in (lambda: nx.single_source_dijkstra(G, 0), lambda: nx.all_pairs_dijkstra(G)):
            with pytest.raises(ValueError, match="Contradictory paths"):
                list(call())
        assert nx.diameter(nx.path_graph(400), weight=lambda u, v, data: 2) == 798
    with pytest.raises(NotImplementedError, match="raised NotImplementedError"):  # not when the first path is read
        nx.shortest_simple_paths(G, 0, 1, weight="weight", backend="hopwave")
    paths = nx.shortest_simple_paths(G, 0, "nowhere", backend="hopwave")
    with pytest.raises(nx.NodeNotFound, match="node nowhere not in graph"):
        next(paths)  # not before, as in NetworkX


# ------------------------------------------------------------------ ranks and squares

EXACT = {"tol": 1e-9, "max_iter": 400}
CALLS: list[tuple[Any, Callable[[list[Any]], dict[str, Any]]]] = [  # a function; the nodes of a graph → arguments
    (nx.pagerank, lambda nodes: EXACT | {"weight": None, "alpha": 0.5}),
    (nx.pagerank, lambda nodes: {"personalization": {"nobody": 1}}),
    (nx.pagerank, lambda nodes: {"tol": 0, "max_iter": 3}),
    (nx.pagerank, lambda nodes: {"max_iter": 0}),
    (nx.eigenvector_centrality, lambda nodes: {"max_iter": 30}),
    (nx.eigenvector_centrality, lambda nodes: {"nstart": dict.fromkeys(nodes, 0), "max_iter": 3}),
    # α is no power of ten: otherwise rounding would decide whether changes of 1e-6 are below tol
    (nx.katz_centrality, lambda nodes: {"alpha": 0.11, "normalized": False, "beta": 0.5, "max_iter": 40}),
    (nx.katz_centrality, lambda nodes: {"alpha": 0.11, "beta": {v: i for i, v in enumerate(nodes)}, "max_iter": 40}),
    (nx.katz_centrality, lambda nodes: {"alpha": 0.11, "beta": {"nobody": 1}}),
    (nx.katz_centrality, lambda nodes: {"alpha": 0.11, "nstart": dict.fromkeys(nodes, 0), "max_iter": 3}),
]


@pytest.mark.filterwarnings("ignore")
def test_ranks_are_those_of_networkx() -> None:
    """With arguments that tests/fuzz/served.py does not draw."""
    draw, asked = random.Random(1), 0
    for _ in range(20):
        G, about = served.drawn_graph(draw)
        for ask, call in CALLS:
            found, right = (
                served.answer(lambda ask=ask, call=call, by=by: ask(G, **call(list(G)), backend=by))  # noqa: B023
                for by in ("hopwave", "networkx")
            )
            if found[:2] != ["raises", "NotImplementedError"]:
                asked += 1
                assert served.agree(*map(served.untyped, (found, right))), f"{ask.__name__} of {about}"
    assert asked > 60


def test_hubs_and_authorities_are_those_of_networkx() -> None:
    """On graphs with a unique greatest singular value: otherwise NetworkX's answer is random."""
    for seed in range(4):
        G = nx.gnm_random_graph(30, 150, seed=seed, directed=seed % 2 == 1)
        for i, (u, v) in enumerate(G.edges):
            if i % 3:
                G[u][v]["weight"] = 1 + i % 4
        for options in ({}, {"normalized": False}, {"nstart": dict.fromkeys(reversed(list(G)), 2.0)}):
            theirs, mine = (nx.hits(G, **options, backend=which) for which in ("networkx", "hopwave"))
            for right, found in zip(theirs, mine, strict=True):
                assert list(found) == list(right) and type(found[0]) is float
                sign = 1 if right[0] >= 0 else -1  # SciPy chooses the sign of a singular vector
                close = 1e-7 if SINCE_3_7 else 1e-9  # (NetworkX 3.7 stops when a step changes less than 1e-8)
                assert list(found.values()) == pytest.approx([sign * x for x in right.values()], abs=close)
    for G, options, error in (
        (nx.path_graph(5), {"max_iter": 0}, nx.PowerIterationFailedConvergence),
        (nx.path_graph(50), {"max_iter": 1}, nx.PowerIterationFailedConvergence),
        (nx.empty_graph(3), {}, NotImplementedError),
        (nx.path_graph(5), {"nstart": dict.fromkeys(range(5), -1)}, NotImplementedError),
    ):
        with pytest.raises(error):
            nx.hits(G, **options, backend="hopwave")
    assert nx.hits(nx.Graph(), backend="hopwave") == ({}, {})


def test_squares_of_graphs_with_hubs() -> None:
    """Large enough for several workers; the random graphs of tests/fuzz are small."""
    G = nx.barabasi_albert_graph(250, 8, seed=2)
    G.add_edges_from((v, v) for v in range(0, 250, 7))
    assert nx.square_clustering(G, backend="hopwave") == nx.square_clustering(G, backend="networkx")


# ------------------------------------------------------------------ by the definition, path by path


def random_graphs(count: int) -> Iterator[tuple[nx.Graph, random.Random]]:
    for seed in range(count):
        draw = random.Random(seed)
        n = draw.randrange(3, 9)
        G = nx.gnm_random_graph(n, draw.randrange(3 * n), seed=seed, directed=seed % 2 == 1, backend="networkx")
        yield G, draw


def paths(G: nx.Graph, s: Any, t: Any) -> list[list[Any]]:
    try:
        return list(nx.all_shortest_paths(G, s, t, backend="networkx"))
    except nx.NetworkXNoPath:
        return []


def over_edges(G: nx.Graph, sources: list[Any], targets: list[Any]) -> dict[Any, Fraction]:
    score = dict.fromkeys(G.edges(), Fraction(0))
    for s, t in itertools.product(sources, targets):
        found = paths(G, s, t)
        for path in found:
            for u, v in itertools.pairwise(path):
                score[(u, v) if (u, v) in score else (v, u)] += Fraction(1, len(found) * (1 if G.is_directed() else 2))
    return score


def through_group(G: nx.Graph, group: set[Any], ends: bool) -> Fraction:
    total = Fraction(0)
    for s, t in itertools.permutations(G, 2):
        if ends or not {s, t} & group:
            found = paths(G, s, t)
            total += Fraction(sum(bool(group & set(path)) for path in found), max(1, len(found)))
    return total / (1 if G.is_directed() else 2)


def test_edges_where_networkx_divides_by_the_number_of_predecessors() -> None:
    G = nx.DiGraph([(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 5), (4, 7), (5, 7), (7, 6)])
    mine, theirs = (nx.edge_betweenness_centrality_subset(G, [0], [6], backend=b) for b in ("hopwave", "networkx"))
    assert mine == pytest.approx(over_edges(G, [0], [6])) and mine[4, 7] == pytest.approx(2 / 3)
    assert theirs[4, 7] == 0.5, "NetworkX was fixed: say so in docs/networkx.md, and drop on_start_tests"


@pytest.mark.parametrize("ends", [False, True])
def test_groups(ends: bool) -> None:
    for G, draw in random_graphs(60):
        group = set(draw.sample(list(G), draw.randrange(1, len(G) - 1)))
        found = nx.group_betweenness_centrality(G, group, normalized=False, endpoints=ends, backend="hopwave")
        assert found == pytest.approx(through_group(G, group, ends), abs=1e-12)
        rest = len(G) - (0 if ends and SINCE_3_7 else len(group))
        share = nx.group_betweenness_centrality(G, group, endpoints=ends, backend="hopwave")
        assert share == pytest.approx(found * (1 if G.is_directed() else 2) / (rest * (rest - 1)))


def test_a_group_where_networkx_counts_paths_back_that_do_not_exist() -> None:
    G = nx.DiGraph([(0, 1), (1, 2), (1, 3)])
    mine, theirs = (nx.group_betweenness_centrality(G, [1], False, backend=b) for b in ("hopwave", "networkx"))
    assert mine == through_group(G, {1}, False) == 2.0
    assert (theirs == mine) == SINCE_3_7, "NetworkX was changed: say so in docs/networkx.md"
