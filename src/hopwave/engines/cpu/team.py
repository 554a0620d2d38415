"""Helpers that stay for the next call, so that searches of less than a millisecond can use all cores.

Waking a Python thread takes tens of microseconds, and the GIL. A finished helper therefore stays in compiled code for a
moment (policy.LINGER) and watches its team's cells, from which it copies the arguments of the next leader.

    lead(count, function, part, kind)     # the leader calls function(*part, team, count, 0); helpers are 1 and above

The function calls the result of `led`. The leader waits only while a helper copies, and for helpers inside a job.
"""

import atexit
import os
import time

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu.crew import close_job, crew_size, dismiss, join_job, leave_job, open_job, open_regions
from hopwave.engines.cpu.intrinsics import inner, noinline
from hopwave.engines.cpu.policy import LINGER, MAX_TEAM, SPINS
from hopwave.system import threads

# The cells of a team, int64; cells that many threads write are several cache lines apart.
OFFER = 0  # odd while a leader's arguments can be borrowed
WANTED = 1  # number of helpers that the leader wants
ADDRESS = 2  # address of the arguments
LEAVE = 3  # not 0: the process is ending
EXPECTED = 4  # not 0: a leader has counted the helpers present and is about to make an offer
READERS = 16  # number of helpers copying the arguments
CLAIMED = 32  # numbers of the helpers that have joined so far, as bits
PRESENT = 48  # number of helpers in compiled code
TEAM_CELLS = 64


@intrinsic
def lend(typing, team, arguments):
    """Write the address of a copy of the arguments to ADDRESS. The copy lives until the calling function returns."""
    signature = types.void(team, arguments)

    def build(context, builder, signature, values):
        copy = cgutils.alloca_once_value(builder, values[1])
        place = _address(context, builder, signature, values)
        builder.store(builder.ptrtoint(copy, ir.IntType(64)), place)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def borrow(typing, team, like):
    """The arguments at ADDRESS, of the type of `like`, with uncounted arrays in records: only for use inside a job."""
    signature = like(team, like)

    def build(context, builder, signature, values):
        place = _address(context, builder, signature, values)
        kind = context.get_value_type(signature.return_type)
        taken = builder.load(builder.inttoptr(builder.load(place), kind.as_pointer()))
        for i, part in enumerate(signature.return_type):
            if isinstance(part, types.BaseTuple):
                inner = asm.without_counters(context, builder, part, builder.extract_value(taken, i))
                taken = builder.insert_value(taken, inner, i)
        context.nrt.incref(builder, signature.return_type, taken)
        return taken

    return signature, build


def _address(context, builder, signature, values):
    cell = context.get_constant(types.intp, ADDRESS)
    return asm.address_of(context, builder, signature.args[0], values[0], types.intp, cell)


@inner
def await_offer(team, last):
    """Wait for an offer other than `last` and be counted in READERS; or return -1, no longer counted in PRESENT."""
    idle, until = np.int64(0), asm.nanoseconds() + LINGER
    while asm.ordered_load(team, LEAVE) == 0:
        offer = asm.ordered_load(team, OFFER)
        if offer & 1 and offer != last:
            asm.ordered_add(team, READERS, 1)
            if asm.ordered_load(team, OFFER) == offer:
                return offer
            asm.ordered_add(team, READERS, -1)
        idle += 1
        if idle <= SPINS:
            asm.relax()
            continue
        asm.pause()
        if asm.nanoseconds() > until:
            asm.ordered_add(team, PRESENT, -1)
            if asm.ordered_load(team, EXPECTED) == 0:
                return np.int64(-1)
            asm.ordered_add(team, PRESENT, 1)
    asm.ordered_add(team, PRESENT, -1)
    return np.int64(-1)


@inner
def claim(team, number):
    """A number for this helper, if possible its last one, whose arrays are in its cache; 0 if enough have joined."""
    for number_ in range(np.int64(0), team[WANTED] + 1):
        wish = number if number_ == 0 else number_
        bit = np.int64(1) << wish
        if wish != 0 and wish <= team[WANTED] and not asm.atomic_or(team, CLAIMED, bit) & bit:
            return wish
    asm.ordered_add(team, READERS, -1)
    return np.int64(0)


