"""Memory on a GPU known beforehand: estimates beside the greatest sum of CuPy's live allocations."""

from __future__ import annotations

import pytest
from benchmarks import memory as measured

import hopwave as hw

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

GRAPHS = {
    "kronecker": lambda: hw.generate.kronecker(14, 16, seed=1),
    "kronecker directed": lambda: hw.generate.kronecker(14, 16, seed=1, directed=True),
    "grid": lambda: hw.generate.grid(150, 150),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_the_peak_on_a_gpu(name: str) -> None:
    """Every question of benchmarks/results/memory-cuda.md, on graphs an eighth as large."""
    graph = GRAPHS[name]()
    wrong = []
    for ask, (what, options) in measured.asks(graph).items():
        measured.call(measured.fresh(graph, options), what, options, "cuda", graph.to_edges())  # compiles
        peak = measured.on_gpu(graph, what, options)["peak"]
        said = measured.estimated(graph, what, options, "cuda")
        if not 0.85 < said / peak < 1.15:
            wrong.append((ask, said, peak))
    assert not wrong
