"""Power iterations in one launch and products on the GPU: rows of every length, the same bits in every run, streams."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import linalg as la
from hopwave.engines import algebra
from hopwave.planning.jobs import PowerJob

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
cupy = pytest.importorskip("cupy")

EXACT: dict[str, Any] = {"tol": 1e-15, "max_iter": 1000}


def lengths() -> hw.Graph:
    """Vertices with 0 … 70, 1,023 … 1,026 and 20,000 in-arcs, and vertices without out-arcs."""
    rng = np.random.default_rng(5)
    n, wanted = 30_000, [*range(71), 127, 128, 129, 511, 512, 513, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 20_000]
    tails = np.concatenate([rng.choice(n - 1000, length, replace=False) for length in wanted])
    heads = np.repeat(rng.choice(n, len(wanted), replace=False), wanted)
    return hw.Graph.from_edges(tails, heads, n=n, directed=True)


GRAPHS = {
    "lengths": lengths,
    "star": lambda: hw.generate.star(5000),
    "all into one": lambda: hw.Graph.from_edges(np.arange(1, 9000), np.zeros(8999, int), directed=True),
    "kronecker": lambda: hw.generate.kronecker(10, 16, seed=2),
    "kronecker directed": lambda: hw.generate.kronecker(11, 8, seed=3, directed=True),
    "grid": lambda: hw.generate.grid(90, 70, missing=0.1, seed=1),
    "path": lambda: hw.generate.path(1000, directed=True),
    "loop": lambda: hw.Graph.from_edges([0], [0], directed=True),
}
graphs = pytest.mark.parametrize("name", GRAPHS)


@graphs
@pytest.mark.parametrize("weighted", [False, True])
def test_ranks_are_the_cpus(name: str, weighted: bool) -> None:
    graph, rng = GRAPHS[name](), np.random.default_rng(1)
    weights = None
    if weighted:
        rows = np.repeat(np.arange(graph.n), graph.degrees)
        weights = 1.0 + (rows * graph.indices) % 7
    given = {what: rng.random(graph.n) * (rng.random(graph.n) < 0.5) + 1e-9 for what in ("personalization", "dangling")}
    for more in ({}, {"alpha": 0.6, **given}):
        found, right = (
            hw.pagerank(graph, weights=weights, device=on, **EXACT, **more).scores for on in ("cuda", "cpu")
        )
        assert np.allclose(found, right, rtol=1e-9, atol=1e-13)


@graphs
def test_rounds_are_those_of_products(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compares the numbers after a few rounds and after more: one round too many or too few would show."""
    graph = GRAPHS[name]()
    start = np.random.default_rng(4).random(graph.n)

    def all_three(change: float) -> list[Any]:
        options: dict[str, Any] = {"tol": change / graph.n, "nstart": start, "device": "cuda", "max_iter": 5000}
        return [
            hw.pagerank(graph, **options).scores,
            hw.eigenvector_centrality(graph, **options).scores,
            hw.katz_centrality(graph, 1e-4, start, **options).scores,
        ]

    for change in (0.3, 0.02):
        runs = [all_three(change) for _ in range(4)]
        with monkeypatch.context() as patch:
            patch.setattr(type(algebra("cuda")), "power_iteration", lambda *_: None)
            in_turn = all_three(change)
        for mine, theirs in zip(runs[0], in_turn, strict=True):
            assert np.allclose(mine, theirs, rtol=1e-11, atol=1e-15)
        assert all(np.array_equal(*pair) for run in runs for pair in zip(run, runs[0], strict=True)), "other bits"


