"""One job for the crew: a kernel over a range of rows, with as many helpers as the work is worth."""

from __future__ import annotations

import numpy as np
from numba import njit

from hopwave.engines.cpu_atoms import COMPILED, ordered_add
from hopwave.engines.cpu_crew import ACTIVE, DONE, EPOCH, close_job, crew, join_job, new_board, thread_count

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
