"""Where NetworkX's values differ from the definition, hopwave follows the definition: shown path by path."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import networkx as nx
import pytest

import hopwave as hw
from hopwave.networkx_backend.dispatch import SINCE_3_7

pytestmark = pytest.mark.usefixtures("quiet")


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


def test_edges_between_some_sources_and_some_targets() -> None:
    for G, draw in random_graphs(60):
        sources, targets = (draw.sample(list(G), draw.randrange(1, 4)) for _ in range(2))
        found = nx.edge_betweenness_centrality_subset(G, sources, targets, backend="hopwave")
        assert list(found) == list(G.edges())
        assert found == pytest.approx(over_edges(G, sources, targets), abs=1e-12)


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


def test_path_counts_of_groups_do_not_overflow() -> None:
    chain = hw.generate.diamonds(1100)
    G = nx.Graph(zip(*(side.tolist() for side in chain.to_edges()), strict=True))
    exact = hw.betweenness_centrality(chain, normalized=False).scores
    assert nx.group_betweenness_centrality(G, [1500], False, backend="hopwave") == pytest.approx(exact[1500])
