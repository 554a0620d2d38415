"""Arguments of the public functions: what they accept, and the error message for what they refuse."""

from __future__ import annotations

import dataclasses
import re
import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import EngineError, Graph, GraphError, HopwaveError, PlanError, engines
from hopwave.api import arguments, choice

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
NAMED = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])


# ---------------------------------------------------------------- graphs of other libraries


@pytest.mark.parametrize(
    "given",
    [
        PATH,
        PATH.to_scipy(),
        sp.coo_matrix(PATH.to_scipy()),
        sp.csc_array(PATH.to_scipy(np.float32)),
        nx.DiGraph([(0, 1), (1, 2), (2, 3)]),
        nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 3)]),
    ],
    ids=lambda graph: type(graph).__name__,
)
def test_graphs_of_other_libraries(given: Any) -> None:
    assert arguments.as_graph(given) == PATH
    assert hw.bfs(given, 1).distances.tolist() == [-1, 0, 1, 2]


def test_a_graph_is_not_copied() -> None:
    assert arguments.as_graph(PATH) is PATH


@pytest.mark.parametrize("given", [[[0, 1]], np.eye(2), "web.mtx", None, 5, {0: [1]}], ids=lambda g: type(g).__name__)
def test_refused_graphs(given: Any) -> None:
    message = f"{type(given).__name__} is not a graph; give a hopwave.Graph, a SciPy sparse matrix or a NetworkX graph"
    with pytest.raises(GraphError, match=message):
        hw.bfs(given, 0)


def test_networkx_nodes_as_sources() -> None:
    result = hw.bfs(nx.path_graph(["x", "y", "z"]), "y")
    assert result.to_dict() == {"x": 1, "y": 0, "z": 1}


# ---------------------------------------------------------------- sources


SAME = ["bob", np.str_("bob"), np.array("bob"), ["bob"], ("bob",), np.array(["bob"]), {"bob"}]


@pytest.mark.parametrize("source", SAME)
def test_one_source(source: Any) -> None:
    result = hw.bfs(NAMED, source)
    assert result.distances.tolist() == [1, 0, 1]
    assert result.sources == (1,)


@pytest.mark.parametrize(
    "sources",
    [[0, 3], (0, 3), np.array([0, 3]), pd.Series([0, 3]), range(0, 4, 3), iter([0, 3]), [0, 3, 0, 3], {0: "", 3: ""}],
    ids=lambda sources: type(sources).__name__,
)
def test_several_sources_are_searched_from_at_once(sources: Any) -> None:
    result = hw.bfs(hw.generate.path(5), sources)
    assert result.distances.tolist() == [0, 1, 1, 0, 1]
    assert result.sources == (0, 3)
    assert result.reached == 5 and result.depth == 1


def test_a_tuple_may_be_one_label() -> None:
    graph = hw.Graph.from_networkx(nx.grid_2d_graph(2, 2))
    assert hw.bfs(graph, (0, 1)).to_dict() == {(0, 0): 1, (0, 1): 0, (1, 0): 2, (1, 1): 1}
    assert hw.bfs(graph, [(0, 1), (1, 0)]).distances.max() == 1


def test_a_label_that_looks_like_a_collection() -> None:
    graph = Graph.from_edges([frozenset({1})], [frozenset({2})])
    assert hw.bfs(graph, frozenset({2})).sources == (1,)


@pytest.mark.parametrize("source", [-1, 4, 2**40])
def test_a_source_out_of_range(source: int) -> None:
    with pytest.raises(
        GraphError, match=f"{source} is not a vertex of this graph; its vertices are the numbers 0 to 3"
    ):
        hw.bfs(PATH, source)
    with pytest.raises(GraphError, match=f"{source} is not a vertex"):
        hw.bfs(PATH, [0, source])


@pytest.mark.parametrize("source", [1.0, 0.5, float("nan"), "a", None, True, [[0]], [0.0], np.array([0.5])])
def test_a_source_that_is_not_a_vertex(source: Any) -> None:
    with pytest.raises(GraphError, match="is not a vertex of this graph; its vertices are the numbers 0 to 3"):
        hw.bfs(PATH, source)


