"""Betweenness around an engine: sources, scaling, samples, memory; a continued run gives the same bits."""

import random
import shutil
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from networkx.utils import create_py_random_state

import hopwave as hw
import oracle
from hopwave import FormatError, Graph, GraphError, engines, generate
from hopwave.algorithms import checkpoint as module
from hopwave.algorithms.brandes import scale
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.algorithms.draws import draw_sources, half_width
from hopwave.engines import host_memory
from hopwave.engines.cpu import graph as cpu_graph
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu import workers as cpu_workers
from hopwave.engines.cpu.betweenness import run as cpu_betweenness
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.graph import is_scattered
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.system.files import replacing

# ---------------------------------------------------------------- scaling


@given(st.lists(st.floats(0, 1e6), max_size=9), st.booleans(), st.booleans(), st.booleans(), st.data())
def test_scale(sums: list[float], normalized: bool, directed: bool, endpoints: bool, data: st.DataObject) -> None:
    """Compared with the oracle, which test_oracle.py compares with NetworkX."""
    n = len(sums)
    vertices = st.lists(st.integers(0, n - 1), min_size=1, max_size=n - 1, unique=True)
    sampled = data.draw(st.none() | vertices) if n > 1 else None
    factors = oracle.rescaling(Graph.from_edges([], [], n=n, directed=directed), sampled, normalized, endpoints)
    how = {"normalized": normalized, "directed": directed, "endpoints": endpoints}
    found = scale(np.array(sums), n, **how, sampled=None if sampled is None else np.array(sampled, np.int64))
    np.testing.assert_allclose(found, np.array(sums) * np.array(factors, float), rtol=1e-14)


# ---------------------------------------------------------------- sources, as NetworkX draws them

SEEDS = {
    "int": lambda seed: seed,
    "numpy int": np.int64,
    "Random": random.Random,
    "Generator": np.random.default_rng,
    "RandomState": np.random.RandomState,
}


@pytest.mark.parametrize("kind", SEEDS)
@pytest.mark.parametrize(("n", "k"), [(2, 1), (5, 1), (10, 3), (10, 9), (100, 7), (1000, 40), (40_000, 25)])
def test_sources_are_drawn_as_networkx_draws_them(kind: str, n: int, k: int) -> None:
    for seed in (0, 1, 42, 2**31):
        right = create_py_random_state(int(seed) if kind == "numpy int" else SEEDS[kind](seed)).sample(range(n), k)
        assert draw_sources(n, k, SEEDS[kind](seed)).tolist() == list(right)


def test_generators_continue_their_sequence() -> None:
    """A generator that is given; without a seed, Python's own. Nothing is drawn where nothing is left out."""
    mine, theirs = np.random.default_rng(3), np.random.default_rng(3)
    wrapped = create_py_random_state(theirs)
    for _ in range(3):
        assert draw_sources(50, 5, mine).tolist() == wrapped.sample(range(50), 5)
        assert draw_sources(7, None, mine) is None and draw_sources(7, 7, mine) is None
    assert mine.random() == theirs.random()
    random.seed(9)
    assert draw_sources(50, 5, None).tolist() == random.Random(9).sample(range(50), 5)
    state = np.random.mtrand._rand
    before = state.get_state()
    first = draw_sources(50, 5, state).tolist()
    state.set_state(before)
    assert create_py_random_state(state).sample(range(50), 5) == first


# ---------------------------------------------------------------- samples that are large enough


def test_half_width_holds() -> None:
    """Means of draws with a known expectation are outside the bound less often than the risk."""
    generator, risk, k = np.random.default_rng(1), 0.05, 400
    for p in (0.0, 0.02, 0.3):
        draws = generator.random((2000, k)) < p
        mean = draws.mean(axis=1)
        outside = np.abs(mean - p) > half_width(mean, mean, k, risk)
        assert outside.mean() <= risk


def sampled(graph: Graph, **asked: Any) -> hw.BetweennessResult:
    return hw.betweenness_centrality(graph, epsilon=0.12, method="sources", **asked)


