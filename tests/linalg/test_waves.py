"""`waves` equals the loop that it replaces, on every engine and over every kind of semiring."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from dense import NOTHING, multiplied, same, table
from graphs import TRAPS
from hopwave import linalg as la
from hopwave.engines import algebra
from hopwave.linalg.fixpoint import RULE, settled
from hopwave.planning.rules import Sizes
from operands import MACHINES, TRIED, drawn, machines, matrix, on, vector, with_semirings


def check(found: la.Waves, x: la.Vector, A: la.Matrix, ring: la.Semiring, depth_limit: int | None = None) -> None:
    """Levels equal the definition's; every value is a sum over the level before it, whichever term ANY took."""
    levels = found.levels.to("cpu").to_dict()
    n = A.shape[0]
    values = dict.fromkeys(levels, True) if found.values is None else found.values.to("cpu").to_dict()
    assert values.keys() == levels.keys()
    kind = settled(ring, A.T, x.dtype, None).dtype
    own = x.to("cpu").to_dict()
    assert {v for v, level in levels.items() if level == 0} == set(own)
    if found.values is not None:
        assert found.values.dtype == kind
        assert all(values[v] == np.asarray(own[v]).astype(kind) for v in own)
    entries, depth = table(A), 0
    while True:
        frontier = [[values[v] if levels.get(v) == depth else None for v in range(n)]]
        if depth == depth_limit or frontier == [[None] * n]:
            break
        sums = multiplied(frontier, entries, ring, kind, n)[0]
        depth += 1
        for v in range(n):
            if v in levels and levels[v] < depth:
                continue
            assert (levels.get(v) == depth) == (sums[v] != NOTHING), (v, depth)
            assert levels.get(v) != depth or same(values[v], sums[v]), (v, depth, values[v], sums[v])
    assert all(level <= depth for level in levels.values())


