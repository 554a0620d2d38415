"""Kernels are loaded once per process: CUDA unloads a module without references, even while its kernel runs."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("cupy")

from hopwave.engines.cuda import nvrtc
from hopwave.engines.cuda.graph import made_once


def test_threads_that_ask_at_once_get_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy.cuda.function as cupy_function

    loads: list[bytes] = []
    together = threading.Barrier(8)

    class Module:
        def load(self, code: bytes) -> None:
            loads.append(code)

        def get_function(self, symbol: str) -> Any:
            return SimpleNamespace(symbol=symbol, ptr=len(loads))

    def begun(header: str, arch: str, names: tuple[str, ...], more: Any, text: str) -> Future[Any]:
        together.wait(timeout=30)  # all threads have looked for the function and not found it
        made: Future[Any] = Future()
        made.set_result((b"code", {names[0]: "symbol"}))
        return made

    monkeypatch.setattr(cupy_function, "Module", Module)
    monkeypatch.setattr(nvrtc.building, "begin", begun)
    loaded = nvrtc.Loaded()
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(loaded.get, "a.cuh", "f", 0, "sm_90", (), "") for _ in range(8)]
        found = [future.result() for future in asked]
    assert loads == [b"code"] and len({id(function) for function in found}) == 1
    assert loaded.get("a.cuh", "f", 0, "sm_90", (), "") is found[0]  # without another compilation


def test_threads_that_ask_at_once_get_the_same_arrays() -> None:
    """Kernels' records hold the addresses of a graph's arrays: if arrays are replaced, the old ones are freed."""
    made: list[object] = []
    asked = threading.Barrier(8)

    class Graph:
        def __init__(self) -> None:
            self.lock = threading.RLock()

        @made_once
        def rows(self) -> object:
            made.append(object())
            time.sleep(0.05)  # so that the others arrive meanwhile
            return made[-1]

    graph = Graph()

    def ask(_: int) -> object:
        asked.wait(timeout=30)
        return graph.rows

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(ask, range(8)))) == 1
    assert len(made) == 1 and "rows" in vars(graph)