def led(lead, work):
    """A compiled function for a thread's part: 0 runs lead(A, W, board, *arguments), others work(A, W, board, me)."""

    @inner
    def work_for_leader(team, me, A, W, board):
        """Process jobs until the leader dismisses all helpers. A, W and board only provide types."""
        noinline()
        A, W, board = borrow(team, (A, W, board))
        asm.ordered_add(team, READERS, -1)
        joined = np.int64(0)
        while True:
            joined = join_job(board, joined, me)
            if joined < 0:
                return
            work(A, W, board, me)
            leave_job(board)

    @inner
    def assist(team, A, W, board):
        asm.ordered_add(team, PRESENT, 1)
        offer = number = np.int64(0)
        while True:
            offer = await_offer(team, offer)
            if offer < 0:
                return
            claimed = claim(team, number)
            if claimed:
                number = claimed
                work_for_leader(team, number, A, W, board)

    @inner
    def take_part(A, W, board, arguments, team, helpers, me):
        if me != 0:
            assist(team, A, W, board)
            return
        lend(team, (A, W, board))
        if helpers:
            team[WANTED], team[CLAIMED] = helpers, 0
            asm.ordered_store(team, OFFER, team[OFFER] + 1)
            asm.ordered_store(team, EXPECTED, 0)
        lead(asm.uncounted(A), asm.uncounted(W), board, *arguments)
        dismiss(board)
        if helpers:
            asm.ordered_store(team, OFFER, team[OFFER] + 1)
            while asm.ordered_load(team, READERS) != 0:  # a helper is copying the arguments
                asm.pause()

    return take_part


def chunks(work):
    """A compiled function that posts a job over [begin, end) in chunks, works on it, and waits for the helpers."""

    @inner
    def by_chunks(A, W, board, kind, begin, end, size, depth, flags, which):
        noinline()
        open_job(board, kind, begin, end, size, depth, flags, which)
        work(A, W, board, np.int64(0))
        close_job(board)

    return by_chunks


def regions(work):
    """A compiled function that posts a job over [0, end) in regions, works on it, and waits for the helpers."""

    @inner
    def by_regions(A, W, board, kind, end, size, depth, flags, which, threads):
        noinline()
        open_regions(board, kind, end, size, depth, flags, which, threads)
        work(A, W, board, np.int64(0))
        close_job(board)

    return by_regions


# ------------------------------------------------------------------ from Python


class _Teams:
    def __init__(self):
        self.idle = {}  # by function and types, the most recently used at the end
        self.all = []

    def take(self, idle):
        try:
            return idle.pop()
        except IndexError:
            team = np.zeros(TEAM_CELLS, np.int64)
            self.all.append(team)
            return team


_teams = _Teams()
NOBODY = np.zeros(TEAM_CELLS, np.int64)  # the team of a leader without helpers


def size_for(work):
    """The number of threads worth using for a call over that many entries, including the calling thread."""
    return min(crew_size(work, None), MAX_TEAM + 1)


def lead(count, function, part, kind):
    """Call function(*part, cells, count, 0) here and on `count` helpers. kind distinguishes compiled versions."""
    if count == 0:
        function(*part, NOBODY, 0, 0)
        return
    idle, team = _teams.idle.setdefault((function, kind), []), None
    try:
        team = _teams.take(idle)
        team[EXPECTED] = 1
        missing = count - int(team[PRESENT])
        if missing > 0:
            threads.crew.help(missing, function, *_empty(part), team, count)
        function(*part, team, count, 0)
    finally:
        if team is not None:
            team[EXPECTED] = 0  # otherwise helpers would wait for an offer that was never made
            idle.append(team)


def _empty(part):
    """Empty arguments of the same types: a waiting helper keeps no graph alive."""
    if isinstance(part, tuple):
        entries = [_empty(entry) for entry in part]
        return type(part)(*entries) if hasattr(part, "_fields") else tuple(entries)
    if not isinstance(part, np.ndarray):
        return part
    nothing = np.empty((0,) * part.ndim, part.dtype)
    nothing.flags.writeable = part.flags.writeable
    return nothing


def _leave():
    """Make helpers leave compiled code, which is about to be unloaded."""
    for team in _teams.all:
        team[LEAVE] = 1
    until = time.monotonic() + 0.1
    while any(team[PRESENT] for team in _teams.all) and time.monotonic() < until:
        time.sleep(0.0002)


atexit.register(_leave)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_teams.__init__)  # a forked child has no helpers
