"""Products over ranks give what linalg gives in one process: semirings, masks, accumulators, layouts, directions."""

import random
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import hopwave as hw
from checks import DEVICE, WORLD, hub, refused
from graphs import TRAPS
from hopwave import GraphError, LinalgError
from hopwave import distributed as hd
from hopwave import linalg as la
from hopwave.distributed import linalg as da

RINGS = ("any_pair", "plus_times", "min_plus", "any_secondi")
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


def both(places: Any, values: Any, B: da.DistributedMatrix) -> tuple[la.Vector, da.DistributedVector]:
    """A vector in one process, and over ranks."""
    return la.Vector.from_entries(places, values, B.n), B.vector(places, values)


def ask_product(draw: random.Random, G: hw.Graph, rings: Sequence[str]) -> None:
    """A random product over ranks, compared with linalg: a semiring, a mask, a direction, a layout."""
    ring, values = la.semiring[draw.choice(rings)], np.array([float(draw.randint(1, 4)) for _ in range(G.m)])
    A = la.Matrix.from_graph(G, draw.choice((None, values)))
    B = da.DistributedMatrix.from_matrix(A, layout=draw.choice(LAYOUTS), device=DEVICE)
    places, let = (sorted(draw.sample(range(G.n), draw.randint(0, G.n))) for _ in range(2))
    (x, y), (m, mask) = both(places, np.array([float(draw.randint(1, 4)) for _ in places]), B), both(let, True, B)
    how: dict[str, Any] = {"structural": True, "complement": draw.random() < 0.5}
    how["direction"] = draw.choice(("auto", "push", "pull"))
    if draw.random() < 0.5:
        right, found = la.vxm(x, A, ring, mask=m, **how), da.vxm(y, B, ring, mask=mask, **how)
    else:
        right, found = la.mxv(A, x, ring, mask=m, **how), da.mxv(B, y, ring, mask=mask, **how)
    same(found, right, ring.any_term, (ring.name, how, places, let))


def check_products_over_ranks() -> None:
    for seed in range(12):
        ask_product(random.Random(seed), TRAPS["kronecker-directed"](), RINGS)


def check_products_write_as_linalg_does() -> None:
    """Into `out`, through masks, with an accumulator; and a search's parents, which are places of the whole vector."""
    places, A = np.arange(0, n, 3), matrix(True)
    made = {layout: da.DistributedMatrix.from_matrix(A, layout=layout, device=DEVICE) for layout in LAYOUTS}
    for layout, accum, replace, complement in product(LAYOUTS, (None, la.binary.plus), (False, True), (False, True)):
        B = made[layout]
        (out, target), (m, mask) = both(places, 0.5, B), both(places[::2], True, B)
        options: dict[str, Any] = {"accum": accum, "replace": replace, "complement": complement}
        right = la.mxv(A, la.Vector.full(n, 1.0), out=out, mask=m, **options)
        found = da.mxv(B, B.full(1.0), out=target, mask=mask, **options)
        assert found is target
        same(found, right, False, (layout, accum, replace, complement))
    for name, layout in product(("kronecker", "kronecker-directed"), ("1d", "2d")):
        graph = TRAPS[name]()
        B = da.DistributedMatrix.from_graph(hd.spread(graph, layout=layout, device=DEVICE))
        x, y = both([hub(graph), 1], True, B)
        for direction in ("push", "pull"):
            least = da.vxm(y, B, la.semiring.min_secondi, direction=direction)  # type: ignore[arg-type]
            same(least, la.vxm(x, graph, la.semiring.min_secondi), False, (name, layout, direction))


def check_algorithms_made_of_products() -> None:
    for name, layout in (("kronecker-directed", "1d"), ("two-components", "2d")):
        graph = TRAPS[name]()
        rng = np.random.default_rng(1)
        weighted = graph.with_weights(1.0 + rng.integers(0, 50, graph.m)) if graph.directed else graph
        B = da.DistributedMatrix.from_graph(hd.spread(graph, layout=layout, device=DEVICE))
        lengths = da.DistributedMatrix.from_matrix(weighted if WORLD.rank == 0 else None, layout=layout, device=DEVICE)
        assert abs(da.reduce(da.pagerank(B, tol=0.01)) - 1) < 1e-9
        hops, distances = da.bfs(B, hub(graph)).gather(), da.sssp(lengths, hub(graph)).gather()
        ranks = da.pagerank(lengths, tol=1e-3).gather()
        if WORLD.rank == 0:
            assert hops is not None and distances is not None and ranks is not None
            np.testing.assert_array_equal(hops.to_dense(-1), hw.bfs(graph, hub(graph)).distances)
            np.testing.assert_allclose(distances.values, la.algorithms.sssp(weighted, hub(graph)).to_dense())
            np.testing.assert_allclose(ranks.values, la.algorithms.pagerank(weighted, tol=1e-3).values, atol=1e-9)


def check_products_refuse_what_does_not_fit() -> None:
    B, other = (da.DistributedMatrix.from_matrix(matrix(False), device=DEVICE) for _ in range(2))
    sums = la.Semiring.define("sum of places", la.monoid.plus, la.binary.secondi)
    of = da.DistributedMatrix.from_entries
    for message, call, *given in (
        ("with this matrix's layout", da.vxm, other.full(1.0), B),
        ("with this matrix's layout", da.vxm, la.Vector(n), B),
        ("use any, min or max", da.vxm, B.full(1.0), B, sums),
        ("is not a vertex of this matrix", da.bfs, B, n),
        ("not a DistributedMatrix", da.pagerank, matrix(False)),
        ("is too small for index", lambda: of([5], [1], n=3, device=DEVICE)),
    ):
        refused(LinalgError, message, call, *given)  # type: ignore[arg-type]
    refused(GraphError, "is negative", da.sssp, of([0], [1], [-1.0], device=DEVICE), 0)
    if WORLD.size > 1:
        refused(GraphError, "rank 1 and rank 0 pass different arguments", da.bfs, B, int(WORLD.rank == 1))
