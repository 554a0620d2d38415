"""Compiled kernels on disk: private to their owner, whole or not there, loaded once."""

import json
import logging
import os
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hopwave.engines.cuda import kernel_files

KEY = ("0123", "build/rows.cuh", "sm_90", "hopwave::build::count<int>")
CODE, SYMBOLS = b"\x7fELF\n and more\n", {"hopwave::build::count<int>": "_Z5count"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPWAVE_CACHE", str(tmp_path))
    return tmp_path / "kernels"


def test_what_is_written_is_read_again(folder: Path) -> None:
    assert kernel_files.read(KEY) is None and not kernel_files.holds(KEY)
    kernel_files.write(KEY, CODE, SYMBOLS)
    assert kernel_files.read(KEY) == (CODE, SYMBOLS) and kernel_files.holds(KEY)
    assert kernel_files.read((*KEY, "-DOTHER")) is None
    assert folder.stat().st_mode & 0o777 == 0o700 and len(list(folder.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"not JSON\ncode", None])
def test_a_damaged_file_is_made_again(folder: Path, damage: bytes | None, caplog: pytest.LogCaptureFixture) -> None:
    kernel_files.write(KEY, CODE, SYMBOLS)
    (path,) = folder.iterdir()
    path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    assert kernel_files.read(KEY) is None and not path.exists()
    assert "is damaged and will be compiled again" in caplog.text


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, None])
def test_a_folder_of_another_user_is_not_used(folder: Path, mode: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor one that others may write to."""
    kernel_files.write(KEY, CODE, SYMBOLS)
    if mode is None:
        monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    else:
        folder.chmod(mode)
    said = f"chmod go-w {folder}" if mode else "belongs to another user"
    assert kernel_files.read(KEY) is None and said in str(kernel_files.why_not())


def test_a_folder_that_cannot_be_made_costs_no_more_than_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOPWAVE_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.INFO, "hopwave"):
        kernel_files.write(KEY, CODE, SYMBOLS)
    assert "set HOPWAVE_CACHE" in caplog.text and kernel_files.read(KEY) is None


# ---------------------------------------------------------------- in a wheel


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that carries the code, made by CUDA 13."""
    place = tmp_path / "package"
    place.mkdir()
    monkeypatch.setattr(kernel_files, "SHIPPED", place)
    kernel_files.path_of(KEY, place).write_bytes(kernel_files.content_of(CODE, SYMBOLS))
    (place / kernel_files.ABOUT).write_text('{"nvrtc": [13, 0]}')
    kernel_files.why_not_shipped.cache_clear()
    kernel_files._say_once.cache_clear()
    return place


def test_code_in_a_wheel_is_read(shipped: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert kernel_files.read_shipped(KEY, 13000) == kernel_files.read_shipped(KEY, 14010) == (CODE, SYMBOLS)
    assert kernel_files.read_shipped((*KEY, "-DOTHER"), 13000) is None and not caplog.records


@pytest.mark.parametrize("name", ["code", "about"])
@pytest.mark.parametrize("damage", [b"", b"{}\n", b"not JSON\ncode", b'{"sha256": "00", "symbols": {}}\ncode', None])
def test_damaged_code_in_a_wheel_is_compiled(
    shipped: Path, name: str, damage: bytes | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = kernel_files.path_of(KEY, shipped) if name == "code" else shipped / kernel_files.ABOUT
    path.write_bytes(path.read_bytes()[:-1] if damage is None else damage)
    assert kernel_files.read_shipped(KEY, 13000) is kernel_files.read_shipped(KEY, 13000) is None
    assert len(caplog.records) == 1 and "are compiled" in caplog.text and path.exists()


@pytest.mark.parametrize(
    ("mode", "driver", "said"),
    [
        (0o755, 12080, "compiled with CUDA 13, but the driver supports CUDA 12"),
        (0o777, 13000, "other users can write to"),
    ],
)
def test_code_in_a_wheel_that_cannot_be_used_is_compiled(
    shipped: Path, mode: int, driver: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    shipped.chmod(mode)
    assert kernel_files.read_shipped(KEY, driver) is None and said in caplog.text


def test_recorded_kernels_are_compiled_for_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them, for one GPU; the shortest, as NVRTC takes seconds."""
    pytest.importorskip("cupy_backends.cuda.libs.nvrtc")
    from hopwave.engines.cuda import nvrtc, ship

    recorded = json.loads(ship.ORDINARY.read_text())
    assert {"one_launch", "betweenness", "shortest_paths"} <= {one[0].partition("/")[0] for one in recorded}
    header, names, more, text = next(one for one in recorded if one[0].startswith("components/"))
    (tmp_path / "one.json").write_text(json.dumps([[header, names, more, text]]))
    monkeypatch.setattr(kernel_files, "SHIPPED", tmp_path / "cuda")
    assert ship.ship(tmp_path / "cuda", ("sm_75",), tmp_path / "one.json") == 1
    kernel_files.why_not_shipped.cache_clear()
    found = kernel_files.read_shipped(nvrtc.shipped_key(header, "sm_75", names, more, text), 99000)
    assert found is not None and found[0][:4] == b"\x7fELF" and set(found[1]) == set(names)


# ---------------------------------------------------------------- loaded once: CUDA unloads modules without references


def test_threads_that_ask_at_once_get_one_function(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy_function = pytest.importorskip("cupy.cuda.function")
    from hopwave.engines.cuda import nvrtc

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
    pytest.importorskip("cupy")
    from hopwave.engines.cuda.graph import made_once

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