def test_a_mask_is_no_list_of_vertices() -> None:
    """Also where 0 and 1 are labels, which False and True equal."""
    mask = np.array([False, True, False, True])
    with pytest.raises(GraphError, match=r"False_? is not a vertex .*; for a mask, give np.flatnonzero\(mask\)"):
        hw.bfs(PATH, mask)
    labelled = Graph.from_edges([0, 1, 2], [1, 2, 3], labels=[3, 1, 0, 2])
    for given in (mask, mask.tolist()):
        for call in (hw.bfs, Graph.subgraph):
            with pytest.raises(GraphError, match=r"False_? is not a vertex .*; for a mask, give G.labels\[mask\]"):
                call(labelled, given)
    assert Graph.from_edges([0], [1], labels=[False, True]).index(True) == 1


def test_a_label_that_is_not_a_vertex() -> None:
    with pytest.raises(GraphError, match="'dan' is not a vertex of this graph; its vertices have labels such as 'ann'"):
        hw.bfs(NAMED, "dan")


@pytest.mark.parametrize("sources", [[], (), np.array([], int), set()])
def test_no_source(sources: Any) -> None:
    with pytest.raises(GraphError, match="the list of sources is empty; a search needs at least one vertex"):
        hw.bfs(PATH, sources)


@pytest.mark.parametrize("source", [0, "a", [0]])
def test_the_empty_graph_has_no_source(source: Any) -> None:
    with pytest.raises(GraphError, match="is not a vertex of this graph; it has none"):
        hw.bfs(Graph.from_edges([], []), source)


# ---------------------------------------------------------------- options


def test_direction() -> None:
    assert hw.bfs(PATH, 2).distances.tolist() == [-1, -1, 0, 1]
    back = hw.bfs(PATH, 2, direction="in")
    assert back.distances.tolist() == [2, 1, 0, -1]
    assert back.path_to(0) == [2, 1, 0], "backwards from the source"


@pytest.mark.parametrize("direction", ["both", "", None, 1])
def test_unknown_directions(direction: Any) -> None:
    with pytest.raises(GraphError, match=re.escape(f"direction={direction!r} is not known; use 'out' or 'in'")):
        hw.bfs(PATH, 0, direction=direction)


@pytest.mark.parametrize(
    "limit, reached", [(0, 1), (1, 2), (np.int8(2), 3), (2.0, 3), (np.float32(1), 2), (99, 4), (None, 4)]
)
def test_depth_limits(limit: Any, reached: int) -> None:
    assert hw.bfs(PATH, 0, depth_limit=limit).reached == reached


def test_whole_limits_of_hops_may_be_floats_everywhere() -> None:
    for ask in (
        lambda limit: hw.distance_table(PATH, [0], limit=limit).values,
        lambda limit: hw.nearest_of(PATH, [0], limit=limit).distances,
        lambda limit: hw.sssp_many(PATH, [0], limit=limit),
        lambda limit: hw.accessibility(PATH, limit=limit).sums,
        lambda limit: hw.isochrone(PATH, 0, limit).vertices(2),
        lambda limit: hw.sssp(PATH, 0, limit=limit).distances,
        lambda limit: hw.bfs_many(PATH, [0], depth_limit=limit),
        lambda limit: hw.k_hop(PATH, 0, limit),
        lambda limit: hw.pairs_within(PATH, limit),
        lambda limit: hw.betweenness_centrality(PATH, cutoff=limit).scores,
        lambda limit: hw.load_centrality(PATH, cutoff=limit).scores,
    ):
        assert np.array_equal(ask(2.0), ask(2))


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True, float("inf"), float("nan"), 2 + 0j, np.timedelta64(2, "s")])
def test_refused_depth_limits(limit: Any) -> None:
    message = f"depth_limit={limit!r} is not a number of hops; give a whole number from 0, or None"
    with pytest.raises(GraphError, match=re.escape(message)):
        hw.bfs(PATH, 0, depth_limit=limit)


