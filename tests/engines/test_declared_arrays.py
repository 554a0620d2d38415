"""The arrays of every job are declared once: an engine allocates what it declares, and counts their bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hopwave.engines.cpu import views
from hopwave.engines.cpu.betweenness import state, wide_levels
from hopwave.engines.cpu.betweenness import weighted as betweenness
from hopwave.engines.cpu.many import run, settling, weighted
from hopwave.engines.cpu.search.state import workspace_arrays
from hopwave.engines.cpu.shortest_paths.bins import pool_arrays
from hopwave.engines.cuda import policy
from hopwave.engines.cuda.betweenness import regimes
from hopwave.engines.ledger import Array, total

N, M = 200_000, 500_000  # large enough that some arrays get huge pages
ON_CPU: dict[str, dict[str, Array]] = {
    "search": workspace_arrays(N, 2),
    "sweep": run.worker_arrays(N, "columns", True),
    "sweep along weights": weighted.vertex_arrays(N, False),
    "what waits": settling.waiting_arrays(M),
    "betweenness": state.worker_arrays(N, M),
    "betweenness, one source": wide_levels.wide_arrays(N, M, 2, 2, False),
    "betweenness along weights": betweenness.vertex_arrays(N) | betweenness.predecessor_arrays(N, M, True),
    "bins": pool_arrays(100),
}
ON_CUDA: dict[str, dict[str, Array]] = {
    "search": policy.prepared_arrays(N, True) | policy.level_arrays(N, M, policy.level_split(M)),
    "sweep": policy.sweep_arrays(N, M, 2, 1) | policy.sum_arrays(N, 9, "columns"),
    "sweep along weights": policy.length_arrays(N, 2, True),
    "shortest paths": policy.path_arrays(N, M, True, policy.path_split(2.5), policy.path_capacity(N)),
    "blocks": regimes.block_arrays(N, 2, 2, 0),
    "blocks along weights": regimes.weighted_arrays(N, M, 2, 1, 4),
    "batches": regimes.batch_arrays(N, 2, 4, regimes.most_slots(M)),
    "one source": regimes.wide_arrays(N, M, True, 132),
}


def check(made: dict[str, Any], declared: dict[str, Array]) -> None:
    assert list(made) == list(declared)
    assert sum(array.nbytes for array in made.values()) == total(declared)
    for name, array in declared.items():
        assert array.fill is None or (made[name] == array.fill).all(), name


@pytest.mark.parametrize("job", ON_CPU)
def test_on_the_cpu(job: str) -> None:
    made = views.allocate(ON_CPU[job])
    check(made, ON_CPU[job])
    for name, array in ON_CPU[job].items():
        assert made[name].dtype == array.dtype
        assert made[name].shape == (array.shape if isinstance(array.shape, tuple) else (array.shape,))
        if array.huge and array.nbytes >= views.WORTH_ONE:
            assert made[name].ctypes.data % views.HUGE_PAGE == 0


@pytest.mark.parametrize("job", ON_CUDA)
def test_on_a_gpu(job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy stands in for CuPy; a struct is a row of bytes, since CuPy has no structs."""
    pytest.importorskip("cupy")
    from hopwave.engines.cuda import buffers

    monkeypatch.setattr(buffers, "cupy", np)
    made = buffers.allocate(ON_CUDA[job])
    check(made, ON_CUDA[job])
    assert not any(array.dtype.names for array in made.values())
