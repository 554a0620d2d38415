"""The crew: helper threads that join a level when they can, and that nobody waits for when they cannot.

A search is led by one thread, the master. For each level it posts a job on the board (what to do, which range) and
starts on it; helpers that see the job open join, and all take chunks off one counter until none is left. The master
then closes the job and waits only for those who joined. A helper that the operating system has put aside costs nothing,
and there is no barrier: with one core busy elsewhere a search on two threads runs at the speed of one.

Helpers are ordinary Python threads, asleep between searches, inside compiled code without the GIL during one.
"""

from __future__ import annotations

import logging
import os
import threading
from queue import SimpleQueue

import numpy as np
from numba import njit

from hopwave.engines.cpu.intrinsics import COMPILED, INNER, nap, ordered_add, ordered_load, ordered_store, pause
from hopwave.errors import EngineError

log = logging.getLogger("hopwave")

# The board: int64 cells, those that are fought over a cache line apart.
EPOCH = 0  # odd while a job is open

ACTIVE = 16  # helpers inside the open job

DONE = 32  # the search is over

CHUNK = 48  # where the next chunk begins

TAIL = 64  # where the next found vertex goes in the queue

FOUND, EDGES, CHECKED, AHEAD, EDGES_AHEAD = 80, 81, 82, 83, 84  # sums over all who worked

JOB = 96  # what to do, then its arguments

BOARD_CELLS = 128


@njit(**INNER)
def open_job(board, kind, begin, end, size, depth, flags, which):
    """Post a job over [begin, end) in chunks of size."""
    board[JOB] = kind
    board[JOB + 1] = end
    board[JOB + 2] = size
    board[JOB + 3] = depth
    board[JOB + 4] = flags
    board[JOB + 5] = which
    board[CHUNK] = begin
    for cell in range(FOUND, EDGES_AHEAD + 1):
        board[cell] = 0
    ordered_store(board, EPOCH, board[EPOCH] + 1)


@njit(**INNER)
def close_job(board):
    """Let nobody else in, and wait for those who are."""
    ordered_store(board, EPOCH, board[EPOCH] + 1)
    waited = 0
    while ordered_load(board, ACTIVE) != 0:
        waited += 1
        if waited > 1000:
            pause()


@njit(**INNER)
def join_job(board, last):
    """The epoch of an open job that this helper has now joined, 0 if there is none, -1 if the search is over."""
    idle = 0
    while ordered_load(board, DONE) == 0:
        epoch = ordered_load(board, EPOCH)
        if epoch & 1 and epoch != last:
            ordered_add(board, ACTIVE, 1)
            if ordered_load(board, EPOCH) == epoch:
                return epoch
            ordered_add(board, ACTIVE, -1)
            idle = 0
        else:
            idle += 1
            if idle > 100_000:  # a long run of levels too small to share: stop burning a core
                nap()
            elif idle > 2_000:
                pause()
    return -1


@njit(**INNER)
def leave_job(board):
    ordered_add(board, ACTIVE, -1)


@njit(**COMPILED)
def dismiss(board):
    ordered_store(board, DONE, 1)


def new_board():
    """A fresh board. One a run: a helper that starts late then finds its own run over, and goes."""
    return np.zeros(BOARD_CELLS, np.int64)


def thread_count(threads=None):
    """How many threads to use: threads=, else HOPWAVE_NUM_THREADS, else every core this process may use."""
    asked, origin = threads, "threads"
    if asked is None:
        asked, origin = os.environ.get("HOPWAVE_NUM_THREADS"), "HOPWAVE_NUM_THREADS"
    if asked is None or asked == "":
        return available_cores()
    try:
        count = int(asked)
        if isinstance(asked, float) and asked != count:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise EngineError(f"{origin}={asked!r} is not a number of threads; give a whole number from 1") from None
    if count < 1:
        raise EngineError(f"{origin}={count} is not a number of threads; give a whole number from 1")
    return min(count, 256)


def available_cores():
    """The cores this process is allowed to run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


class Crew:
    """Threads that sleep until called, shared by all searches of this process.

    A plain queue of calls: it wakes a thread in some microseconds, where an executor's futures take some tens.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._calls = SimpleQueue()
        self._threads = 0

    def call(self, count, function, *arguments):
        """Let `count` threads run function(*arguments, number), number from 1 on, when they can; wait for none."""
        with self._lock:
            while self._threads < count:
                self._threads += 1
                threading.Thread(target=self._serve, name=f"hopwave-{self._threads}", daemon=True).start()
        for number in range(1, count + 1):
            self._calls.put((function, arguments, number))

    def _serve(self):
        while True:
            function, arguments, number = self._calls.get()
            try:
                function(*arguments, number)
            except Exception:  # whoever leads meets the same error, and tells the caller
                log.debug("a helper failed", exc_info=True)
            del function, arguments  # a sleeping thread keeps no graph alive


crew = Crew()  # helpers of searches: milliseconds each

workers = Crew()  # takers of sources: they may be away for hours, and no search's calls may pile up behind them


def _forget_after_fork():
    """A forked child has the crews but not their threads: start anew there."""
    crew.__init__()
    workers.__init__()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)

ENTRIES_PER_THREAD = 1 << 16  # below this, waking a helper costs more than it brings

CHUNK_ROWS = 4096  # the most rows that are taken at a time

UNSIGNED = {1: np.uint8, 4: np.uint32, 8: np.uint64}


def unsigned(array):
    """The same memory, read as unsigned numbers; bools as bytes."""
    view = array.view(UNSIGNED[array.dtype.itemsize])
    view.flags.writeable = False
    return view


def fixed(array):
    """A view for reading alone: a graph's arrays are that already, and Numba would compile once for each kind."""
    view = array.view()
    view.flags.writeable = False
    return view


def unsigned_rows(part):
    return unsigned(part.indptr), unsigned(part.indices)


def crew_size(work, threads):
    """How many threads that many entries are worth, the calling one included."""
    most = int(work) // ENTRIES_PER_THREAD
    return 1 if most < 2 and threads is None else max(1, min(thread_count(threads), most))


def share(kernel, arguments, size, work, threads, chunk=None):
    """kernel(*arguments, size, chunk, board) over the rows [0, size). Returns the board, with the sums it was given."""
    board = new_board()
    helpers = crew_size(work, threads) - 1
    if helpers == 0:
        kernel(*arguments, size, chunk or CHUNK_ROWS, board)
        return board
    if chunk is None:
        chunk = max(64, min(CHUNK_ROWS, size // (32 * (helpers + 1)) & ~63))
    board[EPOCH] = 1  # open: whoever is called may join at once
    crew.call(helpers, assist, kernel, arguments, size, chunk, board)
    try:
        kernel(*arguments, size, chunk, board)
    finally:
        finish(board)
    return board


def assist(kernel, arguments, size, chunk, board, number):
    if enter(board):
        try:
            kernel(*arguments, size, chunk, board)
        finally:
            leave(board)


@njit(**COMPILED)
def enter(board):
    """Whether a helper came in time to help."""
    return join_job(board, np.int64(0)) > 0


@njit(**COMPILED)
def leave(board):
    ordered_add(board, ACTIVE, -1)


@njit(**COMPILED)
def finish(board):
    """Let nobody else in, wait for those who are, and send the others away."""
    close_job(board)
    board[DONE] = 1
