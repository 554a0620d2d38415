"""Workers: threads that take batches of a long run from a counter until none remains. For short calls: crew.py."""

import numpy as np
from numba import typeof

from hopwave.engines import host_memory
from hopwave.engines.cpu import intrinsics as asm
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.intrinsics import COMPILED, inner, outer
from hopwave.errors import EngineError, amount
from hopwave.system import threads
from hopwave.system.numba_cache import njit

# Cells of `control`, which all workers of a run share.
NEXT_BATCH = 0  # the counter from which batches are taken
FINISHED = 16  # progress of the run, in the unit of poll
STOP = 32  # not 0: take no more batches
STOPPED, FAILED = 1, 2  # why: requested by the caller, or a worker raised an error
CLOSED = 33  # not 0: the caller waits only for workers inside, and no other may enter
INSIDE = 48  # number of workers that have entered and not left
LEFT = 49  # workers that have left
CONTROL_CELLS = 64  # the next free cell
# A few instructions: with sixteen threads, releasing and reacquiring the GIL would take far longer.
AT_ONCE = COMPILED | {"nogil": False}


def new_control(cells=CONTROL_CELLS):
    return np.zeros(cells, np.int64)


def workers_within(limit, workers, each, what="betweenness"):
    """As many workers of `each` bytes as fit into memory: up to the limit, or three quarters of the free memory."""
    if limit is None and each * workers <= host_memory.BYTES_ANYWHERE:
        return max(1, workers)
    free = host_memory.available_memory() if limit is None else limit
    if free is None:
        return max(1, workers)
    usable = free if limit is not None else free * 3 // 4
    if each > usable:
        problem = f"{what} of this graph needs {amount(each)} for one worker and may use {amount(usable)}"
        raise EngineError(f"{problem}; raise memory_limit=, or use a machine with more memory")
    return max(1, min(workers, usable // max(1, each)))


def run_workers(function, A, states, shared, poll, alone=False):
    """Call function(A, state, shared) on a thread per state, or `alone` here, until done, poll(finished) or Ctrl-C."""
    if alone:
        function(A, states[0], shared)
        return
    control, run = shared.control, _Run(function, A, states, shared)
    if not getattr(function, "overloads", True):  # compiled here, where Ctrl-C is handled, and not by the workers
        function.compile(tuple(typeof(given) for given in (A, states[0], shared)))
    if not close.overloads:
        close(new_control())  # compiled before it is needed: compiling can be interrupted
    try:
        running = threads.crew.start(len(states), run.work)
        if running == 0:
            problem = "the system cannot start another thread, which this run needs"
            raise EngineError(f"{problem}; end other threads, or raise the limit (ulimit -u)")
        while not run.over.wait(policy.POLL_SECONDS) and control[LEFT] < running:
            if poll(int(control[FINISHED])):
                control[STOP] |= STOPPED
    finally:
        close(control)
    if run.error:
        raise run.error


class _Run:
    def __init__(self, function, A, states, shared):
        self.over, self.error = threads.Flag(), None
        self._function, self._A, self._states, self._shared = function, A, states, shared

    def work(self, number):
        control = self._shared.control
        if not come_in(control):
            return
        try:
            self._function(self._A, self._states[number - 1], self._shared)
        except BaseException as error:
            self.error = error
            control[STOP] |= FAILED
        if leave(control) == len(self._states):
            self.over.set()


@inner
def next_batch(control, size, end):
    """The next batch [begin, stop) of up to that size, below `end`; begin == stop if none remains or the run stops."""
    if asm.ordered_load(control, STOP) != 0:
        return end, end
    begin = asm.atomic_add(control, NEXT_BATCH, size)
    return begin if begin < end else end, begin + size if begin + size < end else end


@njit(**AT_ONCE)
def come_in(control):
    """Whether a worker may still enter: the caller then waits for it."""
    asm.ordered_add(control, INSIDE, 1)
    if asm.ordered_load(control, CLOSED) == 0:
        return True
    asm.ordered_add(control, INSIDE, -1)
    return False


@njit(**AT_ONCE)
def leave(control):
    left = asm.ordered_add(control, LEFT, 1) + 1
    asm.ordered_add(control, INSIDE, -1)
    return left


@outer
def close(control):
    """Admit no more workers, and wait until those inside have finished their batches. Delays signals."""
    asm.atomic_or(control, STOP, STOPPED)
    asm.ordered_store(control, CLOSED, 1)
    while asm.ordered_load(control, INSIDE) != 0:
        asm.nap()
