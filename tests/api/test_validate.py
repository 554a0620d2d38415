"""The validator: correct searches pass, and the right rule finds every kind of mistake."""

import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
import oracle
from graphs import TRAPS
from hopwave import Graph, generate
from hopwave.api.validate import RULES, validate


def tree(graph: Graph, sources: list[int], limit: int | None = None, direction: str = "out") -> tuple[Any, Any]:
    """Distances and a valid choice of predecessors, from the oracle."""
    _, d, _, P = oracle.search(oracle.adjacency(graph, direction), sources, limit)
    p = [v if v in sources else (P[v][len(P[v]) // 2] if P[v] else -1) for v in range(graph.n)]
    return np.array(d, dtype=np.int32), np.array(p, dtype=np.int32)


def test_verdicts_of_rules_without_input_are_none() -> None:
    graph = generate.path(3)
    assert [rule.name for rule in validate(graph, 0, [0, 1, 2]).rules] == list(RULES)
    assert [rule.passed for rule in validate(graph, 0, [0, 1, 2]).rules] == [None, True, True, True, None]
    assert [rule.passed for rule in validate(graph, 0, [0, 1, 2], [0, 0, 0]).rules] == [True, False, True, True, False]


def test_vertices_and_graphs_are_those_of_searches() -> None:
    labels = [frozenset({1, 2}), ("a", "b"), "ab", 7]
    G = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=labels)
    for source in (labels[0], labels[1], [labels[1], labels[3]], ("ab", 7), {labels[0], "ab"}, np.array([7])):
        found = hw.bfs(G, source)
        assert validate(G, source, found.distances, found.predecessors).ok, source
        assert validate(G, source, found.distances)
    assert not validate(G, labels[0], [1, 0, 1, 2]).ok
    for same in (nx.path_graph(4), generate.path(4).to_scipy()):
        assert validate(same, 2, [2, 1, 0, 1]).ok and not validate(same, 1, [2, 1, 0, 1]).ok


# A 5 x 5 grid (vertices 0-24), a path 25-26-27 beside it, and vertex 28 alone. Searched from 0: d(r, c) = r + c.
GRID = Graph.from_edges(
    np.concatenate([generate.grid(5, 5).to_edges()[0], [25, 26]]),
    np.concatenate([generate.grid(5, 5).to_edges()[1], [26, 27]]),
    n=29,
)

# What was corrupted, the distances and predecessors that were overwritten, and the rule that must object: given both
# arrays, the tree alone, the distances alone (None: that array alone is still right, and must pass).
CORRUPTIONS: list[tuple[Any, ...]] = [
    ("two vertices are each other's predecessor", {}, {18: 23, 23: 18}, "roots", "roots", None),
    ("a long cycle far from the source", {}, {12: 13, 13: 18, 18: 17, 17: 12}, "roots", "roots", None),
    ("a second root", {}, {7: 7}, "roots", "roots", None),
    ("the source has a predecessor", {}, {0: 1}, "roots", "roots", None),
    ("the source has none", {}, {0: -1}, "roots", "roots", None),
    ("a component of its own hangs from an unreached vertex", {}, {26: 25}, "roots", "roots", None),
    ("a vertex alone is its own root", {28: 0}, {28: 28}, "roots", "roots", "levels"),
    ("a vertex at its predecessor's level", {12: 3}, {}, "levels", None, "levels"),
    ("the source is not at level 0", {0: 1}, {}, "levels", None, "levels"),
    ("another vertex at level 0", {6: 0}, {}, "levels", None, "levels"),
    ("a distance below -1", {24: -7}, {}, "levels", None, "levels"),
    ("another component claims levels", {25: 3, 26: 4, 27: 5}, {}, "span", None, "levels"),
    ("one vertex too deep", {24: 10}, {}, "edges", None, "edges"),
    ("a corner too deep by two", {4: 6}, {}, "edges", None, "edges"),
    ("a detour: the tree's own levels, but too long", {5: 3}, {5: 6, 6: 1, 10: 5, 15: 16, 20: 21},
     "edges", "edges", "edges"),
    ("a detour: a tree, but not of shortest paths", {}, {5: 6, 6: 1, 10: 5}, "levels", "edges", None),
    ("the last vertex is left out", {24: -1}, {24: -1}, "span", "span", "span"),
    ("a corner is left out", {20: -1, 21: -1}, {20: -1, 21: -1}, "span", "roots", "span"),
    ("a level without a predecessor", {}, {24: -1}, "span", "span", None),
    ("a predecessor without a level", {24: -1}, {}, "span", None, "span"),
    ("a predecessor at the level above that is no neighbour", {}, {12: 3}, "links", "links", None),
    ("a predecessor in another component", {28: 9}, {28: 24}, "links", "links", "levels"),
    ("a predecessor that is not a vertex", {}, {7: 29}, "links", "links", None),
    ("a predecessor below -1", {}, {7: -2}, "links", "links", None),
]  # fmt: skip


def test_mistakes_are_found_by_their_rule() -> None:
    """Every rule finds a mistake that no other finds."""
    alone = set()
    for what, wrong_d, wrong_p, *rules in CORRUPTIONS:
        d, p = corrupted(wrong_d, wrong_p)
        for expected, distances, predecessors in zip(rules, (d, None, d), (p, p, None), strict=True):
            found = validate(GRID, 0, distances, predecessors)
            assert found.ok == bool(found) == (expected is None), (what, found.failures)
            assert expected is None or expected in found.broken, (what, found.failures)
            alone.add(found.broken)
    assert {(rule,) for rule in RULES} <= alone


def test_sentences_give_rule_vertex_and_values() -> None:
    assert validate(GRID, 0, *corrupted({24: 10}, {})).failures == (
        "rule 2 (levels): vertex 24 is at level 10 and its predecessor 23 at level 7",
        "rule 3 (edges): arc 19 → 24 goes from level 7 to level 10 (and 1 more)",
    )
    several = validate(GRID, 0, *corrupted({24: 10, 6: 0}, {12: 3, 7: 7, 18: 29}))
    assert several.broken == RULES[:3] + RULES[4:] and len(several.failures) == 6
    assert validate(GRID, 0, *corrupted({}, {12: 3})).failures[-1] == (
        "rule 5 (links): vertex 12 has predecessor 3, but there is no arc 3 → 12"
    )
    assert validate(GRID, 0, None, corrupted({}, {12: 13, 13: 12})[1]).failures[0] == (
        "rule 1 (roots): vertex 12 is its own ancestor: the predecessors form a cycle (and 1 more)"
    )


def corrupted(wrong_d: dict[int, int], wrong_p: dict[int, int]) -> tuple[Any, Any]:
    d, p = tree(GRID, [0])
    for array, wrong in ((d, wrong_d), (p, wrong_p)):
        array[list(wrong)] = list(wrong.values())
    return d, p


def test_hubs_longer_than_a_block_of_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = TRAPS["hub-with-pendant"]()
    d, p = tree(graph, [0])
    monkeypatch.setattr(sys.modules[validate.__module__], "_ARCS_AT_ONCE", 64)
    assert validate(graph, 0, d, p).ok
    d[2000] = 9
    assert "edges" in validate(graph, 0, d, p).broken