def test_the_transpose_has_ranks_of_its_own() -> None:
    A = la.Matrix.from_graph(GRAPHS["kronecker directed"]())
    for matrix in (A, A.T, A):
        right = la.algorithms.pagerank(matrix, tol=1e-12).to_dense()
        found = la.algorithms.pagerank(matrix, tol=1e-12, device="cuda").to("cpu").to_dense()
        assert np.allclose(found, right, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", ["grid", "grid directed", "pieces"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_numbered_by_distance_give_the_same_ranks(
    kind: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large mesh whose vertices are numbered at random gets numbered by distance."""
    from dataclasses import replace

    from hopwave.engines.cuda.linalg import power

    monkeypatch.setattr(power, "POWER", replace(power.POWER, order_vertices=100, near=50, deep=8))
    mesh = hw.generate.grid(60, 50, missing=0.05, seed=3)
    n, edges = mesh.n, np.array(list(mesh.edges())).T
    if kind == "pieces":  # a second mesh that the first vertex does not reach, and vertices without arcs
        n, edges = 2 * n + 30, np.concatenate([edges, edges + n], axis=1)
    tails, heads = np.random.default_rng(4).permutation(n)[edges]
    graph = hw.Graph.from_edges(tails, heads, n=n, directed=kind == "grid directed")
    rows = np.repeat(np.arange(graph.n), graph.degrees)
    weights = 1.0 + (rows * graph.indices) % 7 if weighted else None
    matrix = la.Matrix.from_graph(graph, weights).to("cuda") if weighted else la.Matrix.from_graph(graph).to("cuda")
    assert power.dealt_columns(matrix, PowerJob(1.0, 0.0, 1)).order is not None
    for given in ({}, {"personalization": {7: 1.0, 11: 2.0}}):
        found = hw.pagerank(graph, weights=weights, device="cuda", **EXACT, **given).scores
        right = hw.pagerank(graph, weights=weights, device="cpu", **EXACT, **given).scores
        assert np.allclose(found, right, rtol=1e-9, atol=1e-15)


# ---------------------------------------------------------------- products: rows in pieces, streams, what stays


@pytest.fixture(scope="module")
def hubs() -> hw.Graph:
    """Rows without entries, short, medium and long rows: up to 40,000 entries, eighty pieces."""
    n = 60_000
    rng = np.random.default_rng(1)
    lengths = {0: 40_000, 1: 513, 2: 512, 3: 511, 4: 64, 5: 63, 6: 20_000, 7: 1025, 8: 1}
    rows = np.concatenate([np.full(length, row) for row, length in lengths.items()])
    columns = np.concatenate([rng.choice(n - 100, length, replace=False) + 100 for length in lengths.values()])
    return hw.Graph.from_edges(rows, columns, n=n, directed=True)


def same(y: la.Vector, z: la.Vector) -> bool:
    return bool(np.array_equal(y.to("cpu").indices, z.indices) and np.array_equal(y.to("cpu").values, z.values))


@pytest.mark.parametrize("name", ["plus_second", "min_second", "any_pair", "or_and", "lxor_land"])
@pytest.mark.parametrize("share", [1.0, 0.5, 0.001])
def test_long_rows(hubs: hw.Graph, name: str, share: float) -> None:
    """Whole numbers, so that the order of additions does not matter."""
    n, rng = hubs.n, np.random.default_rng(2)
    A = la.Matrix.from_graph(hubs)
    x = la.Vector.from_dense(rng.integers(0, 9, n).astype(np.int64), rng.random(n) < share)
    mask = la.Vector.from_entries([0, 3, 6, 7, 50], True, n)
    for given in ({}, {"mask": mask}, {"mask": mask, "complement": True}):
        for turned in (A, A.T):
            right = la.mxv(turned, x, la.semiring[name], device="reference", **given)
            for direction in ("push", "pull"):
                for exits in (True, False):
                    y = la.mxv(
                        turned, x, la.semiring[name], direction=direction, early_exit=exits, device="cuda", **given
                    )
                    assert same(y, right), (direction, exits, list(given))


@pytest.mark.parametrize("name", ["plus_pair", "plus_times", "max_min"])
@pytest.mark.parametrize("direction", ["pull", "push"])
def test_long_dot_products(hubs: hw.Graph, name: str, direction: Any) -> None:
    B = la.extract(la.Matrix.from_graph(hubs, np.arange(hubs.m) % 7), np.arange(20))
    mask = la.Matrix.from_dense(np.pad(np.ones((9, 9), bool), (0, 11)))
    options: dict[str, Any] = {"mask": mask, "structural": True, "direction": direction}
    found, right = (
        la.mxm(B, B.T, la.semiring[name], device=place, **options).to("cpu").rows for place in ("cuda", "cpu")
    )
    assert all(map(np.array_equal, found, right))


def test_nothing_leaves_the_device_and_counts_are_known_when_asked(hubs: hw.Graph) -> None:
    A = la.Matrix.from_graph(hubs).to("cuda")
    x = la.Vector.from_dense(np.random.default_rng(3).random(hubs.n)).to("cuda")
    y, again = (la.mxv(A, x, la.semiring.plus_second, direction="pull") for _ in range(2))
    assert same(y, again.to("cpu")) and la.reduce(x) == la.reduce(x), "other bits"
    y = la.mxv(A, la.Vector.full(hubs.n, 1.0).to("cuda"), direction="pull")
    assert y.device == "cuda" and isinstance(y.arrays()[0], cupy.ndarray)
    assert y.count_if_known() is None and y.nnz == 9 and y.count_if_known() == 9
    assert A.to("cuda") is A and A.T.T.device == "cuda"


def test_streams_and_threads_do_not_disturb_each_other(hubs: hw.Graph) -> None:
    A, x = la.Matrix.from_graph(hubs).to("cuda"), la.Vector.from_dense(np.arange(hubs.n)).to("cuda")

    def products() -> tuple[la.Vector, la.Vector]:
        y = la.mxv(A, x, la.semiring.plus_second, direction="pull")
        f = la.Vector.from_entries([6], 1, hubs.n).to("cuda")
        return y, la.mxv(A.T, f, la.semiring.plus_second, direction="push")

    right, few = (y.to("cpu") for y in products())
    cupy.cuda.Device().synchronize()

    def work(_: int) -> bool:
        with cupy.cuda.Stream(non_blocking=True):
            found = [products() for _ in range(20)]
            return all(same(y, right) and z.nnz == few.nnz for y, z in found)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_cupys_sparse_matrices_are_used_as_they_are() -> None:
    from cupyx.scipy.sparse import csr_matrix

    given = csr_matrix(cupy.asarray([[0.0, 2.0], [1.0, 0.0]]))
    A = la.Matrix.from_scipy(given)
    assert A.device == "cuda" and A.rows.values is given.data
    back = A.to_scipy()
    assert cupy.shares_memory(back.data, given.data)
    assert la.mxv(A, la.Vector.from_dense(cupy.asarray([1.0, 10.0]))).to("cpu").to_dense().tolist() == [20.0, 1.0]
