"""The threads of the CPU engine, and how they share short loops (long runs: workers.py).

**Jobs on a board**, for loops of microseconds to milliseconds. One thread leads: it posts a job on the board and
starts working. Helpers that see the open job join, and all threads take chunks from one counter. The leader then
closes the job and waits only for helpers that joined: a helper that the operating system has suspended costs nothing.

    share(kernel, …)               one job, a loop over rows, posted from Python
    lead(…) or team.lead(…)        consecutive jobs by a compiled leader; team.lead: helpers stay for the next call

Ctrl-C may come between any two steps of the Python code here. A leader's last step, however it ends, is therefore one
call of compiled code that dismisses the helpers.
"""

import os

import numpy as np

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.intrinsics import inner, outer
from hopwave.errors import EngineError
from hopwave.system import threads as system_threads
from hopwave.system.threads import host_cores

# ------------------------------------------------------------------ number of threads


def thread_count(threads=None):
    """The number of threads: threads=, else HOPWAVE_NUM_THREADS, else every core available to this process."""
    given, origin = threads, "threads"
    if given is None:
        given, origin = os.environ.get("HOPWAVE_NUM_THREADS"), "HOPWAVE_NUM_THREADS"
    if given is None or given == "":
        return host_cores()
    try:
        count = int(given)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if count < 1 or (isinstance(given, float) and given != count):
        raise EngineError(f"{origin}={given!r} is not a valid number of threads; it must be an integer of at least 1")
    return min(count, 256)


def check_threads(threads):
    """Raise the error of thread_count for an invalid threads=, even if only one thread will be used."""
    if threads is not None or os.environ.get("HOPWAVE_NUM_THREADS"):
        thread_count(threads)


def crew_size(work, threads):
    """The number of threads worth using for a loop over that many entries, including the calling thread."""
    most = int(work) // policy.ENTRIES_PER_THREAD
    return 1 if most < 2 and threads is None else max(1, min(thread_count(threads), most))


# ------------------------------------------------------------------ jobs on a board

# The board: int64 cells; contended cells are a cache line apart.
EPOCH = 0  # odd while a job is open
CHUNKS = 1  # chunks of the open job: helpers with higher numbers have no work and do not join
ACTIVE = 16  # helpers inside the open job
OVER = 32  # no job will follow
NEXT_CHUNK = 48  # where the next chunk begins
TAIL = 64  # next free index in the queue of found vertices
FOUND, EDGES, CHECKED, AHEAD, EDGES_AHEAD = range(80, 85)  # sums over all threads of the job
JOB_KIND, JOB_END, JOB_CHUNK, JOB_DEPTH, JOB_FLAGS, JOB_WHICH, JOB_REGIONS = range(96, 103)  # description of the job
POOL_NEXT = 113  # the first unclaimed block of a pool (shortest_paths/bins.py)
NEXT_WORKER = 112  # numbers threads as they join, for kernels in which each thread needs its own arrays
REGIONS = 128  # first cell, one or two cache lines per region: start of its next chunk (see open_regions)
REGION_CELLS = 16
MOST_REGIONS = 63
BOARD_CELLS = REGIONS + REGION_CELLS * MOST_REGIONS


def new_board():
    """A new board, one per run: a helper that starts late finds its own run finished."""
    return np.zeros(BOARD_CELLS, np.int64)


@inner
def describe_job(board, kind, begin, end, size, depth, flags, which):
    """Write a job over [begin, end) in chunks of that size; no helper joins before it is opened."""
    board[JOB_KIND] = kind
    board[JOB_END] = end
    board[JOB_CHUNK] = size
    board[JOB_DEPTH] = depth
    board[JOB_FLAGS] = flags
    board[JOB_WHICH] = which
    board[NEXT_CHUNK] = begin
    board[CHUNKS] = (end - begin + size - 1) // size
    for cell in range(FOUND, EDGES_AHEAD + 1):
        board[cell] = 0


@inner
def open_job(board, kind, begin, end, size, depth, flags, which):
    describe_job(board, kind, begin, end, size, depth, flags, which)
    asm.ordered_store(board, EPOCH, board[EPOCH] + 1)


