"""Where a graph lives: what is built on which device and copied when, with a simulated GPU."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from hopwave import EngineError, Graph, GraphError
from hopwave.graph import columns, construct, csr


class Pretended:
    """An array that claims to be on a GPU; it counts its copies to the host."""

    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012
    copies = 0

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    dtype = property(lambda self: self.values.dtype)

    def get(self) -> Any:
        Pretended.copies += 1
        return self.values.copy()

    def astype(self, dtype: Any, copy: bool = True) -> Pretended:
        return Pretended(self.values.astype(dtype))

    def __len__(self) -> int:
        return len(self.values)


class Builder:
    """The builder of the simulated GPU."""

    built = 0

    @staticmethod
    def column(values: Any, name: str) -> Pretended:
        return values if isinstance(values, Pretended) else Pretended(columns.as_column(values, name))

    @staticmethod
    def extent(*columns: Pretended) -> tuple[int, int]:
        return csr.builders["cpu"]().extent(*(column.values for column in columns))

    @staticmethod
    def first_nan(weights: Pretended) -> int | None:
        return columns.first_nan(weights.values)

    @staticmethod
    def rows_of(source: Pretended, target: Pretended, n: int, *, weights: Any = None, **how: Any) -> csr.Rows:
        Builder.built += 1
        given = None if weights is None else weights.values
        rows = csr.rows_of(source.values, target.values, n, weights=given, **how)
        return csr.Rows(*(None if part is None else Pretended(part) for part in rows))

    @staticmethod
    def to_host(array: Pretended) -> Any:
        return array.get()


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(csr.builders, "cuda", Builder)
    monkeypatch.setattr(Pretended, "copies", 0)
    monkeypatch.setattr(Builder, "built", 0)


def test_columns_of_a_gpu_are_built_there_and_stay() -> None:
    graph = Graph.from_edges(Pretended([2, 0]), Pretended([0, 1]), weights=Pretended([5.0, 4.0]))
    assert graph.device == "cuda" and Builder.built == 1 and Pretended.copies == 0
    assert (graph.n, graph.m, graph.is_weighted) == (3, 4, True)
    assert Pretended.copies == 0, "sizes are known without a copy"
    assert graph.degree(0) == 2 and Pretended.copies == 1, "degrees need the offsets alone"
    assert list(graph.edges()) == [(0, 1, 4.0), (0, 2, 5.0)] and Pretended.copies == 3
    assert graph.indices.tolist() and Pretended.copies == 3, "copied once"
    back = graph.to("cpu")
    assert back.device == "cpu" and back == graph and back.to("cpu") is back
    assert pickle.loads(pickle.dumps(graph)).device == "cpu"


def test_many_host_edges_are_built_on_the_gpu_and_live_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(construct, "MIN_EDGES_FOR_GPU", 2)
    graph = Graph.from_edges([0, 1], [1, 2])
    assert Builder.built == 1 and graph.device == "cpu" and graph._gpu is not None
    assert graph == Graph.from_edges([0, 1], [1, 2], device="cpu")
    monkeypatch.setitem(csr.builders, "cuda", Mock(side_effect=EngineError("no GPU here")))
    assert Graph.from_edges([0, 1], [1, 2]) == graph, "without a GPU the host builds"
    with pytest.raises(EngineError, match="no GPU here"):
        Graph.from_edges([0, 1], [1, 2], device="cuda")


def test_moving_keeps_everything() -> None:
    graph = Graph.from_edges(["a", "b"], ["b", "c"], weights=[1, 2], directed=True)
    there = graph.to("cuda")
    assert there.device == "cuda" and there == graph and there.to("cuda") is there
    assert there.without_weights().device == "cuda" and not there.without_weights().is_weighted
    assert there.labels is not None and there.to("cpu") == graph


def test_csr_arrays_of_a_gpu_are_used_as_they_are() -> None:
    offsets, neighbours = Pretended(np.array([0, 1, 2], np.int32)), Pretended(np.array([1, 0], np.int32))
    graph = Graph.from_csr(offsets, neighbours, directed=False)
    assert graph.device == "cuda" and graph._gpu is not None and graph._gpu.indices is neighbours
    unsorted = Graph.from_csr(Pretended(np.array([0, 2, 2], np.int32)), Pretended(np.array([1, 0], np.int32)))
    assert unsorted.device == "cuda" and unsorted.indices.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [([1.0, np.nan], r"weights\[1\] is NaN"), ([1.0], "1 entries for 2 edges"), ([1j, 2.0], "weights must be numbers"),
     ([2**60 + 1, 1], "is not exact in float64")],
)  # fmt: skip
def test_weights_of_a_gpu_are_checked_there(values: Any, message: str) -> None:
    ends = Pretended([0, 1]), Pretended([1, 2])
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(*ends, weights=Pretended(values))
    for weights in ([3, 4], Pretended([3, 4])):
        whole = Graph.from_edges(*ends, weights=weights)
        assert whole.device == "cuda" and list(whole.edges()) == [(0, 1, 3.0), (1, 2, 4.0)]
    assert Graph.from_edges([0, 1], [1, 2], weights=Pretended([1.0, 2.0])).device == "cpu"


def test_a_new_process_knows_the_gpu_before_any_search() -> None:
    """Engines are imported when they are first needed, which may be to move a graph."""
    code = (
        "import hopwave as hw\ntry: print(hw.generate.path(3).to('cuda').device)\nexcept hw.EngineError: print('none')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0 and ran.stdout.strip() in ("cuda", "none"), ran.stderr
