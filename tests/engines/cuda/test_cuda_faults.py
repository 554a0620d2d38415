"""The GPU's faults, one at a time: an allocation, a launch or a compilation that fails at any moment of any call."""

import gc
from typing import Any

import gpu_faults
import numpy as np
import pytest

import every_call
import hopwave as hw
import mixed

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

EVERY = 5  # each of the first 5 events fails once; of the others, one in SOME (the fuzzer takes all)
SOME = 11


# These call CuPy themselves too, and label propagation launches kernels of its own rounds: each event fails.
BETWEEN = ["average_clustering", "clustering", "core_numbers", "k_core", "label_propagation", "transitivity"]


@pytest.mark.parametrize("name", [*mixed.QUESTIONS, *BETWEEN])
@pytest.mark.parametrize("kind", gpu_faults.KINDS)
def test_a_fault_is_told_and_the_next_call_is_right(kind: str, name: str) -> None:
    each = name in BETWEEN
    call = every_call.public("cuda")[f"hopwave.{name}"] if each else every_call.others("cuda")[name]
    with gpu_faults.KINDS[kind]() as events:
        tried, found = gpu_faults.troubles(call, events, lambda number: each or number <= EVERY or number % SOME == 0)
    assert (tried or kind == "pinned") and not found


def test_an_allocation_that_fails_in_a_method_is_told() -> None:
    """Every method and property of a graph, a matrix and a vector that lie on the GPU."""
    tried = 0
    with gpu_faults.allocations() as events:
        for name, fresh in every_call.methods("cuda").items():
            some, found = gpu_faults.troubles(fresh, events, lambda number: True)
            assert not found, name
            tried += some
    assert tried > 100


@pytest.mark.parametrize("limit", [None, 0], ids=["on the GPU", "across the bus"])
def test_memory_that_runs_out_while_rows_are_compressed(limit: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each allocation fails once, pinned ones too: the graph stays as it was, and all memory is given back."""
    import cupy

    graph = hw.generate.kronecker(12, seed=3, directed=True).to("cuda")
    right, pool = hw.bfs(graph, 1, device="cuda").distances.get(), cupy.get_default_memory_pool()
    pinned = cupy.cuda.PinnedMemory
    with gpu_faults.allocations() as events:

        def pin(size: int) -> Any:
            events()
            return pinned(size)

        monkeypatch.setattr(cupy.cuda, "PinnedMemory", pin)
        graph.to("cuda", compressed=True, memory_limit=limit)
        gc.collect()
        before = pool.used_bytes()
        events.begin(0)
        graph.to("cuda", compressed=True, memory_limit=limit)
        for fails in range(1, events.count + 1):
            events.begin(fails)
            with pytest.raises(hw.EngineError, match="ran out of memory compressing the graph"):
                graph.to("cuda", compressed=True, memory_limit=limit)
            gc.collect()  # what the error's traceback held
            assert pool.used_bytes() == before, fails
        events.begin(0)
        np.testing.assert_array_equal(hw.bfs(graph, 1, device="cuda").distances.get(), right)
