"""The highest closeness and harmonic centralities equal those of the full computation, with fewer searches."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from graphs import graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms import top_scores
from hopwave.planning.many_sources import CutSweep


def joined(*graphs: Graph) -> Graph:
    """The disjoint union of several graphs."""
    columns, first = [], 0
    for graph in graphs:
        columns.append(np.array(graph.to_edges()[:2]) + first)
        first += graph.n
    return Graph.from_edges(*np.concatenate(columns, axis=1), n=first, directed=graphs[0].directed)


GRAPHS = {
    "scale-free": generate.barabasi_albert(400, 2, seed=1),
    "components": joined(generate.barabasi_albert(200, 2, seed=1), generate.grid(9, 9), generate.star(40)),
    "grid": generate.grid(18, 18),
    "ring": generate.cycle(300),  # all scores are equal
    "kronecker": generate.kronecker(9, 4, seed=3),
    "directed": generate.kronecker(9, 4, seed=2, directed=True),
    "bow tie": joined(*(generate.uniform(150, edge_factor=2, seed=s, directed=True) for s in (1, 2, 3))),
    "path": generate.path(300, directed=True),
}


def assert_same(graph: Graph, top: int, **options: Any) -> top_scores.Searches:
    """Compare with the full computation, exactly."""
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        given = options if ask is hw.closeness_centrality else {}
        found, every = ask(graph, top=top, **given), ask(graph, **given)
        assert found.top(top) == every.top(top) == list(found.to_dict().items())
        assert found.searches is not None and every.searches is None
        assert found.searches.whole + found.searches.cut_off + found.searches.skipped == graph.n
    return found.searches


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat small graphs like large ones: rounds of a few searches."""
    monkeypatch.setattr(top_scores, "SMALL", 2)
    monkeypatch.setattr(top_scores, "ROUND", 20)


@pytest.mark.parametrize("share", [None, 0.0, 1.0])
@pytest.mark.parametrize("name", GRAPHS)
def test_the_highest_are_those_of_all_scores(name: str, share: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """By searches that are cut off or whole, as a rule decides; or all in one way."""
    if share is not None:
        monkeypatch.setattr(top_scores, "shared_arc", lambda depth: share)
    for top in (1, 7, 60, GRAPHS[name].n, 5000) if share is None else (4,):
        assert_same(GRAPHS[name], top)
    assert_same(GRAPHS[name], 5, wf_improved=False)


def test_searches_are_saved() -> None:
    found = hw.closeness_centrality(generate.barabasi_albert(3000, 3, seed=2), top=3)
    assert found.searches is not None and found.searches.whole < 300 and found.searches.skipped > 2000
    assert "the 3 highest of 3,000 vertices" in repr(found) and "skipped" in found._repr_html_()


def test_threads_change_nothing() -> None:
    one, two = (hw.harmonic_centrality(GRAPHS["kronecker"], top=20, threads=threads) for threads in (1, 2))
    assert one.to_dict() == two.to_dict() and one.searches == two.searches


@settings(max_examples=40)
@given(data=st.data())
def test_any_graph(data: st.DataObject) -> None:
    """Self-loops, parallel arcs, isolated vertices, any component structure; few rounds and many."""
    n = data.draw(st.integers(0, 40))
    arcs = data.draw(st.lists(st.tuples(*[st.integers(0, max(n - 1, 0))] * 2), max_size=90 if n else 0))
    graph = Graph.from_edges(
        [u for u, _ in arcs], [v for _, v in arcs], n=n, directed=data.draw(st.booleans()), repeats="keep"
    )
    assert_same(graph, data.draw(st.integers(1, 12)), wf_improved=data.draw(st.booleans()))


@settings(max_examples=40)
@given(graphs(directed=True))
def test_reach_is_within_its_bounds(graph: Graph) -> None:
    low, high = engines.engine("cpu").reach_bounds(graph)
    reach = [1 + len(nx.descendants(graph.to_networkx(), v)) for v in range(graph.n)]
    assert (low <= reach).all() and (reach <= high).all()


def test_bounds_are_no_less_than_scores() -> None:
    for name in ("scale-free", "components", "grid", "directed", "bow tie", "path"):
        graph = GRAPHS[name].reversed()
        low, high = engines.engine("cpu").reach_bounds(graph)
        every: dict[Any, Any] = {
            "wasserman_faust": hw.closeness_centrality(GRAPHS[name]).scores,
            "closeness": hw.closeness_centrality(GRAPHS[name], wf_improved=False).scores,
            "harmonic": hw.harmonic_centrality(GRAPHS[name]).scores,
        }
        for score, right in every.items():
            bound = top_scores.degree_bounds(graph, score, low, high)
            assert (bound >= right).all()
            if not graph.directed:
                top_scores.tighten(engines.engine("cpu"), graph, score, high, bound, top_scores.Best(3), None)
                assert (bound >= right).all()
            for share in (0.5, 0.9, 1.1):  # a search is complete, or its score is below what was asked for
                least = share * float(right.max())
                job = CutSweep(np.arange(graph.n), score, least, low, high)
                cut = engines.engine("cpu").cut_sweep(graph, job, lambda done: None)
                assert (cut.whole | (right < least)).all() and (share < 1 or not cut.whole.all())
