"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing for short work or with False."""

from __future__ import annotations

import io
import sys
import time

import pytest

import hopwave.io as hio
from hopwave.graph import Graph
from hopwave.system import progress
from hopwave.system.progress import Meter


@pytest.fixture
def eager(monkeypatch):
    """Show progress after milliseconds instead of two seconds."""
    monkeypatch.delenv("HOPWAVE_PROGRESS", raising=False)
    monkeypatch.setattr(progress, "TICK", 0.002)
    monkeypatch.setattr(progress, "PATIENCE", 0.005)
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.02)


def until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_short_work_shows_nothing(tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    hio.write(tmp_path / "web.mtx", Graph.from_edges([0], [1]))
    hio.read(tmp_path / "web.mtx")
    hio.read(tmp_path / "web.mtx", progress=False)
    assert capfd.readouterr().err == ""


def test_lines_where_there_is_no_terminal(eager, capsys):
    printed = ""

    def more(text):
        nonlocal printed
        printed += capsys.readouterr().err
        return text in printed

    with Meter("reading web.mtx", 200, None) as meter:
        meter.update(50)
        until(lambda: more("hopwave: reading web.mtx: 25 % after 0 s\n"))
        meter.stage("building")
        until(lambda: more("hopwave: building: 0 s\n"))
    assert more("hopwave: building: done after 0 s\n")
    assert "\x1b" not in printed


def test_compiling_is_shown_instead_of_a_share_that_does_not_grow(eager, capsys):
    with Meter("betweenness", 200, None):
        progress.instead("compiling, 3 of 9 functions")
        try:
            until(lambda: "compiling, 3 of 9 functions: 0 s" in capsys.readouterr().err)
        finally:
            progress.instead(None)
        until(lambda: "betweenness: 0 %" in capsys.readouterr().err)


def test_lines_are_written_seconds_apart(eager, capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 1000.0)
    with Meter("reading", 10, None) as meter:
        until(lambda: meter._last_line)
        time.sleep(0.05)
    assert capsys.readouterr().err.count("\n") == 2  # the first line and the last


@pytest.mark.parametrize("how", ["progress=False", "HOPWAVE_PROGRESS=0"])
def test_progress_can_be_turned_off(how, eager, capsys, monkeypatch):
    if how == "HOPWAVE_PROGRESS=0":
        monkeypatch.setenv("HOPWAVE_PROGRESS", "0")
    with Meter("reading", 10, False if how == "progress=False" else None):
        time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_progress_true_is_shown_at_once(capsys):
    with Meter("reading web.mtx", 100, True) as meter:
        meter.update(50)
    assert capsys.readouterr().err.splitlines() == [
        "hopwave: reading web.mtx: 0 % after 0 s",
        "hopwave: reading web.mtx: done after 0 s",
    ]


def test_a_failure_is_not_done(eager, capsys):
    with pytest.raises(KeyError), Meter("reading", 10, True):
        raise KeyError
    assert "done" not in capsys.readouterr().err


def test_a_bar_that_starts_late_shows_what_was_done_before(eager, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with Meter("reading late.mtx", 200, None) as meter:
        meter.update(100)
        until(lambda: meter._on_bar and meter._bar.tasks[0].completed == 100)
        meter.stage("building")
        until(lambda: [(task.description, task.total) for task in meter._bar.tasks] == [("building", None)])
    assert meter._bar is None


def test_a_closed_stderr_is_no_error(eager, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        with Meter("reading", 10, True):
            pass


def test_nobody_watches_when_the_work_is_over(eager):
    with Meter("reading", 10, None):
        until(lambda: progress._watch._watching)
    until(lambda: not progress._watch._watching)


def test_a_meter_that_was_not_told_its_end_is_forgotten(eager, capsys):
    """Ctrl-C may come after the work and before __exit__ has begun."""
    meters = [Meter("reading", 10, None)]
    meters[0].__enter__()
    until(lambda: meters[0]._last_line)
    meters.clear()
    until(lambda: not progress._watch._watching)
    assert "done" not in capsys.readouterr().err
