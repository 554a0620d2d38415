"""Betweenness on the GPU: regimes agree, runs repeat their bits, little memory is enough, runs can be interrupted."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
from hopwave import EngineError, Graph, engines, generate
from hopwave.arrays import on_host
from hopwave.engines.cuda.betweenness import regimes
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.planning.many_sources import Sweep

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
PLANS = ("hopwave-block", "hopwave-batch", "hopwave-wide")
every_plan = pytest.mark.parametrize("plan", PLANS)
both = pytest.mark.parametrize("call", [hw.betweenness_centrality, hw.edge_betweenness_centrality])


@pytest.fixture
def pool() -> Iterator[Any]:
    cupy = pytest.importorskip("cupy")
    found = cupy.get_default_memory_pool()
    yield found
    found.set_limit(size=0)


HUB = np.arange(1, 3000)
GRAPHS: dict[str, Callable[[], Graph]] = {
    "kronecker": lambda: generate.kronecker(12, edge_factor=8, seed=3),
    "kronecker-directed": lambda: generate.kronecker(12, edge_factor=8, seed=3, directed=True),
    "mesh": lambda: generate.delaunay(3000, seed=3),
    "hubs": lambda: Graph.from_edges(np.concatenate([0 * HUB, 0 * HUB + 1, HUB]), np.tile(HUB, 3)[::-1]),
    "pieces": lambda: Graph.from_edges(*np.random.default_rng(3).integers(0, 4000, (2, 3000)), n=4000),
    "pieces-directed": lambda: Graph.from_edges(
        *np.random.default_rng(3).integers(0, 4000, (2, 6000)), n=4000, directed=True
    ),
}


@cache
def graph(name: str) -> Graph:
    return GRAPHS[name]()


every_graph = pytest.mark.parametrize("name", GRAPHS)
SOURCES = list(range(0, 3000, 23))  # more than two batches


def options_for(plan: str) -> dict[str, Any]:
    return {"sources": SOURCES[:: 10 if plan == "hopwave-wide" else 1], "plan": plan, "progress": False}


@every_plan
@every_graph
@both
@pytest.mark.parametrize("limited", [False, True])
def test_every_regime_agrees_with_the_cpu_and_with_itself(plan: str, name: str, call: Any, limited: bool) -> None:
    options = options_for(plan)
    if limited:
        options |= {"targets": range(0, 3000, 7), "cutoff": 4}
        options |= {"endpoints": True} if call is hw.betweenness_centrality else {}
    found, again = (call(graph(name), device="cuda", **options) for _ in range(2))
    expected = call(graph(name), device="cpu", **{**options, "plan": "auto"})
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-11, atol=1e-290)
    assert found.certificate.error <= 1e-12 and found.plan.name == plan
    assert np.array_equal(found.scores, again.scores) and found.certificate == again.certificate


@both
def test_renumbering_changes_no_bit(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deep graphs are renumbered for long runs; lists keep their order."""
    monkeypatch.setattr(regimes, "scattered", lambda *given: True)
    grid = generate.grid(60, 50, missing=0.05, seed=1)
    directed = Graph.from_edges(*grid.to_edges(), n=grid.n, directed=True)
    for G in (graph("mesh"), grid, directed):
        options = {"sources": SOURCES, "plan": "hopwave-block", "device": "cuda", "targets": range(0, 3000, 2)}
        found = {}
        for worth in (False, True):
            monkeypatch.setattr(regimes, "worth_renumbering", lambda *given, worth=worth: worth)
            found[worth] = call(G, **options)
        assert mixed.uploaded(G).kept["any"]["near"] is not None
        assert np.array_equal(found[True].scores, found[False].scores)


