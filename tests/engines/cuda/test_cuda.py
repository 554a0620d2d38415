"""The CUDA engine: arrays on the GPU in and out, buffers used again, memory as estimated, users' plans."""

import gc
from itertools import product
from typing import Any

import numpy as np
import pytest
from benchmarks import memory as measured

import hopwave as hw
import mixed
import oracle
from graphs import TRAPS
from hopwave import Graph, engines, generate
from hopwave.api.validate import validate
from hopwave.arrays import on_host
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import XBFS, Always, OneWay, Rule

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
cupy = pytest.importorskip("cupy")
SEARCHES = [plan.name for plan in CATALOGUE.values() if plan.task == "search"]


# ---------------------------------------------------------------- calls that do not wait


def test_more_searches_than_anybody_has_read() -> None:
    """Their ends are kept in a ring of pinned memory; 64 unread searches fill it, and here it goes round twice."""
    from hopwave.engines.cuda.search.workspace import SLOTS

    graph = TRAPS["kronecker"]()
    expected = [hw.bfs(graph, s, device="cpu") for s in range(40)]
    found = [hw.bfs(graph, s % 40, device="cuda") for s in range(2 * SLOTS + 5)]
    for s, result in enumerate(found):
        assert (result.depth, result.reached) == (expected[s % 40].depth, expected[s % 40].reached)
        assert (result.distances == expected[s % 40].distances).all()


def test_streams_take_turns_with_the_buffers_of_a_graph() -> None:
    graph = hw.generate.kronecker(12, seed=3).to("cuda")
    expected = [hw.bfs(graph.to("cpu"), s, device="cpu").distances for s in range(8)]
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
    found = []
    for turn in range(24):
        with streams[turn % 3]:
            found.append(hw.bfs(graph, turn % 8, device="cuda"))
    for stream in streams:
        stream.synchronize()
    for turn, result in enumerate(found):
        assert (cupy.asnumpy(result.distances) == expected[turn % 8]).all()


def test_answers_in_pinned_memory_are_ordinary_arrays() -> None:
    from hopwave.engines.cuda import buffers

    graph, before = generate.path(1 << 15), buffers.pinned.count
    kept = [hw.bfs(graph, s, device="cuda").distances for s in range(buffers.MOST_ANSWERS + 4)]
    assert buffers.pinned.count == buffers.MOST_ANSWERS
    for s, distances in enumerate(kept):
        assert isinstance(distances, np.ndarray) and distances.flags.writeable
        assert (distances == np.abs(np.arange(graph.n) - s)).all()
    view = kept[0][5:10]
    del kept, distances
    assert view.tolist() == [5, 6, 7, 8, 9] and buffers.pinned.count == before + 1
    del view
    assert buffers.pinned.count == before


SLOW = """extern "C" __global__ void slow(unsigned long long *to) {
  const long long begin = clock64();
  while (clock64() - begin < 200000000ll);
  *to = 7;
}"""


@pytest.mark.parametrize("of_products", [False, True])
def test_memory_is_not_handed_out_before_its_kernels_end(of_products: bool) -> None:
    from hopwave.engines.cuda.buffers import Report
    from hopwave.engines.cuda.linalg import scratch

    size, slow = scratch.SLOTS * scratch.SLOT, cupy.RawKernel(SLOW, "slow")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        held = scratch.Pending(scratch.stream_scratch()) if of_products else Report(size)
        address = int(held.address if of_products else held.memory.ptr)
        slow((1,), (1,), (np.uint64(address),))
        assert not stream.done
    del held
    scratch.forget()  # as after Ctrl-C
    others = [Report(size)]
    while not others[-1].memory.ptr <= address < others[-1].memory.ptr + size and len(others) < 100:
        others.append(Report(size))
    assert len(others) < 100, "the memory is not used again"
    assert stream.done


# ---------------------------------------------------------------- arrays of the GPU


