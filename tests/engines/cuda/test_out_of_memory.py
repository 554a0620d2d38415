"""What the CUDA engine does when memory runs out. The memory is simulated: no GPU is needed."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")


from hopwave.engines.cuda import buffers, build, kronecker
from hopwave.errors import EngineError


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
    monkeypatch.setattr(build.cupy, "zeros", lambda count, dtype: Counts)
    monkeypatch.setattr(build, "launch", lambda *given: None)
    monkeypatch.setattr(build, "begin_rows_of", lambda *given: None)
    monkeypatch.setattr(build, "grid_for", lambda *given: 1)
    ends = np.zeros(10, np.int32)
    with pytest.raises(
        EngineError, match=r"sorting 2,147,483,648 arcs into rows on the GPU needs 1[34]\.\d\d GB .* free GPU arrays"
    ):
        build.rows_of(ends, ends, 1 << 26, symmetric=True, merge=True)
