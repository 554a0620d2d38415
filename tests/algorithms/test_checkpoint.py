"""A run that was interrupted and continued gives the same bits as without a break; files of other runs are refused."""

from __future__ import annotations

import shutil
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
from hopwave import FormatError, Graph, GraphError, engines, generate
from hopwave.algorithms import checkpoint as module
from hopwave.algorithms.checkpoint import Checkpoint
from hopwave.engines.cpu import policy, team
from hopwave.engines.cpu.betweenness import run as cpu_betweenness
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from hopwave.system.files import replacing

GRAPH = generate.delaunay(2500, seed=1)  # large enough to interrupt even on many cores
CALLS: dict[str, Callable[..., Any]] = {
    "vertices": lambda **how: hw.betweenness_centrality(GRAPH, device="cpu", **how),
    "k": lambda **how: hw.betweenness_centrality(GRAPH, k=700, seed=3, endpoints=True, device="cpu", **how),
    "targets": lambda **how: hw.betweenness_centrality(GRAPH, targets=[1, 2, 3], cutoff=9, device="cpu", **how),
    "wide": lambda **how: hw.betweenness_centrality(GRAPH, k=40, seed=3, plan="hopwave-wide", device="cpu", **how),
    "edges": lambda **how: hw.edge_betweenness_centrality(GRAPH, device="cpu", **how),
}


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poll a thousand times per second, so that short runs can be interrupted too."""
    monkeypatch.setattr(policy, "POLL_SECONDS", 0.001)


def done(path: Path) -> int:
    with np.load(path, allow_pickle=False) as stored:
        return int(stored["done"])


def stop(after: int) -> Callable[[int, int], None]:
    """Return a progress function that raises Ctrl-C when `after` sources are done."""

    def progress(reached: int, total: int) -> None:
        if after <= reached < total:
            raise KeyboardInterrupt

    return progress


def raises(error: BaseException) -> Callable[..., Any]:
    """Return a function that raises this."""

    def fail(*given: Any, **more: Any) -> Any:
        raise error

    return fail


def broken_off(call: Callable[..., Any], path: Path, after: int = 1) -> None:
    """Interrupt the call early, so that it leaves a checkpoint."""
    with pytest.raises(KeyboardInterrupt):
        call(checkpoint=path, progress=stop(after), threads=1)


# ---------------------------------------------------------------- continuing


@pytest.mark.parametrize("call", CALLS)
def test_a_run_continues_after_ctrl_c(call: str, tmp_path: Path) -> None:
    path, run = tmp_path / "run.npz", CALLS[call]
    unbroken = run(threads=2)
    stages = [0]
    for after in (1, 20, 0):  # the last before the first block of the resumed run
        broken_off(run, path, after)
        stages.append(done(path))
    assert stages[1] > 0 and stages == sorted(stages)
    heard: list[int] = []
    resumed = run(checkpoint=path, progress=lambda reached, total: heard.append(reached), threads=3)
    assert np.array_equal(resumed.scores, unbroken.scores)
    assert resumed.certificate == unbroken.certificate
    assert min(heard) > 0, "it did not start anew"


def test_ctrl_c_while_a_source_is_added_up_counts_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code finishes a source before Python sees Ctrl-C: the source must be both added and counted."""

    def heard(*given: Any) -> None:
        lead(*given)
        raise KeyboardInterrupt

    lead = team.lead
    run, other = (
        engines.engine("cpu").accumulation(GRAPH, BetweennessJob(np.arange(3)), CATALOGUE["hopwave-wide"], 1)
        for _ in range(2)
    )
    run.advance(0, lambda done: done == 1)
    with monkeypatch.context() as interrupted, pytest.raises(KeyboardInterrupt):
        interrupted.setattr(team, "lead", heard)
        run.advance(1, lambda done: False)
    other.advance(0, lambda done: done == 2)
    assert run.done == 2 and np.array_equal(run.total, other.total)


def test_other_errors_leave_the_last_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    broken_off(CALLS["vertices"], path)
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        CALLS["vertices"](checkpoint=path, progress=raises(ZeroDivisionError()))
    assert path.read_bytes() == before


def test_a_finished_run_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = CALLS["vertices"](checkpoint=str(tmp_path / "run.npz"))
    monkeypatch.setattr(cpu_betweenness, "run_workers", raises(AssertionError("nothing is left to run")))
    assert np.array_equal(CALLS["vertices"](checkpoint=tmp_path / "run.npz").scores, first.scores)


# ---------------------------------------------------------------- files of other runs


