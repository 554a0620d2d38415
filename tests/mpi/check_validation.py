"""Validation over ranks, of searches and shortest paths: right answers pass, and every kind of error is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from rank_setup import DEVICE

import hopwave as hw
from hopwave import distributed as hd
from hopwave.distributed import delta_stepping
from hopwave.distributed.validate import validate as validate_in_parts
from hopwave.generate import counter
from hopwave.graph500.on_host import STREAM, lengths


def check_validation_finds_what_is_wrong() -> None:
    graph = hw.generate.kronecker(7)
    for ranges in ("1d", "2d"):
        parts = hd.spread(graph, layout=ranges, device=DEVICE)
        hub = int(np.argmax(graph.degrees))
        found = hd.bfs(parts, hub)
        d, p, first = found.distances, found.predecessors, parts.first
        everything = hw.bfs(graph, hub)
        far = int(np.flatnonzero(everything.distances == everything.depth)[0])
        mine = far - first if first <= far < first + parts.own else None

        def broken_by(change: Callable[[Any, Any], None]) -> tuple[str, ...]:
            levels, tree = d.copy(), p.copy()  # noqa: B023
            if mine is not None:  # noqa: B023
                change(levels, tree)
            return validate_in_parts(parts, (hub,), levels, tree).broken  # noqa: B023

        def level(value: int) -> Callable[[Any, Any], None]:
            return lambda levels, _: levels.__setitem__(mine, value)  # noqa: B023

        def parent(value: int) -> Callable[[Any, Any], None]:
            return lambda _, tree: tree.__setitem__(mine, value)  # noqa: B023

        stranger = next(
            v for v in range(graph.n) if v != far and far not in graph.indices[slice(*graph.indptr[v : v + 2])]
        )
        assert broken_by(lambda *_: None) == ()
        assert "edges" in broken_by(level(100))
        assert "levels" in broken_by(level(1))
        assert "span" in broken_by(level(-1))
        assert "links" in broken_by(parent(stranger))
        assert "links" in broken_by(parent(graph.n + 5))
        assert "roots" in broken_by(parent(far))
        assert "span" in broken_by(parent(-1))
        assert "levels" in broken_by(level(0))


def check_shortest_paths() -> None:
    """Graph500's third kernel: exactly the distances of Dijkstra's algorithm; errors are found."""
    for scale, ranges in ((8, "1d"), (8, "2d"), (1, "1d"), (2, "2d")):
        parts = hd.kronecker(scale, 4, seed=3, layout=ranges, device=DEVICE)
        graph = parts.replicated()
        tails = np.repeat(np.arange(graph.n), graph.degrees)
        matrix = sp.csr_array((lengths(tails, graph.indices, graph.n, 3), graph.indices, graph.indptr))
        paths = delta_stepping.Paths(parts, counter.start(3, STREAM))
        for root in {0, int(np.argmax(graph.degrees)), graph.n - 1}:
            paths.run(root)
            assert paths.broken(root) == ()
            found = parts.gather(paths.distance)
            if found is not None:
                found = np.where(found == delta_stepping.NEVER, np.inf, found / delta_stepping.UNIT)
                np.testing.assert_array_equal(found, sp.csgraph.dijkstra(matrix, indices=root))
        if scale < 8:
            continue
        hub = int(np.argmax(graph.degrees))
        right = sp.csgraph.dijkstra(matrix, indices=hub)
        far = int(np.argmax(np.where(np.isfinite(right), right, 0)))
        near = graph.indices[slice(*graph.indptr[far : far + 2])]
        stranger = next(v for v in range(graph.n) if v not in near and v != far)
        longer = int(right[far] * delta_stepping.UNIT) + 1
        for name, value, rule in (
            ("distance", 9 * delta_stepping.UNIT, "edges"),
            ("distance", longer, "edges"),
            ("distance", longer - 2, "levels"),
            ("distance", 0, "levels"),
            ("distance", delta_stepping.NEVER, "span"),
            ("parent", far, "roots"),
            ("parent", -1, "span"),
            ("parent", stranger, "links"),
        ):
            paths.run(hub)
            if parts.first <= far < parts.first + parts.own:
                getattr(paths, name)[far - parts.first] = value
            assert rule in paths.broken(hub), (name, value, rule)
