"""Decisions before betweenness and sweeps run on a GPU, tested without one: regime, shapes, memory, device."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwave import EngineError, engines, generate
from hopwave.api import choice
from hopwave.engines.cuda import Engine, policy
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.cuda.betweenness.regimes import Machine
from hopwave.engines.cuda.policy import level_arrays
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob

GB = 1 << 30
graphs = st.tuples(st.integers(1, 10**8), st.integers(0, 10**9))
machines = st.builds(
    Machine,
    multiprocessors=st.integers(1, 200),
    shared=st.sampled_from([48 << 10, 64 << 10, 99 << 10, 227 << 10]),
    threads=st.sampled_from([1024, 1536, 2048]),
    memory=st.integers(1 << 30, 1 << 38),
    cooperative=st.booleans(),
)


@pytest.mark.parametrize(
    ("what", "n", "m", "k", "depth", "regime"),
    [
        ("kronecker that does not fit", 1 << 27, 1 << 32, 64, 6, "wide"),
        ("a mesh", 1 << 15, 196_548, 1 << 15, 86, "block"),
        ("a road network", 114_599, 239_332, 64, 951, "block"),
        ("a large mesh, one source", 1 << 20, 6_291_370, 1, 376, "block"),
        ("a social network", 36_692, 367_662, 36_692, 8, "batch"),
        ("dense", 98_303, 100_245_742, 98_303, 2, "batch"),
        ("kronecker", 1 << 21, 166_900_390, 64, 5, "batch"),
        ("kronecker, one source", 1 << 21, 166_900_390, 1, 5, "wide"),
        ("kronecker, few sources", 1 << 21, 166_900_390, 4, 5, "wide"),
        ("small and sparse", 5000, 12_000, 5000, 12, "block"),
    ],
)
def test_the_regime_suits_the_graph(what: str, n: int, m: int, k: int, depth: int, regime: str) -> None:
    chosen, why = regimes.choose(n, m, k, depth, 100 * GB)
    assert chosen == regime and why, what


@given(graphs, st.integers(1, 10**7), st.integers(0, 10**5), machines)
def test_shapes_can_be_launched(graph: tuple[int, int], k: int, depth: int, machine: Machine) -> None:
    shape = regimes.block_shape(*graph, k, depth, machine)
    assert shape.threads in (64, 128, 256, 512, 1024) and shape.group in (1, 2, 4, 8, 16, 32)
    assert 1 <= shape.blocks <= k and shape.team in (1, 2, 4, 8, 16, 32)
    assert shape.shared in (0, 4 * regimes.code_words(graph[0])) and shape.shared <= machine.shared
    assert shape.team == 1 or (shape.shared == 0 and shape.threads == 1024 and machine.cooperative)
    per = -(-shape.blocks * shape.team // machine.multiprocessors)
    assert per * shape.threads <= max(machine.threads, shape.threads)
    assert per == 1 or per * shape.shared <= machine.shared
    words, size = regimes.code_words(graph[0]), regimes.block_size(k, graph[0], shape, machine)
    assert 32 * (words // 2) >= graph[0] and words % 2 == 0  # two bits per vertex, or two bitmaps
    assert 1 <= size <= min(k, 8 * shape.blocks)


def test_few_sources_get_large_blocks_and_wide_levels_get_teams() -> None:
    mesh, machine = (1 << 20, 6 << 20), Machine(threads=1024)
    assert regimes.block_shape(114_599, 239_332, 64, 951, Machine()).threads == 1024
    assert regimes.block_shape(114_599, 239_332, 10**5, 951, Machine()).threads == 256
    wide = regimes.block_shape(*mesh, 10**6, 376, Machine())
    assert (wide.threads, wide.shared) == (1024, 0)
    assert [regimes.block_shape(*mesh, k, 376, machine).team for k in (1, 16, 64, 67, 132)] == [8, 8, 2, 1, 1]
    assert regimes.block_shape(1 << 24, 1 << 26, 1, 4000, machine).team == 16
    assert regimes.block_shape(114_599, 239_332, 1, 951, machine).team == 1, "its levels are narrow"
    assert regimes.block_shape(*mesh, 1, 376, Machine(cooperative=False)).team == 1
    assert [regimes.lanes_for(k) for k in (0, 1, 2, 3, 33, 64, 10**6)] == [1, 1, 2, 4, 64, 64, 64]


@given(graphs, st.integers(1, 10**5), machines, st.integers(1, 1 << 38))
def test_blocks_fit_or_an_error_says_so(graph: tuple[int, int], k: int, machine: Machine, budget: int) -> None:
    n, m = graph
    shape = regimes.block_shape(n, m, k, 20, machine)
    size = regimes.block_size(k, n, shape, machine)
    state, row = regimes.block_state(n, shape.shared), 8 * n + 64
    if state + row > budget:
        with pytest.raises(EngineError, match=r"for one source and may use .* raise memory_limit="):
            regimes.block_fit(state, n, shape, size, budget)
        return
    blocks, rows = regimes.block_fit(state, n, shape, size, budget)
    assert 1 <= blocks <= rows <= size and blocks <= shape.blocks
    assert blocks * state + rows * row <= budget


@given(graphs, st.integers(1, 1000), machines, st.integers(1, 1 << 38), st.booleans())
def test_batches_fit_or_an_error_says_so(
    graph: tuple[int, int], k: int, machine: Machine, budget: int, edges: bool
) -> None:
    n, m = graph
    lanes = regimes.lanes_for(k)
    batches = regimes.batches_at_once(n, m, k, lanes, machine, edges)
    assert 1 <= batches <= 32 and (batches == 1 or not edges)
    if regimes.batch_bytes(n, m, 1, 10) > budget:
        with pytest.raises(EngineError, match="for one source"):
            regimes.batch_fit(n, m, lanes, batches, 10, budget)
        return
    fewer, at_once = regimes.batch_fit(n, m, lanes, batches, 10, budget)
    assert 1 <= fewer <= lanes and 1 <= at_once <= batches
    assert at_once * regimes.batch_bytes(n, m, fewer, 10) <= budget
    assert fewer == lanes or at_once == 1, "fewer batches before smaller ones"


@given(
    st.integers(1, 2**31 - 2), st.sampled_from(policy.SWEEP.words), st.integers(1, 10**4), st.integers(0, 10**5),
    st.integers(1, 2000), st.integers(0, 1 << 38),
)  # fmt: skip
def test_subgrids_share_the_grid_and_fit(n: int, words: int, groups: int, depth: int, blocks: int, free: int) -> None:
    subgrids, each = policy.subgrids_for(n, words, groups, depth, blocks, free, 256)
    assert 1 <= subgrids <= groups and each >= 1 and subgrids * each <= blocks
    assert subgrids == 1 or subgrids * 24 * words * n <= free
    assert each == 1 or (each - 1) * 256 < n * words, "no block is without a vertex"


def test_auto_takes_a_gpu_where_the_run_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cupy")
    real, cuda, graph = engines.engine, Engine(), generate.uniform(1 << 10, edge_factor=16)
    monkeypatch.setattr(engines, "engine", lambda name: cuda if name == "cuda" else real(name))
    monkeypatch.setattr(Engine, "regime", lambda *given: ("batch", "a reason"))
    few, many = BetweennessJob(np.zeros(64, np.int64)), BetweennessJob(np.zeros(1 << 15, np.int64))
    fixed = BetweennessJob(np.zeros(1 << 15, np.int64), deterministic=True)
    near, far = (BetweennessJob(np.zeros(k, np.int64), weighted=True) for k in (4, 1 << 20))
    for job, right, more in (
        (few, "cpu", {}), (many, "cuda", {}), (many, "cpu", {"threads": 2}), (many, "cpu", {"device": "cpu"}),
        (few, "cuda", {"device": "cuda"}), (fixed, "cpu", {"plan": "turbobc-sccooc"}), (fixed, "cuda", {}),
        (many, "cpu", {"gpu": False}), (near, "cpu", {}), (far, "cuda", {}), (far, "cpu", {"threads": 2}),
        (far, "cuda", {"plan": CATALOGUE["brandes-dijkstra"]}),
    ):  # fmt: skip
        how: dict[str, Any] = {"device": "auto", "plan": "auto", "threads": None, "gpu": True} | more
        monkeypatch.setattr(choice, "has_gpu", lambda how=how: how["gpu"])
        found = choice.betweenness_engine(how["device"], graph, job, how["plan"], how["threads"])
        assert found.name == right, more
    plan, why = choice.choose_betweenness_plan("auto", many, graph, cuda)
    assert plan is CATALOGUE["hopwave-batch"] and why == "a reason"


@given(st.lists(st.integers(0, 10**5), max_size=30))
def test_pieces_of_long_rows_fit(rows: list[int]) -> None:
    arcs, split = sum(rows), policy.LevelSplit()
    pieces, rest = (sum(-(-row // long) for row in rows if row > long) for long in (regimes.PIECE_ARCS, split.long_row))
    assert pieces <= regimes.most_pieces(arcs) and rest <= level_arrays(1, arcs, split)["rest"].shape
