"""Benchmarks check what they time: their checks notice wrong answers, and their counts are right."""

from __future__ import annotations

import numpy as np
import pytest

import hopwave as hw

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]
GRAPH = hw.generate.kronecker(8, seed=1)
ROOT = int(np.argmax(GRAPH.degrees))


def test_turbobfss_answers_are_checked_by_other_operations() -> None:
    import cupy

    from hopwave.papers.lab import wrong

    graph = GRAPH.to("cuda")
    found = hw.bfs(GRAPH, ROOT, device="cpu", path_counts=True)
    distance, counts = cupy.asarray(found.distances), cupy.asarray(found.path_counts)
    assert wrong(graph, distance, counts, ROOT) == ""
    assert "path count" in wrong(graph, distance, cupy.where(distance == 1, 2 * counts, counts), ROOT)
    assert "more than one level" in wrong(graph, cupy.where(distance > 0, 2 * distance, distance), None, ROOT)
    assert "source" in wrong(graph, distance + 1, None, ROOT)


def test_arcs_of_each_iteration_are_counted_by_where_they_lead() -> None:
    import cupy

    from hopwave.papers.pushpull import kinds

    path = hw.generate.path(3)  # arcs read from 0: one forward, one back and one forward, one back
    rows = kinds(path, cupy.array([0, 1, 2]))
    ways = ("back a level", "in the level", "to the next level")
    assert [tuple(row[way] for way in ways) for row in rows] == [(0, 0, 1), (1, 0, 1), (1, 0, 0)]
    assert [(row["frontier"], row["unvisited"]) for row in rows] == [(1, 2), (1, 1), (1, 0)]


@pytest.mark.parametrize(
    "graph",
    [GRAPH, hw.generate.path(70), hw.generate.star(2000), hw.generate.grid(30, 40)],
    ids=["kronecker", "path", "star", "grid"],
)
def test_every_search_of_xbfss_figures_finds_the_distances(graph: hw.Graph) -> None:
    from hopwave.arrays import on_host
    from hopwave.papers import xbfs
    from hopwave.papers.lab import Lab

    source = int(np.argmax(graph.degrees))
    right = np.asarray(hw.bfs(graph, source, device="cpu").distances)
    ways = xbfs.ways(Lab("cuda", True), graph.to("cuda"))
    assert {"baseline", "+ Ad", "XBFS"} < set(ways)
    for name, search in ways.items():
        levels, found = search(source)
        assert np.array_equal(on_host(found), right), name
        assert sum(level.found for level in levels) == (right > 0).sum(), name


def test_xbfss_figures_11_to_14_are_shares_and_ratios_of_the_same_levels() -> None:
    from hopwave.papers import xbfs
    from hopwave.papers.lab import Lab

    row = xbfs.one_graph(Lab("cuda", True), xbfs.TABLE_1[0], hw.generate.kronecker(14).to("cuda"))
    assert row["gain: XBFS"] == pytest.approx(row["baseline ms"] / row["XBFS ms"])
    for stage in ("baseline", "after Ad", "XBFS"):
        assert 0 < row[f"bottom-up % ({stage})"] < 100
    saved = [row[f"saved by {way} %"] for way in xbfs.CHOICES]
    assert saved == [None] * 4 or sum(saved) == pytest.approx(100)
    for name in xbfs.BALANCES:
        assert row[f"balance: {name}"] == pytest.approx(row["+ Ad ms"] / row[f"{name} ms"])


def test_the_queues_of_xbfss_figure_5_are_compared_before_they_are_timed() -> None:
    from hopwave.papers import xbfs

    assert all(taken > 0 for share in xbfs.SHARES for taken in xbfs.queue_ms(1 << 20, share).values())
