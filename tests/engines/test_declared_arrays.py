"""Arrays are declared once: an engine allocates what a job declares, and memory models count their bytes."""

from __future__ import annotations

import numpy as np
import pytest

from hopwave.engines.cpu import views
from hopwave.engines.cpu.search.state import workspace_arrays
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.ledger import Array, declare, total

N = 200_000  # large enough that some arrays get huge pages
KINDS = declare(np.float64, fill=np.inf, distance=N) | declare(np.int32, fill=0, counts=(3, 7), none=0)
ON_CPU: dict[str, Array] = KINDS | workspace_arrays(N, 2)
ON_CUDA: dict[str, Array] = KINDS | regimes.batch_arrays(N, 2, 4, 2000)
ON_CUDA |= declare(np.dtype([("vertex", np.int32), ("distance", np.float64)]), entries=9)


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_engine_allocates_what_is_declared(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy stands in for CuPy; a struct is a row of bytes on a GPU, since CuPy has no structs."""
    declared = ON_CPU if device == "cpu" else ON_CUDA
    if device == "cpu":
        made = views.allocate(declared)
    else:
        pytest.importorskip("cupy")
        from hopwave.engines.cuda import buffers

        monkeypatch.setattr(buffers, "cupy", np)
        made = buffers.allocate(declared)
    assert list(made) == list(declared)
    assert sum(array.nbytes for array in made.values()) == total(declared)
    assert not any(array.dtype.names for array in made.values())
    for name, array in declared.items():
        assert array.fill is None or (made[name] == array.fill).all(), name
        if device == "cpu":
            assert made[name].dtype == array.dtype
            assert made[name].shape == (array.shape if isinstance(array.shape, tuple) else (array.shape,))
            if array.huge and array.nbytes >= views.WORTH_ONE:
                assert made[name].ctypes.data % views.HUGE_PAGE == 0
