"""What is special about products on the GPU: rows cut into pieces, streams and threads, what stays on the device."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import linalg as la

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


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
    import cupy

    A = la.Matrix.from_graph(hubs).to("cuda")
    x = la.Vector.from_dense(np.random.default_rng(3).random(hubs.n)).to("cuda")
    y, again = (la.mxv(A, x, la.semiring.plus_second, direction="pull") for _ in range(2))
    assert same(y, again.to("cpu")) and la.reduce(x) == la.reduce(x), "other bits"
    y = la.mxv(A, la.Vector.full(hubs.n, 1.0).to("cuda"), direction="pull")
    assert y.device == "cuda" and isinstance(y.arrays()[0], cupy.ndarray)
    assert y.count_if_known() is None and y.nnz == 9 and y.count_if_known() == 9
    assert A.to("cuda") is A and A.T.T.device == "cuda"


def test_streams_and_threads_do_not_disturb_each_other(hubs: hw.Graph) -> None:
    import cupy

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
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    given = csr_matrix(cupy.asarray([[0.0, 2.0], [1.0, 0.0]]))
    A = la.Matrix.from_scipy(given)
    assert A.device == "cuda" and A.rows.values is given.data
    back = A.to_scipy()
    assert cupy.shares_memory(back.data, given.data)
    assert la.mxv(A, la.Vector.from_dense(cupy.asarray([1.0, 10.0]))).to("cpu").to_dense().tolist() == [20.0, 1.0]
