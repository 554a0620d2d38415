"""Generators: shapes and counts, the same graph on every machine, and clear error messages."""

import hashlib
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from hopwave import Graph, generate
from hopwave.generate import counter, recursive


def digest(graph: Graph) -> str:
    text = np.asarray(graph.indptr, "<i8").tobytes() + np.asarray(graph.indices, "<i4").tobytes()
    return hashlib.sha256(text).hexdigest()[:12]


GOLDEN = {
    "kronecker": (lambda: generate.kronecker(7, 8), "ec459c04735d"),
    "kronecker of three": (lambda: generate.kronecker(4, 8, np.full(9, 1 / 9)), "e165b10f92f4"),
    "uniform": (lambda: generate.uniform(100, 4), "085855b08674"),
    "small world": (lambda: generate.smallworld(100, 6, 0.3), "49f4d3ddae86"),
    "attachment": (lambda: generate.barabasi_albert(100, 3), "43c78192954a"),
    "delaunay": (lambda: generate.delaunay(100), "a8391740b571"),
    "geometric": (lambda: generate.geometric(100), "adc8c8e38449"),
    "grid": (lambda: generate.grid(10, 10, missing=0.2), "e01025034bd6"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_a_seed_always_gives_the_same_graph(name: str) -> None:
    make, expected = GOLDEN[name]
    assert digest(make()) == expected


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_threads_do_not_matter(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kronecker, uniform = generate.kronecker(9, 8), generate.uniform(500, 8)
    monkeypatch.setattr(counter, "BLOCK", 100)
    monkeypatch.setattr(counter, "host_cores", lambda: cores)
    assert generate.kronecker(9, 8) == kronecker
    assert generate.uniform(500, 8) == uniform


@pytest.mark.parametrize("edges", [generate.kronecker_edges, generate.uniform_edges])
def test_blocks_add_up_to_the_whole_list(edges) -> None:  # type: ignore[no-untyped-def]
    whole = edges(9, 8, 7)
    cuts = [0, 1, 7, 7, whole[0].size // 2, whole[0].size]
    parts = [edges(9, 8, 7, begin, end - begin) for begin, end in pairwise(cuts)]
    np.testing.assert_array_equal(np.concatenate(parts, axis=1), whole)


@pytest.mark.parametrize(("edges", "size"), [(generate.kronecker_edges, 40), (generate.uniform_edges, 1 << 40)])
def test_ids_past_31_bits_are_int64(edges: Any, size: int) -> None:
    src, dst = edges(size, first=10**12, count=1000)
    assert src.dtype == dst.dtype == np.int64
    assert 1 << 38 < src.max() < 1 << 40
    assert src.min() >= 0 <= dst.min()


@pytest.mark.parametrize("scale, first, permute", [(1, 0, True), (6, 3, False), (17, 1000, True), (30, 1 << 33, True)])
def test_compiled_draws_are_those_of_numpy(
    scale: int, first: int, permute: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for compiled in (True, False):
        monkeypatch.setattr(recursive, "is_compiled_faster", lambda count, compiled=compiled: compiled)
        count = min(100_000, (16 << scale) - first)
        found.append(generate.kronecker_edges(scale, seed=5, first=first, count=count, permute=permute))
    np.testing.assert_array_equal(*found)
    assert found[0][0].dtype == found[1][0].dtype


def test_scramble_is_a_permutation_that_keeps_no_order() -> None:
    for n in (1, 2, 3, 5, 8, 31, 32, 33, 81, 1000, 1024, 3**7):
        assert sorted(counter.scramble(np.arange(n), n, seed=5).tolist()) == list(range(n))
    ids = np.arange(1 << 14)
    moved = counter.scramble(ids, ids.size, seed=1).astype(np.int64)
    assert np.count_nonzero(moved == ids) < 10
    assert np.count_nonzero(np.abs(np.diff(moved)) == 1) < 20
    assert abs(np.corrcoef(ids, moved)[0, 1]) < 0.05


def test_bits_are_splitmix_of_the_counter() -> None:
    """The published first outputs of SplitMix64 from state 1234567, and the hashes of three counters of a stream."""
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [counter._mix((1234567 + i * counter.WEYL) % 2**64) for i in (1, 2, 3)] == published
    begin = counter.start(3, "x")
    expected = [counter._mix((begin + (i + 1) * counter.WEYL) % 2**64) for i in (5, 8, 11)]
    assert counter.bits(3, "x", 5, 3, stride=3).tolist() == expected


def test_fractions_and_integers_are_uniform() -> None:
    x = counter.fractions(1, "x", 0, 100_000)
    assert x.min() >= 0 and x.max() < 1
    assert np.abs(np.histogram(x, bins=10, range=(0, 1))[0] / 10_000 - 1).max() < 0.05
    assert np.bincount(counter.integers(1, "y", 0, 60_000, 6), minlength=6).min() > 9_500


def test_kronecker_cells_come_as_often_as_the_initiator_says_on_every_level() -> None:
    src, dst = generate.kronecker_edges(3, 1 << 15, permute=False)
    quadrant = [2 * (src >> level & 1) + (dst >> level & 1) for level in range(3)]
    for one, other in ((0, 1), (1, 2), (0, 2)):
        together = np.bincount(4 * quadrant[one] + quadrant[other], minlength=16).reshape(4, 4) / src.size
        np.testing.assert_allclose(together, np.outer(recursive.GRAPH500, recursive.GRAPH500), atol=0.005)


def test_an_empty_cell_is_never_drawn() -> None:
    for initiator, row, column in (((0, 1, 0, 0), 0, 31), ((0, 0, 0, 1), 31, 31)):
        src, dst = generate.kronecker_edges(5, 16, initiator=initiator, permute=False)
        assert set(src.tolist()) == {row} and set(dst.tolist()) == {column}
    src, dst = generate.kronecker_edges(3, 16, initiator=np.diag([0.5, 0.25, 0.25]), permute=False)
    np.testing.assert_array_equal(src, dst)
    assert src.max() == 26


def test_general_initiators_agree_with_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = generate.kronecker_edges(6, 8, initiator=(0.4, 0.3, 0.2, 0.1))
    monkeypatch.setattr(recursive, "_quadrant", lambda draw, borders: recursive._cell(draw, borders, 2))
    slow = generate.kronecker_edges(6, 8, initiator=(0.4, 0.3, 0.2, 0.1))
    np.testing.assert_array_equal(fast, slow)


def test_kronecker_sizes_and_permutation() -> None:
    plain, shuffled = generate.kronecker(10, permute=False), generate.kronecker(10)
    assert (plain.n, plain.directed) == (1024, False)
    assert sorted(plain.degrees) == sorted(shuffled.degrees)
    assert plain.degrees.argmax() == 0 != shuffled.degrees.argmax()
    assert 20_000 < plain.m < 2 * 16 * 1024
    assert generate.kronecker(3, initiator=np.full((3, 3), 1 / 9)).n == 27
    assert generate.kronecker(0).n == 1


def test_rmat_is_a_directed_kronecker() -> None:
    assert generate.rmat(7, seed=4) == generate.kronecker(7, seed=4, directed=True, permute=False)


@pytest.mark.parametrize(
    ("k", "n", "m"), [(2, 2, 2), (3, 5, 10), (7, 95, 1510), (12, 3071, 407200), (15, 24575, 11111110)]
)
def test_mycielskian_has_the_published_counts(k: int, n: int, m: int) -> None:
    graph = generate.mycielskian(k)
    assert (graph.n, graph.m) == (n, m)
    A = graph.to_scipy(np.int64)
    assert k > 7 or (A @ A).multiply(A).sum() == 0, "it has a triangle"


def test_directions_and_degrees_of_plain_shapes() -> None:
    """tests/questions compares the undirected ones with NetworkX."""
    assert generate.path(3, directed=True).m == 2 and generate.uniform(64, directed=True).directed
    assert generate.cycle(4, directed=True).to_edges()[1].tolist() == [1, 2, 3, 0]
    assert generate.diamonds(3).degrees.tolist() == [2, 2, 2, 4, 2, 2, 4, 2, 2, 2]


def test_grid_misses_the_requested_share() -> None:
    whole, part = generate.grid(100, 150), generate.grid(100, 150, missing=0.25)
    assert 0.23 < 1 - part.m / whole.m < 0.27
    assert (whole.to_scipy(np.int8) - part.to_scipy(np.int8)).min() == 0
    assert generate.grid(3, 3, missing=1.0).m == 0


@pytest.mark.parametrize("p", [0.0, 0.2, 1.0])
@pytest.mark.parametrize(("n", "k"), [(5000, 10), (50, 4), (7, 6), (8, 6), (3, 2)])
def test_small_worlds_keep_their_edges_and_rewire_the_requested_share(n: int, k: int, p: float) -> None:
    graph = generate.smallworld(n, k, p)
    assert graph.m == n * k and graph.stats().self_loops == 0 and graph.degrees.min() >= k // 2
    src, dst = graph.to_edges()
    apart = (dst - src) % n
    assert n < 1000 or abs(np.mean(np.minimum(apart, n - apart) > k // 2) - p) < 0.02


def test_attachment_prefers_high_degrees_and_stays_connected() -> None:
    graph = generate.barabasi_albert(3000, 4)
    assert connected_components(graph.to_scipy())[0] == 1
    assert graph.stats().self_loops == 0
    assert graph.degrees[4:].min() >= 1
    assert 2 * 4 * 3000 * 0.97 < graph.m <= 2 * 4 * 3000
    assert graph.degrees[:100].mean() > 5 * graph.degrees[-1000:].mean()
    assert generate.barabasi_albert(5, 4).m == 8


def test_delaunay_is_a_triangulation() -> None:
    graph = generate.delaunay(500)
    assert connected_components(graph.to_scipy())[0] == 1
    # Euler: 3n - 3 - h edges, h of them on the hull.
    hull = 3 * graph.n - 3 - graph.m // 2
    assert 3 <= hull < 40
    assert [generate.delaunay(n).m for n in (1, 2, 3)] == [0, 2, 6]


def test_geometric_joins_exactly_the_near_points() -> None:
    points = counter.fractions(9, "points", 0, 400).reshape(200, 2)
    near = ((points[:, None] - points[None]) ** 2).sum(axis=2) <= 0.1**2
    np.fill_diagonal(near, False)
    np.testing.assert_array_equal(generate.geometric(200, radius=0.1, seed=9).to_scipy().toarray(), near)
    graph = generate.geometric(1 << 12)
    assert connected_components(graph.to_scipy())[0] < 40
    assert generate.geometric(1).m == 0


SMALL = {"n": "30", "scale": "5", "k": "4", "rows": "4", "columns": "5"}


@pytest.mark.parametrize("name", generate.generators())
def test_every_generator_can_be_called_with_text(name: str) -> None:
    generator = generate.generators()[name]
    assert generator.summary.endswith(".") and len(generator.summary) < 120
    arguments = {parameter.name: SMALL[parameter.name] for parameter in generator.parameters if parameter.required}
    made = generator.call(arguments)
    assert made == getattr(generate, name)(**{key: int(value) for key, value in arguments.items()})
    if name != "grid" and any(parameter.name == "seed" for parameter in generator.parameters):  # no edge is missing
        assert made != generator.call(arguments | {"seed": 2})


def test_text_is_parsed_by_the_type_of_the_parameter() -> None:
    registry = generate.generators()
    assert registry["kronecker"].call(
        {"scale": "3", "initiator": "0.25,0.25,0.25,0.25", "directed": "yes", "edge_factor": 2}
    ) == generate.kronecker(3, 2, (0.25,) * 4, directed=True)
    assert registry["geometric"].call({"n": "20", "radius": "0.5"}) == generate.geometric(20, 0.5)
