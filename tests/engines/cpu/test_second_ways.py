"""Where the CPU engine has a second way (docs/variants.md), small graphs go both ways and give the same answers."""

from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, dijkstra
from test_many import WEIGHTS as KINDS

import hopwave as hw
from graphs import TRAPS, graphs
from hopwave import Graph, engines, generate
from hopwave.algorithms import shortest_paths
from hopwave.algorithms.shortest_paths import paths_of_pairs
from hopwave.engines import cpu
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.wide import WideAccumulation
from hopwave.engines.cpu.many import run
from hopwave.planning.many_sources import Sweep
from together import in_one_test

# ------------------------------------------------------------------ betweenness with vertices renumbered by degree


@pytest.fixture
def ranked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Renumber every graph, however small; the list counts how often."""
    seen: list[int] = []
    monkeypatch.setattr(policy, "worth_renumbering", lambda loaded, job: seen.append(loaded.n) or not job.edges)
    return seen


@in_one_test("trap", [name for name, make in TRAPS.items() if 0 < make().n <= 160])
def test_renumbered_vertices_have_the_same_scores(trap: str) -> None:
    graph = TRAPS[trap]()
    options: list[Any] = [{}, {"endpoints": True, "normalized": False}, {"cutoff": 2}]
    options.append({"sources": [0, graph.n - 1], "targets": [0, graph.n // 2]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "worth_renumbering", lambda loaded, job: True)
        found = [hw.betweenness_centrality(graph, device="cpu", **question) for question in options]
    for result, question in zip(found, options, strict=True):
        plain = hw.betweenness_centrality(graph, device="cpu", **question)
        np.testing.assert_allclose(result.scores, plain.scores, rtol=1e-12, atol=1e-290)


def test_samples_of_renumbered_vertices(ranked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    graph = generate.kronecker(11, 8, seed=3)
    found = hw.betweenness_centrality(graph, epsilon=0.2, seed=5, method="sources", device="cpu")
    monkeypatch.undo()
    plain = hw.betweenness_centrality(graph, epsilon=0.2, seed=5, method="sources", device="cpu")
    assert ranked and found.sources == plain.sources < graph.n
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-12)
    np.testing.assert_allclose(found.bounds, plain.bounds, rtol=1e-9)


def test_a_renumbered_run_goes_on_bit_for_bit(ranked: list[int], tmp_path: Path) -> None:
    graph, file = generate.kronecker(9, 8, seed=3), tmp_path / "run.npz"
    whole = hw.betweenness_centrality(graph, device="cpu")

    def interrupt(done: int, total: int) -> None:
        if done >= total // 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hw.betweenness_centrality(graph, device="cpu", threads=1, progress=interrupt, checkpoint=file)
    again = hw.betweenness_centrality(graph, device="cpu", threads=2, checkpoint=file)
    assert np.array_equal(whole.scores, again.scores)


# ------------------------------------------------------------------ all threads on one source of betweenness

KRONECKER = generate.kronecker(14, 8, seed=3)
RING = generate.smallworld(20_000, 10, 0.1, seed=4)
DIRECTED = generate.kronecker(14, 8, seed=5, directed=True)


def braid(count: int, width: int, strands: int) -> Graph:
    """Layers; every vertex is joined to some of the next layer at random, so that path counts differ."""
    random = np.random.default_rng(count)
    tails = np.repeat(np.arange((count - 1) * width), strands)
    heads = (tails // width + 1) * width + random.integers(0, width, tails.size)
    return Graph.from_edges(tails, heads)


def scores(graph: Graph, plan: str, threads: int, **how: Any) -> Any:
    given = {"sources": [5, 6, 700], "device": "cpu", "progress": False} | how
    return hw.betweenness_centrality(graph, plan=plan, threads=threads, **given).scores.tobytes()


WAYS: list[dict[str, Any]] = [{}, {"endpoints": True}, {"targets": range(0, 9000, 7)}, {"cutoff": 3}]


@pytest.mark.parametrize("how", WAYS, ids=lambda how: next(iter(how), "plain"))
@pytest.mark.parametrize("graph", [KRONECKER, DIRECTED, RING], ids=["kronecker", "directed", "ring"])
def test_all_threads_on_one_source_give_the_scores_of_a_source_per_thread(graph: Graph, how: dict[str, Any]):
    how = {"sources": np.argsort(-graph.degrees, kind="stable")[::400][:6].tolist(), **how}
    wide = [scores(graph, "hopwave-wide", threads, **how) for threads in (1, 3)]
    assert wide[0] == wide[1] == scores(graph, "hopwave-block", 2, **how)


@pytest.mark.parametrize("graph", [braid(10, 8, 8), braid(90, 12, 3), braid(60, 30, 8)], ids=["few", "flat", "many"])
def test_the_choice_of_threads_per_source_changes_no_bit(monkeypatch: pytest.MonkeyPatch, graph: Graph):
    """The braids' path counts need more than 53 bits, so a sum in another order would differ."""
    used: list[int] = []
    for name, value in {"VERTICES_PER_THREAD": 16, "SMALL_JOB": 0, "CACHED_VERTICES": 0}.items():
        monkeypatch.setattr(policy, name, value)
    begin = WideAccumulation.__init__
    monkeypatch.setattr(WideAccumulation, "__init__", lambda *given, **how: used.append(1) or begin(*given, **how))
    found = []
    for few in (True, False):
        monkeypatch.setattr(policy, "few_sources", lambda *given, few=few: few)
        found.append(hw.betweenness_centrality(graph, sources=[0, 9, 30], threads=4, device="cpu").scores)
    assert np.array_equal(*found) and found[0].max() > 0 and used == [1]


