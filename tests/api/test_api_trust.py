"""Foreign errors, wasted memory and lost entries that once occurred, each with the call that showed it."""

import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import hopwave as hw
from hopwave import FormatError, Graph
from hopwave.system.files import replacing
from together import in_one_test


def test_edge_scores_of_parallel_edges_are_all_listed() -> None:
    G = Graph.from_edges([0, 0, 1, 2, 0], [1, 1, 2, 3, 1], repeats="keep")
    found = hw.edge_betweenness_centrality(G, normalized=False).to_dict()
    assert list(found) == sorted(nx.MultiGraph([(0, 1), (0, 1), (0, 1), (1, 2), (2, 3)]).edges(keys=True))
    assert found[0, 1, 0] == found[0, 1, 1] == pytest.approx(1.0) and found[1, 2, 0] == 4.0
    assert hw.edge_betweenness_centrality(Graph.from_edges([], [], n=2)).to_dict() == {}


def test_a_sampled_histogram_bounds_what_it_did_not_meet() -> None:
    tail = Graph.from_edges([*[0] * 400, 400, 401, 402], [*range(1, 401), 401, 402, 403])  # a star with a tail
    exact = hw.distance_histogram(tail)
    assert exact.beyond == 0.0 and len(exact.counts) == 6
    for seed in range(20):
        found = hw.distance_histogram(tail, k=5, seed=seed)
        assert found.bounds is not None and found.beyond > 0
        size = len(found.counts)
        assert exact.counts[size:].sum() <= found.beyond
        assert (np.abs(exact.counts[:size] - found.counts) <= found.bounds).all()
    assert hw.distance_histogram(hw.generate.path(4), k=4).beyond == 0.0


def test_weights_of_an_arranged_graph_are_the_same_in_both_directions() -> None:
    arranged = hw.generate.path(3).arranged()
    assert arranged.indices.tolist() == [1, 0, 2, 1]
    assert arranged.with_weights([5, 5, 7, 7]).weights.tolist() == [5, 5, 7, 7]


def test_where_no_weight_is_above_zero_nobody_is_a_hub() -> None:
    for normalized in (True, False):
        hubs, authorities = hw.hits(Graph.from_edges([0, 1], [1, 2], weights=[0.0, 0.0]), normalized=normalized)
        assert hubs.scores.tolist() == authorities.scores.tolist() == [0, 0, 0]


def npz(path: Path, **changed: Any) -> Path:
    """An archive of a small graph with some entries replaced: by arrays, or by raw bytes."""
    arrays = {"hopwave": 3, "directed": True, "indptr": [0, 1, 1], "indices": [1]} | changed
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in arrays.items():
            stream = io.BytesIO()
            if not isinstance(value, bytes):
                np.lib.format.write_array(stream, np.asarray(value))
            archive.writestr(f"{name}.npy", value if isinstance(value, bytes) else stream.getvalue())
    return path


def header(text: str) -> bytes:
    """An .npy array whose header is `text`."""
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_labels_of_no_characters_take_no_memory(tmp_path: Path) -> None:
    """This file of 1 kB took gigabytes: a billion texts of no bytes each."""
    text = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000,), }\n"
    path = npz(tmp_path / "a.npz", labels=header(text))
    with pytest.raises(FormatError, match=r"labels.npy' declares 1,000,000,000 bytes"):
        hw.read(path)
    assert hw.read(path, labels=False).n == 2


def test_entries_that_are_not_needed_are_not_read(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", labels=b"no array", weights=b"no array", more=b"no array")
    assert hw.read(path, labels=False, weights=False).m == 1
    with pytest.raises(FormatError, match="weights"):
        hw.read(path, labels=False)


SHAPES = ("(1,", "(1,), }}", "((((((1,), }", "(-1,), }\n", "(10**9,), }\n", "(9999999999999999999999,), }\n")
KINDS = ("|V0", "<M8[D]", "(" * 300)
HEADERS = (
    *(f"{{'descr': '<i4', 'fortran_order': False, 'shape': {shape}" for shape in SHAPES),
    *(f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (1,), }}\n" + "\x00" * 8 for kind in KINDS),
    "'''", "(", "\x00\x00", "{'descr': [('a',",
)  # fmt: skip


@in_one_test("text", HEADERS)
def test_damaged_headers_are_errors_of_ours(tmp_path: Path, text: str) -> None:
    for name in ("indices", "indptr", "hopwave", "directed"):
        with pytest.raises(FormatError):
            hw.read(npz(tmp_path / "a.npz", **{name: header(text)}))


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be locked there")
def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path: Path) -> None:
    """Temporary files that nobody locks, of this file alone."""
    target = tmp_path / "graph[1].txt"
    for name in (target.name, "graph.txt"):
        (tmp_path / f".{name}.0123abcd.part").touch()
    with replacing(target) as stream:
        stream.write(b"whole")
        assert not target.exists()
        with replacing(target) as another:  # at the same time: neither may take the other's file for a stray
            another.write(b"first")
        assert target.read_bytes() == b"first"
    assert target.read_bytes() == b"whole"
    assert [path.name for path in tmp_path.glob(".*.part")] == [".graph.txt.0123abcd.part"]