@both
@pytest.mark.parametrize("team", [2, 4, 32])
def test_teams_change_no_bit(call: Any, team: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few sources and wide levels, every source gets several blocks."""
    directed = Graph.from_edges(*generate.grid(60, 50, missing=0.05, seed=1).to_edges(), n=3000, directed=True)
    for G in (graph("mesh"), directed, generate.diamonds(900), graph("kronecker")):
        options = {"sources": [0, 70, 2000], "plan": "hopwave-block", "device": "cuda"}
        found = {}
        for size in (1, team):
            shape = regimes.Shape(256, 1, 3, 0, size)
            monkeypatch.setattr(regimes, "block_shape", lambda *given, shape=shape: shape)
            found[size] = call(G, **options)
        assert np.array_equal(found[1].scores, found[team].scores)


def layered(*sizes: int, directed: bool = False) -> Graph:
    ends = np.cumsum([0, *sizes])
    pairs = [
        np.stack(np.meshgrid(np.arange(ends[i], ends[i + 1]), np.arange(ends[i + 1], ends[i + 2])), -1).reshape(-1, 2)
        for i in range(len(sizes) - 1)
    ]
    u, v = np.concatenate(pairs).T
    return Graph.from_edges(u, v, directed=directed)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [
        (1, 3000, 1, 3000),  # long rows, in pieces; levels that push their counts, and levels that pull them
        (1, 2, 1500, 40, 3, 1),  # rows of every length; small levels after large ones, which push their shares
        (1, *[2] * 47),  # the most levels that the kernel sorts
        (1, *[2] * 60),  # more than that: left to the block regime
        (1, *[300] * 12),  # counts up to 2^98, beyond the whole numbers that float64 holds exactly
    ],
    ids=str,
)
@both
def test_one_source_by_the_whole_gpu(sizes: tuple[int, ...], directed: bool, call: Any) -> None:
    G = layered(*sizes, directed=directed)
    for source in (0, G.n // 2):
        found, again = (call(G, sources=[source], plan="hopwave-wide", device="cuda") for _ in range(2))
        expected = call(G, sources=[source], device="cpu")
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-290)
        assert np.array_equal(found.scores, again.scores) and found.certificate == again.certificate


@pytest.mark.parametrize("width", [64, 256])
def test_a_small_level_pushes_its_shares_if_their_exponents_are_near(width: int) -> None:
    """Six levels of this width beside a path: the shares of the two vertices after them are 1 and 1 / width ** 6. With
    width 64 they are added up exactly; with 256 their exponents are too far apart, and they are pulled.
    """
    wide = layered(1, *[width] * 6, 1)
    path = np.append(0, wide.n + np.arange(7))
    G = Graph.from_edges(*(np.concatenate(ends) for ends in zip(wide.to_edges(), (path[:-1], path[1:]), strict=True)))
    found, again = (hw.betweenness_centrality(G, sources=[0], plan="hopwave-wide", device="cuda") for _ in range(2))
    expected = hw.betweenness_centrality(G, sources=[0], device="cpu")
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=0)
    assert np.array_equal(found.scores, again.scores)


def test_auto_chooses_by_depth_and_size() -> None:
    def plan(G: Graph, **options: Any) -> str:
        return hw.betweenness_centrality(G, device="cuda", **options).plan.name

    assert plan(graph("mesh"), k=20, seed=1) == "hopwave-block"
    assert plan(graph("kronecker"), k=20, seed=1) == "hopwave-batch"
    assert plan(graph("kronecker").to("cuda", compressed=True), k=20, seed=1) == "hopwave-wide"
    assert plan(graph("kronecker"), sources=0) == "hopwave-wide"


# ---------------------------------------------------------------- memory


@every_plan
@both
def test_less_memory_changes_no_bit(plan: str, call: Any) -> None:
    G, options = graph("kronecker"), options_for(plan)
    if call is hw.betweenness_centrality:
        options["endpoints"] = True
    arcs_in_batches = plan == "hopwave-batch" and call is hw.edge_betweenness_centrality
    whole = call(G, device="cuda", **options)
    for limit in (64 << 20, 8 << 20, 2 << 20):
        found = call(G, device="cuda", memory_limit=limit, **options)
        same = np.allclose(found.scores, whole.scores, rtol=1e-12, atol=0)
        assert same if arcs_in_batches else np.array_equal(found.scores, whole.scores)
        assert found.certificate == whole.certificate


def test_deterministic_batches_of_arcs_are_not_made_smaller() -> None:
    G, options = graph("kronecker"), options_for("hopwave-batch") | {"device": "cuda", "deterministic": True}
    one, two = (hw.edge_betweenness_centrality(G, **options, memory_limit=limit).scores for limit in (None, 64 << 20))
    assert np.array_equal(one, two)
    with pytest.raises(EngineError, match=r"for 64 sources that deterministic=True keeps together .* memory_limit="):
        hw.edge_betweenness_centrality(G, **options, memory_limit=2 << 20)


def test_a_run_keeps_to_its_memory_limit(pool: Any) -> None:
    """Measures what a run takes beside the graph; CuPy rounds every array up to 512 bytes."""
    G = generate.delaunay(20_000, seed=1)
    limit = 40 << 20
    for plan in PLANS:
        hw.betweenness_centrality(G, sources=[0, 1], device="cuda", plan=plan)
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + limit + (1 << 20))
        hw.betweenness_centrality(G, sources=range(200), device="cuda", plan=plan, memory_limit=limit)
        pool.set_limit(size=0)


@every_plan
def test_out_of_memory_halves_and_goes_on(plan: str, pool: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate says that everything fits; the pool has less."""
    G, options = graph("kronecker"), options_for(plan)
    whole = hw.betweenness_centrality(G, device="cuda", **options)
    monkeypatch.setattr("hopwave.engines.cuda.betweenness.run.free_memory", lambda: 1 << 36)
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (3 << 20))
    found = hw.betweenness_centrality(G, device="cuda", **options)
    assert np.array_equal(found.scores, whole.scores)


