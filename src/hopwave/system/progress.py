"""Progress of long work, after two seconds: a bar on a terminal, plain lines in a log or a notebook."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import weakref
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any

from hopwave.checks.options import flag_or_none
from hopwave.errors import GraphError
from hopwave.system import threads
from hopwave.system.threads import Flag

log = logging.getLogger("hopwave")

PATIENCE = 2.0  # seconds before anything is shown
SECONDS_PER_LINE = 5.0  # between two lines of a log
SHORT_WORK = 1 << 20  # vertices and arcs to look at: far below a second
TICK = 0.25  # seconds between two looks at the work under way
WAIT_SECONDS = 1.0  # at most, for the thread that prints


def say(what: str) -> None:
    """Print one line on stderr, unless HOPWAVE_PROGRESS=0 forbids it."""
    if _is_wanted():
        _write(what)


_instead: str | None = None  # what goes on instead of the work that meters measure


def instead(what: str | None) -> None:
    """Let every meter show this in place of a share that does not grow, as while compiling; None ends it."""
    global _instead
    _instead = what


def quietly(progress: Any, work: int) -> Any:
    """What a caller said of progress; False instead of None if the work, sources × (n + m), is done long before."""
    return False if progress is None and work < SHORT_WORK else progress


def _is_wanted() -> bool:
    return os.environ.get("HOPWAVE_PROGRESS") != "0"


def _write(what: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # stderr is closed, or None: there is nowhere to print
        sys.stderr.write(f"hopwave: {what}\n")
        sys.stderr.flush()


class Meter:
    """Shows how much of a long task is done: bytes of a file, or sources.

    `show=None` shows it after two seconds, True at once, False never; the environment variable HOPWAVE_PROGRESS=0 turns
    None into False. A terminal gets a bar, which is removed when the work is done. Any other stderr gets a plain line
    every five seconds. If total is None (for work that is one call into a C library), only the elapsed time is shown.

    The caller only stores how much is done; another thread reads that and prints. So a Ctrl-C never interrupts
    printing, and never leaves half a bar or a hidden cursor behind.

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
        self._stage = title, total
        self._done = 0
        self._at_once = show is True
        self._wanted = _is_wanted() if show is None else show
        self._end: str | None = None  # None while the work goes on, then the last line to print, or ""
        if self._wanted:
            self._shown = Flag()  # set after the first look
            self._ended = Flag()  # set after the last look
        self._bar: Any = None
        self._on_bar: Any = None  # the stage that the bar shows
        self._began = 0.0
        self._last_line = 0.0  # the time of the last printed line; 0 before the first

    @property
    def _shows(self) -> tuple[str, int | None]:
        return self._stage if _instead is None else (_instead, None)

    def update(self, done: int) -> None:
        """Store how much is done."""
        self._done = done

    def stage(self, title: str, total: int | None = None) -> None:
        """Begin another task, of unknown length unless a total is given."""
        self._done = 0
        self._stage = title, total

    def __enter__(self) -> Meter:
        self._began = time.monotonic()
        try:
            self._wanted = self._wanted and _watch.add(self)
            if self._wanted and self._at_once:
                self._shown.wait(WAIT_SECONDS)
        except BaseException:  # Ctrl-C
            self._end = ""
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end = "done" if kind is None else ""
        # Short work shows nothing, so there is no last look to wait for.
        if self._wanted and (self._at_once or time.monotonic() - self._began >= PATIENCE):
            _watch.look()
            self._ended.wait(WAIT_SECONDS)

    def look(self, now: float) -> bool:
        """Show the bar or the next line, if it is time. Returns whether the work is over. Called by one thread."""
        over = self._end is not None
        if now - self._began >= PATIENCE or self._at_once:
            if self._bar is None and _is_terminal() and not over:
                self._start()
            elif self._bar is None and (not self._last_line or now - self._last_line >= SECONDS_PER_LINE) and not over:
                self._last_line = now
                total = self._shows[1]
                self._print("" if not total else f"{min(100 * self._done // total, 100)} %")
            self._shown.set()
        if self._bar is not None:
            self._move_bar(over)
        if over:
            if self._last_line and self._end:
                self._print(self._end)
            self._ended.set()
        return over

    def _print(self, state: str) -> None:
        elapsed = f"{time.monotonic() - self._began:.0f} s"
        _write(f"{self._shows[0]}: {state + ' after ' if state else ''}{elapsed}")

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
            auto_refresh=False,  # else rich would start its own thread
        )
        self._bar.start()

    def _move_bar(self, over: bool) -> None:
        if over:
            self._bar.stop()
            self._bar = None
            return
        stage = self._shows
        if self._on_bar != stage:
            for task in self._bar.task_ids:
                self._bar.remove_task(task)
            self._bar.add_task(stage[0], total=stage[1])
            self._on_bar = stage
        self._bar.update(self._bar.task_ids[0], completed=self._done, refresh=True)


class _Watch:
    """The meters of the work under way, and one thread that looks at them. The thread ends when no meter is left.

    All meters share one thread, so that short calls start none. The watch holds weak references: a meter that was
    garbage collected is dropped, as after a Ctrl-C just before its `__exit__`.
    """

    def __init__(self) -> None:
        self._meters: set[weakref.ref[Meter]] = set()
        self._lock = threading.Lock()
        self._watching = False
        self._calls: SimpleQueue[None] = SimpleQueue()

    def add(self, meter: Meter) -> bool:
        """Look at a meter from now on. Returns False if no thread could be started; the work then shows nothing."""
        self._meters.add(weakref.ref(meter))
        if meter._at_once:
            self.look()
        with self._lock:
            watching = self._watching
        return watching or threads.crew.start(1, self._run) > 0

    def look(self) -> None:
        """Make the thread look now."""
        self._calls.put(None)

    def _run(self, number: int) -> None:
        with self._lock:
            if self._watching:
                return  # another thread was started at the same time
            self._watching = True
        while True:
            with suppress(Empty):
                self._calls.get(timeout=TICK)
            with self._lock:  # `add` reads `_watching` after it added its meter, so no meter is missed
                if not self._meters:
                    self._watching = False
                    return
            for seen in list(self._meters):
                meter = seen()
                try:
                    if meter is None or meter.look(time.monotonic()):
                        self._meters.discard(seen)
                except Exception:  # the terminal is gone; the work does not depend on it
                    log.debug("progress cannot be shown", exc_info=True)
                    self._meters.discard(seen)
                del meter


def _is_terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # None, or closed
        return False


_watch = _Watch()
if hasattr(os, "register_at_fork"):  # the thread does not survive a fork, and a lock may be held
    os.register_at_fork(after_in_child=_watch.__init__)  # type: ignore[misc]
