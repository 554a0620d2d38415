"""Machine code that a wheel carries: used where it fits, and never a reason to fail."""

from __future__ import annotations

import importlib.util
import itertools
import json
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest
from numba.core import caching

from hopwave.system import numba_cache, shipped_code

MODULE = """
from hopwave.system.numba_cache import njit

@njit(cache=True, nogil=True)
def next_number(x):
    return x + 1
"""
BASELINES = shipped_code.BASELINES.get(platform.machine(), ())
pytestmark = pytest.mark.skipif(not BASELINES, reason="no wheel for this machine")


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a compiled function as a new process of an installed wheel would, with nothing kept on disk."""
    (tmp_path / "counting.py").write_text(MODULE)
    monkeypatch.setattr(shipped_code, "PACKAGE", tmp_path)
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path / "machine_code")
    runs = iter(range(99))

    def load() -> Any:
        monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path / f"cache{next(runs)}"))
        monkeypatch.setattr(shipped_code, "_said", set())
        shipped_code._choose.cache_clear()
        numba_cache.digest_of.cache_clear()
        spec = importlib.util.spec_from_file_location("counting", tmp_path / "counting.py")
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made.next_number

    with monkeypatch.context() as making:
        making.setenv("HOPWAVE_SHIP", BASELINES[0].cpu)
        assert load()(1) == 2
    return load


def was_compiled(function: Any) -> bool:
    assert function(1) == 2
    return not function.stats.cache_hits


def files(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "machine_code").glob(f"*/*{shipped_code.SUFFIX}"))


def test_code_in_the_package_is_loaded(load: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert len(files(tmp_path)) == 1 and not was_compiled(load()) and not caplog.records
    assert load()(1.5) == 2.5  # another signature is compiled


def test_it_is_loaded_where_nothing_can_be_kept(load: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_cache.Cache, "_check_folder", lambda self: (_ for _ in ()).throw(RuntimeError()))
    monkeypatch.setattr(numba_cache, "_said", True)
    function = load()
    assert not was_compiled(function) and isinstance(function._cache, numba_cache.PackageOnly)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:],
        lambda data: b"\0" * 40,
        lambda data: b'{"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}\n',
    ],
    ids=["empty", "cut", "last bit", "first bits", "zeros", "nothing after the line"],
)
def test_a_damaged_file_costs_only_time(
    damage: Any, load: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    [file] = files(tmp_path)
    file.write_bytes(damage(file.read_bytes()))
    assert was_compiled(load())
    assert len(caplog.records) == 1 and "is damaged" in caplog.text and str(file) in caplog.text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda about: about["made with"].update(numba="0.1"), "it was made for numba 0.1, and this is"),
        (lambda about: about["made with"].update(hopwave="0.0.9"), "it was made for hopwave 0.0.9"),
        (lambda about: about["made with"].update(python="cpython 3.2"), "it was made for python cpython 3.2"),
        (lambda about: about["made with"].update(triple="riscv64"), "it was made for triple riscv64"),
        (lambda about: about["features"].append("teleport"), "this CPU has no teleport"),
        (lambda about: about.clear(), "cannot be read (KeyError)"),
    ],
    ids=["numba", "older hopwave", "python", "foreign", "a newer CPU", "no record"],
)
def test_code_for_something_else_is_not_used(
    change: Any, reason: str, load: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    record = tmp_path / "machine_code" / BASELINES[0].cpu / shipped_code.ABOUT
    about = json.loads(record.read_text())
    change(about)
    record.write_text(json.dumps(about))
    assert was_compiled(load())
    assert len(caplog.records) == 1 and reason in caplog.text


def test_code_of_other_source_is_not_used(load: Any, tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(MODULE + "\nEDITED = True\n")
    assert was_compiled(load())


def test_a_folder_that_others_can_write_to_is_not_used(
    load: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "machine_code" / BASELINES[0].cpu).chmod(0o777)
    assert was_compiled(load()) and "can be written to by others" in caplog.text


def test_the_settings_name_every_feature_that_is_checked() -> None:
    for baseline in itertools.chain(*shipped_code.BASELINES.values()):
        words = baseline.settings()["NUMBA_CPU_FEATURES"].split(",")
        assert {word[1:] for word in words if word[0] == "+"} == baseline.features
        assert not {word[1:] for word in words if word[0] == "-"} & baseline.features


def test_a_cpu_without_the_best_baseline_uses_the_next(
    load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    plain = BASELINES[0]._replace(cpu="plain")
    (tmp_path / "machine_code" / BASELINES[0].cpu).rename(tmp_path / "machine_code" / "plain")
    best = tmp_path / "machine_code" / "best"
    shutil.copytree(tmp_path / "machine_code" / "plain", best)
    monkeypatch.setitem(shipped_code.BASELINES, platform.machine(), (plain._replace(cpu="best"), plain))
    for file in best.glob(f"*{shipped_code.SUFFIX}"):
        file.write_bytes(b"")  # would be found damaged if it were used
    about = json.loads((best / shipped_code.ABOUT).read_text())
    (best / shipped_code.ABOUT).write_text(json.dumps(about | {"features": [*about["features"], "teleport"]}))
    assert not was_compiled(load()) and not caplog.records


def test_the_levels_of_x86_64_are_those_of_llvm() -> None:
    best, next_best = shipped_code.BASELINES["x86_64"]
    assert next_best.features < best.features and "avx" not in next_best.features
    assert {"sse4.2", "popcnt", "crc32", "cx16"} <= next_best.features
    assert {"avx2", "bmi2", "fma", "movbe", "f16c", "xsave", "lzcnt"} <= best.features - next_best.features
