"""Products over ranks give what linalg gives in one process: semirings, masks, accumulators, layouts, directions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from rank_setup import DEVICE, WORLD, share_of

import hopwave as hw
from graphs import TRAPS
from hopwave import GraphError, LinalgError
from hopwave import distributed as hd
from hopwave import linalg as la
from hopwave.distributed import linalg as da

RINGS = ("any_pair", "plus_times", "min_plus", "or_and", "any_secondi", "min_firstj")
LAYOUTS = ("1d", "2d", (1, WORLD.size))
n = 150


def matrix(values: bool) -> la.Matrix:
    """The same random matrix on every rank: some rows are empty, one is nearly full."""
    rng = np.random.default_rng(7)
    rows, columns = rng.integers(0, n - 20, 700), rng.integers(0, n, 700)
    rows[:130] = 3
    return la.Matrix.from_edges(rows, columns, rng.integers(1, 9, 700).astype(float) if values else None, shape=n)


def same(found: da.DistributedVector, right: la.Vector, any_term: bool, what: Any) -> None:
    whole = found.gather()
    if whole is not None:
        assert whole.indices.tolist() == right.indices.tolist(), what
        assert found.dtype == right.dtype, what
        if not any_term:
            np.testing.assert_allclose(whole.values, right.values, err_msg=str(what))


def check_products_over_ranks() -> None:
    rng = np.random.default_rng(3)
    few, many = np.sort(rng.choice(n, 9, False)), np.sort(rng.choice(n, 100, False))
    let = np.sort(rng.choice(n, 60, False))
    cases = list(product(LAYOUTS, (False, True), RINGS, (few, many), ("auto", "push", "pull"), (False, True)))
    made = {(layout, has): da.DistributedMatrix.from_matrix(matrix(has), layout=layout, device=DEVICE)
            for layout, has in product(LAYOUTS, (False, True))}  # fmt: skip
    for layout, has, name, places, direction, forward in share_of(cases[::5]):
        A, B, ring = matrix(has), made[layout, has], la.semiring[name]
        values = rng.integers(1, 9, n).astype(float)[places]
        x, y = la.Vector.from_entries(places, values, n), B.vector(places, values)
        m, mask = la.Vector.from_entries(let, True, n), B.vector(let, True)
        options: dict[str, Any] = {"structural": True, "complement": direction == "push", "direction": direction}
        if forward:
            right, found = la.vxm(x, A, ring, mask=m, **options), da.vxm(y, B, ring, mask=mask, **options)
        else:
            right, found = la.mxv(A, x, ring, mask=m, **options), da.mxv(B, y, ring, mask=mask, **options)
        same(found, right, ring.any_term, (layout, has, name, len(places), direction, forward))


def check_products_write_as_linalg_does() -> None:
    """Into `out`, through masks, with an accumulator; and a search's parents, which are places of the whole vector."""
    places = np.arange(0, n, 3)
    for layout, accum, replace, complement in product(LAYOUTS, (None, la.binary.plus), (False, True), (False, True)):
        A = matrix(True)
        B = da.DistributedMatrix.from_matrix(A, layout=layout, device=DEVICE)
        out, target = la.Vector.from_entries(places, 0.5, n), B.vector(places, 0.5)
        m, mask = la.Vector.from_entries(places[::2], True, n), B.vector(places[::2], True)
        options: dict[str, Any] = {"accum": accum, "replace": replace, "complement": complement}
        right = la.mxv(A, la.Vector.full(n, 1.0), out=out, mask=m, **options)
        found = da.mxv(B, B.full(1.0), out=target, mask=mask, **options)
        assert found is target
        same(found, right, False, (layout, accum, replace, complement))
    for name, layout in product(("kronecker", "kronecker-directed"), ("1d", "2d")):
        graph = TRAPS[name]()
        B = da.DistributedMatrix.from_graph(hd.spread(graph, layout=layout, device=DEVICE))
        hub = int(np.argmax(graph.degrees))
        for direction in ("push", "pull"):
            least = da.vxm(B.vector([hub, 1], True), B, la.semiring.min_secondi, direction=direction)  # type: ignore[arg-type]
            x = la.Vector.from_entries([hub, 1], True, graph.n)
            same(least, la.vxm(x, graph, la.semiring.min_secondi), False, (name, layout, direction))


def check_algorithms_made_of_products() -> None:
    for turn, name in enumerate(("kronecker-directed", "two-components")):
        graph = TRAPS[name]()
        rng = np.random.default_rng(turn)
        weighted = graph.with_weights(1.0 + rng.integers(0, 50, graph.m)) if graph.directed else graph
        hub = int(np.argmax(graph.degrees))
        for layout in ("1d", "2d"):
            B = da.DistributedMatrix.from_graph(hd.spread(graph, layout=layout, device=DEVICE))
            hops = da.bfs(B, hub).gather()
            if hops is not None:
                np.testing.assert_array_equal(hops.to_dense(-1), hw.bfs(graph, hub).distances)
            lengths = da.DistributedMatrix.from_matrix(
                weighted if WORLD.rank == 0 else None, layout=layout, device=DEVICE
            )
            distances, ranks = da.sssp(lengths, hub).gather(), da.pagerank(lengths, tol=1e-5).gather()
            assert abs(da.reduce(da.pagerank(B)) - 1) < 1e-9
            if distances is not None and ranks is not None:
                np.testing.assert_allclose(distances.values, la.algorithms.sssp(weighted, hub).to_dense())
                np.testing.assert_allclose(ranks.values, la.algorithms.pagerank(weighted, tol=1e-5).values, atol=1e-9)


def check_products_refuse_what_does_not_fit() -> None:
    B = da.DistributedMatrix.from_matrix(matrix(False), device=DEVICE)
    other = da.DistributedMatrix.from_matrix(matrix(False), device=DEVICE)
    x: Any
    for x, reason in ((other.full(1.0), "over the places of this matrix"), (la.Vector(n), "over the places")):
        with pytest.raises(LinalgError, match=reason):
            da.vxm(x, B)
    with pytest.raises(LinalgError, match="use any, min or max"):
        da.vxm(B.full(1.0), B, la.Semiring.define("sum of places", la.monoid.plus, la.binary.secondi))
    with pytest.raises(LinalgError, match="is not a place"):
        da.bfs(B, n)
    with pytest.raises(LinalgError, match="not a DistributedMatrix"):
        da.pagerank(matrix(False))  # type: ignore[arg-type]
    with pytest.raises(LinalgError, match="has no place"):
        da.DistributedMatrix.from_entries([5], [1], n=3, device=DEVICE)
    with pytest.raises((LinalgError, GraphError), match="is negative"):
        da.sssp(da.DistributedMatrix.from_entries([0], [1], [-1.0], device=DEVICE), 0)
    if WORLD.size > 1:
        with pytest.raises(GraphError, match="rank 1 gives other arguments than rank 0"):
            da.bfs(B, int(WORLD.rank == 1))
