"""Threads that do not start, one at a time, at every moment of a call.

After each fault the call raises a clear error or gives the right answer another way; nothing hangs, and the next call
is right. Faults of memory, disks and signals are in tests/fuzz/faults.py, the GPU's in tests/engines/cuda, those of
ranks in tests/mpi.
"""

import faulthandler
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu_faults import troubles

import hopwave as hw
import mixed
from hopwave import graph500
from hopwave.graph.csr_compiled import sorted_rows
from hopwave.system import threads
from mixed import Events

G = mixed.graph()


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    """A call that hangs ends the test run and shows where it waits."""
    faulthandler.dump_traceback_later(300, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


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
def test_threads_that_do_not_start(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts, start = Events(lambda: RuntimeError("can't start new thread")), threads.start_new_thread
    monkeypatch.setattr(threads, "start_new_thread", lambda *call: (starts(), start(*call)))

    def call() -> Any:
        monkeypatch.setattr(threads, "crew", threads.Crew())
        return np.asarray(THREADED[name](tmp_path))

    assert not troubles(lambda: call, starts, lambda number: number <= 6 or number % 8 == 0)[1]
