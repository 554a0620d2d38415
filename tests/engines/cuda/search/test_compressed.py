"""Packed rows, on the GPU and across the bus: what they hold, searches of them, and what is refused."""

import re
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
import oracle
from graphs import TRAPS
from hopwave import EngineError, Graph, HopwaveError, generate
from hopwave.api import choice
from hopwave.arrays import on_host
from hopwave.planning.plan import Plan
from public_calls import functions, options, required
from questions.hops import SEARCHES, expect, expect_trace
from together import in_one_test

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not choice.has_gpu(), reason="no GPU")]
cupy = pytest.importorskip("cupy")

BLOCK_ARCS = 1 << 21
PLACES = {"on the GPU": None, "across the bus": 0}
SAID = r"rows are compressed on the GPU.* use device='cpu'"


@pytest.mark.parametrize("limit", [None, 0, 3 << 20], ids=["GPU", "host", "both"])
@pytest.mark.parametrize("count", [1, 31, 32, 33, BLOCK_ARCS - 1, 2 * BLOCK_ARCS + 17])
def test_packed_rows_hold_every_neighbour(count: int, limit: int | None) -> None:
    from hopwave.engines.cuda.compressed import PackedRows

    rng = np.random.default_rng(count)
    bits = rng.integers(1, 32, -(-count // 1000)).repeat(1000)[:count]
    values = (rng.integers(0, 2**31, count) >> (31 - bits)).astype(np.int32)
    packed = PackedRows(count, limit)
    for some in np.array_split(values, [count // 3, count // 2]):
        packed.add(cupy.asarray(some))
    np.testing.assert_array_equal(packed.finish().unpacked().get(), values)
    np.testing.assert_array_equal(packed.unpacked(count // 2, count).get(), values[count // 2 :])
    assert limit is None or (packed.device_bytes <= limit and packed.host_bytes + packed.device_bytes > 0)


def compressed(graph: hw.Graph, place: str) -> hw.Graph:
    made = graph.to("cuda", compressed=True, memory_limit=PLACES[place])
    assert made.device == "cuda" and made.m == graph.m
    return made


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("plan", SEARCHES, ids=str)
@in_one_test("trap", TRAPS)
def test_searches_of_packed_rows(trap: str, plan: Plan, place: str) -> None:
    """Every plan: those of one launch read packed rows, and the others say that they do not."""
    from hopwave.engines.cuda.compressed import compress

    graph = mixed.fresh(TRAPS[trap]())
    compress(graph, PLACES[place])
    if plan.loop == "host":
        with pytest.raises(EngineError, match=SAID):
            hw.bfs(graph, 0, plan=plan, device="cuda")
        return
    several = [0, graph.n // 2, graph.n - 1, 0]
    for sources, limit, direction in (([0], None, "out"), ([0], 2, "in"), (several, 1, "out"), (several, None, "in")):
        options: dict[str, Any] = {"depth_limit": limit, "direction": direction}
        right = oracle.distances(graph, sources, limit, direction)
        found = hw.bfs(graph, sources, plan=plan, device="cuda", trace=True, **options)
        expect(found, graph, sources, right, **options)
        expect_trace(found, graph, **options)
        bare = hw.bfs(graph, sources, plan=plan, predecessors=False, device="cuda", **options)
        np.testing.assert_array_equal(bare.distances, right)


@pytest.mark.parametrize("place", ["plain", *PLACES])
def test_rows_side_by_side_that_are_long_and_search_in_vain(place: str) -> None:
    """Where vertices are numbered by degree, all rows of a warp are long: the whole grid shares them."""
    first, second, last = np.split(np.arange(1, 4065), [2000, 4000])
    ways = [(0 * first, first), (first, second), (first, np.roll(second, 1))]
    ways += [(second[begin : begin + 600], np.full(600, hub)) for begin, hub in enumerate(last)]
    graph = hw.Graph.from_edges(*map(np.concatenate, zip(*ways, strict=True)), directed=True)
    there = graph.to("cuda") if place == "plain" else compressed(graph, place)
    found = hw.bfs(there, 0, device="cuda", trace=True)
    np.testing.assert_array_equal(found.distances.get(), oracle.distances(graph, 0))
    pull = found.trace[1]
    assert pull.direction == "pull" and pull.found == 2000 and pull.checked >= 64 * 600


RANKED = {
    "no arcs": TRAPS["two-isolated-vertices"],
    "cut rows": lambda: hw.Graph.from_edges(np.arange(1, 9000), np.zeros(8999, int), directed=True),
    "hot rows": lambda: hw.generate.kronecker(17, 16, seed=2),
}


@pytest.mark.filterwarnings("ignore:PageRank stopped")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", RANKED)
def test_ranks_of_packed_rows(name: str, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain rows are not uploaded. Rounds are those of plain rows: both end when the ranks change by less than tol."""
    from hopwave.algebra.matrix import Matrix

    graph = RANKED[name]()
    packed, rng = compressed(graph, place), np.random.default_rng(1)
    asked: list[dict[str, Any]] = [{}, {"tol": 1e-14, "max_iter": 500}]
    asked.append({"personalization": rng.random(graph.n) + 1e-9, "dangling": rng.random(graph.n) + 1e-9, "alpha": 0.6})
    right = [hw.pagerank(graph, device="cuda", **one).scores for one in asked]
    monkeypatch.setattr(Matrix, "to", lambda self, device: self)
    for one, ranks in zip(asked, right, strict=True):
        found = cupy.asnumpy(hw.pagerank(packed, **one).scores)  # without arcs, it is an array of the host
        np.testing.assert_allclose(found, ranks, rtol=1e-6 if not one else 1e-10)


@pytest.mark.parametrize("way", ["plain", "compressed", "across the bus"])
def test_rows_take_the_way_that_the_estimate_names(
    way: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from hopwave.engines.cuda.graph import uploaded

    graph, free = hw.generate.kronecker(10, 64), [10**9]
    monkeypatch.setattr("hopwave.engines.cuda.policy.PACKED_ARCS", (1, 1))  # of a small graph, few are sorted at a time
    for place in ("hopwave.graph.graph", "hopwave.engines.cuda.compressed"):
        monkeypatch.setattr(f"{place}.ASK_FROM", 1)
    for name in ("hopwave.engines.cuda.buffers.free_memory", "hopwave.api.choice.free_on_gpu"):
        monkeypatch.setattr(name, lambda: free[0])
    if way != "plain":
        free[0] = hw.estimate_memory(graph, "bfs", device="cuda").bytes - 1
    if way == "across the bus":
        said = hw.estimate_memory(graph, "bfs", device="cuda")
        free[0] = said.bytes - said.parts["compressed rows"] // 2
    assert hw.estimate_memory(graph, "bfs", device="cuda").rows == way
    right = hw.bfs(graph, 0, device="cpu").distances
    for there in (graph, graph.to("cuda")):
        found = hw.bfs(there, 0, device="cuda").distances
        np.testing.assert_array_equal(cupy.asnumpy(found), right)
        held = uploaded(there).compressed
        assert (held is not None) == (way != "plain")
        assert (held is not None and held.host_bytes > 0) == (way == "across the bus")
    assert ("its rows are compressed" in caplog.text) == (way != "plain")
    assert ("stay on the host" in caplog.text) == (way == "across the bus")


# ---------------------------------------------------------------- every public function

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
