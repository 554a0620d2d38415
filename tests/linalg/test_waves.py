"""`waves` equals the loop that it replaces; vectors convert themselves, matrices are not copied, products explain."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hopwave as hw
from dense import NOTHING, multiplied, same, table
from graphs import TRAPS
from hopwave import linalg as la
from hopwave.engines import algebra
from hopwave.engines.cpu import policy
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


# ---------------------------------------------------------------- vectors, matrices and explanations


def entries(n: int, count: int) -> la.Vector:
    return la.Vector.from_entries(np.arange(count), True, n)


def test_a_vector_converts_itself_by_the_papers_rule() -> None:
    """Section 6.3: dense above 1% while rising, sparse below 1% while falling; in between unchanged."""
    x = entries(1000, 10)
    assert x.convert() == "sparse"  # 1% is not above 1%
    for count, kept in ((50, "dense"), (5, "sparse"), (8, "sparse"), (11, "dense"), (11, "dense"), (9, "sparse")):
        x.replace(entries(1000, count))
        assert x.convert() == kept, count
        assert x.format == kept
    x.replace(entries(1000, 5))
    x.rule = la.Shares(rising=0.5, falling=0.001)
    x.replace(entries(1000, 400))
    assert x.convert() == "sparse"


def test_a_products_result_goes_on_where_its_operand_was() -> None:
    """The rule looks at a sequence of frontiers: 2% after 5% is falling, but not yet below 1%."""
    A, x = la.Matrix.from_scipy(sp.eye_array(100, format="csr")), entries(100, 5)
    assert x.convert() == "dense"
    y = la.mxv(A, x, la.semiring.any_pair, mask=entries(100, 2))
    assert (y._before, y._was_dense, y.nnz) == (5, True, 2)
    _, why = la.mxv(A, y, la.semiring.any_pair, explain=True)
    assert why.direction == "pull"


def test_nothing_is_copied_from_and_to_scipy() -> None:
    S = sp.csr_array(np.random.default_rng(0).integers(0, 2, (30, 20)).astype(np.float64))
    A = la.Matrix.from_scipy(S)
    assert A.rows.values is S.data and A.rows.indptr is S.indptr and np.shares_memory(A.rows.indices, S.indices)
    back = A.to_scipy()
    assert all(np.shares_memory(getattr(back, part), getattr(S, part)) for part in ("data", "indices", "indptr"))
    C = la.Matrix.from_scipy(S.tocsc())
    assert C.shape == (30, 20) and (C.to_dense() == S.toarray()).all() and (A.T.to_dense() == S.toarray().T).all()
    assert A.T.columns.values is S.data
    twice = sp.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    assert la.Matrix.from_scipy(twice).to_dense().tolist() == [[3.0]] and twice.nnz == 2


@pytest.mark.parametrize("directed", [False, True])
def test_nothing_is_copied_from_a_graph(directed: bool) -> None:
    G = hw.generate.kronecker(6, directed=directed)
    A = la.Matrix.from_graph(G)
    assert A.rows.indices is G.indices and A.rows.indptr is G.indptr and not A.has_values
    assert la.Matrix.from_graph(G) is A
    assert np.array_equal(A.columns.indices, G.in_indices)
    assert (A.columns.indices is G.indices) == (not directed)
    weighted = la.Matrix.from_graph(G, np.arange(G.m))
    assert weighted.T.T.rows.values is weighted.rows.values
    assert np.array_equal(la.Matrix.from_graph(G.arranged()).rows.indices, G.indices)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16"])
def test_repeats_of_small_integers_are_added_up(kind: str) -> None:
    value = np.iinfo(kind).max
    A = sp.csr_array((np.full(2, value, kind), [1, 1], [0, 2, 2]), shape=(2, 2))
    edges = la.Matrix.from_edges([0, 0], [1, 1], np.full(2, value, kind), 2)
    for found in (edges, la.Matrix.from_scipy(A), la.Matrix.from_scipy(A.tocoo())):
        assert found.to_dense().max() == 2 * value and found.rows.indptr.dtype == np.int32, "as those of graphs"


def test_types_of_results() -> None:
    A, x = la.Matrix.from_dense([[1, 2], [0, 3]]).astype("int32"), la.Vector.from_dense(np.array([1, 1], np.float32))
    names = {"plus_times": "float64", "plus_first": "int32", "any_pair": "bool", "plus_pair": "int64"}
    names |= {"min_secondi": "int32", "plus_second": "float32", "or_and": "bool"}
    for name, kind in names.items():
        assert la.mxv(A, x, la.semiring[name], device="reference").dtype == kind, name
    assert la.mxv(A, x, la.semiring.plus_pair, dtype="float32", device="reference").dtype == "float32"


@machines
def test_a_count_that_was_not_known_is_right_after_accumulating(device: str) -> None:
    bits = np.array([True, False, False, True])
    w = la.Vector.from_dense(np.arange(4.0), bits).to(device)
    la.assign(w, la.Vector.from_entries([0, 1, 2], [5.0, 6.0, 7.0], 4), accum=la.binary.plus, device=device)
    assert w.nnz == 4 and w.to("cpu").to_dense().tolist() == [5.0, 6.0, 7.0, 3.0]


def test_an_explanation_counts_what_was_touched() -> None:
    """Table 1: a row product touches everything, a masked one the mask's rows, a column one the vector's columns."""
    G = hw.generate.kronecker(10)
    A, n = la.Matrix.from_graph(G), G.n
    f, m = entries(n, 30).astype("float64"), la.Vector.from_entries(np.arange(n - 40, n), True, n)
    touched = {}
    for direction, mask in product(("pull", "push"), (None, m)):
        _, why = la.mxv(A, f, la.semiring.plus_second, mask=mask, direction=direction, explain=True)
        touched[why.product] = why.touched
        assert (why.direction, why.nnz_x, why.structure_only) == (direction, 30, True) and "plus_second" in str(why)
    rows, columns = G.degrees[n - 40 :].sum(), G.degrees[:30].sum()
    assert touched == {"by rows": G.m, "by rows, masked": rows, "by columns": columns, "by columns, masked": columns}
    v = la.bfs(A, 0)
    early, f = la.select(v, la.binary.le, 1), la.select(v, la.binary.eq, 1)
    keywords: Any = {"mask": early, "complement": True, "structural": True, "direction": "pull", "explain": True}
    (y, quick), (z, slow), (w, reuse), (_, plain) = (
        la.vxm(f, A, la.semiring.any_pair, **keywords, **switch)
        for switch in ({}, {"early_exit": False}, {"operand_reuse": True}, {"structure_only": False})
    )
    assert y.indices.tolist() == np.flatnonzero(v.to_dense(-1) == 2).tolist()
    assert y.to_dict() == z.to_dict() == w.to_dict()
    assert quick.early_exit and not slow.early_exit and reuse.operand_reuse
    assert quick.touched < slow.touched == G.degrees[early.to_dense(-1) == -1].sum()
    assert not plain.structure_only and quick.structure_only


def test_threads_change_no_bit_of_a_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if sums are rounded, and if the pushed list is in another order."""
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 64)
    A = la.Matrix.from_graph(hw.generate.kronecker(10))
    n, rng = A.shape[0], np.random.default_rng(2)
    x = la.Vector.from_dense(rng.random(n), rng.random(n) < 0.3)
    places, values = x.entries()
    mixed = rng.permutation(len(places))
    y = la.Vector.sparse(n, places[mixed], values[mixed], ascending=False)
    for direction in ("push", "pull"):
        sums = [
            la.mxv(A, one.copy(), la.semiring.plus_second, direction=direction, threads=threads).to_dict()
            for one in (x, y)
            for threads in (1, 2, 3)
        ]
        assert all(one == sums[0] for one in sums), direction


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_helpers_change_no_sum(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough work for helpers, and with columns so much longer than rows that entries are sought."""
    monkeypatch.setattr(policy, "ENTRIES_PER_THREAD", 64)
    G = hw.generate.kronecker(10)
    A = la.Matrix.from_graph(G)
    x, half = entries(G.n, G.n // 2), la.Vector.from_entries(np.arange(0, G.n, 2), True, G.n)
    for name in ("any_pair", "plus_second"):
        for mask in (None, half):
            z = la.mxv(A, x, la.semiring[name], mask=mask, device="reference")
            for direction in ("push", "pull"):
                y = la.mxv(A, x, la.semiring[name], mask=mask, direction=direction, threads=threads)
                assert y.to_dict() == z.to_dict(), name
    parents = la.mxv(A, x, la.semiring.any_secondi, direction="pull", threads=threads)
    assert all(x[p] and p in G.indices[G.indptr[v] : G.indptr[v + 1]] for v, p in parents.to_dict().items())
    star = la.Matrix.from_graph(hw.generate.star(400))
    for B in (A, star):
        for name in ("plus_pair", "any_secondi"):
            for direction in ("push", "pull"):
                C = la.mxm(B, B, la.semiring[name], mask=B, direction=direction, threads=threads)
                D = la.mxm(B, B, la.semiring[name], mask=B, device="reference")
                assert np.array_equal(C.rows.indices, D.rows.indices)
                assert name == "any_secondi" or np.array_equal(C.stored_values(), D.stored_values())
