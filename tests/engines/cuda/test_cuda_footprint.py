"""Memory estimates for a GPU, compared with the peak of CuPy's live allocations."""

from __future__ import annotations

import pytest
from benchmarks import memory as measured

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


@pytest.mark.parametrize("name", ["kron17", "grid600"])
def test_the_peak_on_a_gpu(name: str) -> None:
    """Every question of benchmarks/results/memory.md, on two of its graphs."""
    graph = measured.GRAPHS[name]()
    wrong = []
    for ask, (what, options) in measured.asks(graph).items():
        measured.call(measured.fresh(graph, options), what, options, "cuda", graph.to_edges())  # compiles
        peak = measured.on_gpu(graph, what, options)["peak"]
        said = measured.estimated(graph, what, options, "cuda")
        if abs(said - peak) > max(0.25 * peak, 16e6):
            wrong.append((ask, said, peak))
    assert not wrong