OTHERS: dict[str, dict[str, Any]] = {
    "other sources": {"k": 700, "seed": 3},
    "other targets": {"targets": [5]},
    "a cutoff": {"cutoff": 4},
    "endpoints": {"endpoints": True},
    "another plan": {"plan": "turbobc-sccsc"},
    "all threads on a source": {"plan": "hopwave-wide"},
    "another graph": {"G": generate.delaunay(2500, seed=2)},
    "the graph directed": {"G": Graph(GRAPH.indptr, GRAPH.indices, directed=True)},
    "edges": {},
}


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of an interrupted run."""
    path = tmp_path_factory.mktemp("begun") / "run.npz"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(policy, "POLL_SECONDS", 0.001)
        broken_off(CALLS["vertices"], path)
    return path


def refused(path: Path, call: Callable[..., Any], error: type[Exception], words: str) -> None:
    """The call raises one clear error, and the file is unchanged."""
    before = path.read_bytes()
    with pytest.raises(error, match=words) as caught:
        call(checkpoint=path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert path.read_bytes() == before and [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("other", OTHERS)
def test_a_checkpoint_of_another_call_is_refused(other: str, begun: Path, tmp_path: Path) -> None:
    ask: Any = hw.edge_betweenness_centrality if other == "edges" else hw.betweenness_centrality
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    words = "is of another graph, question, plan or device; give another name"
    refused(path, lambda checkpoint: ask(**{"G": GRAPH, "checkpoint": checkpoint} | OTHERS[other]), GraphError, words)


def test_labels_and_scaling_may_change(begun: Path, tmp_path: Path) -> None:
    """Options that only change how the sums are used may differ."""
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    raw = CALLS["vertices"](checkpoint=path, normalized=False)
    assert np.array_equal(raw.scores, CALLS["vertices"](normalized=False).scores)


def test_other_files_are_refused(begun: Path, tmp_path: Path) -> None:
    """tests/fuzz/checkpoints.py damages more of them."""
    path, whole = tmp_path / "run.npz", begun.read_bytes()
    with np.load(begun) as stored:
        parts = dict(stored)
    for content in (b"precious notes", whole[: len(whole) // 2]):
        path.write_bytes(content)
        refused(path, CALLS["vertices"], FormatError, "expected a checkpoint of a betweenness run")
    hw.write(path, GRAPH)
    refused(path, CALLS["vertices"], FormatError, "give another name, or delete the file")
    old = np.array("hopwave betweenness checkpoint 1")
    # Another engine may use blocks of another size; equally many blocks would then be another number of sources.
    changes: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"format": old}, FormatError, r"\(its form is '.* 1', and this hopwave reads '.* 2'"),
        ({"total": parts["total"][:-1]}, FormatError, "another size or type"),
        ({"done": np.array(10**6)}, FormatError, "delete the file"),
        ({"size": parts["size"] + 1}, GraphError, "another graph, question, plan or device"),
    ]
    for change, error, words in changes:
        np.savez(path, **parts | change)
        refused(path, CALLS["vertices"], error, words)


# ---------------------------------------------------------------- written completely or not at all


def test_an_interrupted_write_keeps_the_old_checkpoint(
    begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(begun, tmp_path / "run.npz"))
    before = path.read_bytes()

    def full(stream: Any, arrays: Any, *, packed: bool) -> None:
        stream.write(b"half a file")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_arrays", full)
    with pytest.warns(RuntimeWarning, match=r"progress cannot be saved in .*run\.npz \(No space left") as told:
        found = CALLS["vertices"](checkpoint=path).scores
    assert len(told) == 1
    assert path.read_bytes() == before and len(list(tmp_path.iterdir())) == 1
    assert np.array_equal(found, CALLS["vertices"]().scores)  # the scores computed so far are returned


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("more", [{}, {"epsilon": 0.01, "method": "paths", "seed": 1}], ids=["sources", "paths"])
def test_ctrl_c_says_where_progress_is(
    more: dict[str, Any], full: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stages = tmp_path / "run.npz", set()
    if full:
        monkeypatch.setattr(Checkpoint, "_write", raises(OSError(28, "No space left on device")))

    def stop(done: int, of: int) -> None:
        stages.add(of)
        if len(stages) > bool(more):  # the pilot sample is not saved
            raise KeyboardInterrupt

    with warnings.catch_warnings(), pytest.raises(KeyboardInterrupt) as stopped:
        warnings.simplefilter("ignore")
        CALLS["vertices"](checkpoint=path, progress=stop, **more)
    saved = f"hopwave: progress is saved in {path}; repeat the same call or command to continue"
    wanted = "hopwave: progress could not be saved: No space left on device" if full else saved
    assert stopped.value.__notes__ == [wanted] and path.exists() is not full


def test_ctrl_c_inside_a_library_that_writes_is_still_ctrl_c(tmp_path: Path) -> None:
    """In zipfile it ends in a ValueError: the archive cannot be closed while a part of it is open."""
    with pytest.raises(KeyboardInterrupt), replacing(tmp_path / "a.npz"):
        try:
            raise KeyboardInterrupt
        finally:
            raise ValueError("Can't close the ZIP file")
    assert not list(tmp_path.iterdir())


def test_a_second_ctrl_c_does_not_reach_the_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = set()
    write = Checkpoint._write

    def noted(*given: Any) -> None:
        threads.add(threading.current_thread())
        write(*given)

    monkeypatch.setattr(Checkpoint, "_write", noted)
    CALLS["wide"](checkpoint=tmp_path / "run.npz")
    assert threads and threading.main_thread() not in threads
