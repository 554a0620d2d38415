"""A progress bar for long work: on a terminal, after two seconds, and removed when done."""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any

from hopwave.errors import GraphError

PATIENCE = 2.0  # seconds before a bar appears by itself


class Meter:
    """Shows how much of a long task is done: bytes of a file, or sources.

    `show=None` waits two seconds and draws only on a terminal; True draws at once, False never. With a total of None it
    draws a spinner with the elapsed time, for work that is one call into a C library.

    >>> with Meter("reading web.mtx", total=100, show=False) as meter:
    ...     meter.update(50)
    """

    def __init__(self, title: str, total: int | None, show: bool | None) -> None:
        if show not in (None, True, False):
            raise GraphError(f"progress={show!r} is not known; use None, True, False or a function of (done, all)")
        self._title = title
        self._total = total
        self._done = 0
        self._wanted = sys.stderr.isatty() if show is None else show
        self._at_once = show is True
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._task: Any = None

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
        if self._at_once:
            self._start()
        elif self._wanted:
            self._timer = threading.Timer(PATIENCE, self._start)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        console = Console(stderr=True)
        with self._lock:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                console=console,
                transient=console.is_terminal,  # in a log file, the last state is printed once
            )
            self._task = self._bar.add_task(self._title, total=self._total, completed=self._done)
            self._bar.start()
