"""Tables of distances beside SciPy, to the last bit: targets, limits, types, files, and runs that are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from test_weighted_distances import weighted

import hopwave as hw
from hopwave import Graph, GraphError, generate
from hopwave.algorithms import checkpoint, many_sources

ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])


def by_scipy(graph: Graph, sources: Any, targets: Any, limit: float = np.inf) -> Any:
    """SciPy leaves out arcs of length 0, so give them the least length there is, and take that out again."""
    dense = graph.to_scipy().astype(np.float64)
    tiny = dense.data == 0
    dense.data[tiny] = 5e-324
    found = dijkstra(dense, indices=sources, limit=limit).reshape(len(sources), graph.n)
    return np.where(found < 1e-300, 0.0, found)[:, targets]


@given(graph=weighted(), data=st.data())
def test_distances_are_scipys_to_the_last_bit(graph: Graph, data: Any) -> None:
    ids = st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=6)
    sources, targets = data.draw(ids), data.draw(ids)
    plain = graph.relabel(None)
    whole = by_scipy(plain, sources, targets)
    near = np.unique(whole[np.isfinite(whole)])
    limit = float(data.draw(st.sampled_from(near.tolist() or [1.0])))
    for device in ("cpu", "reference"):
        assert (hw.distance_table(plain, sources, targets, device=device).values == whole).all()
    cut = hw.distance_table(plain, sources, targets, limit=limit).values
    assert (cut == np.where(whole <= limit, whole, np.inf)).all()  # what is at the limit itself is reached
    sparse = hw.distance_table(plain, sources, targets, limit=limit, sparse=True)
    for i, s in enumerate(sources):
        for t in targets:
            assert sparse[s, t] == cut[i, targets.index(t)]
    single = hw.distance_table(plain, sources, targets, dtype="float32").values
    assert single.dtype == np.float32
    assert (single == whole.astype(np.float32)).all()


@pytest.mark.parametrize("graph", [generate.grid(5, 60), generate.kronecker(7, seed=1)], ids=["deep", "shallow"])
@pytest.mark.parametrize("limit", [None, 3])
def test_hops_are_those_of_bfs_many(graph: Graph, limit: int | None) -> None:
    sources, targets = [0, 3, 9, 9], [5, 0, 17]
    found = hw.distance_table(graph, sources, targets, limit=limit)
    expected = hw.bfs_many(graph, sources, limit)[:, targets]
    assert found.values.dtype == np.int32
    assert (found.values == expected).all()
    assert (hw.distance_table(graph, sources, targets, limit=limit, sparse=True).values.toarray() >= 0).all()
    floats = hw.distance_table(graph, sources, targets, limit=limit, dtype="float64").values
    assert (floats == np.where(expected < 0, np.inf, expected)).all()


def test_the_functions_of_many_sources_take_targets() -> None:
    targets = ["d", "a", "d"]
    assert hw.sssp_many(ROADS, ["b", "d"], targets=targets).tolist() == [[35.0, 10.0, 35.0], [0.0, 45.0, 0.0]]
    assert hw.sssp_many(ROADS, ["b"], limit=20, targets=targets).tolist() == [[np.inf, 10.0, np.inf]]
    assert hw.sssp_many(ROADS, ["b"], weights=False, limit=1, targets=targets).tolist() == [[np.inf, 1.0, np.inf]]
    assert hw.bfs_many(ROADS, ["b", "d"], targets=targets).tolist() == [[2, 1, 2], [0, 1, 0]]
    assert hw.bfs_many(ROADS, ["b"], 1, targets=targets).tolist() == [[-1, 1, -1]]


def test_directions_labels_and_pandas() -> None:
    one_way = Graph.from_edges(["a", "b"], ["b", "c"], directed=True, weights=[1.0, 2.0])
    assert hw.distance_table(one_way, ["c"], ["a"], direction="in").values.tolist() == [[3.0]]
    frame = hw.distance_table(one_way, ["a", "c"], ["c", "b", "c"]).to_pandas()
    assert frame.loc["a"].tolist() == [3.0, 1.0, 3.0]
    assert frame.loc["c"].tolist() == [0.0, np.inf, 0.0]
    pairs = hw.distance_table(one_way, ["a"], limit=1, sparse=True).to_pandas()
    assert pairs.to_dict("list") == {"source": ["a", "a"], "target": ["a", "b"], "distance": [0.0, 1.0]}


def test_an_executor_changes_no_bit() -> None:
    graph = generate.grid(9, 9)
    lengths = Graph.from_edges(*graph.to_edges(), weights=np.arange(len(graph.to_edges()[0])) / 7 + 0.1)
    with ThreadPoolExecutor(2) as pool:
        found = hw.distance_table(lengths, range(81), range(0, 81, 5), executor=pool)
        reach = hw.accessibility(lengths, limit=2.0, executor=pool)
    assert (found.values == hw.distance_table(lengths, range(81), range(0, 81, 5)).values).all()
    assert (reach.sums == hw.accessibility(lengths, limit=2.0).sums).all()


def frame(file: Path) -> Any:
    """The pairs of a file; CSV has every bit of a distance."""
    import pandas as pd

    if file.suffix == ".parquet":
        return pd.read_parquet(file)
    found = pd.read_csv(file, dtype={"distance": str})
    return found.assign(distance=[float(text) for text in found["distance"]])


@pytest.mark.parametrize("ending", [".npy", ".parquet", ".csv"])
def test_files_have_the_same_table(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_sources, "BLOCK_BYTES", 64)
    file = hw.distance_table(ROADS, ["d", "a", "b"], ["a", "c"], limit=40, out=tmp_path / f"table{ending}")
    table = hw.distance_table(ROADS, ["d", "a", "b"], ["a", "c"], limit=40)
    if ending == ".npy":
        assert (np.load(file) == table.values).all()
    else:
        long = frame(file)
        assert [tuple(row) for row in long.itertuples(index=False)] == [
            ("d", "c", 10.0), ("a", "a", 0.0), ("a", "c", 35.0), ("b", "a", 10.0), ("b", "c", 25.0),
        ]  # fmt: skip
    assert [entry.name for entry in tmp_path.iterdir()] == [f"table{ending}"]


def test_a_csv_file_is_read_back_as_a_graph(tmp_path: Path) -> None:
    """Odd names, and distances of every type to the last bit."""
    odd = Graph.from_edges(['a "b"', " c,"], [" c,", "7"], weights=[0.1, 1 / 3])
    for dtype in ("float64", "float32"):
        file = hw.distance_table(odd, out=tmp_path / "odd.csv", dtype=dtype)
        found = hw.read(file, directed=True)
        assert found.labels.tolist() == odd.labels.tolist()
        expected = hw.distance_table(odd, dtype=dtype).values
        assert np.array_equal(found.to_scipy().toarray().astype(dtype), expected)
    file = hw.distance_table(generate.path(3), [2], [0, 2], out=tmp_path / "hops.csv")
    assert file.read_text() == "source,target,distance\n2,0,2\n2,2,0\n"


KILLED = """
import os, signal, sys
import hopwave as hw
from hopwave.algorithms import checkpoint, many_sources
checkpoint.INTERVAL, many_sources.BLOCK_BYTES = -1.0, 8 * 50 * 4
def die(done, count):
    if done >= 20:
        os.kill(os.getpid(), signal.SIGKILL)
