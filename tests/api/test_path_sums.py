"""Stress, load and group centralities: brute force over listed paths, the reference, NetworkX, threads, overflow."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_distances import EMPTY, labelled, names, same

import hopwave as hw
from graphs import TRAPS
from hopwave import EngineError, Graph, GraphError, generate


def listed_stress(graph: Graph) -> dict[Any, float]:
    """Every shortest path, one by one."""
    g = graph.to_networkx()
    score = dict.fromkeys(g, 0.0)
    for s, t in itertools.permutations(g, 2):
        if nx.has_path(g, s, t):
            for path in nx.all_shortest_paths(g, s, t):
                for v in path[1:-1]:
                    score[v] += 1.0 if graph.directed else 0.5
    return score


@given(graph=labelled(max_n=9))
def test_stress_counts_listed_paths(graph: Graph) -> None:
    expected = listed_stress(graph)
    assert hw.stress_centrality(graph).to_dict() == expected
    assert hw.stress_centrality(graph, device="reference").to_dict() == expected


@given(graph=labelled(), cutoff=st.one_of(st.none(), st.integers(1, 4)), normalized=st.booleans())
def test_load(graph: Graph, cutoff: int | None, normalized: bool) -> None:
    g = nx.convert_node_labels_to_integers(graph.to_networkx())  # NetworkX sorts nodes, and some labels have no order
    expected = nx.load_centrality(g, cutoff=cutoff, normalized=normalized)
    for device in ("cpu", "reference"):
        found = hw.load_centrality(graph, cutoff, normalized, device)
        assert found.scores.tolist() == pytest.approx(list(expected.values()), rel=1e-12)


@given(graph=labelled(max_n=12), seed=st.integers(0, 99), endpoints=st.booleans(), normalized=st.booleans())
def test_groups(graph: Graph, seed: int, endpoints: bool, normalized: bool) -> None:
    group = [graph.label(int(v)) for v in np.random.default_rng(seed).choice(graph.n, min(3, graph.n), replace=False)]
    found, exact = (
        hw.group_betweenness_centrality(graph, group, normalized, endpoints, device) for device in ("cpu", "reference")
    )
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-12)
    g = graph.to_networkx()
    total = 0.0
    for s, t in itertools.permutations(g, 2):
        if (endpoints or not {s, t} & set(group)) and nx.has_path(g, s, t):
            paths = list(nx.all_shortest_paths(g, s, t))
            total += sum(bool(set(group) & set(path)) for path in paths) / len(paths)
    others = graph.n - (0 if endpoints else len(group))
    scale = max(1, others * (others - 1)) if normalized else 1 if graph.directed else 2
    assert found == pytest.approx(total / scale, rel=1e-9, abs=1e-12)
    assert hw.group_closeness_centrality(graph, group) == pytest.approx(nx.group_closeness_centrality(g, group))


@pytest.mark.parametrize("name", TRAPS)
def test_traps(name: str) -> None:
    graph = TRAPS[name]()
    if graph.n > 100:
        return
    for ask in (hw.stress_centrality, hw.load_centrality):
        exact = ask(graph, device="reference").scores
        assert ask(graph, device="cpu").scores.tolist() == pytest.approx(exact.tolist(), rel=1e-12)


def test_no_bit_depends_on_threads() -> None:
    graph = generate.kronecker(9, seed=1)
    for ask in (hw.stress_centrality, hw.load_centrality):
        one, *others = (ask(graph, threads=threads).scores for threads in (1, 2, 5))
        assert all((one == other).all() for other in others)
    one, *others = (hw.group_betweenness_centrality(graph, [0, 7, 100], threads=threads) for threads in (1, 3))
    assert [one] == others
    assert hw.load_centrality(graph).scores.tolist() == pytest.approx(
        list(nx.load_centrality(graph.to_networkx()).values()), rel=1e-9
    )


def test_counts_above_two_to_the_53() -> None:
    """64 diamonds in a row: 2^64 paths from end to end, rounded; float64 has room until there are 1024."""
    chain = generate.diamonds(64)
    found, exact = hw.stress_centrality(chain).scores, hw.stress_centrality(chain, device="reference").scores
    assert exact.max() > 2.0**60
    assert found.tolist() == pytest.approx(exact.tolist(), rel=1e-12)
    with pytest.raises(GraphError, match=r"more than 1.8e308 shortest paths lead through vertex"):
        hw.stress_centrality(generate.diamonds(1100))


def test_parallel_arcs_are_several_paths() -> None:
    G = Graph.from_edges([0, 0, 1], [1, 1, 2], repeats="keep")
    assert hw.stress_centrality(G).scores.tolist() == [0.0, 2.0, 0.0]
    assert hw.stress_centrality(G, device="reference").scores.tolist() == [0.0, 2.0, 0.0]


def test_progress_and_graphs_without_paths() -> None:
    told: list[tuple[int, int]] = []
    hw.stress_centrality(generate.path(10), progress=lambda done, count: told.append((done, count)))
    assert told[-1] == (10, 10)
    assert len(hw.stress_centrality(EMPTY)) == len(hw.load_centrality(EMPTY)) == 0
    assert hw.load_centrality(Graph.from_edges([], [], n=3)).scores.tolist() == [0.0] * 3
    assert hw.group_betweenness_centrality(generate.path(2), [0]) == 0.0


@pytest.mark.parametrize(
    "ask, kind, message",
    [
        (lambda: hw.group_betweenness_centrality(generate.path(3), []), GraphError, "the group is empty"),
        (lambda: hw.group_closeness_centrality(generate.path(3), [5]), GraphError, "5"),
        (lambda: hw.group_closeness_centrality(generate.path(3), 1), GraphError, "not a list of vertices"),
        (lambda: hw.load_centrality(generate.path(3), cutoff=-1), GraphError, "cutoff=-1"),
        (lambda: hw.load_centrality(generate.path(3), normalized="yes"), GraphError, "normalized"),
        (lambda: hw.stress_centrality(generate.path(3), threads=0), EngineError, "threads"),
        (lambda: hw.stress_centrality(generate.path(3), device="reference", threads=2), EngineError, "threads"),
    ],
)
def test_errors(ask: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        ask()


def test_sums_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwave.engines.host_memory.BYTES_ANYWHERE", 0)
    monkeypatch.setattr("hopwave.engines.host_memory.available_memory", lambda: 1 << 10)
    with pytest.raises(EngineError, match="stress over 100 sources"):
        hw.stress_centrality(generate.path(100))


def test_labels_name_the_scores() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    same(hw.stress_centrality(graph).to_dict(), {"a": 0, "b": 1, "c": 0})
    assert names(graph) == ["a", "b", "c"]