# ---------------------------------------------------------------- long runs

CALLS: dict[str, Callable[..., Any]] = {
    "block": lambda **more: hw.betweenness_centrality(graph("mesh"), plan="hopwave-block", device="cuda", **more),
    "batch": lambda **more: hw.betweenness_centrality(graph("kronecker"), plan="hopwave-batch", device="cuda", **more),
    "wide": lambda **more: hw.betweenness_centrality(
        graph("kronecker"), plan="hopwave-wide", k=40, seed=1, device="cuda", **more
    ),
    "edges": lambda **more: hw.edge_betweenness_centrality(graph("kronecker"), device="cuda", **more),
}


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regimes, "block_size", lambda *given: 500)
    monkeypatch.setattr(regimes, "batches_at_once", lambda *given: 1)
    monkeypatch.setattr(regimes, "rounds", lambda *given: 2)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("call", CALLS)
def test_an_interrupted_run_resumes_bit_for_bit(call: str, tmp_path: Path) -> None:
    path, run = tmp_path / "run.npz", CALLS[call]
    uninterrupted = run()

    def stop(reached: int, total: int) -> None:
        if 0 < reached < total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(checkpoint=path, progress=stop)
    heard: list[int] = []
    resumed = run(checkpoint=path, progress=lambda reached, total: heard.append(reached))
    assert np.array_equal(resumed.scores, uninterrupted.scores)
    assert resumed.certificate == uninterrupted.certificate
    assert min(heard) > 0, "it started from the beginning"


@pytest.mark.usefixtures("small_blocks")
def test_ctrl_c_inside_a_block_leaves_whole_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    engine, G, job = engines.engine("cuda"), graph("mesh"), BetweennessJob(np.arange(3000, dtype=np.int64))
    run: Any = engine.accumulation(G, job, CATALOGUE["hopwave-block"])
    add, calls = run.regime.add, []

    def interrupted(sources: Any, total: Any) -> Any:
        calls.append(len(sources))
        found = add(sources, total)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return found

    run.regime.add = interrupted
    with pytest.raises(KeyboardInterrupt):
        run.advance(0, lambda done: False)
    assert run.done == 2
    two = engine.accumulation(G, BetweennessJob(np.arange(1000, dtype=np.int64)), CATALOGUE["hopwave-block"])
    two.advance(0, lambda done: False)
    assert np.array_equal(run.total, two.total)


# ---------------------------------------------------------------- along weights


def agree(graph: Graph, **options: Any) -> None:
    for call in (hw.betweenness_centrality, hw.edge_betweenness_centrality):
        due, found = (call(graph, weights=True, device=device, **options) for device in ("cpu", "cuda"))
        np.testing.assert_allclose(on_host(found.scores), due.scores, rtol=1e-9, atol=1e-290)
        assert found.certificate.error < 1e-11 and found.plan == "brandes-dijkstra" and found.engine == "cuda"


