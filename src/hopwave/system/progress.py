"""Progress of long work, after two seconds: a bar on a terminal, plain lines in a log or a notebook."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Any

from hopwave.checks.options import flag_or_none
from hopwave.errors import GraphError

PATIENCE = 2.0  # seconds before anything is shown
SECONDS_PER_LINE = 5.0  # without a terminal
TICK = 0.25  # seconds between two looks at the work under way


def say(what: str) -> None:
    """One line on stderr, of a terminal or not, unless HOPWAVE_PROGRESS=0 forbids it."""
    if _is_wanted():
        _write(what)


def _is_wanted() -> bool:
    return os.environ.get("HOPWAVE_PROGRESS") != "0"


def _write(what: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # stderr is closed, or None: there is nowhere to print
        sys.stderr.write(f"hopwave: {what}\n")
        sys.stderr.flush()


class Meter:
    """Shows how much of a long task is done: bytes of a file, or sources.

    `show=None` waits two seconds; True shows it at once, False never, and the environment variable HOPWAVE_PROGRESS=0
    turns None into False. A terminal gets a bar, which is removed when the work is done. Any other stderr gets a plain
    line every five seconds. With a total of None both show only the elapsed time, for work that is one call into a C
    library.

    >>> with Meter("reading web.mtx", total=100, show=False) as meter:
    ...     meter.update(50)
    """

    def __init__(self, title: str, total: int | None, show: bool | None) -> None:
        try:
            show = flag_or_none("progress", show)
        except GraphError:
            raise GraphError(
                f"progress={show!r} is not known; use None, True, False or a function of (done, all)"
            ) from None
        self._title = title
        self._total = total
        self._done = 0
        self._at_once = show is True
        self._wanted = _is_wanted() if show is None else show
        self._lock = threading.Lock()
        self._bar: Any = None
        self._task: Any = None
        self._began = 0.0
        self._last_line = 0.0  # when it was printed; 0: not yet

    def update(self, done: int) -> None:
        """Say how much is done."""
        with self._lock:
            self._done = done
            if self._bar is not None:
                self._bar.update(self._task, completed=done)

    def stage(self, title: str, total: int | None = None) -> None:
        """Begin another task, of unknown length unless a total is given."""
        with self._lock:
            self._title, self._total, self._done = title, total, 0
            if self._bar is not None:
                self._bar.remove_task(self._task)
                self._task = self._bar.add_task(title, total=total)

    def __enter__(self) -> Meter:
        self._began = time.monotonic()
        if self._wanted:
            if self._at_once:
                self._look(self._began)
            _watched.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._wanted:
            return
        _watched.remove(self)
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None
            elif self._last_line and kind is None:
                self._print("done")

    def _look(self, now: float) -> None:
        """Show the bar or the next line, if it is time."""
        if now - self._began < PATIENCE and not self._at_once:
            return
        with self._lock:
            if self not in _watched and not self._at_once:
                return  # it ended meanwhile
            if self._bar is None and _is_terminal():
                self._start()
            elif self._bar is None and (not self._last_line or now - self._last_line >= SECONDS_PER_LINE):
                self._last_line = now
                self._print("" if not self._total else f"{min(100 * self._done // self._total, 100)} %")

    def _print(self, state: str) -> None:
        elapsed = f"{time.monotonic() - self._began:.0f} s"
        _write(f"{self._title}: {state + ' after ' if state else ''}{elapsed}")

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._title, total=self._total, completed=self._done)
        self._bar.start()


class _Watched:
    """The meters of the work under way, and one thread that looks at them. It ends when there are none.

    One thread for all: a short call costs no thread of its own.
    """

    def __init__(self) -> None:
        self._meters: set[Meter] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def __contains__(self, meter: Meter) -> bool:
        return meter in self._meters

    def add(self, meter: Meter) -> None:
        with self._lock:
            self._meters.add(meter)
            if self._thread is None:
                thread = threading.Thread(target=self._watch, name="hopwave-progress", daemon=True)
                with suppress(RuntimeError, MemoryError):  # the system starts no thread: the work goes on unshown
                    thread.start()
                    self._thread = thread

    def remove(self, meter: Meter) -> None:
        with self._lock:
            self._meters.discard(meter)

    def _watch(self) -> None:
        while True:
            time.sleep(TICK)
            with self._lock:
                meters = list(self._meters)
                if not meters:
                    self._thread = None
                    return
            for meter in meters:
                meter._look(time.monotonic())


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # None, or closed
        return False


_watched = _Watched()
if hasattr(os, "register_at_fork"):  # the thread does not survive a fork, and a lock may be held
    os.register_at_fork(after_in_child=_watched.__init__)  # type: ignore[misc]