@pytest.mark.parametrize("cutoff", [None, 2])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("directed", [False, True])
def test_adaptive_bounds_hold(seed: int, directed: bool, cutoff: int | None) -> None:
    graph = generate.kronecker(11, edge_factor=4, seed=seed, directed=directed)
    right = hw.betweenness_centrality(graph, cutoff=cutoff).scores
    found, raw = (sampled(graph, seed=seed, cutoff=cutoff, normalized=normalized) for normalized in (True, False))
    assert found.sources < graph.n and found.bounds is not None and found.bounds.max() <= 0.12
    assert (np.abs(found.scores - right) <= found.bounds).all()
    assert found.certificate.error < 1e-12 and found.certificate.sources == found.sources
    pairs = (graph.n - 1) * (graph.n - 2) / (1 if directed else 2)
    np.testing.assert_allclose(raw.scores, found.scores * pairs, rtol=1e-14)
    np.testing.assert_allclose(raw.bounds, found.bounds * pairs, rtol=1e-14)


def test_adaptive_samples_repeat_by_their_seed() -> None:
    graph = generate.kronecker(11, edge_factor=4)
    for make in SEEDS.values():
        first, second, other = (sampled(graph, seed=make(seed)) for seed in (7, 7, 8))
        assert np.array_equal(first.scores, second.scores) and np.array_equal(first.bounds, second.bounds)
        assert not np.array_equal(first.scores, other.scores)


# ---------------------------------------------------------------- blocks, memory


def test_a_shuffled_grid_is_scattered() -> None:
    cached, grid = generate.uniform(10_000, edge_factor=4), generate.grid(200, 200)
    assert not is_scattered(cached.indptr, cached.indices), "it fits into a cache"
    assert not is_scattered(grid.indptr, grid.indices)
    shuffle = np.random.default_rng(1).permutation(grid.n)
    source, target = grid.to_edges()
    shuffled = Graph.from_edges(shuffle[source], shuffle[target], n=grid.n)
    assert is_scattered(shuffled.indptr, shuffled.indices)


def test_graphs_are_prepared_once() -> None:
    graph = generate.kronecker(8)
    engine = engines.engine("cpu")
    assert engine.load(graph, CATALOGUE["hopwave"]) is engine.load(graph, CATALOGUE["hopwave-block"])
    prepared = cpu_graph.CpuGraph(graph)
    kinds = [prepared.adjacency("degree").hub.size for _ in range(3)]
    assert kinds == [0, graph.n, graph.n]


NEEDS = Accumulation.bytes_per_worker(1000, 2000, 1000, edges=False)


def test_as_many_workers_as_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to a limit, or to a part of the memory of the machine."""
    monkeypatch.setattr("resource.getrlimit", lambda _: (1 << 20, -1))  # ulimit -v
    assert host_memory.available_memory() == 0
    limits = NEEDS, 3 * NEEDS, 100 * NEEDS
    assert [cpu_workers.workers_within(limit, 8, NEEDS) for limit in limits] == [1, 3, 8]
    monkeypatch.setattr(host_memory, "available_memory", lambda: 4 * NEEDS)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 8, "less than every machine has"
    monkeypatch.setattr(host_memory, "BYTES_ANYWHERE", 0)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 3
    monkeypatch.setattr(host_memory, "available_memory", lambda: None)
    assert cpu_workers.workers_within(None, 8, NEEDS) == 8


# ---------------------------------------------------------------- plans and arguments


@pytest.mark.skipif("hopwave" not in nx.utils.backends.backends, reason="NetworkX finds backends by entry points")
def test_the_backend_takes_any_truth_value_as_networkx_does() -> None:
    for how in ({"endpoints": "yes"}, {"endpoints": None}, {"normalized": 2}, {"normalized": []}):
        karate = nx.karate_club_graph()
        found = nx.betweenness_centrality(karate, **how, backend="hopwave")
        assert found == pytest.approx(nx.betweenness_centrality(karate, **how, backend="networkx"), rel=1e-12)


# ---------------------------------------------------------------- checkpoints

GRAPH = generate.delaunay(2500, seed=1)  # large enough to interrupt even on many cores
CALLS: dict[str, Callable[..., Any]] = {
    "vertices": lambda **how: hw.betweenness_centrality(GRAPH, device="cpu", **how),
    "k": lambda **how: hw.betweenness_centrality(GRAPH, k=700, seed=3, endpoints=True, device="cpu", **how),
    "targets": lambda **how: hw.betweenness_centrality(GRAPH, targets=[1, 2, 3], cutoff=9, device="cpu", **how),
    "wide": lambda **how: hw.betweenness_centrality(GRAPH, k=40, seed=3, plan="hopwave-wide", device="cpu", **how),
    "edges": lambda **how: hw.edge_betweenness_centrality(GRAPH, device="cpu", **how),
}


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll a thousand times per second, so that short runs can be interrupted too."""
    monkeypatch.setattr(policy, "POLL_SECONDS", 0.001)


