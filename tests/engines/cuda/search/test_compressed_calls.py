"""Every public function of a graph whose rows are compressed on the GPU: the CPU's answer, or a reason why not."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, Graph, HopwaveError, generate
from hopwave.api import choice
from hopwave.arrays import on_host
from public_calls import functions, options, required
from together import in_one_test

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not choice.has_gpu(), reason="no GPU")]

GRAPHS: dict[str, Callable[[], Graph]] = {
    "undirected": lambda: generate.delaunay(150, seed=1),
    "directed": lambda: generate.kronecker(7, 8, seed=3, directed=True),
    "with weights and labels": lambda: labelled(generate.grid(9, 13)),
}
CALLS = {
    name.partition(".")[2]: function
    for name, function in functions()
    if name.startswith("hopwave.") and {"G", "graph", "g"} & options(function).keys() and name.count(".") == 1
}
SAID = "rows are compressed on the GPU.* use device='cpu'"
# Along weights, others are refused too.
REFUSED = ("articulation_points", "biconnected_components", "bridges", "edge_betweenness_centrality")
REFUSED += ("is_strongly_connected", "strongly_connected_components")
# Answers of which one of many is right, as something that all have in common.
SHOWN: dict[str, Callable[[Any], Any]] = {
    "all_shortest_paths": sorted,
    "k_shortest_paths": lambda found: [length for length, _ in found],
    "pairs_within": lambda found: np.unique([on_host(column) for column in found], axis=1),
    "shortest_path": len,
    "shortest_paths": lambda found: [len(path) for path in found],
}


def labelled(graph: Graph) -> Graph:
    sums = np.repeat(np.arange(graph.n), graph.degrees) + graph.indices
    return graph.with_weights(1.0 + sums % 5).relabel(np.arange(graph.n)[::-1])


def numbers(found: Any) -> Iterator[Any]:
    if isinstance(found, dict):
        found = [*found.keys(), *found.values()]
    if isinstance(found, Graph):
        found = found.indptr, found.indices
    for name in ("arc_labels", "scores", "distances", "labels", "counts", "sums", "values", "sizes", "pairs"):
        if hasattr(found, name):
            found = getattr(found, name)
    found = on_host(found)
    if isinstance(found, np.ndarray) or np.isscalar(found):
        yield np.ravel(found)
    elif hasattr(found, "__iter__"):
        for one in found:
            yield from numbers(one)
    else:
        yield np.ravel(repr(found))


def answer(name: str, graph: Graph, device: str | None) -> Any:
    function = CALLS[name]
    known, given = options(function), required(function)
    given |= {key: graph for key in ("G", "graph", "g") if key in given}
    given |= {key: value for key, value in (("device", device), ("seed", 1)) if key in known and value is not None}
    more = {"communities": [range(graph.n // 2), range(graph.n // 2, graph.n)], "max_iter": 1000, "alpha": 0.01}
    given |= {key: value for key, value in more.items() if key in known}
    given |= {"k": 9} if name == "nearest" else {}
    if name == "validate":
        given["distances"] = hw.bfs(graph, 0, predecessors=False).distances
    if graph.is_weighted and "weights" in known:
        given["weights"] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
        try:
            found = function(**given)
            return list(numbers(SHOWN.get(name, lambda one: one)(found)))
        except HopwaveError as error:
            return type(error), str(error)


def assert_same(found: Any, right: Any) -> None:
    """Errors of one class, or numbers that are equal up to what rounds change."""
    if isinstance(found, tuple) or isinstance(right, tuple):
        assert found[0] == right[0], (found, right)
        return
    assert len(found) == len(right)
    for mine, its in zip(found, right, strict=True):
        if mine.dtype.kind in "USO":
            assert mine.tolist() == its.tolist()
        else:
            np.testing.assert_allclose(mine, its, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in CALLS if name != "estimate_memory"])
@in_one_test("kind", GRAPHS)
def test_an_answer_is_right_or_refused(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS[kind]()
    right = answer(name, graph, "cpu")
    if "device" in options(CALLS[name]):
        found = answer(name, graph.to("cuda", compressed=True), "cuda")
        if found[:1] != (EngineError,):
            assert_same(found, right)
        elif answer(name, graph.to("cuda"), "cuda") != found:  # and not because a GPU does not have it at all
            assert re.search(SAID, found[1]) and (graph.is_weighted or name in REFUSED), found[1]
    for least in ("ARCS", "SEARCHED_ARCS", "WEIGHTED_ARCS", "BETWEENNESS_ARCS"):
        monkeypatch.setattr(choice, f"MIN_{least}_FOR_GPU", 1)  # "auto" is a GPU wherever one can
    assert_same(answer(name, graph.to("cuda", compressed=True), None), right)


@pytest.mark.parametrize("ask", [hw.betweenness_centrality, hw.closeness_centrality, hw.harmonic_centrality])
def test_an_executor_shares_the_rows(ask: Callable[..., Any]) -> None:
    graph = GRAPHS["directed"]()
    with ThreadPoolExecutor(2) as pool:
        found = ask(graph.to("cuda", compressed=True), executor=pool, device="cuda").scores
    np.testing.assert_allclose(on_host(found), ask(graph, device="cpu").scores, rtol=1e-11, atol=1e-12)
