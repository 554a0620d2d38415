"""Graphs built on a GPU have exactly the rows of those built on the CPU; and where they are afterwards."""

from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, SparseIdsWarning
from hopwave.engines.cuda import policy

pytestmark = pytest.mark.gpu
cupy = pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def builder(gpu: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The GPU's builder, which here cuts even small graphs into several parts."""
    from hopwave.engines.cuda import build

    monkeypatch.setattr(build, "LEAST_ARCS", 500)
    return build


def columns(seed: int, n: int, edges: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    u, v = (rng.integers(0, n, edges) ** 2 // max(n, 1) for _ in range(2))  # low ids more often, which makes hubs
    return u, v, rng.integers(1, 5, edges) / 3


@pytest.mark.parametrize("ids", [np.int32, np.int64])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("repeats", ["merge", "keep"])
@pytest.mark.parametrize("size", [(1, 0), (1, 9), (40, 300), (5000, 20_000)])
def test_the_same_rows_as_on_the_cpu(ids: Any, directed: bool, repeats: Any, size: tuple[int, int]) -> None:
    u, v, w = columns(3, *size)
    how: dict[str, Any] = {"n": size[0], "directed": directed, "repeats": repeats}
    there = Graph.from_edges(cupy.asarray(u.astype(ids)), cupy.asarray(v.astype(ids)), **how)
    assert there.device == "cuda" and there == Graph.from_edges(u, v, device="cpu", **how)
    for kind in (np.float32, np.float64):
        for combine in ("min", "max", "sum", "first") if repeats == "merge" else (None,):
            weights = cupy.asarray(w.astype(kind))
            made = Graph.from_edges(cupy.asarray(u), cupy.asarray(v), weights=weights, combine=combine, **how)
            right = Graph.from_edges(u, v, weights=w.astype(kind), combine=combine, device="cpu", **how)
            assert made == right and made.weights is not None and made.weights.dtype == kind


def test_columns_of_any_type_on_the_gpu() -> None:
    def column(values: list[int]) -> Any:
        """A column of a library that only supports DLPack."""
        array = cupy.asarray(values)
        passed = {name: staticmethod(getattr(array, name)) for name in ("__dlpack__", "__dlpack_device__", "__len__")}
        return type("Column", (), passed)()

    right = Graph.from_edges([0, 1], [1, 2])
    for kind in (np.int8, np.uint16, np.uint32, np.uint64, np.float64):
        assert Graph.from_edges(cupy.asarray([0, 1], kind), cupy.asarray([1, 2], kind)) == right
    there = Graph.from_edges(column([0, 1]), column([1, 2]))
    assert there == right and there.device == "cuda"
    assert Graph.from_edges([0, 1], [1, 2], device="cuda").device == "cuda"
    with pytest.warns(SparseIdsWarning):
        sparse = Graph.from_edges(cupy.asarray([10**9]), cupy.asarray([7]))
    assert list(sparse) == [7, 10**9] and sparse.device == "cuda"


@pytest.mark.parametrize("directed", [True, False])
def test_searches_use_the_arrays_where_they_are(directed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "SORTED_ARCS", 700)  # neighbours by degree, some rows at a time
    u, v, w = columns(5, 900, 5000)
    host = Graph.from_edges(u, v, directed=directed, weights=w, combine="min", device="cpu")
    there = Graph.from_edges(*(cupy.asarray(x) for x in (u, v)), directed=directed)
    right = hw.bfs(host, 0, device="cpu").distances
    for graph in (there, host.to("cuda").without_weights()):
        for plan in ("auto", "hiragushi-hybrid"):
            found = hw.bfs(graph, 0, plan=plan, device="cuda").distances
            assert isinstance(found, cupy.ndarray) and np.array_equal(found.get(), right)
    moved = host.to("cuda")
    assert moved.device == "cuda" and moved == host and moved.to("cpu") == host
