"""TurboBC on the GPU: memory, types, pauses. test_betweenness.py compares its scores with all other plans."""

from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
import oracle
from graphs import TRAPS
from hopwave import generate
from hopwave.algorithms import brandes
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob

PLANS = ["turbobc-sccooc", "turbobc-sccsc", "turbobc-vecsc"]
every_plan = pytest.mark.parametrize("plan", PLANS)


@pytest.fixture
def turbobc() -> Any:
    pytest.importorskip("cupy", reason="CuPy is not installed")
    from hopwave.engines.cuda.betweenness import turbobc as cuda_turbobc

    return cuda_turbobc


# ---------------------------------------------------------------- without a GPU


def test_the_three_plans_are_three_products(turbobc: Any) -> None:
    assert [turbobc.product_of(CATALOGUE[plan]) for plan in PLANS] == ["arcs", "columns", "warps"]


def test_deterministic_rejects_plans_that_add_by_atomics(turbobc: Any) -> None:
    job = BetweennessJob(np.zeros(1, np.int64), deterministic=True)
    assert "plan='auto'" in turbobc.why_not(CATALOGUE["turbobc-sccooc"], job)
    assert [turbobc.why_not(CATALOGUE[plan], job) for plan in PLANS[1:]] == [None, None]


def test_memory_is_the_papers_with_float64(turbobc: Any) -> None:
    """7n + m words; three arrays of δ and the sums have one word more per vertex, and so has σ if it is float64."""
    n, m = 1000, 7000
    assert turbobc.needed_words(n, m, "columns") == 7 * n + m + 4 * n + 1
    assert turbobc.needed_words(n, m, "warps", wide=True) == 7 * n + m + 5 * n + 1
    assert turbobc.needed_words(n, m, "arcs") == 7 * n + 2 * m + 4 * n + 1
    assert turbobc.needed_words(n, m, "columns", edges=True) == 7 * n + m + 4 * n + 1 + 2 * (m - n)


# ---------------------------------------------------------------- on a GPU


on_a_gpu = pytest.mark.gpu


def finished(engine: Any, graph: hw.Graph, plan: str, sources: Any, **options: Any) -> Any:
    job = BetweennessJob(np.asarray(sources, np.int64), **options)
    run = engine.accumulation(graph, job, CATALOGUE[plan])
    brandes.accumulate(run, job, "test", False, None)
    return run


def same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found, float), np.array(expected, float), rtol=1e-9, atol=1e-290)


@on_a_gpu
@every_plan
def test_counts_take_the_narrowest_type_that_holds_them(gpu: Any, plan: str) -> None:
    small = finished(gpu, TRAPS["kronecker"](), plan, range(20))
    assert (small.widened, small.extended) == (0, 0)
    # From a corner 2^75 paths lead to the opposite corner. In a chain of diamonds, 2^31 paths fit, and 2^32 do not.
    grid = TRAPS["overflow-of-int64-grid"]()
    for graph, sources, widened in (
        (grid, [0, grid.n - 1], 2), (generate.diamonds(31), [0], 0), (generate.diamonds(32), [0], 1)
    ):  # fmt: skip
        run = finished(gpu, graph, plan, sources)
        assert (run.widened, run.extended) == (widened, 0)
        same(run.total / 2, oracle.betweenness(graph, sources, normalized=False, exact=graph is not grid))


@on_a_gpu
@pytest.mark.parametrize("plan", ["turbobc-sccsc", "turbobc-vecsc"])
def test_the_type_changes_no_bit(gpu: Any, plan: str) -> None:
    graph = TRAPS["kronecker"]()
    job = BetweennessJob(np.arange(graph.n, dtype=np.int64))
    narrow, wide = (gpu.accumulation(graph, job, CATALOGUE[plan]) for _ in range(2))
    wide.widened = 10**9  # as if all earlier sources had needed it
    for run in (narrow, wide):
        brandes.accumulate(run, job, "test", False, None)
    assert narrow.widened == 0 and wide.widened == 10**9 + graph.n
    assert np.array_equal(narrow.total, wide.total)


@on_a_gpu
@every_plan
@pytest.mark.parametrize("edges", [False, True])
def test_a_pause_after_every_source_changes_no_bit(gpu: Any, plan: str, edges: bool) -> None:
    """Nor Ctrl-C after four. Sums of edges go to the host in the graph's order, and back into the matrix's."""

    def interrupt(done: int) -> bool:
        if done == 4:
            raise KeyboardInterrupt
        return False

    graph = TRAPS["kronecker-directed" if edges else "small-world"]()
    job = BetweennessJob(np.arange(0, graph.n, 7, dtype=np.int64), endpoints=not edges, edges=edges)
    whole, broken = (gpu.accumulation(graph, job, CATALOGUE[plan]) for _ in range(2))
    assert whole.advance(0, lambda done: False) == whole.blocks
    with pytest.raises(KeyboardInterrupt):
        broken.advance(0, interrupt)
    assert broken.done == 4
    for done in range(4, broken.blocks):
        assert broken.advance(done, lambda done: True) == done + 1 == broken.done
    if edges or plan == "turbobc-sccooc":  # adds by atomic operations, in any order
        same(broken.total, whole.total)
    else:
        assert np.array_equal(broken.total, whole.total)
    assert np.array_equal(broken.certificate[:, 1], whole.certificate[:, 1])


@on_a_gpu
@every_plan
@pytest.mark.parametrize("directed", [False, True])
def test_memory_is_as_estimated(gpu: Any, turbobc: Any, plan: str, directed: bool) -> None:
    """One format of the matrix, and no values."""
    import cupy

    graph = generate.kronecker(14, edge_factor=8, directed=directed)
    pool = cupy.get_default_memory_pool()
    finished(gpu, graph, plan, [0])  # compiles
    graph = mixed.fresh(graph)
    before = pool.used_bytes()
    run = finished(gpu, graph, plan, [0, 1])
    words = turbobc.needed_words(graph.n, graph.m, run.product, wide=run.widened > 0)
    assert 0 <= (pool.used_bytes() - before) / 4 - words < 2000  # CuPy rounds every array up to 512 bytes
    assert not directed or "rows" not in mixed.uploaded(graph).__dict__
