"""The validator: correct searches pass, and the right rule finds every kind of mistake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from graphs import TRAPS, graphs
from hopwave import Graph, GraphError, generate
from hopwave.api.validate import RULES, check, validate
from together import in_one_test


def tree(graph: Graph, sources: list[int], limit: int | None = None, direction: str = "out") -> tuple[Any, Any]:
    """Distances and a valid choice of predecessors, from the oracle."""
    _, d, _, P = oracle.search(oracle.adjacency(graph, direction), sources, limit)
    p = [v if v in sources else (P[v][len(P[v]) // 2] if P[v] else -1) for v in range(graph.n)]
    return np.array(d, dtype=np.int32), np.array(p, dtype=np.int32)


# ---------------------------------------------------------------- correct searches pass


def test_verdicts_of_rules_without_input_are_none() -> None:
    graph = generate.path(3)
    assert [rule.name for rule in validate(graph, 0, [0, 1, 2]).rules] == list(RULES)
    assert [rule.passed for rule in validate(graph, 0, [0, 1, 2]).rules] == [None, True, True, True, None]
    assert [rule.passed for rule in validate(graph, 0, [0, 1, 2], [0, 0, 1]).rules] == [True] * 5
    assert [rule.passed for rule in validate(graph, 0, [0, 1, 2], [0, 0, 0]).rules] == [True, False, True, True, False]


def test_labels_name_sources() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert validate(graph, "a", [0, 1, 2]).ok
    assert validate(graph, ["a", "c"], [0, 1, 0]).ok
    assert not validate(graph, "b", [0, 1, 2]).ok


# ---------------------------------------------------------------- mistakes

# A 5 x 5 grid (vertices 0-24), a path 25-26-27 beside it, and vertex 28 alone. Searched from 0: d(r, c) = r + c.
GRID = Graph.from_edges(
    np.concatenate([generate.grid(5, 5).to_edges()[0], [25, 26]]),
    np.concatenate([generate.grid(5, 5).to_edges()[1], [26, 27]]),
    n=29,
)

Corruption = Callable[[Any, Any], None]


def put(which: str, **values: int) -> Corruption:
    """Overwrite d or p at some vertices: put("p", v7=12)."""

    def corrupt(d: Any, p: Any) -> None:
        for name, value in values.items():
            (d if which == "d" else p)[int(name[1:])] = value

    return corrupt


def both(*corruptions: Corruption) -> Corruption:
    def corrupt(d: Any, p: Any) -> None:
        for one in corruptions:
            one(d, p)

    return corrupt


# What was corrupted, how, and the rule that must object: given both arrays, the tree alone, the distances alone (None:
# that array alone is still right, and must pass).
CORRUPTIONS: list[tuple[str, Corruption, str, str | None, str | None]] = [
    ("two vertices are each other's predecessor", put("p", v18=23, v23=18), "roots", "roots", None),
    ("a long cycle far from the source", put("p", v12=13, v13=18, v18=17, v17=12), "roots", "roots", None),
    ("a second root", put("p", v7=7), "roots", "roots", None),
    ("the source has a predecessor", put("p", v0=1), "roots", "roots", None),
    ("the source has none", put("p", v0=-1), "roots", "roots", None),
    ("a component of its own hangs from an unreached vertex", put("p", v26=25), "roots", "roots", None),
    ("a vertex alone is its own root", both(put("p", v28=28), put("d", v28=0)), "roots", "roots", "levels"),
    ("a vertex at its predecessor's level", put("d", v12=3), "levels", None, "levels"),
    ("the source is not at level 0", put("d", v0=1), "levels", None, "levels"),
    ("another vertex at level 0", put("d", v6=0), "levels", None, "levels"),
    ("a distance below -1", put("d", v24=-7), "levels", None, "levels"),
    ("another component claims levels", put("d", v25=3, v26=4, v27=5), "span", None, "levels"),
    ("one vertex too deep", put("d", v24=10), "edges", None, "edges"),
    ("a corner too deep by two", put("d", v4=6), "edges", None, "edges"),
    (
        "a detour: the tree's own levels, but too long",
        both(put("p", v5=6, v6=1, v10=5, v15=16, v20=21), put("d", v5=3)),
        "edges",
        "edges",
        "edges",
    ),
    ("a detour: a tree, but not of shortest paths", put("p", v5=6, v6=1, v10=5), "levels", "edges", None),
    ("the last vertex is left out", both(put("d", v24=-1), put("p", v24=-1)), "span", "span", "span"),
    ("a corner is left out", both(put("d", v20=-1, v21=-1), put("p", v20=-1, v21=-1)), "span", "roots", "span"),
    ("a level without a predecessor", put("p", v24=-1), "span", "span", None),
    ("a predecessor without a level", put("d", v24=-1), "span", None, "span"),
    ("a predecessor at the level above that is no neighbour", put("p", v12=3), "links", "links", None),
    ("a predecessor in another component", both(put("p", v28=24), put("d", v28=9)), "links", "links", "levels"),
    ("a predecessor that is not a vertex", put("p", v7=29), "links", "links", None),
    ("a predecessor below -1", put("p", v7=-2), "links", "links", None),
]


@in_one_test("mistake", CORRUPTIONS)
def test_mistakes_are_found_by_their_rule(mistake: tuple[str, Corruption, str, str | None, str | None]) -> None:
    what, corrupt, given_both, given_tree, given_distances = mistake
    d, p = _with(corrupt)
    for expected, distances, predecessors in ((given_both, d, p), (given_tree, None, p), (given_distances, d, None)):
        found = validate(GRID, 0, distances, predecessors)
        assert found.ok == bool(found) == (expected is None), (what, found.failures)
        assert expected is None or expected in found.broken, (what, found.failures)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_a_mistake_that_no_other_finds(rule: str) -> None:
    named, alone = 0, 0
    for _, corrupt, given_both, given_tree, given_distances in CORRUPTIONS:
        d, p = _with(corrupt)
        named += rule in (given_both, given_tree, given_distances)
        alone += (rule,) in (validate(GRID, 0, *view).broken for view in ((d, p), (None, p), (d, None)))
    assert named >= 2
    assert alone >= 1


DAG = Graph.from_edges([0, 0, 1, 2, 3, 5], [1, 2, 3, 3, 4, 0], n=6, directed=True)


def test_directed_arcs_bind_one_way_only() -> None:
    right = [0, 1, 1, 2, 3, -1]
    assert validate(DAG, 0, right, [0, 0, 0, 2, 3, -1]).ok
    # Back arcs may go up any number of levels: 4 → 0 would be fine, 0 → 4 is not.
    back = Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 1], directed=True)
    assert validate(back, 0, [0, 1, 2, 3]).ok
    assert validate(back, 0, [0, 1, 2, 4]).broken == ("levels", "edges")
    assert validate(DAG, 0, right, [0, 0, 0, 4, 3, -1]).broken == ("roots", "levels", "links")
    assert validate(DAG, 0, [0, 1, 1, 2, 3, 1]).broken == ("levels",)
    assert validate(DAG, 0, [0, 1, 1, 2, -1, -1]).broken == ("span",)


def test_depth_limits() -> None:
    graph = generate.path(5)
    assert validate(graph, 0, [0, 1, 2, -1, -1], depth_limit=2).ok
    assert validate(graph, 0, [0, 1, 2, -1, -1]).broken == ("span",)
    assert validate(graph, 0, [0, 1, 2, 3, -1], depth_limit=2).broken == ("span",)
    assert validate(graph, 0, [0, 1, -1, -1, -1], depth_limit=2).broken == ("span",)
    assert validate(graph, 0, predecessors=[0, 0, 1, 2, -1], depth_limit=2).broken == ("span",)


def test_sentences_give_rule_vertex_and_values() -> None:
    with pytest.raises(GraphError) as caught:
        check(GRID, 0, *_with(put("d", v24=10)))
    assert str(caught.value) == (
        "rule 2 (levels): vertex 24 is at level 10 and its predecessor 23 at level 7; "
        "rule 3 (edges): arc 19 → 24 goes from level 7 to level 10 (and 1 more)"
    )
    assert validate(GRID, 0, *_with(put("p", v12=3))).failures[-1] == (
        "rule 5 (links): vertex 12 has predecessor 3, but there is no arc 3 → 12"
    )
    assert validate(GRID, 0, None, _with(put("p", v12=13, v13=12))[1]).failures[0] == (
        "rule 1 (roots): vertex 12 is its own ancestor: the predecessors have a cycle there (and 1 more)"
    )


def _with(corrupt: Corruption) -> tuple[Any, Any]:
    d, p = tree(GRID, [0])
    corrupt(d, p)
    return d, p


@given(graphs(max_n=12), st.data())
def test_arbitrary_claims_pass_exactly_when_right(graph: Graph, data: st.DataObject) -> None:
    """Random numbers: no crash, and only correct searches pass."""
    s = data.draw(st.integers(0, graph.n - 1))
    numbers = st.lists(st.integers(-2, graph.n), min_size=graph.n, max_size=graph.n)
    d, p = data.draw(numbers), data.draw(numbers)
    right, _ = tree(graph, [s])
    P = oracle.search(oracle.adjacency(graph), [s])[3]
    tree_right = all(p[v] in ([s] if v == s else P[v] or [-1]) for v in range(graph.n))
    assert validate(graph, s, d).ok == (d == right.tolist())
    assert validate(graph, s, predecessors=p).ok == tree_right
    assert validate(graph, s, d, p).ok == (d == right.tolist() and tree_right)


def test_hubs_longer_than_a_block_of_arcs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = TRAPS["hub-with-pendant"]()
    d, p = tree(graph, [0])
    monkeypatch.setattr(sys.modules[validate.__module__], "_ARCS_AT_ONCE", 64)
    assert validate(graph, 0, d, p).ok
    d[2000] = 9
    assert "edges" in validate(graph, 0, d, p).broken
