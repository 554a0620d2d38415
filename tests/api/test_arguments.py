"""Arguments of the public functions: what they accept; tests/rejections has what they reject."""

from __future__ import annotations

import dataclasses
import sys
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hopwave as hw
from hopwave import EngineError, Graph, engines
from hopwave.api import arguments, choice

PATH = Graph.from_edges([0, 1, 2], [1, 2, 3], directed=True)
NAMED = Graph.from_edges(["ann", "bob"], ["bob", "cyd"])


def test_graphs_of_other_libraries() -> None:
    for given in (
        PATH, PATH.to_scipy(), sp.coo_matrix(PATH.to_scipy()), sp.csc_array(PATH.to_scipy(np.float32)),
        nx.DiGraph([(0, 1), (1, 2), (2, 3)]), nx.MultiDiGraph([(0, 1), (0, 1), (1, 2), (2, 3)]),
    ):  # fmt: skip
        assert arguments.as_graph(given) == PATH
        assert hw.bfs(given, 1).distances.tolist() == [-1, 0, 1, 2]
    assert arguments.as_graph(PATH) is PATH
    assert hw.bfs(nx.path_graph(["x", "y", "z"]), "y").to_dict() == {"x": 1, "y": 0, "z": 1}


def test_every_form_of_sources() -> None:
    for source in ("bob", np.str_("bob"), np.array("bob"), ["bob"], ("bob",), np.array(["bob"]), {"bob"}):
        result = hw.bfs(NAMED, source)
        assert (result.distances.tolist(), result.sources) == ([1, 0, 1], (1,))
    listed = [[0, 3], (0, 3), np.array([0, 3]), pd.Series([0, 3]), range(0, 4, 3), iter([0, 3]), [0, 3, 0, 3]]
    for sources in (*listed, {0: "", 3: ""}):
        result = hw.bfs(hw.generate.path(5), sources)
        assert (result.distances.tolist(), result.sources) == ([0, 1, 1, 0, 1], (0, 3))


def test_labels_that_look_like_collections() -> None:
    graph = hw.Graph.from_networkx(nx.grid_2d_graph(2, 2))
    assert hw.bfs(graph, (0, 1)).to_dict() == {(0, 0): 1, (0, 1): 0, (1, 0): 2, (1, 1): 1}
    assert hw.bfs(graph, [(0, 1), (1, 0)]).distances.max() == 1
    assert hw.bfs(Graph.from_edges([frozenset({1})], [frozenset({2})]), frozenset({2})).sources == (1,)
    assert Graph.from_edges([0], [1], labels=[False, True]).index(True) == 1


def test_directions_and_limits() -> None:
    back = hw.bfs(PATH, 2, direction="in")
    assert back.path_to(0) == [2, 1, 0], "backwards from the source"
    for limit, reached in ((0, 1), (1, 2), (np.int8(2), 3), (2.0, 3), (np.float32(1), 2), (99, 4), (None, 4)):
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
    assert isinstance(choice.to_input_device(graph, gpu, scores), OnDevice)
    assert choice.to_input_device(graph, gpu, None) is None
    assert choice.to_input_device(graph, engines.engine("cpu"), scores) is scores


def test_conversions_of_results_on_a_gpu() -> None:
    for answer in (
        hw.bfs(PATH, 0, path_counts=True), hw.betweenness_centrality(PATH), hw.edge_betweenness_centrality(NAMED),
        hw.harmonic_centrality(PATH, k=2, seed=1),
    ):  # fmt: skip
        there: dict[str, Any] = {
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
