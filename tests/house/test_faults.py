"""Faults, one at a time, at every moment of a call: failures of memory, threads and disks.

After each fault the call raises a clear error or gives the right answer another way; nothing hangs, the next call is
right, and files are whole. The GPU's faults are in tests/engines/cuda/test_cuda_faults.py, those of ranks in
tests/mpi/test_ranks.py.
"""

from __future__ import annotations

import errno
import faulthandler
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopwave as hw
import mixed
from hopwave import HopwaveError, graph500
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.system import atomic_file
from mixed import Events

G = mixed.graph()
ALLOCATING = ("empty", "zeros", "ones", "full", "arange", "empty_like", "zeros_like", "full_like", "concatenate")
MOST_FAULTS = 8  # per call: the first ones, then some at even distances


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A call that hangs ends the test run and shows where it waits."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def places(count: int) -> list[int]:
    step = max(1, count // MOST_FAULTS)
    return sorted({*range(1, min(count, 6) + 1), *range(1, count + 1, step)})


def troubles(call: Callable[[], Any], events: Events, allowed: tuple[type[BaseException], ...]) -> list[str]:
    """Cause a fault at every moment of a call, and list what went wrong afterwards; the list should be empty."""
    events.begin(0)
    right, found = call(), []
    events.begin(0)
    assert mixed.agree(call(), right)
    count = events.count
    for fails in places(count):
        events.begin(fails)
        try:
            if not mixed.agree(call(), right):
                found.append(f"{fails} of {count}: a wrong answer")
        except allowed as error:
            if not str(error):
                found.append(f"{fails} of {count}: {error!r} says nothing")
        except BaseException as error:
            found.append(f"{fails} of {count}: {error!r}")
        events.begin(0)
        if not mixed.agree(call(), right):
            found.append(f"{fails} of {count}: then a wrong answer")
    return found


# ---------------------------------------------------------------- memory


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> Events:
    """Arrays that hopwave's Python code allocates; compiled code that is loaded already allocates its own."""
    events = Events(lambda: MemoryError("Unable to allocate 8.00 GiB for an array with shape (1073741824,)"))

    def counted(make: Any) -> Any:
        def allocate(*given: Any, **more: Any) -> Any:
            events()
            return make(*given, **more)

        return allocate

    for name in ALLOCATING:
        monkeypatch.setattr(np, name, counted(getattr(np, name)))
    return events


@pytest.mark.parametrize("name", mixed.QUESTIONS)
def test_memory_that_runs_out(name: str, request: pytest.FixtureRequest) -> None:
    mixed.answer(name, mixed.fresh(G), "cpu")  # compile everything before NumPy's functions are counted
    mixed.answer(name, mixed.fresh(G), "cpu")
    events = request.getfixturevalue("allocations")
    copies = G.indptr.copy(), G.indices.copy(), G.weights.copy()  # type: ignore[union-attr]

    def call() -> Any:
        graph = hw.Graph.from_csr(*copies[:2], directed=True, weights=copies[2])
        return mixed.answer(name, graph, "cpu")

    assert not troubles(call, events, (MemoryError, HopwaveError))


# ---------------------------------------------------------------- threads


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> Events:
    events = Events(lambda: RuntimeError("can't start new thread"))
    start = threading.Thread.start

    def counted(thread: threading.Thread) -> None:
        events()
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", counted)
    return events


def _read(folder: Path) -> Any:
    path = folder / "graph.txt"
    if not path.exists():
        u = np.arange(150_000)
        path.write_text("".join(f"{i} {i * 7 % 150_000}\n" for i in u))
    return hw.read(path, directed=True, progress=False).indices


EDGES = np.random.default_rng(1).integers(0, 3000, 20_000).astype(np.int32)
THREADED: dict[str, Callable[[Path], Any]] = {
    "read": _read,
    "generate": lambda folder: hw.generate.kronecker(15, 8, seed=1).indices[::50],
    "edges": lambda folder: hw.Graph.from_edges(np.arange(1 << 17), np.arange(1 << 17)[::-1]).indices[::50],
    "rows": lambda folder: sorted_rows(EDGES, EDGES[::-1].copy(), 3000, symmetric=True, threads=3)[1],
    "graph500": lambda folder: int(graph500.run(8, roots=2, seed=1, device="cpu", threads=3).valid),
    "product": lambda folder: mixed.answer("product", mixed.fresh(G), "cpu"),
    "searches at once": lambda folder: hw.bfs_many(mixed.fresh(G), range(200), device="cpu", threads=3)[::20],
    "betweenness": lambda folder: (
        hw.betweenness_centrality(mixed.fresh(G), weights=False, device="cpu", threads=3).scores
    ),
}


@pytest.mark.parametrize("name", THREADED)
def test_threads_that_do_not_start(name: str, starts: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopwave.system import threads

    def call() -> Any:
        monkeypatch.setattr(threads, "crew", threads.Crew())
        return np.asarray(THREADED[name](tmp_path))

    assert not troubles(call, starts, (HopwaveError,))


# ---------------------------------------------------------------- disks


class CountedStream:
    """A file whose writes are counted."""

    def __init__(self, stream: Any, events: Events) -> None:
        self._stream, self._events = stream, events

    def write(self, data: Any) -> Any:
        self._events()
        return self._stream.write(data)

    def flush(self) -> None:
        self._events()
        self._stream.flush()

    def __enter__(self) -> CountedStream:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stream.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Events:
    """Every step of a write: making the temporary file, writing, flushing, permissions, the new name."""
    events = Events(lambda: OSError(errno.ENOSPC, "No space left on device"))

    def counted(call: Any) -> Any:
        def step(*given: Any, **more: Any) -> Any:
            events()
            return call(*given, **more)

        return step

    fdopen = os.fdopen
    monkeypatch.setattr(atomic_file.tempfile, "mkstemp", counted(atomic_file.tempfile.mkstemp))
    monkeypatch.setattr(atomic_file.os, "fdopen", lambda *given: CountedStream(fdopen(*given), events))
    monkeypatch.setattr(atomic_file.os, "fsync", counted(os.fsync))
    monkeypatch.setattr(Path, "replace", counted(Path.replace))
    monkeypatch.setattr(Path, "chmod", counted(Path.chmod))
    return events


OLD, NEW = hw.generate.path(40), hw.generate.grid(6, 6)


@pytest.mark.parametrize(
    "name", ["a.txt", "a.csv", "a.mtx", "a.npz", "a.graph", "a.el", "a.sg", "a.gml", "a.net", "a.txt.gz"]
)
def test_a_full_disk_leaves_the_old_file(name: str, disk: Events, tmp_path: Path) -> None:
    path = tmp_path / name
    hw.write(path, OLD)
    disk.begin(0)
    hw.write(path, NEW)
    count = disk.count
    assert count >= 4
    for fails in places(count):
        disk.begin(0)
        hw.write(path, OLD)
        before = path.read_bytes()
        disk.begin(fails)
        try:
            hw.write(path, NEW)
            whole = True  # only the folder's entry was not flushed
        except (OSError, HopwaveError) as error:
            assert "No space left on device" in str(error)
            whole = False
        disk.begin(0)
        assert [other.name for other in tmp_path.iterdir()] == [name]
        if not whole:
            assert path.read_bytes() == before, fails
        found = hw.read(path, directed=False, progress=False)
        assert found.m == (NEW if whole else OLD).m


def test_a_full_disk_leaves_the_old_checkpoint(disk: Events, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hopwave.algorithms import checkpoint
    from hopwave.engines.cpu import policy

    graph, path = hw.generate.grid(20, 20), tmp_path / "run.npz"
    right = hw.betweenness_centrality(graph, device="cpu").scores
    monkeypatch.setattr(checkpoint, "INTERVAL", 0.0)
    monkeypatch.setattr(policy, "POLL_SECONDS", 0.0005)
    for fails in (1, 2, 5, 9, 14, 20, 30):
        disk.begin(fails)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "progress cannot be saved", RuntimeWarning)
            found = hw.betweenness_centrality(graph, device="cpu", checkpoint=path, progress=lambda done, of: None)
        assert np.array_equal(found.scores, right)  # whatever was saved
        disk.begin(0)
        assert not list(tmp_path.glob(".*.part"))
        assert np.array_equal(hw.betweenness_centrality(graph, device="cpu", checkpoint=path).scores, right)
        path.unlink(missing_ok=True)
