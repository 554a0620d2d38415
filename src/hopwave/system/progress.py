"""Progress of long tasks, shown after two seconds: a bar on a terminal, plain lines in a log or a notebook."""

import logging
import os
import shutil
import sys
import time
import weakref
from contextlib import suppress
from typing import Any

from hopwave.checks.options import flag_or_none
from hopwave.errors import GraphError
from hopwave.system import threads
from hopwave.system.threads import Flag

log = logging.getLogger("hopwave")

PATIENCE = 2.0  # seconds before anything is shown
SECONDS_PER_LINE = 5.0  # interval between two lines of a log
SHORT_WORK = 1 << 20  # vertices and arcs visited in far less than a second
TICK = 0.25  # interval between two checks of a running task, in seconds
WAIT_SECONDS = 1.0  # maximum wait for the thread that prints
BAR = 40  # width of the bar in columns


def say(what: str) -> None:
    """Print one line on stderr, unless HOPWAVE_PROGRESS=0."""
    if _is_wanted():
        _write(f"hopwave: {what}\n")


_instead: str | None = None  # activity that meters show instead of their own task


def instead(what: str | None) -> None:
    """Let every meter show this activity, such as compiling, instead of its own task; None restores the task."""
    global _instead
    _instead = what


def quietly(progress: Any, work: int) -> Any:
    """The caller's `progress`; False instead of None if the work, sources × (n + m), takes far less than a second."""
    return False if progress is None and work < SHORT_WORK else progress


def _is_wanted() -> bool:
    return os.environ.get("HOPWAVE_PROGRESS") != "0"


def _write(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):  # stderr is closed or None
        sys.stderr.write(text)
        sys.stderr.flush()


class Meter:
    """Shows the progress of a long task, such as bytes or sources. If total is None, it shows only the elapsed time.

    `show=True` shows progress immediately, None after two seconds, False never; HOPWAVE_PROGRESS=0 turns None into
    False. A terminal shows a bar, which disappears at the end; any other stderr receives a line every five seconds. The
    caller only stores the progress, and another thread prints it, so that Ctrl-C leaves no partial bar.
    """

    def __init__(self, title: str, total: int | None, show: bool | None) -> None:
        try:
            show = flag_or_none("progress", show)
        except GraphError:
            problem = f"progress={show!r} is not known"
            raise GraphError(f"{problem}; use None, True, False or a function of (done, total)") from None
        self._stage = title, total
        self._done = 0
        self._wanted = _is_wanted() if show is None else show
        self._patience = 0.0 if show else PATIENCE
        self._succeeded = False
        self._last_line = 0.0  # time of the last printed line; 0 before the first
        self._bar = ""  # current text on the terminal
        if self._wanted:
            self._over, self._shown, self._left = Flag(), Flag(), Flag()  # task finished; shown first; shown last

    def update(self, done: int) -> None:
        """Store the progress."""
        self._done = done

    def stage(self, title: str, total: int | None = None) -> None:
        """Begin another task; its length is unknown if total is None."""
        self._done = 0
        self._stage = title, total

    def __enter__(self) -> "Meter":
        self._began = time.monotonic()
        if self._wanted:
            try:
                self._wanted = threads.crew.start(1, _watch, weakref.ref(self), self._over) > 0
                if self._wanted and not self._patience:
                    self._shown.wait(WAIT_SECONDS)
            except BaseException:  # Ctrl-C
                self._over.set()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._wanted:
            self._succeeded = kind is None
            self._over.set()
            if time.monotonic() - self._began >= self._patience:  # otherwise nothing was shown
                self._left.wait(WAIT_SECONDS)

    def look(self, over: bool) -> None:
        """Show the bar or the next line, if it is due. Called by only one thread."""
        now = time.monotonic()
        (title, total), elapsed = self._stage if _instead is None else (_instead, None), now - self._began
        share = min(self._done / total, 1.0) if total else 0.0
        state = "done after " if over else f"{int(100 * share)} % after " if total else ""
        line = f"hopwave: {title}: {state}{elapsed:.0f} s\n"
        if over:
            self._show_bar("")
            if self._last_line and self._succeeded:
                _write(line)
            self._left.set()
        elif elapsed >= self._patience:
            if _is_terminal():
                filled = round(BAR * share)
                left = f", {elapsed / share - elapsed:.0f} s left" if share else ""
                percent = f" {'#' * filled}{'.' * (BAR - filled)} {100 * share:.0f} %" if total else ""
                self._show_bar(f"{title}{percent} {elapsed:.0f} s{left}")
            elif not self._last_line or now - self._last_line >= SECONDS_PER_LINE:
                self._last_line = now
                _write(line)
            self._shown.set()

    def _show_bar(self, text: str) -> None:
        if text or self._bar:
            text = text[: shutil.get_terminal_size().columns - 1]
            _write(f"\r{text:<{len(self._bar)}}\r{text}")
            self._bar = text


def _watch(seen: weakref.ref[Meter], over: Flag, number: int) -> None:
    """Update a meter until its task ends or the meter is garbage collected, as after a Ctrl-C before `__exit__`."""
    while (meter := seen()) is not None:
        done = over.is_set
        try:
            meter.look(done)
        except Exception:  # for example, the terminal is gone; the task does not depend on it
            log.debug("progress cannot be shown", exc_info=True)
        del meter
        if done:
            return
        over.wait(TICK)


def _is_terminal() -> bool:
    with suppress(AttributeError, ValueError):  # None, or closed
        return sys.stderr.isatty()
    return False
