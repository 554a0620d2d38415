"""Machine code on disk or in a wheel is never a reason to fail: read-only folders, damaged files, full disks."""

import errno
import json
import platform
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import machine_code
import pytest
from numba.core import caching

import hopwave
from hopwave.cli import start
from hopwave.system import compile_notice, numba_cache, shipped_code, threads
from together import started

ONE_FUNCTION = """
from hopwave.system.numba_cache import njit

@njit(cache=True, nogil=True)
def next_number(x):
    return x + 1
"""
TWO_FUNCTIONS = f"""{ONE_FUNCTION.replace("+ 1", "+ step()")}
@njit(cache=True, nogil=True)
def step():
    return 1
"""
BASELINES = shipped_code.BASELINES.get(platform.machine(), ())


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Import a compiled function as a new process would."""
    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba_cache, "replaced", [])
    (tmp_path / "counting.py").write_text(ONE_FUNCTION)
    return partial(machine_code.load, tmp_path / "counting.py", "next_number")


@pytest.fixture
def shipped(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """As `module`, in a new process of an installed wheel that carries its code, with nothing kept on disk."""
    if not BASELINES:
        pytest.skip("no wheel for this machine")
    monkeypatch.setattr(shipped_code, "PACKAGE", tmp_path)
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path / "machine_code")
    runs = iter(range(99))

    def load() -> Any:
        monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / f"cache{next(runs)}"))
        shipped_code._say_once.cache_clear()
        numba_cache.digest_of.cache_clear()
        return module()

    with monkeypatch.context() as making:
        making.setenv("HOPWAVE_SHIP", BASELINES[0].cpu)
        assert load()(1) == 2
    return load


def was_compiled(function: Any) -> bool:
    assert function(1) == 2
    return not function.stats.cache_hits


def kept(tmp_path: Path, ending: str) -> list[Path]:
    return [*tmp_path.glob(f"cache/*/*{ending}"), *tmp_path.glob(f"machine_code/*/*{ending}")]


def said_by(script: str, **environment: str) -> tuple[str, str]:
    """What a new process prints."""
    return started(sys.executable, "-W", "error", "-c", script, **{"HOPWAVE_PROGRESS": "0"} | environment)[1:]


def test_source_that_was_edited_after_its_import(module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was imported is compiled, and must not be kept as if it were the new source: the caller has not changed."""
    monkeypatch.setattr(numba_cache, "_imported", {})
    file = tmp_path / "counting.py"
    file.write_text(TWO_FUNCTIONS)
    old = module()
    file.write_text(TWO_FUNCTIONS.replace("return 1", "return 20"))
    assert old(1) == 2 and not kept(tmp_path, ".nbc")
    monkeypatch.setattr(numba_cache, "_imported", {})  # a new process
    numba_cache.digest_of.cache_clear()
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
    assert was_compiled(module()) and steps == ["_save_data", "_save_index"]
    [before] = kept(tmp_path, ".nbc")
    assert not was_compiled(module())
    monkeypatch.setattr(numba_cache, "digest_of", lambda path: "an edited file")
    assert was_compiled(module())
    [after] = kept(tmp_path, ".nbc")  # the old one is gone
    assert after.name != before.name