@pytest.mark.parametrize("plan", ["nope", "Hopwave", None, []])
def test_unknown_plans(plan: Any) -> None:
    with pytest.raises(PlanError, match=re.escape(f"plan {plan!r} is not known; ") + ".*'auto' or one of hopwave"):
        hw.bfs(PATH, 0, plan=plan)


@pytest.mark.parametrize("device", ["gpu", "CPU", "", None, 0])
def test_unknown_devices(device: Any) -> None:
    with pytest.raises(EngineError, match=re.escape(f"device {device!r} is not known; use 'auto', 'cuda', 'cpu'")):
        hw.bfs(PATH, 0, device=device)


@pytest.mark.parametrize("device", ["auto", *engines.NAMES])
def test_known_devices_run_or_say_what_to_install(device: str) -> None:
    try:
        result = hw.bfs(PATH, 0, device=device)
    except EngineError as error:
        assert device == "cuda", "only a GPU may be missing"
        assert "install" in str(error)
    else:
        assert result.distances.tolist() == [0, 1, 2, 3]
        assert device in ("auto", result.engine)


def test_every_error_is_a_hopwave_error_and_a_builtin_one() -> None:
    for call, kind in (
        (lambda: hw.bfs(PATH, 9), ValueError),
        (lambda: hw.bfs(PATH, 0, plan="x"), ValueError),
        (lambda: hw.bfs(PATH, 0, device="x"), RuntimeError),
    ):
        with pytest.raises(HopwaveError) as error:
            call()
        assert isinstance(error.value, kind)
        assert "\n" not in str(error.value) and not str(error.value).endswith(".")


def test_format_errors_begin_with_path_and_line() -> None:
    from pathlib import Path

    assert str(hw.FormatError("no", path=Path("a.mtx"), line=3)) == "a.mtx:3: no"
    assert str(hw.FormatError("no", path="a.mtx")) == "a.mtx: no"
    assert str(hw.FormatError("no")) == "no"
    assert (hw.FormatError("no", "a", 3).path, hw.FormatError("no", "a", 3).line) == ("a", 3)


def test_a_search_does_not_change_the_graph() -> None:
    before = Graph.from_edges(*PATH.to_edges(), directed=True)
    for plan in ("hopwave", "hiragushi-hybrid", "pushpull"):
        hw.bfs(PATH, 0, plan=plan)
    assert before == PATH


# ---------------------------------------------------------------- results on a GPU


class OnDevice:
    """The part of a CuPy array that results use."""

    def __init__(self, array: Any) -> None:
        self.get, self.tolist, self.size = array.copy, array.tolist, len(array)

    def __len__(self) -> int:
        return self.size


def test_scores_are_on_the_device_of_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(asarray=OnDevice))
    graph, scores = Graph.from_edges([0], [1]), np.ones(2)
    gpu: Any = SimpleNamespace(name="cuda")
    assert choice.to_input_device(graph, gpu, scores) is scores
    graph.__dict__["_device"] = "cuda"  # as if it were made of CuPy arrays
    assert (
        isinstance(choice.to_input_device(graph, gpu, scores), OnDevice)
        and choice.to_input_device(graph, gpu, None) is None
    )
    assert choice.to_input_device(graph, engines.engine("cpu"), scores) is scores


@pytest.mark.parametrize(
    "ask",
    [
        lambda: hw.bfs(PATH, 0, path_counts=True),
        lambda: hw.betweenness_centrality(PATH),
        lambda: hw.edge_betweenness_centrality(NAMED),
        lambda: hw.harmonic_centrality(PATH, k=2, seed=1),
    ],
)
def test_conversions_of_results_on_a_gpu(ask: Any) -> None:
    answer = ask()
    there = {
        field.name: OnDevice(value)
        for field in dataclasses.fields(answer)
        if field.name != "vertices" and isinstance(value := getattr(answer, field.name), np.ndarray)
    }
    if hasattr(answer, "edges"):
        there["edges"] = tuple(map(OnDevice, answer.edges))
    moved = dataclasses.replace(answer, **there)
    assert moved.to_dict() == answer.to_dict() and moved.to_pandas().equals(answer.to_pandas())
    assert repr(moved) == repr(answer)
    assert not hasattr(answer, "top") or moved.top(2) == answer.top(2)