@pytest.mark.parametrize("room", [0, 300, 3000, 10**6])
def test_room_for_sorted_arcs_changes_no_bit(monkeypatch: pytest.MonkeyPatch, room: int):
    """The room is sized by the arcs that leave a level. If more arcs lead into it, the team has no room for them."""
    graph = Graph(DIRECTED.indptr.copy(), DIRECTED.indices.copy(), directed=True)
    monkeypatch.setattr(policy, "sorted_arcs", lambda arcs: room)
    assert scores(graph, "hopwave-wide", 3) == scores(DIRECTED, "hopwave-block", 3)


def test_the_next_call_uses_the_arrays_of_the_last(monkeypatch: pytest.MonkeyPatch):
    """The scores are the same; a call with a memory limit leaves no arrays."""
    graph, made = generate.smallworld(9_000, 10, 0.1, seed=8), []
    make = Accumulation._worker_state
    monkeypatch.setattr(Accumulation, "_worker_state", lambda self: made.append(1) or make(self))
    limited = scores(graph, "auto", 2, memory_limit=1 << 30)
    assert len(made) == 2
    again = [scores(graph, "auto", 2, **how) for how in ({}, {}, {"cutoff": 4, "endpoints": True}, {})]
    assert len(made) == 4
    wide = [scores(graph, "hopwave-wide", 2) for _ in range(2)]
    assert {limited} == {again[0], again[1], again[3], *wide}


# ------------------------------------------------------------------ searches whose levels all threads share

ARRAYS = "reached", "total", "farthest", "inverse", "histogram", "columns", "rows"


def shared_searches(graph: Graph, *job: Any) -> list[Any]:
    """What searches find together, after comparing it with batches and checking which way they went."""
    both, way = [], run._side_by_side
    for shared in (True, False):
        went: list[int] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(policy, "SMALL_JOB", -1)
            patch.setattr(policy, "side_by_side", lambda *given, shared=shared: shared)
            patch.setattr(run, "_side_by_side", lambda *given, went=went: went.append(1) or way(*given))
            asked = Sweep(*job, weight="inverse", shift=20)
            swept = run.sweep(cpu.Engine().load(graph, None), asked, lambda done: None, 3)
        assert bool(went) == shared
        both.append([getattr(swept, name) for name in ARRAYS])
    assert all(np.array_equal(one, other) for one, other in zip(*both, strict=True))
    return both[0]


@pytest.mark.parametrize("keep", ["rows", "columns"])
@in_one_test("name", TRAPS)
def test_shared_searches_are_those_of_batches(name: str, keep: str) -> None:
    """Levels that are pushed, and levels that are pulled; some sources twice; more than 64 of them."""
    graph = TRAPS[name]()
    sources = np.random.default_rng(1).integers(0, graph.n, 70) if graph.n else np.zeros(0, np.int64)
    for most, limit in ((0, None), (9, 3)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "MOST_PUSHED", most)
            shared_searches(graph, sources, keep, limit)