def done(path: Path) -> int:
    with np.load(path, allow_pickle=False) as stored:
        return int(stored["done"])


def stop(after: int) -> Callable[[int, int], None]:
    """Return a progress function that raises Ctrl-C when `after` sources are done."""

    def progress(reached: int, total: int) -> None:
        if after <= reached < total:
            raise KeyboardInterrupt

    return progress


def broken_off(call: Callable[..., Any], path: Path, after: int = 1) -> None:
    """Interrupt the call early, so that it leaves a checkpoint."""
    with pytest.raises(KeyboardInterrupt):
        call(checkpoint=path, progress=stop(after), threads=1)


# ---------------------------------------------------------------- continuing


@pytest.mark.parametrize("call", CALLS)
def test_a_run_continues_after_ctrl_c(call: str, tmp_path: Path) -> None:
    path, run = tmp_path / "run.npz", CALLS[call]
    unbroken = run(threads=2)
    stages = [0]
    for after in (1, 20, 0):  # the last before the first block of the resumed run
        broken_off(run, path, after)
        stages.append(done(path))
    assert stages[1] > 0 and stages == sorted(stages)
    heard: list[int] = []
    resumed = run(checkpoint=path, progress=lambda reached, total: heard.append(reached), threads=3)
    assert np.array_equal(resumed.scores, unbroken.scores)
    assert resumed.certificate == unbroken.certificate
    assert min(heard) > 0, "it did not start anew"


def test_ctrl_c_while_a_source_is_added_up_counts_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code finishes a source before Python sees Ctrl-C: the source must be both added and counted."""

    def heard(*given: Any) -> None:
        lead(*given)
        raise KeyboardInterrupt

    lead = team.lead
    run, other = (
        engines.engine("cpu").accumulation(GRAPH, BetweennessJob(np.arange(3)), CATALOGUE["hopwave-wide"], 1)
        for _ in range(2)
    )
    run.advance(0, lambda done: done == 1)
    with monkeypatch.context() as interrupted, pytest.raises(KeyboardInterrupt):
        interrupted.setattr(team, "lead", heard)
        run.advance(1, lambda done: False)
    other.advance(0, lambda done: done == 2)
    assert run.done == 2 and np.array_equal(run.total, other.total)


def test_other_errors_leave_the_last_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    broken_off(CALLS["vertices"], path)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        CALLS["vertices"](checkpoint=path, progress=Mock(side_effect=ZeroDivisionError))
    assert path.read_bytes() == before


def test_a_finished_run_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = CALLS["vertices"](checkpoint=str(tmp_path / "run.npz"))
    monkeypatch.setattr(cpu_betweenness, "run_workers", Mock(side_effect=AssertionError("nothing is left to run")))
    assert np.array_equal(CALLS["vertices"](checkpoint=tmp_path / "run.npz").scores, first.scores)


# ---------------------------------------------------------------- files of other runs

OTHERS: dict[str, dict[str, Any]] = {
    "other sources": {"k": 700, "seed": 3},
    "other targets": {"targets": [5]},
    "a cutoff": {"cutoff": 4},
    "endpoints": {"endpoints": True},
    "demand": {"source_weights": np.arange(GRAPH.n)},
    "another plan": {"plan": "turbobc-sccsc"},
    "all threads on a source": {"plan": "hopwave-wide"},
    "another graph": {"G": generate.delaunay(2500, seed=2)},
    "the graph directed": {"G": Graph(GRAPH.indptr, GRAPH.indices, directed=True)},
    "edges": {},
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of an interrupted run."""
    path = tmp_path_factory.mktemp("begun") / "run.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "POLL_SECONDS", 0.001)
        broken_off(CALLS["vertices"], path)
    return path


