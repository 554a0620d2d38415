"""Tables and accessibility on a GPU: the CPU's distances to the last bit, and its sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import Graph, generate

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

GRAPHS = {
    "grid": generate.grid(40, 50),
    "kron": generate.kronecker(9, seed=1),
    "directed": generate.uniform(512, 3, seed=2, directed=True),
    "apart": Graph.from_edges([0, 2, 3], [1, 3, 4], n=6),
}
KINDS: dict[str, Any] = {
    "fractions": lambda x: x,
    "zeros and ties": lambda x: np.floor(3 * x),
}


def lengths(name: str, kind: str) -> Graph:
    source, target = GRAPHS[name].to_edges()
    numbers = KINDS[kind](np.random.default_rng(3).random(len(source)))
    return Graph.from_edges(source, target, GRAPHS[name].n, GRAPHS[name].directed, weights=numbers)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_tables_have_the_cpus_bits(name: str, kind: str) -> None:
    graph, rng = lengths(name, kind), np.random.default_rng(4)
    near = np.asarray(graph.indices)[:1]
    asked: list[dict[str, Any]] = [{"targets": near}, {"sources": [0, 1], "targets": near, "weights": False}]
    for count, targets, limit in ((300, 40, None), (3, 1, None), (1, 200, None), (300, 40, 1.0)):
        ids = rng.integers(0, graph.n, count)
        asked.append({"sources": ids, "targets": rng.permutation(graph.n)[:targets], "limit": limit})
    for ask in asked:
        found, expected = (hw.distance_table(graph, device=device, **ask).values for device in ("cuda", "cpu"))
        assert (found == expected).all()


@pytest.mark.parametrize("decay", [None, ("exponential", 0.7), ("gaussian", 0.7), ("power", 1.5), np.cos])
@pytest.mark.parametrize("sources", [None, [0], [1, 0]], ids=str)
@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_sums_are_the_cpus(name: str, sources: Any, decay: Any) -> None:
    graph = lengths(name, "fractions")
    values = np.random.default_rng(5).integers(0, 9, (graph.n, 3)).astype(float)
    ask: Any = {"limit": [0.5, 1.0], "decay": decay, "sources": sources}
    found, expected = (hw.accessibility(graph, values, device=device, **ask).sums for device in ("cuda", "cpu"))
    np.testing.assert_allclose(found, expected, rtol=1e-14 if decay else 0, atol=1e-13 if decay else 0)


def test_a_table_stays_on_the_gpu(tmp_path: Path) -> None:
    import cupy

    graph = lengths("grid", "fractions")
    found = hw.distance_table(graph.to("cuda"), [0, 5], [7, 9], device="cuda").values
    assert isinstance(found, cupy.ndarray)
    assert (found.get() == hw.distance_table(graph, [0, 5], [7, 9], device="cpu").values).all()
    file = hw.distance_table(graph.to("cuda"), [0, 5], weights=False, device="cuda", out=tmp_path / "hops.npy")
    for dtype in ("hops", "float32"):
        asked: Any = {"sources": [0, 5], "weights": False, "dtype": dtype}
        found = hw.distance_table(graph.to("cuda"), **asked, device="cuda").values
        assert isinstance(found, cupy.ndarray)
        assert (found.get() == hw.distance_table(graph, **asked, device="cpu").values).all()
        assert (np.load(file) == found.get()).all()