def test_levels_beyond_the_planes() -> None:
    """A long path hangs at a hub: its levels have more bits than are kept."""
    hub, tail = np.zeros(400, int), np.arange(400, 460)
    graph = Graph.from_edges([*hub, *tail], [*range(1, 401), *(tail + 1)])
    assert shared_searches(graph, np.array([0, 460, 7]), "rows", None)[-1].max() > 2 * run.kernels.DEEPEST


# ------------------------------------------------------------------ short arcs first

WEIGHTS: dict[str, Any] = KINDS | {"few short": lambda x: np.where(x < 0.2, 1.0, 1.0 + 9 * x)}


def check_paths(graph: Graph, kind: str, seed: int, pairs: list[tuple[int, int]], threads: int = 1) -> Graph:
    """With weights of that kind, paths have the lengths that Dijkstra's algorithm finds."""
    source, target = graph.to_edges()
    weights = WEIGHTS[kind](np.random.default_rng(seed).random(len(source)))
    graph = Graph.from_edges(source, target, graph.n, graph.directed, weights=weights)
    d, lengths = dijkstra(graph.to_scipy(np.float64)), graph.to_scipy(np.float64).todok()
    for (s, t), (length, path) in zip(pairs, paths_of_pairs(graph, True, pairs, threads), strict=True):
        assert length == d[s, t] and (path is None) == np.isinf(d[s, t])
        if path is not None:
            assert (path[0], path[-1]) == (s, t)
            assert length == reduce(lambda sum, arc: sum + lengths[arc], pairwise(path), 0.0) == d[s, t]
    return graph


@pytest.mark.parametrize("share", [0.05, 0.3, 0.8])
@settings(max_examples=settings.default.max_examples * 4, suppress_health_check=list(HealthCheck))
@given(graph=graphs(max_n=30), data=st.data())
def test_paths_between_all_vertices(share: float, graph: Graph, data: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "short_arcs_first", lambda n, m, *_: m > 0)
        patch.setattr(policy, "SHORT_SHARE", share)
        patch.setattr(shortest_paths, "LEAST_PATIENCE", data.draw(st.sampled_from([1, 4, 256])))
        pairs = [(s, t) for s in range(graph.n) for t in range(graph.n)]
        kind, seed, threads = data.draw(
            st.tuples(st.sampled_from(sorted(WEIGHTS)), st.integers(0, 999), st.integers(1, 2))
        )
        check_paths(graph, kind, seed, pairs, threads)