@inner
def next_chunk(board):
    """The next chunk [begin, stop) of a job without regions; begin is at or past its end if none remains."""
    end, size = board[JOB_END], board[JOB_CHUNK]
    begin = asm.atomic_add(board, NEXT_CHUNK, size)
    return begin, min(begin + size, end)


@inner
def open_regions(board, kind, end, size, depth, flags, which, regions):
    """Post a job over [0, end) with a region per thread, whose cache then has most of its vertices already."""
    for r in range(regions):
        board[REGIONS + REGION_CELLS * r] = end * r // regions
    board[JOB_REGIONS] = regions
    open_job(board, kind, np.int64(0), end, size, depth, flags, which)


@inner
def next_of_regions(board, region):
    """A chunk [begin, stop) and its region, the first region with a chunk, starting at `region`; -1 if none has."""
    regions, end, size = board[JOB_REGIONS], board[JOB_END], board[JOB_CHUNK]
    for _ in range(regions):
        place, stop = REGIONS + REGION_CELLS * region, end * (region + 1) // regions
        if board[place] < stop:
            begin = asm.ordered_add(board, place, size)
            if begin < stop:
                return begin, min(begin + size, stop), region
        region = region + 1 if region + 1 < regions else np.int64(0)
    return np.int64(0), np.int64(0), np.int64(-1)


@inner
def close_job(board):
    """Admit no more helpers, and wait for those inside."""
    asm.ordered_store(board, EPOCH, board[EPOCH] + 1)
    waited = 0
    while asm.ordered_load(board, ACTIVE) != 0:
        waited += 1
        asm.relax()
        if waited > 1000:
            asm.pause()


@inner
def join_job(board, last, me):
    """Wait for a job other than `last` with more than `me` chunks, and join it: its epoch, or -1 if none follows."""
    idle = 0
    while asm.ordered_load(board, OVER) == 0:
        epoch = asm.ordered_load(board, EPOCH)
        if epoch & 1 and epoch != last and me < board[CHUNKS]:
            asm.ordered_add(board, ACTIVE, 1)
            if asm.ordered_load(board, EPOCH) == epoch:
                return epoch
            asm.ordered_add(board, ACTIVE, -1)
            idle = 0
        else:
            idle += 1
            if idle > 100_000:  # many levels too small to share: stop occupying a core
                asm.nap()
            elif idle > policy.SPINS:
                asm.pause()
            else:
                asm.relax()
    return -1


@outer
def leave_job(board):
    asm.ordered_add(board, ACTIVE, -1)


@outer
def dismiss(board):
    asm.ordered_store(board, OVER, 1)


def lead(count, board, function, arguments):
    """Call function(*arguments, 0) here, and with other numbers on `count` threads that join the board's jobs."""
    try:
        if count:
            system_threads.crew.help(count, function, *arguments)
        function(*arguments, 0)
    finally:
        dismiss(board)


def share(kernel, arguments, size, work, threads, chunk=None):
    """Call kernel(*arguments, size, chunk, board) over rows [0, size) on the threads worth using; returns the board."""
    board = new_board()
    helpers = crew_size(work, threads) - 1
    if helpers == 0:
        kernel(*arguments, size, chunk or policy.MAX_ROWS_PER_CHUNK, board)
        return board
    if chunk is None:
        even = size // (policy.CHUNKS_PER_THREAD_OF_ROWS * (helpers + 1))
        chunk = max(64, min(policy.MAX_ROWS_PER_CHUNK, even & ~63))
    board[CHUNKS] = helpers + 1
    board[EPOCH] = 1  # open: helpers may join as they arrive
    try:
        system_threads.crew.help(helpers, _assist, kernel, arguments, size, chunk, board)
        kernel(*arguments, size, chunk, board)
    finally:
        _finish(board)
    return board


def _assist(kernel, arguments, size, chunk, board, number):
    if _join_only_job(board):
        try:
            kernel(*arguments, size, chunk, board)
        finally:
            leave_job(board)


@outer
def _join_only_job(board):
    asm.ordered_add(board, ACTIVE, 1)
    joined = asm.ordered_load(board, EPOCH) == 1  # it is not closed, and has work for every helper
    asm.ordered_add(board, ACTIVE, 0 if joined else -1)
    return joined


@outer
def _finish(board):
    close_job(board)
    board[OVER] = 1