@with_semirings(TRIED)
@settings(max_examples=settings.default.max_examples // 2)
@given(data=st.data())
def test_waves_are_what_they_are_defined_as(device: str, ring: str, a: str | None, x: str, data: Any) -> None:
    draw = drawn(data)
    n, limit = draw(1, 12), draw(-1, 3)
    A, given_x = matrix(n, n, a, draw), vector(n, x, draw)
    depth_limit = None if limit < 0 else limit
    given_x = given_x.to(device) if draw(0, 1) else given_x
    format, before = given_x.format, given_x.to_dict()
    way = data.draw(st.sampled_from(["auto", "push", "pull"]))
    found = la.waves(given_x, A, la.semiring[ring], depth_limit=depth_limit, direction=way, device=device)
    check(found, given_x, A, la.semiring[ring], depth_limit)
    values = None if found.values is None else found.values.to_dict()
    la.select(la.assign(found.levels, 9, [0]), la.binary.lt, 5, out=found.levels)  # changes no other vector
    assert values is None or found.values.to_dict() == values
    assert given_x.format == format and given_x.to_dict() == before


def six_lines(G: hw.Graph, source: int, device: str) -> list[int]:
    """The loop of docs/linear-algebra.md."""
    A = la.Matrix.from_graph(G).to(device)
    f = la.Vector.from_entries([source], True, G.n).to(device)
    v, d = la.Vector(G.n, "int32").to(device), 0
    while f.nnz:
        la.assign(v, d, mask=f, structural=True, device=device)
        f = la.vxm(f, A, la.semiring.any_pair, mask=v, complement=True, structural=True, device=device)
        d += 1
    found: list[int] = v.to("cpu").to_dense(-1).tolist()
    return found


def searches() -> Any:
    """(device, graph, whether offsets have 64 bits). Deep graphs only on the GPU: elsewhere they take long."""
    for device in MACHINES:
        for name, make in TRAPS.items():
            if device == "cuda" or make().n <= 600:
                yield on(device, name, False)
            if device == "cuda" or name.startswith("kronecker"):
                yield on(device, name, True)


@pytest.mark.parametrize("device, name, wide", list(searches()))
def test_hops_parents_and_the_six_lines_agree(device: str, name: str, wide: bool) -> None:
    G = TRAPS[name]()
    A = la.Matrix.from_graph(G)
    if wide:
        A = la.Matrix.from_rows(A.rows._replace(indptr=A.rows.indptr.astype(np.int64)), A.shape)
    A = A.to(device)
    for source in {0, G.n - 1}:
        hops = la.bfs(A, source, device=device).to("cpu").to_dense(-1)
        assert np.array_equal(hops, hw.bfs(G, source, device="reference", predecessors=False).distances)
        if not wide and G.n <= 600:
            assert six_lines(G, source, device) == hops.tolist()
        start = la.Vector.from_entries([source], [source], G.n)
        levels, parents = la.waves(start, A, la.semiring.any_secondi, device=device)
        tree = levels.to("cpu").to_dense(-1), parents.to("cpu").to_dense(-1)
        assert hw.validate(G, source, *tree).ok


@machines
def test_one_explanation_per_product(device: str) -> None:
    G = hw.generate.kronecker(9, edge_factor=8, seed=3)
    x = la.Vector.from_entries([int(np.flatnonzero(G.degrees == 1)[0])], True, G.n)
    (levels, _), explanations = la.waves(x, G, explain=True, device=device)
    counts = np.bincount(levels.to("cpu").values).tolist()
    assert [why.nnz_x for why in explanations] in (counts, counts[:-1])  # no entry for the last level
    assert [why.nnz_mask for why in explanations] == (G.n - np.cumsum(counts))[: len(explanations)].tolist()
    assert {"push", "pull"} == {why.direction for why in explanations}
    for why in explanations:
        assert why.engine == device and why.operation == "vxm" and why.semiring == "any_pair"
        assert why.operand_reuse == (why.direction == "pull") and "masked" in why.product
        assert why.touched <= G.m


def test_few_places_that_hold_most_entries_are_pulled() -> None:
    """Not by their share of the places; a vector with its own rule still goes by that share."""
    n = 1000
    hubs, others = np.repeat([1, 2], n - 3), np.tile(np.arange(3, n), 2)
    G = hw.Graph.from_edges(np.concatenate([[0, 0], hubs]), np.concatenate([[1, 2], others]), n=n)
    x = la.Vector.from_entries([0], True, n)
    hops = [0, 1, 1] + [2] * (n - 3)
    for rule, directions in ((x.rule, ["push", "pull"]), (la.Shares(rising=0.01, falling=0.01), ["push", "push"])):
        x.rule = rule
        (levels, _), explanations = la.waves(x, G, explain=True, device="cpu")
        assert [why.direction for why in explanations][:2] == directions
        assert levels.to_dense(-1).tolist() == hops


@machines
def test_types_settle(device: str) -> None:
    """Bool values become whole numbers from the first product on, unless dtype= names another type."""
    for given_type, kind in ((None, np.int64), ("float64", np.float64)):
        x = la.Vector.from_entries([0], True, 5)
        counted = la.waves(x, hw.generate.complete(5), la.semiring.plus_first, dtype=given_type, device=device).values
        assert counted.dtype == kind and counted.to("cpu").to_dense().tolist() == [1] * 5


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("name", TRAPS)
def test_the_device_follows_the_rule(name: str) -> None:
    """Every product of a launch took the direction that hopwave.rules says, and its recorded sizes are right."""
    G = TRAPS[name]()
    A = la.Matrix.from_graph(G).to("cuda").T
    x = la.Vector.from_entries([0], True, G.n)
    product = settled(la.semiring.any_pair, A, x.dtype, None)
    found = algebra("cuda").waves(A, x, product, product, None, *RULE.parameters(), True)
    assert found is not None and found.trace is not None
    hops = found.levels.to("cpu").to_dense(-1)
    degrees = np.diff(G.indptr)
    nf0 = mf0 = reached_arcs = 0
    last = -1
    for depth, choice, nf, mf, mu, reached, *_ in found.trace:
        reached_arcs += mf
        assert nf == np.count_nonzero(hops == depth - 1) and reached == np.count_nonzero(hops == depth)
        assert mf == degrees[hops == depth - 1].sum() and mu == G.m - reached_arcs
        assert choice == RULE.choose(Sizes(G.n, G.m, nf, mf, mu, nf0, mf0, last)), depth
        nf0, mf0, last = nf, mf, choice


@pytest.fixture(scope="module", params=[False, True], ids=["undirected", "directed"])
def large(request: pytest.FixtureRequest, gpu: Any) -> hw.Graph:
    """Large enough for teams, the whole grid, chunks of long lists, early exits and rows that one block adds up."""
    return hw.generate.kronecker(15, edge_factor=32, directed=request.param, seed=5)


@pytest.mark.gpu
def test_large_levels(large: hw.Graph) -> None:
    A = la.Matrix.from_graph(large).to("cuda")
    assert large.degrees.max() > 4096
    for source in np.flatnonzero(large.degrees)[:: large.n // 12].tolist():
        right = hw.bfs(large, source, path_counts=True, device="cpu")
        assert np.array_equal(la.bfs(A, source).to("cpu").to_dense(-1), right.distances)
        tree = la.waves(la.Vector.from_entries([source], [source], large.n), A, la.semiring.any_secondi)
        assert hw.validate(large, source, *(part.to("cpu").to_dense(-1) for part in tree)).ok
        one = la.Vector.from_entries([source], [1.0], large.n)
        counts = la.waves(one, A, la.semiring.plus_first).values.to("cpu").to_dense()
        assert np.allclose(counts, right.path_counts, rtol=1e-12)


@pytest.mark.gpu
def test_sums_are_the_same_in_every_run(large: hw.Graph) -> None:
    weights = np.random.default_rng(1).random(large.m)
    W, x = la.Matrix.from_graph(large, weights).to("cuda"), la.Vector.from_entries([1, 2], [0.1, 0.7], large.n)
    first = la.waves(x, W, la.semiring.plus_times).values.to("cpu")
    right = la.waves(x, W, la.semiring.plus_times, device="cpu").values
    assert np.allclose(first.to_dense(), right.to_dense(), rtol=1e-9, atol=0)
    for _ in range(5):
        again = la.waves(x, W, la.semiring.plus_times).values.to("cpu")
        assert np.array_equal(again.values, first.values) and np.array_equal(again.indices, first.indices)
