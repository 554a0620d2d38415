"""Workers: threads that take batches of a long run off a counter until none is left. crew.py has the other way."""

from __future__ import annotations

import threading

import numpy as np

from hopwave.engines.cpu import crew, policy
from hopwave.errors import EngineError

# Cells of `control`, which all workers of a run share.
NEXT_BATCH = 0  # the counter that batches are taken off
FINISHED = 16  # how far the run is, in the unit that poll is given
STOP = 32  # not 0: take no further batch
STOPPED, FAILED = 1, 2  # why: the caller wants it, or a worker raised an error
CONTROL_CELLS = 48  # the next free cell


def new_control(cells=CONTROL_CELLS):
    """The cells of a new run; a run may have others behind them."""
    return np.zeros(cells, np.int64)


def run_workers(function, A, states, shared, poll, alone=False):
    """function(A, state, shared) on one thread per state, until all have returned.

    poll(shared.control[FINISHED]) is called on the calling thread now and then. If it returns true or raises (Ctrl-C
    does), workers finish the batch they are in; nothing is half done when this returns. `alone`: one worker has so
    little to do that the calling thread does it at once.
    """
    if alone:
        function(A, states[0], shared)
        return
    control, workers = shared.control, _Workers(len(states))
    running = crew.crew.start(len(states), workers.work, function, A, states, shared)
    if running == 0:
        raise EngineError(
            "the system starts no further thread, and this run needs one; end other threads, or raise the limit "
            "(ulimit -u)"
        )
    workers.finish(len(states) - running)
    try:
        while not workers.finished.wait(policy.POLL_SECONDS):
            if poll(int(control[FINISHED])):
                control[STOP] |= STOPPED
    except BaseException:
        control[STOP] |= STOPPED
        workers.wait()
        raise
    if workers.error:
        raise workers.error


class _Workers:
    """Counts workers as they finish, and keeps the error of one that failed."""

    def __init__(self, count):
        self.error = None
        self.finished = threading.Event()
        self._left = count
        self._lock = threading.Lock()

    def wait(self):
        """Until all are done, through any further Ctrl-C: they still write the sums that the caller will save."""
        while not self.finished.is_set():
            try:
                self.finished.wait()
            except KeyboardInterrupt:
                continue

    def work(self, function, A, states, shared, number):
        try:
            function(A, states[number - 1], shared)
        except BaseException as error:
            self.error = error
            shared.control[STOP] |= FAILED
        self.finish(1)

    def finish(self, count):
        """That many workers are done, or were never started."""
        with self._lock:
            self._left -= count
            if not self._left:
                self.finished.set()
