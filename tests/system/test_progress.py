"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing for short work or with False; threads."""

import io
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import hopwave.io as hio
from hopwave.graph import Graph
from hopwave.system import progress, threads
from hopwave.system.progress import Meter
from hopwave.system.threads import Flag, Pool, each


@pytest.fixture
def eager(monkeypatch):
    """Show progress after milliseconds instead of two seconds."""
    monkeypatch.delenv("HOPWAVE_PROGRESS", raising=False)
    monkeypatch.setattr(progress, "TICK", 0.002)
    monkeypatch.setattr(progress, "PATIENCE", 0.005)
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 0.02)


@pytest.fixture
def printed(capsys):
    """A function that waits for a text on stderr, and returns all that was printed."""
    seen = ""

    def until(text):
        nonlocal seen
        end = time.monotonic() + 30
        while text not in seen:
            assert time.monotonic() < end, seen
            time.sleep(0.001)
            seen += capsys.readouterr().err
        return seen

    return until


def test_short_work_shows_nothing(tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("HOPWAVE_PROGRESS")
    hio.write(tmp_path / "web.mtx", Graph.from_edges([0], [1]))
    hio.read(tmp_path / "web.mtx")
    hio.read(tmp_path / "web.mtx", progress=False)
    assert capfd.readouterr().err == ""


def test_lines_where_there_is_no_terminal(eager, printed):
    with Meter("reading web.mtx", 200, None) as meter:
        meter.update(50)
        printed("hopwave: reading web.mtx: 25 % after 0 s\n")
        meter.stage("building")
        printed("hopwave: building: 0 s\n")
        progress.instead("compiling")  # in place of a share that does not grow
        try:
            printed("compiling: 0 s")
        finally:
            progress.instead(None)
    assert "\r" not in printed("hopwave: building: done after 0 s\n")


@pytest.mark.parametrize(("wanted", "environment", "lines"), [(False, None, 0), (None, "0", 0), (None, None, 2)])
def test_progress_can_be_turned_off(wanted, environment, lines, eager, capsys, monkeypatch):
    """If not, lines are written seconds apart: here the first and the last."""
    monkeypatch.setattr(progress, "SECONDS_PER_LINE", 1000.0)
    if environment:
        monkeypatch.setenv("HOPWAVE_PROGRESS", environment)
    with Meter("reading", 10, wanted) as meter:
        while lines and not meter._last_line:
            time.sleep(0.001)
        time.sleep(0.05)
    assert capsys.readouterr().err.count("\n") == lines


@pytest.mark.parametrize("error", [None, KeyError])
def test_progress_true_is_shown_at_once_and_a_failure_is_not_done(error, capsys):
    begins, ends = "hopwave: reading web.mtx: 0 % after 0 s", "hopwave: reading web.mtx: done after 0 s"
    try:
        with Meter("reading web.mtx", 100, True) as meter:
            meter.update(50)
            if error:
                raise error
    except KeyError:
        ends = ""
    assert capsys.readouterr().err.splitlines() == [begins, ends][: 1 + (error is None)]


def test_a_bar_on_a_terminal_is_removed(eager, printed, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "90")
    with Meter("reading late.mtx", 200, None) as meter:
        meter.update(100)
        printed(f"reading late.mtx {'#' * 20}{'.' * 20} 50 % 0 s, 0 s left")
        meter.stage("building with a title of more letters than the terminal has columns" * 2)
        longest = printed("building").rpartition("\r")[2]
    assert len(longest) == 89 and printed(f"\r{' ' * 89}\r").endswith("\r")


def test_a_closed_stderr_is_no_error(eager, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        with Meter("reading", 10, True):
            pass


@pytest.mark.parametrize("is_told", [True, False])
def test_nobody_watches_when_the_work_is_over(is_told, eager, printed, capsys):
    """Ctrl-C may come after the work and before __exit__ has begun: the meter is then not told its end."""
    meters = [Meter("reading", 10, None)]
    meters[0].__enter__()
    printed("reading: 0 %")
    assert threads.crew._away
    if is_told:
        meters[0].__exit__(None, None, None)
    meters.clear()
    while threads.crew._away:
        time.sleep(0.001)
    assert ("done" in capsys.readouterr().err) is is_told


def test_a_pool_uses_no_more_threads_than_it_may() -> None:
    seen, pool = set[int](), Pool(2)

    def work(number: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return number * number

    tasks = [pool.begin(work, number) for number in range(50)]
    assert [task.result() for task in tasks] == [number * number for number in range(50)]
    assert 1 <= len(seen) <= 2


def test_the_first_error_in_order_is_raised_and_the_rest_is_left_out() -> None:
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        time.sleep(0.002)
        if number in (3, 5):
            raise ZeroDivisionError(str(number))

    with pytest.raises(ZeroDivisionError, match="3"):
        each(2, range(1000), work)
    time.sleep(0.02)
    assert len(begun) < 500


def test_several_wait_for_one_flag() -> None:
    flag = Flag()
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(flag.wait, 30) for _ in range(4)]
        assert not flag.wait(0.01)
        flag.set()
        assert all(one.result() for one in waiting) and flag.wait(0.0)