@pytest.mark.parametrize("trap", ["kronecker", "kronecker-directed"])
@pytest.mark.parametrize("plan", ["xbfs", "hiragushi-hybrid", "turbobfs-td-sccsc", "hopwave"])
def test_device_arrays_are_used_as_they_are_and_answers_stay_there(trap: str, plan: str) -> None:
    graph = TRAPS[trap]()
    indptr, indices = cupy.asarray(graph.indptr), cupy.asarray(graph.indices)
    graph = Graph.from_csr(indptr, indices, directed=graph.directed)
    result = hw.bfs(graph, 0, plan=plan, device="cuda")
    kept = mixed.uploaded(graph)
    assert kept.given[0] is indptr and kept.given[1] is indices
    assert CATALOGUE[plan].order == "degree" or (kept.rows[0] is indptr and kept.rows[1] is indices)
    assert isinstance(result.distances, cupy.ndarray) and isinstance(result.predecessors, cupy.ndarray)
    distances = result.distances.get()
    assert distances.tolist() == oracle.distances(graph, [0])
    assert validate(graph, [0], distances, result.predecessors.get()).failures == ()
    counts = hw.bfs(graph, 0, path_counts=True, device="cuda").path_counts
    assert isinstance(counts, cupy.ndarray) and counts.get().tolist() == oracle.path_counts(graph, [0])


def test_a_directed_graph_backwards_shares_its_arrays() -> None:
    graph = mixed.fresh(TRAPS["kronecker-directed"]())
    hw.bfs(graph, 0, plan="xbfs", device="cuda")
    hw.bfs(graph, 0, plan="xbfs", device="cuda", direction="in")
    there, back = mixed.uploaded(graph), mixed.uploaded(graph.reversed())
    assert back.rows[1] is there.columns[1] and back.columns[1] is there.rows[1]


@pytest.mark.parametrize("directed", [False, True])
def test_arranged_on_the_device_as_on_the_host(directed: bool) -> None:
    graph = mixed.fresh(TRAPS["kronecker-directed" if directed else "kronecker"]())
    hw.bfs(graph, 0, plan="hiragushi-hybrid", device="cuda")
    kept, right = mixed.uploaded(graph), graph.arranged()
    assert all(map(np.array_equal, map(on_host, kept.arranged), (right.in_indptr, right.in_indices)))
    assert all(map(np.array_equal, map(on_host, kept.columns), (graph.in_indptr, graph.in_indices)))


# ---------------------------------------------------------------- memory


def test_one_order_of_the_neighbours_is_enough() -> None:
    """4 bytes per arc, arranged or not; both orders only after plans that use both."""
    graph = mixed.fresh(TRAPS["kronecker"]())
    hw.bfs(graph, 0, plan="hiragushi-hybrid", device="cuda")
    kept = mixed.uploaded(graph)
    assert "rows" not in kept.__dict__ and "columns" not in kept.__dict__
    expected = oracle.distances(graph, [0])
    assert hw.bfs(graph, 0, plan="xbfs", device="cuda").distances.tolist() == expected
    assert kept.rows[1].get().tolist() == graph.indices.tolist()
    assert hw.bfs(graph, 0, plan="hiragushi-hybrid", device="cuda").distances.tolist() == expected


@pytest.mark.parametrize("plan", SEARCHES)
def test_buffers_are_used_again(plan: str) -> None:
    graph = mixed.fresh(TRAPS["kronecker"]())
    hw.bfs(graph, 0, plan=plan, device="cuda")
    hw.bfs(graph, 0, plan=plan, device="cuda")
    gc.collect()
    used = cupy.get_default_memory_pool().used_bytes()
    for _ in range(5):
        hw.bfs(graph, 0, plan=plan, device="cuda")
    gc.collect()
    assert cupy.get_default_memory_pool().used_bytes() == used


def test_a_reverse_on_the_gpu_outlives_its_graph() -> None:
    """It reads the arrays of the other, which may not be there yet."""
    graph = generate.kronecker(10, 8, seed=3, directed=True)
    expected = hw.bfs(mixed.fresh(graph), 0, direction="in", device="cpu").distances
    hw.bfs(graph, 0, plan="xbfs", device="cuda")
    other = graph.reverse()
    hw.pagerank(other, device="cuda")
    del graph
    gc.collect()
    for plan in SEARCHES:
        assert np.array_equal(hw.bfs(other, 0, plan=plan, device="cuda").distances, expected), plan


