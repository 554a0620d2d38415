"""Machine code on disk is never a reason to fail: read-only folders, damaged files, full disks."""

from __future__ import annotations

import errno
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba.core import caching

import hopwave
from hopwave.cli import start
from hopwave.system import numba_cache

MODULE = """
from hopwave.system.numba_cache import njit

@njit(cache=True, nogil=True)
def next_number(x):
    return x + 1
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a compiled function as a new process would."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba_cache, "replaced", [])
    (tmp_path / "counting.py").write_text(MODULE)

    def load() -> Any:
        spec = importlib.util.spec_from_file_location("counting", tmp_path / "counting.py")
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made.next_number

    return load


def kept(tmp_path: Path, ending: str) -> list[Path]:
    return list(tmp_path.glob(f"cache/*/*{ending}"))


TWO_FILES = """
from hopwave.system.numba_cache import njit

@njit(cache=True, nogil=True)
def step():
    return 1

@njit(cache=True, nogil=True)
def next_number(x):
    return x + step()
"""


def test_source_that_was_edited_after_its_import(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was imported is compiled, and must not be kept as if it were the new source: the caller has not changed."""
    monkeypatch.setattr(numba_cache, "_imported", {})
    file = tmp_path / "counting.py"
    file.write_text(TWO_FILES)
    old = module()
    file.write_text(TWO_FILES.replace("return 1", "return 20"))
    assert old(1) == 2 and not kept(tmp_path, ".nbc")
    monkeypatch.setattr(numba_cache, "_imported", {})  # a new process
    assert module()(1) == 21
    assert len(kept(tmp_path, ".nbc")) == 2
    again = module()
    assert again(1) == 21 and sum(again.stats.cache_hits.values()) == 1


def test_a_file_has_a_name_of_its_own_and_is_there_before_the_index_names_it(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another process would read an older file of that name: machine code of other source, for other types."""
    steps: list[str] = []
    for name in ("_save_data", "_save_index"):
        write = getattr(caching.IndexDataCacheFile, name)
        note = lambda self, *given, name=name, write=write: (steps.append(name), write(self, *given))  # noqa: E731
        monkeypatch.setattr(caching.IndexDataCacheFile, name, note)
    assert module()(1) == 2 and steps == ["_save_data", "_save_index"]
    [before] = kept(tmp_path, ".nbc")
    monkeypatch.setattr(numba_cache, "digest_of", lambda path: "an edited file")
    assert module()(1.5) == 2.5
    [after] = kept(tmp_path, ".nbc")  # the old one is gone
    assert after.name != before.name


def test_machine_code_is_kept(module: Any, tmp_path: Path) -> None:
    assert module()(1) == 2
    again = module()
    assert again(1) == 2 and sum(again.stats.cache_hits.values()) == 1
    assert len(kept(tmp_path, ".nbi")) == len(kept(tmp_path, ".nbc")) == 1


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "other": lambda data: b"\x00" * 40,
    "text": lambda data: b"not a pickle\n",
    "one byte": lambda data: data[:10] + bytes([data[10] ^ 255]) + data[11:],
    "one bit in the middle": lambda data: bytes(x ^ (i == len(data) // 2) for i, x in enumerate(data)),
}


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_thrown_away_and_made_again(
    damage: str, ending: str, module: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert module()(1) == 2
    [path] = kept(tmp_path, ending)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert module()(1) == 2
    assert len(numba_cache.replaced) == caplog.text.count("is damaged") == 1
    assert "(1 damaged and compiled again)" in start.cached_in("here", numba_cache.replaced)
    again = module()
    assert again(1) == 2 and sum(again.stats.cache_hits.values()) == 1
    assert len(numba_cache.replaced) == 1


def test_a_full_disk_costs_only_the_time_to_compile(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    assert module()(1) == 2 and module()(1) == 2


def test_machine_code_of_other_source_is_not_used(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba checks a function's own file; code compiled into it may come from another file."""
    assert module()(1) == 2
    monkeypatch.setattr(numba_cache, "digest_of", lambda path: "an edited file")
    again = module()
    assert again(1) == 2 and not again.stats.cache_hits


def test_every_file_that_is_compiled_counts() -> None:
    package = Path(hopwave.__file__).parent
    together = set(numba_cache.compiled_together(package / "engines" / "cpu" / "search" / "loop.py"))
    wanted = {package / file for file in ("planning/rules.py", "algebra/operators.py", "engines/cpu/intrinsics.py")}
    assert wanted <= together and package / "engines" / "cpu" / "linalg" / "specialise.py" in together
    assert numba_cache.compiled_together(package / "graph/csr_compiled.py") == [package / "graph/csr_compiled.py"]


LOADS = """
import sys
import hopwave as hw
print(hw.bfs(hw.generate.grid(3, 3), 0, device="cpu").distances[-1])
print([name for name in ("numba.np.linalg", "numba.typed.typeddict", "scipy.linalg") if name in sys.modules])
"""


def test_kept_code_is_loaded_without_what_only_compiling_needs() -> None:
    """Numba imports it before it looks for kept code, which takes longer than all the rest of a first call."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOPWAVE_PROGRESS": "0"}
    command = [sys.executable, "-W", "error", "-c", LOADS]
    for _ in range(2):  # the first may compile
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr) == ("4\n[]\n", "")


READ_ONLY = """
import numba.core.caching
numba.core.caching.CacheImpl._locator_classes = []  # no folder can be written to: root may write everywhere
import numpy as np
import hopwave as hw
from hopwave.graph import csr_compiled
from hopwave.system import numba_cache
from hopwave.engines import algebra, engine
from hopwave.io import scan

engine("cpu"), algebra("cpu")
present = np.zeros(3, np.bool_)
csr_compiled.mark_ids(np.array([2, 0]), present)
print(present.tolist(), numba_cache.where_kept())
"""


@pytest.mark.slow
def test_without_a_folder_for_machine_code_all_works_and_it_is_said_once() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", READ_ONLY], env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "[True, False, True] None\n"), done.stderr
    assert done.stderr.count("every process compiles anew; set NUMBA_CACHE_DIR") == 1
    assert len(done.stderr.splitlines()) == 1
    assert "not cached" in start.cached_in(None, [])


COMPILING = """
import gc, sys
from numba import njit
import numpy as np
import hopwave as hw
hw.bfs(hw.generate.path(3), 0, device="cpu")
assert gc.isenabled() and "numba.np.arraymath" in sys.modules and "scipy.linalg" not in sys.modules
print(njit(lambda a: np.dot(a, a))(np.ones((2, 2))).sum())
"""


def test_compiling_leaves_linear_algebra_to_those_who_need_it(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "HOPWAVE_PROGRESS": "0"}
    command = [sys.executable, "-c", COMPILING]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "8.0\n", done.stderr


def test_every_compiled_function_is_kept_in_this_way() -> None:
    """A function compiled by Numba's own njit would fail if its cache fails."""
    source = Path(hopwave.__file__).parent
    for path in source.rglob("*.py"):
        text = path.read_text()
        assert "from numba import njit" not in text, f"{path}: import njit from hopwave.system.numba_cache"
        assert path == Path(numba_cache.__file__) or "numba.njit(nogil=True, cache=True" not in text
    assert json.dumps(numba_cache.where_kept())
