"""Faults at some steps of every public function, in a new process; `python tests/fuzz/faults.py` takes every step."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faults
import interrupts
import numpy as np
import pytest
from difference import Difference

import every_call
import hopwave as hw
import public_calls
from hopwave.arrays import ignoring, seeded


def run(*given: str) -> subprocess.CompletedProcess[str]:
    known = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOPWAVE_NUM_THREADS": "3"}
    script = str(Path(faults.__file__))
    return subprocess.run(
        [sys.executable, script, *given], env=known, capture_output=True, text=True, timeout=900, check=False
    )


@pytest.mark.slow
def test_every_function_after_memory_disk_and_signals_failed() -> None:
    done = run("--most", "3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" 0 wrong\n")


@pytest.mark.parametrize("extension", every_call.FORMATS)
def test_a_full_disk_leaves_the_old_file(extension: str, known: faults.Faults) -> None:
    """At every step of a write."""
    count = known.count(f"write {extension}", "disk")
    assert count > 8
    assert all(known.attempt(f"write {extension}", "disk", fails) for fails in range(1, count + 1))
    assert not known.attempt(f"write {extension}", "disk", count + 1)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
def test_a_disk_that_fails_costs_a_warning_and_not_the_scores(error: int, known: faults.Faults) -> None:
    count = known.count("a saved run", "disk")
    assert count > 3
    for fails in range(1, count + 1):
        known.attempt("a saved run", "disk", fails, error)


def test_ctrl_c_at_every_fourth_step_of_a_write(known: faults.Faults) -> None:
    for fails in range(1, known.count("write mtx", "interrupt") + 1, 4):
        known.attempt("write mtx", "interrupt", fails)


@pytest.mark.parametrize("what", ["read", "write"])
def test_ctrl_c_at_every_fourth_step_of_a_gzip_stream(what: str, known: faults.Faults) -> None:
    """Python's own streams drop those that come while their buffers begin or end."""
    for fails in range(1, known.count(f"{what} txt.gz", "interrupt") + 1, 4):
        known.attempt(f"{what} txt.gz", "interrupt", fails)


def test_ctrl_c_while_an_archive_is_opened_or_read(known: faults.Faults) -> None:
    """Python's zipfile then complains of an archive half made; NumPy's fromfile says that the file is damaged."""
    count = known.count("read npz", "interrupt")
    for fails in (*range(150, 250), *range(count - 700, count, 3)):
        known.attempt("read npz", "interrupt", fails)


@pytest.mark.skipif(
    np.__version__ < "2", reason="NumPy 1 keeps these settings by thread, where a signal can leave them"
)
@pytest.mark.parametrize(
    "call", [partial(ignoring("divide")(lambda x: 1 / x), np.zeros(1)), partial(seeded, 1)], ids=["ignoring", "seeded"]
)
def test_ctrl_c_leaves_the_warnings_of_numpy_as_they_were(call: Callable[[], Any]) -> None:
    call()  # imports what it needs
    with faults.Steps("interrupt") as steps:
        call()
    assert steps.count > 5
    before = np.geterr()
    for fails in range(1, steps.count):  # the last step is the end of the block
        with pytest.raises(KeyboardInterrupt), faults.Steps("interrupt", fails):
            call()
        assert np.geterr() == before


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[faults.Faults]:
    monkeypatch.setattr(faults.tempfile, "tempdir", None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(interrupts.checkpoint, "INTERVAL", 0.0)
    return faults.Faults(tmp_path)


def test_a_function_that_is_not_known_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(unheard_of: int) -> None:
        """Does nothing."""

    monkeypatch.setattr(public_calls, "functions", lambda: iter([("function", function)]))
    with pytest.raises(KeyError, match="unheard_of"):
        every_call.public()["function"]()


def test_what_a_fault_leaves_behind_is_noticed(known: faults.Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    """A harness that cannot fail would pass everything."""
    right = hw.write

    def careless(path: Path, graph: Any) -> None:
        (path.parent / f"stray{graph.n}").write_bytes(b"")
        right(path, graph)

    known.known("write csv")
    monkeypatch.setattr(hw, "write", careless)
    with pytest.raises(Difference, match="stray36 is left"):
        known.attempt("write csv", "disk", 5)
    monkeypatch.setattr(hw, "write", lambda path, graph: path.write_bytes(b"%d" % graph.n))
    with pytest.raises(Difference, match=r"graph\.csv is left or has changed"):
        known.attempt("write csv", "disk", 2)
