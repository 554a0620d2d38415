"""Searches whose levels all threads share, beside those of workers with batches of their own: the same to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopwave as hw
from graphs import TRAPS
from hopwave.engines import cpu
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.many import run
from hopwave.planning.many_sources import Sweep

ARRAYS = "reached", "total", "farthest", "inverse", "histogram", "columns", "rows"


def found(graph: hw.Graph, patch: pytest.MonkeyPatch, shared: bool, sources: Any, keep: Any, limit: Any) -> list[Any]:
    """What the searches find, after checking which way they went."""
    went: list[int] = []
    way = run._side_by_side
    with patch.context() as changed:
        changed.setattr(policy, "SMALL_JOB", -1)
        changed.setattr(policy, "side_by_side", lambda *given: shared)
        changed.setattr(run, "_side_by_side", lambda *given: went.append(1) or way(*given))
        job = Sweep(np.array(sources, np.int64), keep, limit, weight="inverse", shift=20)
        swept = run.sweep(cpu.Engine().load(graph, None), job, lambda done: None, 3)
    assert bool(went) == shared
    return [getattr(swept, name) for name in ARRAYS]


@pytest.mark.parametrize("keep", ["rows", "columns"])
@pytest.mark.parametrize("name", TRAPS)
def test_the_same_as_with_batches(monkeypatch: pytest.MonkeyPatch, name: str, keep: str) -> None:
    """Levels that are pushed, and levels that are pulled; some sources twice; more than 64 of them."""
    graph = TRAPS[name]()
    sources = np.random.default_rng(1).integers(0, graph.n, 70) if graph.n else []
    for most, limit in ((0, None), (9, 3)):
        monkeypatch.setattr(run, "MOST_PUSHED", most)
        given = sources, keep, limit
        pairs = zip(found(graph, monkeypatch, True, *given), found(graph, monkeypatch, False, *given), strict=True)
        assert all(np.array_equal(one, other) for one, other in pairs)


def test_levels_beyond_the_planes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long path hangs at a hub: its levels have more bits than are kept."""
    hub, tail = np.zeros(400, int), np.arange(400, 460)
    graph = hw.Graph.from_edges([*hub, *tail], [*range(1, 401), *(tail + 1)])
    rows = found(graph, monkeypatch, True, [0, 460, 7], "rows", None)[-1]
    assert np.array_equal(rows, found(graph, monkeypatch, False, [0, 460, 7], "rows", None)[-1])
    assert rows.max() > 2 * run.DEEPEST
