"""Tables of distances: targets, types, files, and runs that are killed. tests/questions compares the entries."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hopwave as hw
from hopwave import Graph, GraphError, generate
from hopwave.algorithms import checkpoint, many_sources

ROADS = Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])
SEVENTHS = Graph.from_edges(*generate.grid(9, 9).to_edges(), weights=np.arange(144) / 7 + 0.1)
every_ending = pytest.mark.parametrize("ending", [".npy", ".parquet", ".csv"])


def test_types_and_pairs_of_a_table() -> None:
    how: Any = {"sources": [0, 3, 9, 9], "targets": [5, 0, 17]}
    for graph in (generate.grid(5, 60), generate.kronecker(7, seed=1)):  # deep and shallow
        expected = hw.bfs_many(graph, how["sources"])[:, how["targets"]]
        found = hw.distance_table(graph, **how).values
        assert found.dtype == np.int32 and (found == expected).all()
        floats = hw.distance_table(graph, **how, dtype="float64").values
        assert (floats == np.where(expected < 0, np.inf, expected)).all()
    single = hw.distance_table(ROADS, dtype="float32").values
    assert single.dtype == np.float32 and (single == hw.distance_table(ROADS).values).all()
    assert hw.distance_table(ROADS, limit=40, sparse=True)["a", "c"] == 35.0


def test_the_functions_of_many_sources_take_targets() -> None:
    aims: Any = {"targets": ["d", "a", "d"]}
    assert hw.sssp_many(ROADS, ["b", "d"], **aims).tolist() == [[35.0, 10.0, 35.0], [0.0, 45.0, 0.0]]
    assert hw.sssp_many(ROADS, ["b"], weights=False, limit=1, **aims).tolist() == [[np.inf, 1.0, np.inf]]
    assert hw.bfs_many(ROADS, ["b"], 1, **aims).tolist() == [[-1, 1, -1]]
    path = Graph.from_edges([0, 1], [1, 2], n=4)  # hops, as it has no weights
    assert hw.sssp_many(path, [0], limit=1.5).tolist() == [[0.0, 1.0, np.inf, np.inf]]
    assert hw.sssp_many(path, []).shape == (0, 4)


def test_labels_in_pandas() -> None:
    one_way = Graph.from_edges(["a", "b"], ["b", "c"], directed=True, weights=[1.0, 2.0])
    frame = hw.distance_table(one_way, ["a", "c"], ["c", "b", "c"]).to_pandas()
    assert frame.loc["a"].tolist() == [3.0, 1.0, 3.0] and frame.loc["c"].tolist() == [0.0, np.inf, 0.0]
    pairs = hw.distance_table(one_way, ["a"], limit=1, sparse=True).to_pandas()
    assert pairs.to_dict("list") == {"source": ["a", "a"], "target": ["a", "b"], "distance": [0.0, 1.0]}


def test_an_executor_changes_no_bit() -> None:
    with ThreadPoolExecutor(2) as pool:
        for ask in (
            lambda **how: hw.distance_table(SEVENTHS, range(81), range(0, 81, 5), **how).values,
            lambda **how: hw.accessibility(SEVENTHS, limit=2.0, **how).sums,
        ):
            assert (ask(executor=pool) == ask()).all()


def frame(file: Path) -> Any:
    """The pairs of a file; CSV has every bit of a distance."""
    if file.suffix == ".parquet":
        return pd.read_parquet(file)
    found = pd.read_csv(file, dtype={"distance": str})
    return found.assign(distance=[float(text) for text in found["distance"]])


@every_ending
def test_files_have_the_same_table(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_sources, "BLOCK_BYTES", 64)
    file = hw.distance_table(ROADS, ["d", "a", "b"], ["a", "c"], limit=40, out=tmp_path / f"table{ending}")
    if ending == ".npy":
        assert (np.load(file) == hw.distance_table(ROADS, ["d", "a", "b"], ["a", "c"], limit=40).values).all()
    else:
        assert [tuple(row) for row in frame(file).itertuples(index=False)] == [
            ("d", "c", 10.0), ("a", "a", 0.0), ("a", "c", 35.0), ("b", "a", 10.0), ("b", "c", 25.0),
        ]  # fmt: skip
    assert [entry.name for entry in tmp_path.iterdir()] == [f"table{ending}"]


def test_a_csv_file_is_read_back_as_a_graph(tmp_path: Path) -> None:
    """Odd names, and distances of every type to the last bit."""
    odd = Graph.from_edges(['a "b"', " c,"], [" c,", "7"], weights=[0.1, 1 / 3])
    for dtype in ("float64", "float32"):
        found = hw.read(hw.distance_table(odd, out=tmp_path / "odd.csv", dtype=dtype), directed=True)
        assert found.labels.tolist() == odd.labels.tolist()
        assert np.array_equal(found.to_scipy().toarray().astype(dtype), hw.distance_table(odd, dtype=dtype).values)
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


@every_ending
def test_a_killed_run_goes_on(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row is lost, none is twice, and what was done is not done again."""
    hw.write(tmp_path / "graph.npz", SEVENTHS)
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
        hw.distance_table(SEVENTHS, range(60), range(49), **options)
    hw.distance_table(SEVENTHS, range(60), range(50), **options)
    assert calls[0] >= 20
    expected = hw.distance_table(SEVENTHS, range(60), range(50)).values
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
