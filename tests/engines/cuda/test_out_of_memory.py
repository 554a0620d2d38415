"""What the CUDA engine does when memory runs out. The memory is simulated: no GPU is needed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")

from cupy.cuda.memory import OutOfMemoryError

from hopwave.engines.cuda import buffers, build, kronecker
from hopwave.engines.cuda.betweenness import batch
from hopwave.errors import EngineError


class BlockRegime:
    """A substitute for the block regime, which takes over from a batch: memory runs out once, after some sources."""

    def __init__(self, fails_after: int) -> None:
        self.left, self.fails = fails_after, True

    def add(self, sources: Any, total: Any) -> Any:
        for source in sources:
            if self.fails and not self.left:
                self.fails = False
                raise OutOfMemoryError(1, 1, 1)
            self.left -= 1
            total[source] += 1.0
        return np.ones((len(sources), 2))


@pytest.mark.parametrize("fails_after", [0, 1, 3])
def test_a_piece_done_again_counts_once(fails_after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "cupy", np)
    monkeypatch.setattr(batch, "allocated", lambda array: np.empty(array.shape, array.dtype))
    monkeypatch.setattr(batch, "copied", np.copy)
    monkeypatch.setattr(batch, "copy_into", np.copyto)
    monkeypatch.setattr(batch, "State", lambda *given: None)
    regime: Any = object.__new__(batch.Batches)
    regime.loaded = SimpleNamespace(n=8, device=SimpleNamespace(multiprocessors=1))
    regime.job, regime.block_regime = SimpleNamespace(origins=None), BlockRegime(fails_after)
    regime.lanes, regime.at_once, regime.least = 4, 1, 1
    monkeypatch.setattr(batch.Batches, "_search", lambda self, state, ids: None)
    total = np.zeros(8)
    certificate = regime.add(np.arange(8), total)
    assert not regime.block_regime.fails, "memory did run out"
    assert total.tolist() == [1.0] * 8 and (certificate == 1.0).all()


@pytest.fixture
def small_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU with 8 GiB free on which any allocation fails with another error."""
    monkeypatch.setattr(buffers, "free_memory", lambda: 8 << 30)
    monkeypatch.setattr(build, "cupy", None)
    monkeypatch.setattr(kronecker, "cupy", None)


@pytest.mark.parametrize(
    ("scale", "edge_factor", "words"),
    [
        (29, 16, r"scale 29 with edge factor 16 .* needs 25\.\d\d GB and may use 8\.59 GB; use a smaller scale"),
        (28, 1, r"scale 28 with edge factor 1 on the GPU needs 12\.\d\d GB"),
        (31, 1, r"scale 31 has ids of more than 31 bits, .* use a scale up to 30"),
    ],
)
@pytest.mark.usefixtures("small_gpu")
def test_a_graph_too_large_is_refused_before_it_is_drawn(scale: int, edge_factor: int, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        kronecker.Rows(scale, edge_factor, seed=1)


@pytest.mark.parametrize("scale", [24, 25, 26], ids=["plain", "compressed", "across the bus"])
@pytest.mark.usefixtures("small_gpu")
def test_a_graph_that_fits_is_drawn(scale: int) -> None:
    with pytest.raises(AttributeError, match="NoneType"):  # it gets as far as the first allocation
        kronecker.Rows(scale, 16, seed=1)


def test_rows_too_large_are_refused_before_they_are_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counts:
        @staticmethod
        def get() -> Any:
            return np.full(build.BUCKETS, (1 << 31) // build.BUCKETS, np.uint64)

    monkeypatch.setattr(buffers, "free_memory", lambda: 8 << 30)
    monkeypatch.setattr(build, "zeros", lambda count, dtype: Counts)
    monkeypatch.setattr(build, "launch", lambda *given: None)
    monkeypatch.setattr(build, "begin_rows_of", lambda *given: None)
    monkeypatch.setattr(build, "grid_for", lambda *given: 1)
    ends = np.zeros(10, np.int32)
    with pytest.raises(
        EngineError, match=r"sorting 2,147,483,648 arcs into rows on the GPU needs 1[34]\.\d\d GB .* free arrays"
    ):
        build.rows_of(ends, ends, 1 << 26, symmetric=True, merge=True)
