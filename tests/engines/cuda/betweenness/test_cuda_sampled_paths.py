"""Paths sampled on the GPU equal the CPU's: the same pairs, paths and sums."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import EngineError, engines, generate
from hopwave.algorithms.betweenness_sampling import costs, paths
from hopwave.planning.jobs import PATH_SUMS, SampleJob

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

GRAPHS = {
    "kronecker": lambda: generate.kronecker(11, 8, seed=1),
    "kronecker directed": lambda: generate.kronecker(11, 6, seed=2, directed=True),
    "sparse": lambda: generate.kronecker(10, 1, seed=3, directed=True),  # most pairs have no path
    "grid": lambda: generate.grid(30, 30),  # counts beyond 2^53: sums depend on their order
    "hubs": lambda: generate.kronecker(13, 16, seed=4),  # a walk back searches the nearer level for predecessors
    "diamonds": lambda: generate.diamonds(300),
    "many diamonds": lambda: generate.diamonds(600),  # beyond float64: drawn by the CPU
    "arranged": lambda: generate.kronecker(9, 8, seed=5, directed=True).arranged(),
    "loops": lambda: hw.Graph.from_edges([0, 1, 1, 2, 3, 0], [0, 1, 2, 3, 3, 1], directed=True),
}


def drawn(graph: hw.Graph, device: str, pairs: int, **job: Any) -> Any:
    run = engines.engine(device).path_sampling(graph, SampleJob(12345, **job))
    run.advance(pairs, lambda done: False)
    return run


@pytest.mark.parametrize(
    ("name", "cutoff"), [*((name, None) for name in GRAPHS), *(("kronecker", c) for c in (1, 2, 5))]
)
def test_the_same_paths(name: str, cutoff: int | None) -> None:
    graph = GRAPHS[name]()
    mine, right = (drawn(graph, device, 1500, cutoff=cutoff) for device in ("cuda", "cpu"))
    assert mine.done == 1500 and np.array_equal(mine.counts, right.counts)
    assert dict(zip(PATH_SUMS, mine.sums, strict=True)) == dict(zip(PATH_SUMS, right.sums, strict=True))
    paths.check(mine)
    assert (mine.sums[PATH_SUMS.index("recounted")] > 0) == (name == "many diamonds")


def test_parts_and_little_memory_change_nothing() -> None:
    graph = GRAPHS["kronecker directed"]()
    whole = drawn(graph, "cuda", 5000)
    parts = engines.engine("cuda").path_sampling(graph, SampleJob(12345, memory_limit=200 * graph.n))
    for until in (1, 7, 2000, 5000):
        parts.advance(until, lambda done: False)
    assert np.array_equal(whole.counts, parts.counts) and np.array_equal(whole.sums, parts.sums)


def test_auto_takes_what_is_predicted_to_be_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GRAPHS["kronecker"]()
    asked: dict[str, Any] = {"epsilon": 0.02, "seed": 7, "progress": False, "device": "cuda"}
    found = hw.betweenness_centrality(graph, **asked)
    assert found.sources == graph.n and "sources are cheap" in found.plan.why and found.engine == "cuda"
    monkeypatch.setattr(costs, "SMALL", 0.0)
    few = hw.betweenness_centrality(graph, **asked)
    assert few.pairs and "paths cost less than about" in few.plan.why and few.plan == "path-sampling"
    monkeypatch.setattr(costs, "ON_GPU", replace(costs.ON_GPU, pair=1e9))
    assert hw.betweenness_centrality(graph, **asked).plan != "path-sampling"
    monkeypatch.undo()
    along = graph.with_weights(np.ones(graph.m))
    assert "a GPU samples sources" in hw.betweenness_centrality(along, weights=True, k=None, **asked).plan.why
    with pytest.raises(EngineError, match="draws paths by hops only"):
        hw.betweenness_centrality(along, weights=True, method="paths", **asked)
    asked["device"] = "auto"
    assert hw.betweenness_centrality(along, weights=True, top=1, **asked).engine == "cpu"


def test_the_arrays_of_a_run_are_not_of_the_pool() -> None:
    """CuPy's pool would put small arrays into them, and no later run could have as much memory."""
    import cupy

    from hopwave.engines.cuda.betweenness.sampled_paths import scratch

    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    piece = scratch(1 << 26)
    assert piece.nbytes == 1 << 26 and pool.total_bytes() == before
    del piece
    assert pool.total_bytes() == before


def test_a_run_stops_when_asked() -> None:
    graph = GRAPHS["kronecker"]()
    run = engines.engine("cuda").path_sampling(graph, SampleJob(12345))
    run.pace = 100
    assert run.advance(10**6, lambda done: True) == 100
    assert np.array_equal(run.counts, drawn(graph, "cpu", 100).counts)