graph = hw.read(sys.argv[1])
hw.distance_table(graph, range(60), range(50), out=sys.argv[2], checkpoint=sys.argv[3], progress=die)
"""


@pytest.mark.parametrize("ending", [".npy", ".parquet", ".csv"])
def test_a_killed_run_goes_on(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is lost, none is twice, and what was done is not done again."""
    grid = generate.grid(8, 8)
    graph = Graph.from_edges(*grid.to_edges(), weights=np.arange(len(grid.to_edges()[0])) / 7 + 0.1)
    hw.write(tmp_path / "graph.npz", graph)
    out, saved = tmp_path / f"table{ending}", tmp_path / "saved"
    ended = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "graph.npz", out, saved], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists() and saved.exists()
    with (part := out.with_name(out.name + ".part")).open("ab") as stream:
        stream.write(b"half a block that was under way")
    monkeypatch.setattr(checkpoint, "INTERVAL", -1.0)
    monkeypatch.setattr(many_sources, "BLOCK_BYTES", 8 * 50 * 4)
    calls: list[int] = []
    options: Any = {"out": out, "checkpoint": saved, "progress": lambda done, count: calls.append(done)}
    with pytest.raises(GraphError, match="another graph, question"):
        hw.distance_table(graph, range(60), range(49), **options)
    hw.distance_table(graph, range(60), range(50), **options)
    assert calls[0] >= 20
    expected = hw.distance_table(graph, range(60), range(50)).values
    if ending == ".npy":
        assert (np.load(out) == expected).all()
    else:
        long = frame(out)
        assert len(long) == 60 * 50
        assert (long.pivot(index="source", columns="target", values="distance").to_numpy() == expected).all()
    assert not part.exists() and not saved.exists()


def test_ctrl_c_saves_and_the_same_call_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_sources, "BLOCK_BYTES", 1)
    options: Any = {"out": tmp_path / "t.npy", "checkpoint": tmp_path / "saved"}

    def stop(done: int, count: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as error:
        hw.distance_table(ROADS, progress=stop, **options)
    assert "progress is saved" in error.value.__notes__[0]
    seen: list[int] = []
    hw.distance_table(ROADS, progress=lambda done, count: seen.append(done), **options)
    assert seen[0] == 3
    assert (np.load(tmp_path / "t.npy") == hw.distance_table(ROADS).values).all()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"dtype": "hops"}, "dtype='hops' is for whole numbers"),
        ({"dtype": "int8"}, "dtype='int8'"),
        ({"checkpoint": "x"}, "checkpoint= is for a table that goes to a file"),
        ({"out": "x.txt"}, "an unknown extension; use .npy, .parquet or .csv"),
        ({"out": 3}, "not the name of a file"),
        ({"out": "x.npy", "sparse": True}, "sparse=True is for tables in memory"),
        ({"out": "x.npy", "targets": ["a", "a"]}, "listed twice"),
        ({"out": Path("no such folder") / "x.npy"}, "there is no folder"),
        ({"limit": -1}, "is not a length"),
    ],
)
def test_what_cannot_be_used(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(hw.HopwaveError, match=reason):
        hw.distance_table(ROADS, **options)
    table = hw.distance_table(ROADS, ["a"], ["b"], sparse=True)
    with pytest.raises(GraphError, match="'b' is no source"):
        table["b", "a"]
    for pair in ("ab", "a", ("a",), 3):
        with pytest.raises(GraphError, match=r"is not a pair; give table\[source, target\]"):
            table[pair]  # type: ignore[index]
    with pytest.raises(GraphError, match="a sparse table is no array"):
        np.asarray(table)