def test_far_pairs_of_a_mesh_share_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches from both ends would surround half of the mesh; in a graph of hubs they meet soon."""
    asked: list[Any] = []
    algebra = type(engines.algebra("cpu"))
    search: Any = algebra.delta_stepping
    spy = lambda self, A, job, *more: asked.append(job) or search(self, A, job, *more)  # noqa: E731
    monkeypatch.setattr(algebra, "delta_stepping", spy)
    mesh, hubs = generate.grid(40, 40), generate.kronecker(10, 16, seed=1).largest_component().relabel(None)
    check_paths(mesh, "few short", 1, [(0, 1599), (0, 1560), (0, 1)], 2)
    assert [set(job.targets) for job in asked] == [{1599, 1560}]
    check_paths(hubs, "few short", 1, [(0, v) for v in range(9, hubs.n, 99)])
    assert len(asked) == 1


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("directed", [False, True])
def test_paths_in_a_graph_of_many_arcs(kind: str, directed: bool) -> None:
    """Short arcs are apart from the second pair on."""
    graph = generate.kronecker(9, 32, seed=3, directed=directed)
    pairs = [tuple(pair) for pair in np.random.default_rng(2).integers(0, graph.n, (300, 2)).tolist()]
    for some in (pairs[:1], pairs):
        weighted = check_paths(graph, kind, 1, some)
        assert (cpu.Engine().load(weighted, None)._short is not None) == (len(some) > 1)


# ------------------------------------------------------------------ components, triangles and ranks by several threads

GRAPHS: dict[str, Callable[[], Graph]] = {
    "hubs": lambda: generate.kronecker(12, 8, seed=2),
    "hubs, directed": lambda: generate.kronecker(12, 2, seed=1, directed=True),
    "thin": lambda: generate.uniform(20_000, 1, seed=1),
    "grid": lambda: generate.grid(90, 90, missing=0.1, seed=1),
    "mesh": lambda: generate.delaunay(5000, seed=2),
    "small world": lambda: generate.smallworld(5000, 10, 0.1, seed=1),
}
ALL = {**TRAPS, **GRAPHS, "thin, directed": lambda: generate.uniform(20_000, 2, seed=1, directed=True)}


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWAVE_NUM_THREADS", "4")
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 1)


def matrix(graph: Graph) -> sp.csr_matrix:
    return sp.csr_matrix((np.ones(graph.m), graph.indices, graph.indptr), shape=(graph.n, graph.n))


@in_one_test("name", ALL)
def test_components_by_all_threads_are_those_of_scipy(name: str, several: None) -> None:
    graph = ALL[name]()
    for ask, kind in ((hw.weakly_connected_components, "weak"), (hw.strongly_connected_components, "strong")):
        found = ask(graph, device="cpu").labels
        _, expected = connected_components(matrix(graph), connection=kind)
        first = np.unique(expected, return_index=True)[1]
        assert np.array_equal(found, np.argsort(np.argsort(first))[expected])
        again = ask(graph, device="cpu").labels
        found[:] = -1  # the caller's own: no later answer changes
        assert again.min(initial=0) >= 0 and ask(graph, device="cpu").count == len(first)


@pytest.mark.parametrize(("short", "looks"), [(1 << 30, 24), (0, 1 << 30), (0, 0)], ids=["walked", "marked", "sorted"])
@in_one_test("name", ALL)
def test_triangles_are_counted_alike_in_every_way(
    name: str, short: int, looks: int, several: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = ALL[name]()
    if graph.directed or graph.has_parallel_arcs:
        return
    monkeypatch.setattr(policy, "SHORT_ROWS", short)
    monkeypatch.setattr(policy, "LOOKS_WORTH_SORTING", looks)
    A = matrix(graph)
    A.setdiag(0)
    corners = np.asarray((A @ A).multiply(A).sum(axis=1)).ravel() / 2
    assert hw.triangle_count(graph, device="cpu") == round(corners.sum() / 3)
    assert np.array_equal(hw.triangles(graph, device="cpu").scores, corners)


@pytest.mark.parametrize("by_degree", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_accelerated_ranks_keep_the_rule(
    name: str, by_degree: bool, several: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another plain round changes them by less than the rule allows, and no bit depends on threads."""
    graph = GRAPHS[name]()
    changes = {"IRREGULAR": 0.0, "CACHED_VERTICES": 0, "SCATTERED": graph.n} if by_degree else {}
    for constant, value in ({"ARCS_TO_ACCELERATE": 0} | changes).items():
        monkeypatch.setattr(policy, constant, value)
    degrees, jumps = np.diff(graph.indptr), np.random.default_rng(1).random(graph.n)
    follow = matrix(graph).T @ sp.diags(np.divide(1.0, degrees, out=np.zeros(graph.n), where=degrees > 0))
    for p, weights in ((None, None), (jumps, None), (jumps, np.full(graph.m, 2.0))):
        given = {"personalization": p, "tol": 1e-9 / graph.n, "weights": weights, "max_iter": 300, "device": "cpu"}
        x = hw.pagerank(graph, **given).scores  # type: ignore[arg-type]
        share = np.full(graph.n, 1 / graph.n) if p is None else p / p.sum()
        y = 0.85 * (follow @ x + x[degrees == 0].sum() * share) + 0.15 * share
        assert np.abs(y - x).sum() < 1e-9 and np.isclose(x.sum(), 1, rtol=1e-12)
        with monkeypatch.context() as patch:
            patch.setenv("HOPWAVE_NUM_THREADS", "1")
            assert np.array_equal(hw.pagerank(graph, **given).scores, x)  # type: ignore[arg-type]