def refused(path: Path, call: Callable[..., Any], error: type[Exception], words: str) -> None:
    """The call raises one clear error, and the file is unchanged."""
    before = path.read_bytes()
    with pytest.raises(error, match=words) as caught:
        call(checkpoint=path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_call_is_refused(other: str, begun: Path, tmp_path: Path) -> None:
    ask: Any = hw.edge_betweenness_centrality if other == "edges" else hw.betweenness_centrality
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    words = "belongs to another graph, function, sample, plan or device; pass another path"
    refused(path, lambda checkpoint: ask(**{"G": GRAPH, "checkpoint": checkpoint} | OTHERS[other]), GraphError, words)


def test_labels_and_scaling_may_change(begun: Path, tmp_path: Path) -> None:
    """Options that only change how the sums are used may differ."""
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    raw = CALLS["vertices"](checkpoint=path, normalized=False)
    assert np.array_equal(raw.scores, CALLS["vertices"](normalized=False).scores)


def test_other_files_are_refused(begun: Path, tmp_path: Path) -> None:
    """tests/fuzz/checkpoints.py damages more of them."""
    path, whole = tmp_path / "run.npz", begun.read_bytes()
    with np.load(begun) as stored:
        parts = dict(stored)
    for content in (b"precious notes", whole[: len(whole) // 2]):
        path.write_bytes(content)
        refused(path, CALLS["vertices"], FormatError, "not a checkpoint of a betweenness run")
    hw.write(path, GRAPH)
    refused(path, CALLS["vertices"], FormatError, "pass another path, or delete the file")
    old = np.array("hopwave betweenness checkpoint 1")
    # Another engine may use blocks of another size; equally many blocks would then be another number of sources.
    changes: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"format": old}, FormatError, r"\(its format is '.* 1', but this version of hopwave reads '.* 2'"),
        ({"total": parts["total"][:-1]}, FormatError, "another size or type"),
        ({"done": np.array(10**6)}, FormatError, "delete the file"),
        ({"size": parts["size"] + 1}, GraphError, "another graph, function, sample, plan or device"),
    ]
    for change, error, words in changes:
        np.savez(path, **parts | change)
        refused(path, CALLS["vertices"], error, words)


# ---------------------------------------------------------------- written completely or not at all


def test_an_interrupted_write_keeps_the_old_checkpoint(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    before = path.read_bytes()

    def full(stream: Any, arrays: Any, *, packed: bool) -> None:
        stream.write(b"half a file")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_arrays", full)
    with pytest.warns(RuntimeWarning, match=r"progress cannot be saved in .*run\.npz \(No space left") as told:
        found = CALLS["vertices"](checkpoint=path).scores
    assert len(told) == 1
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    assert np.array_equal(found, CALLS["vertices"]().scores)  # the scores computed so far are returned


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("more", [{}, {"epsilon": 0.01, "method": "paths", "seed": 1}], ids=["sources", "paths"])
def test_ctrl_c_says_where_progress_is(
    more: dict[str, Any], full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stages = tmp_path / "run.npz", set()
    if full:
        monkeypatch.setattr(Checkpoint, "_write", Mock(side_effect=OSError(28, "No space left on device")))

    def stop(done: int, of: int) -> None:
        stages.add(of)
        if len(stages) > bool(more):  # the pilot sample is not saved
            raise KeyboardInterrupt

    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt) as stopped:
        warnings.simplefilter("ignore")
        CALLS["vertices"](checkpoint=path, progress=stop, **more)
    saved = f"hopwave: progress is saved in {path}; repeat the same call or command to continue"
    wanted = "hopwave: progress could not be saved: No space left on device" if full else saved
    assert stopped.value.__notes__ == [wanted] and path.exists() is not full


def test_ctrl_c_inside_a_library_that_writes_is_still_ctrl_c(tmp_path: Path) -> None:
    """In zipfile it ends in a ValueError: the archive cannot be closed while a part of it is open."""
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "a.npz"):
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("Can't close the ZIP file")
    assert not list(tmp_path.iterdir())


def test_a_second_ctrl_c_does_not_reach_the_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    write = Checkpoint._write

    def noted(*given: Any) -> None:
        threads.add(threading.current_thread())
        write(*given)

    monkeypatch.setattr(Checkpoint, "_write", noted)
    CALLS["wide"](checkpoint=tmp_path / "run.npz")
    assert threads and threading.main_thread() not in threads
