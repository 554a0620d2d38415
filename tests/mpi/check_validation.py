"""Validation over ranks, of searches and shortest paths: right answers pass, and every kind of error is found."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from rank_setup import DEVICE, hub

import hopwave as hw
from hopwave import distributed as hd
from hopwave.distributed.delta_stepping import NEVER, UNIT, Paths
from hopwave.distributed.validate import validate as validate_in_parts
from hopwave.generate import counter
from hopwave.graph500.on_host import STREAM, lengths


def stranger(graph: hw.Graph, vertex: int) -> int:
    """A vertex without an arc to this one."""
    near = graph.indices[slice(*graph.indptr[vertex : vertex + 2])]
    return next(v for v in range(graph.n) if v != vertex and v not in near)


def check_validation_finds_what_is_wrong() -> None:
    graph = hw.generate.kronecker(7)
    root, everything = hub(graph), hw.bfs(graph, hub(graph))
    far = int(np.flatnonzero(everything.distances == everything.depth)[0])
    for ranges in ("1d", "2d"):
        parts = hd.spread(graph, layout=ranges, device=DEVICE)
        found = hd.bfs(parts, root)
        for rule, level, parent in (
            ("", None, None),
            ("edges", 100, None),
            ("levels", 1, None),
            ("levels", 0, None),
            ("span", -1, None),
            ("span", None, -1),
            ("links", None, stranger(graph, far)),
            ("links", None, graph.n + 5),
            ("roots", None, far),
        ):
            levels, tree = found.distances.copy(), found.predecessors.copy()
            for array, value in ((levels, level), (tree, parent)):
                if value is not None and parts.first <= far < parts.first + parts.own:
                    array[far - parts.first] = value
            broken = validate_in_parts(parts, (root,), levels, tree).broken
            assert rule in broken if rule else broken == (), (rule, level, parent)


def check_shortest_paths() -> None:
    """Graph500's third kernel: exactly the distances of Dijkstra's algorithm; errors are found."""
    for scale, ranges in ((7, "1d"), (7, "2d"), (1, "1d"), (2, "2d")):
        parts = hd.kronecker(scale, 4, seed=3, layout=ranges, device=DEVICE)
        graph = parts.replicated()
        tails = np.repeat(np.arange(graph.n), graph.degrees)
        matrix = sp.csr_array((lengths(tails, graph.indices, graph.n, 3), graph.indices, graph.indptr))
        paths = Paths(parts, counter.start(3, STREAM))
        for root in dict.fromkeys([0, graph.n - 1, hub(graph)]):
            paths.run(root)
            assert paths.broken(root) == ()
            found, right = parts.gather(paths.distance), sp.csgraph.dijkstra(matrix, indices=root)
            if found is not None:
                np.testing.assert_array_equal(np.where(found == NEVER, np.inf, found / UNIT), right)
        if scale < 7:
            continue
        far = int(np.argmax(np.where(np.isfinite(right), right, 0)))
        longer, kept = int(right[far] * UNIT) + 1, {"distance": paths.distance.copy(), "parent": paths.parent.copy()}
        for name, value, rule in (
            ("distance", 9 * UNIT, "edges"),
            ("distance", longer, "edges"),
            ("distance", longer - 2, "levels"),
            ("distance", 0, "levels"),
            ("distance", NEVER, "span"),
            ("parent", far, "roots"),
            ("parent", -1, "span"),
            ("parent", stranger(graph, far), "links"),
        ):
            paths.distance, paths.parent = kept["distance"].copy(), kept["parent"].copy()
            if parts.first <= far < parts.first + parts.own:
                getattr(paths, name)[far - parts.first] = value
            assert rule in paths.broken(root), (name, value, rule)