@pytest.mark.filterwarnings("ignore:PageRank stopped")
@pytest.mark.parametrize("name", ["kron17", "grid600"])
def test_the_peak_on_a_gpu(name: str) -> None:
    """Every question of benchmarks/results/memory.md, on two of its graphs."""
    graph = measured.GRAPHS[name]()
    wrong = []
    for ask, (what, options) in measured.asks(graph).items():
        measured.call(measured.fresh(graph, options), what, options, "cuda", graph.to_edges())  # compiles
        peak = measured.on_gpu(graph, what, options)["peak"]
        said = measured.estimated(graph, what, options, "cuda")
        if abs(said - peak) > max(0.25 * peak, 16e6):
            wrong.append((ask, said, peak))
    assert not wrong


# ---------------------------------------------------------------- users' plans


def own(name: str, *steps: Push | Pull, rule: Rule | None = None) -> Plan:
    return Plan(name, "", "", "", steps, rule or (Always() if len(steps) == 1 else OneWay(0.05)))


AHEAD = CATALOGUE["xbfs"].steps[2]
PULLS = product(("thread", "warp"), ("all", "unvisited"), ("frontier", "visited"), (False, True))
OWN = [
    own("push-thread", Push("thread")),
    own("scan-thread", Push("thread", "scan", "benign")),
    own("scan-twc", Push("twc", "scan", "benign")),
    *(own("pull-{}-{}-{}-{}".format(*words), Pull(*words)) for words in PULLS),
    *(own(f"pull-shares-{operand}", Pull("merge", "all", operand, False)) for operand in ("frontier", "visited")),
    own("compacted", Pull("thread", "compacted", "visited")),
    *(
        own(f"queue-{balance}-{ahead}", Pull("thread", "compacted", asynchronous=ahead, balance=balance))
        for balance, ahead in product(("static", "thread", "warp", "donate"), (False, True))
    ),
    own("reuse-always", Push("twc", "reuse")),
    own("pull-then-dense", Pull("thread"), Push("edge", "dense")),
    own("dense-then-two-phase", Push("edge", "dense"), Push("twc")),
    own("two-phase-then-sort", Push("twc", claim="benign"), Push("merge", "sort")),
    own("sort-then-pull", Push("merge", "sort"), Pull("warp")),
    own("every-way", Push("thread"), Push("twc", "scan", "benign"), AHEAD, Push("thread", "reuse"), Push("twc"),
        rule=XBFS(0.02)),
    *(own(f"ahead-then-{push.output}", AHEAD, push)
      for push in (Push("twc", "reuse"), Push("twc"), Push("twc", "scan", "benign"))),
]  # fmt: skip


@pytest.mark.parametrize("plan", OWN, ids=str)
@pytest.mark.parametrize("trap", ["kronecker", "kronecker-directed", "hub-with-pendant", "path", "two-components"])
def test_users_plans(plan: Plan, trap: str) -> None:
    graph = TRAPS[trap]()
    for source in (0, graph.n // 2):
        result = hw.bfs(graph, source, plan=plan, device="cuda")
        assert result.distances.tolist() == oracle.distances(graph, [source])
        assert validate(graph, [source], result.distances, result.predecessors).failures == ()
        if plan.why_not(SearchJob(path_counts=True)) is None:
            counted = hw.bfs(graph, source, path_counts=True, plan=plan, device="cuda")
            assert counted.path_counts.tolist() == oracle.path_counts(graph, [source])


@pytest.mark.parametrize("plan", ["hopwave", "hopwave-paths"])
def test_the_host_runs_the_levels_where_a_gpu_cannot_launch_cooperatively(plan: str) -> None:
    graph = mixed.fresh(TRAPS["kronecker-directed"]())
    engine: Any = engines.engine("cuda")
    engine.load(graph, CATALOGUE[plan]).device.cooperative = False
    counted = plan == "hopwave-paths"
    result = hw.bfs(graph, 0, path_counts=counted, plan=plan, device="cuda", trace=True)
    assert result.distances.tolist() == oracle.distances(graph, [0])
    assert result.trace is not None and sum(level.found for level in result.trace) == result.reached - 1
    if counted:
        assert result.path_counts.tolist() == oracle.path_counts(graph, [0])