KINDS: dict[str, Any] = {
    "ties": lambda rng, m: rng.integers(1, 4, m).astype(float),
    "fractions": lambda rng, m: rng.integers(1, 12, m) / 10,  # 0.1 + 0.2 is not 0.3
    "tiny beside huge": lambda rng, m: np.where(rng.random(m) < 0.3, 1e-3, rng.integers(1, 3, m) * 1e9),
    "random": lambda rng, m: rng.random(m),
    "zeros": lambda rng, m: np.floor(3 * rng.random(m)),
}


def drawn(bare: Graph, kind: str, seed: int = 5) -> Graph:
    source, target = bare.to_edges()
    values = KINDS[kind](np.random.default_rng(seed), len(source))
    return Graph.from_edges(source, target, bare.n, bare.directed, weights=values)


def large(name: str) -> Graph:
    return drawn(GRAPHS[name](), {"mesh": "fractions", "hubs": "tiny beside huge"}.get(name, "ties"))


def test_more_sources_than_threads_share_a_search() -> None:
    ids = np.arange(400_000)
    stars = Graph.from_edges(ids // 8 * 8, ids)
    found = hw.betweenness_centrality(stars, plan="hopwave-batch", reduce=False, normalized=False, device="cuda")
    assert np.array_equal(found.scores, np.where(ids % 8 == 0, 21.0, 0.0))


@pytest.mark.parametrize("name", sorted(GRAPHS.keys() - {"pieces"}))
def test_large_graphs_as_on_the_cpu(name: str) -> None:
    agree(large(name), sources=SOURCES)
    agree(large(name), sources=SOURCES[:20], targets=SOURCES[5:50], normalized=False)


@both
@pytest.mark.parametrize("shape", [(64, 1, 1), (256, 4, 1), (1024, 32, 1), (256, 2, 4), (1024, 1, 16)])
@pytest.mark.parametrize("name", ["kronecker-directed", "mesh"])
def test_no_shape_changes_an_answer_and_each_repeats_its_bits(
    name: str, call: Any, shape: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shapes: threads per block, lanes per row, blocks per source."""
    threads, group, team = shape
    monkeypatch.setattr(regimes, "block_shape", lambda *_: regimes.Shape(threads, group, 5, 0, team))
    graph, options = large(name), {"sources": SOURCES[:12], "weights": True}
    first, again, due = (call(graph, device=device, **options) for device in ("cuda", "cuda", "cpu"))
    assert np.array_equal(first.scores, again.scores) and first.certificate == again.certificate
    np.testing.assert_allclose(first.scores, due.scores, rtol=1e-9, atol=1e-290)


# ---------------------------------------------------------------- distances from many sources


@pytest.mark.parametrize("team", [1, 4])
@pytest.mark.parametrize("kind", ["random", "zeros"])
def test_distances_and_columns_have_the_bits_of_the_cpu(kind: str, team: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regimes, "block_shape", lambda *_: regimes.Shape(128, 2, 7, 0, team))
    graph = drawn(generate.kronecker(9, edge_factor=8, seed=1, directed=True), kind)
    sources = np.random.default_rng(1).integers(0, graph.n, 70)

    def both(keep: Any, **more: Any) -> Any:
        job = Sweep(sources, keep, weighted=True, **more)
        return (engines.engine(device).sweep(graph, job, lambda done: None, None) for device in ("cuda", "cpu"))

    for keep, fields in (("rows", "rows"), ("columns", "columns reached farthest"), ("sums", "reached farthest")):
        found, due = both(keep, block=16, shift=-3)
        for field in fields.split():
            assert getattr(found, field).tobytes() == getattr(due, field).tobytes(), (keep, field)
        np.testing.assert_allclose(found.total, due.total, rtol=3e-16)
        np.testing.assert_allclose(found.inverse, due.inverse, rtol=3e-16)
    found, due = both("pairs", limit=0.5, upwards=True)
    assert np.array_equal(found.reached, due.reached) and np.array_equal(found.pairs[1], due.pairs[1])