@pytest.mark.parametrize("ending", [".nbi", ".nbc", shipped_code.SUFFIX])
def test_a_damaged_file_is_thrown_away_and_made_again(
    ending: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, request: pytest.FixtureRequest
) -> None:
    """One in a wheel is left there; the function is compiled. tests/fuzz/machine_code.py damages them in more ways."""
    in_wheel = ending == shipped_code.SUFFIX
    load = request.getfixturevalue("shipped" if in_wheel else "module")
    assert was_compiled(load()) is not in_wheel
    [path] = kept(tmp_path, ending)
    data = path.read_bytes()
    path.write_bytes(bytes(x ^ (i == len(data) // 2) for i, x in enumerate(data)))
    assert was_compiled(load()) or ending == ".nbi"
    assert caplog.text.count("is damaged") == 1
    if not in_wheel:
        assert "(1 damaged and compiled again)" in start.cached_in("here", numba_cache.replaced)
        assert not was_compiled(load()) and len(numba_cache.replaced) == 1


def test_compiling_is_announced_once_per_process(
    module: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is on disk is not announced."""
    told: list[str | None] = []
    monkeypatch.setattr(compile_notice, "instead", told.append)
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    (tmp_path / "counting.py").write_text(TWO_FUNCTIONS)
    for numbers, said in (((1, 1.5), 1), ((1, 1.5), 0), ((1.5, 1j), 1)):
        monkeypatch.setattr(compile_notice, "_said", False)
        function = module()
        assert [function(x) for x in numbers] == [x + 1 for x in numbers]
        assert capsys.readouterr().err == said * (
            "hopwave: compiling for this machine, once: counting (up to 10 s; `hopwave warmup` compiles most parts "
            "beforehand)\n"
        )
    assert told[:4] == ["compiling", None] * 2


@pytest.mark.parametrize("refused", [None, (threading.Thread, "start"), (threads, "start_new_thread")])
@pytest.mark.parametrize("error", [RuntimeError, None])  # None: the thread has no memory for its first step, and ends
def test_an_import_or_compiler_is_not_broken_off(error: Any, refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception comes afterwards, also if the system starts few threads; tests/fuzz/cold.py tries every moment."""
    steps: list[str] = []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background job ignores
    if refused:
        monkeypatch.setattr(*refused, Mock(side_effect=error))

    def call() -> None:
        if threading.current_thread() is not threading.main_thread():
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.1)
        steps.append("would hang" if hopwave.errors._imp.lock_held() else "over")

    hopwave.errors._imp.acquire_lock()  # as an import that a signal broke off
    with pytest.raises(KeyboardInterrupt) if not refused or (error and refused[0] is not threads) else nullcontext():
        threads.aside(call)
    signal.signal(signal.SIGINT, before)
    hopwave.errors._imp.acquire_lock()
    with pytest.raises(hopwave.GraphError):
        hopwave.bfs(0, 0)
    assert steps == ["over"] and not hopwave.errors._imp.lock_held()


CANNOT_RUN = """
import hopwave as hw
try:
    hw.bfs(hw.generate.path(3), 0, device="cpu")
except hw.EngineError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("begin", "setting", "said"),
    [
        ("", {"NUMBA_DISABLE_JIT": "1"}, "disables the compiler of device='cpu'; unset it, or use device='reference'"),
        ("import sys; sys.modules['llvmlite'] = None", {}, "needs numba, which cannot be imported (No module named"),
        ("import ctypes, os; ctypes.CDLL = os.listdir", {}, "numba, which cannot be imported (Could not find/load"),
        ("import sys; sys.modules['numba'] = None", {}, "needs numba, which is not installed; run: pip install numba"),
    ],
)
def test_without_a_compiler_the_error_says_what_to_do(begin: str, setting: dict[str, str], said: str) -> None:
    printed, warned = said_by(begin + CANNOT_RUN, **setting)
    assert said in printed and not warned


def test_a_full_disk_costs_only_the_time_to_compile(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    full = Mock(side_effect=OSError(errno.ENOSPC, "no space left on device"))
    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    assert was_compiled(module()) and was_compiled(module())


def test_every_file_that_is_compiled_counts() -> None:
    """A function compiled by Numba's own njit would fail if its cache fails."""
    package = Path(hopwave.__file__).parent
    together = set(numba_cache.compiled_together(package / "engines" / "cpu" / "search" / "loop.py"))
    wanted = {package / file for file in ("planning/rules.py", "algebra/operators.py", "engines/cpu/intrinsics.py")}
    assert wanted <= together and package / "engines" / "cpu" / "linalg" / "specialise.py" in together
    assert numba_cache.compiled_together(package / "graph/csr_compiled.py") == [package / "graph/csr_compiled.py"]
    assert not [path for path in package.rglob("*.py") if "from numba import njit" in path.read_text()]


LOADS = """
import sys, threading
import hopwave as hw
from hopwave.system.threads import imported

imported("numba")
lock = imported("llvmlite.binding.ffi").lib._lock  # where a signal may come, nothing of LLVM runs
lock.register(lambda: threading.current_thread() is threading.main_thread() and print("LLVM"), lambda: None)
print(hw.bfs(hw.generate.grid(3, 3), 0, device="cpu").distances[-1])
assert "scipy.linalg" not in sys.modules
print([name for name in ("numba.np.linalg", "numba.typed.typeddict") if name in sys.modules])
"""
USES = """
assert "numba.np.arraymath" in sys.modules
from numba import njit
import numpy as np
print(njit(lambda a: np.dot(a, a))(np.ones((2, 2))).sum())
"""


@pytest.mark.slow
def test_code_is_loaded_without_what_only_compiling_needs(tmp_path: Path) -> None:
    """Numba imports it before it looks for kept code, which takes longer than all the rest of a first call."""
    said_by(LOADS)  # may compile
    assert said_by(LOADS) == ("4\n[]\n", "")
    assert said_by(LOADS + USES, NUMBA_CACHE_DIR=str(tmp_path))[0].endswith("\n8.0\n"), "of those who need it"


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
    printed, warned = said_by(READ_ONLY)
    assert printed == "[True, False, True] None\n", warned
    assert len(warned.splitlines()) == warned.count("every process compiles again; set NUMBA_CACHE_DIR") == 1
    assert "not cached" in start.cached_in(None, [])


def test_code_in_the_package_is_loaded(
    shipped: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert len(kept(tmp_path, shipped_code.SUFFIX)) == 1 and not was_compiled(shipped()) and not caplog.records
    assert shipped()(1.5) == 2.5  # another signature is compiled
    monkeypatch.setattr(numba_cache.Cache, "_check_folder", lambda self: (_ for _ in ()).throw(RuntimeError()))
    monkeypatch.setattr(numba_cache, "_said", True)
    function = shipped()  # where nothing can be kept
    assert not was_compiled(function) and isinstance(function._cache, numba_cache.PackageOnly)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"made with": {"numba": "0.1"}}, "it was built for numba 0.1, but this is"),
        ({"made with": {"hopwave": "0.0.9"}}, "it was built for hopwave 0.0.9"),
        ({"made with": {"python": "cpython 3.2"}}, "it was built for python cpython 3.2"),
        ({"made with": {"triple": "riscv64"}}, "it was built for triple riscv64"),
        ({"features": {"teleport": 1}}, "this CPU has no teleport"),
        ({}, "cannot be read (KeyError)"),
        ("folder", "other users can write to"),
        ("source", ""),
    ],
)
def test_code_for_something_else_is_not_used(
    change: Any, reason: str, shipped: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "machine_code" / BASELINES[0].cpu
    about = json.loads((folder / shipped_code.ABOUT).read_text())
    if change == "folder":
        folder.chmod(0o777)
    elif change == "source":
        (tmp_path / "counting.py").write_text(ONE_FUNCTION + "\nEDITED = True\n")
    else:
        about["features"] += change.get("features", ())
        about["made with"] |= change.get("made with", {})
        (folder / shipped_code.ABOUT).write_text(json.dumps(about if change else {}))
    assert was_compiled(shipped())
    assert len(caplog.records) == bool(reason) and reason in caplog.text


def test_the_settings_name_every_feature_that_is_checked() -> None:
    for baseline in chain(*shipped_code.BASELINES.values()):
        words = baseline.settings()["NUMBA_CPU_FEATURES"].split(",")
        assert {word[1:] for word in words if word[0] == "+"} == baseline.features
        assert not {word[1:] for word in words if word[0] == "-"} & baseline.features
    best, next_best = shipped_code.BASELINES["x86_64"]  # the levels of LLVM
    assert {"sse4.2", "popcnt", "crc32", "cx16"} <= next_best.features < best.features
    assert {"avx2", "bmi2", "fma", "movbe", "f16c", "xsave", "lzcnt"} <= best.features - next_best.features


def test_a_cpu_without_the_best_baseline_uses_the_next(
    shipped: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain, best = BASELINES[0], tmp_path / "machine_code" / "best"
    shutil.copytree(best.with_name(plain.cpu), best)
    monkeypatch.setitem(shipped_code.BASELINES, platform.machine(), (plain._replace(cpu="best"), plain))
    for file in best.glob(f"*{shipped_code.SUFFIX}"):
        file.write_bytes(b"")  # would be found damaged if it were used
    about = json.loads((best / shipped_code.ABOUT).read_text())
    (best / shipped_code.ABOUT).write_text(json.dumps(about | {"features": [*about["features"], "teleport"]}))
    assert not was_compiled(shipped()) and not caplog.records
