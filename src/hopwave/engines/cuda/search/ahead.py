"""Levels launched before the host has read the counters of earlier levels, for plans with one step and no queue.

Each batch has twice as many levels as the previous one. After four levels, the launches of two levels are repeated.
"""

from itertools import pairwise

import cupy
import numpy as np

from hopwave.engines.cuda.launch import BLOCK, PreparedLaunch
from hopwave.engines.cuda.nvrtc import Kernel
from hopwave.engines.cuda.search.by_level import FOUND
from hopwave.engines.cuda.search.state import COUNTER_BYTES, MOST_AHEAD
from hopwave.engines.cuda.search.steps import LAUNCHES, Changing, Clear, compute, entered, kind_of
from hopwave.planning.rules import Always

FIRST = 4  # levels in the first batch: many graphs have few more levels


def possible(plan):
    return plan.rule == Always() and kind_of(plan.steps[0]) in LAUNCHES


def run(search, plan, trace):
    """Run all levels of a search. Without a trace, levels that were launched together share their time evenly."""
    search.begin()
    levels, batch, step = [], FIRST, plan.steps[0]
    recorded: dict[int, Recorded] = {}  # the launches of an even level and of an odd level
    limit = search.question.depth_limit
    while search.nf and (limit is None or search.depth < limit):
        count = batch if limit is None else min(batch, limit - search.depth)
        if search.sigma is not None:  # after this many levels, path counts may need scaling
            count = min(count, max(1, search.scaling.safe_levels()))
        times = _launch(search, step, count, recorded if levels else None, trace)
        for counters, seconds in zip(search.read_counters(count), times(), strict=True):
            levels.append(entered(search, step, 0, counters, seconds))
            if not counters[FOUND]:
                break
        batch = min(2 * batch, MOST_AHEAD)
    return levels


def _launch(search, step, count, recorded, trace):
    """Launch `count` levels. Returns a function that waits for them and returns the seconds of each level."""
    begun = search.depth
    events = search.work.events(count + 1 if trace else 2)
    search.all_counters.data.memset_async(0, COUNTER_BYTES * count)
    search.ahead = True
    events[0].record()
    for number in range(count):
        if recorded is None:
            search.take_row(number)
            compute(search, step)
        elif search.depth % 2 in recorded:
            recorded[search.depth % 2].again(search.depth, number)
        else:
            search.take_row(number)
            recorded[search.depth % 2] = Recorded(search, kind_of(step)(search, step))
        search.depth += 1
        if trace:
            events[number + 1].record()
    if not trace:
        events[1].record()
    search.ahead = False
    search.take_row(0)
    search.next_row = MOST_AHEAD  # these levels occupy all rows of counters
    search.depth = begun
    pairs = list(pairwise(events))
    together = count // len(pairs)  # levels between two events
    return lambda: [cupy.cuda.get_elapsed_time(*pair) * 1e-3 / together for pair in pairs for _ in range(together)]


class Recorded:
    """The launches of one level, made now and prepared for repetition in later levels."""

    def __init__(self, search, launches):
        self.counters = search.all_counters.data.ptr
        self.steps = []
        for launch in launches:
            launch.make(search)
            if isinstance(launch, Clear):
                self.steps.append(lambda values, clear=launch: clear.make(search))
            elif launch.work > 0:
                self.steps.append(_prepared(search, launch))

    def again(self, depth, number):
        """Repeat the recorded launches for the level of this depth, which uses counter row `number`."""
        row = self.counters + number * COUNTER_BYTES
        values = {Changing.LEVEL: depth, Changing.BEFORE: row - COUNTER_BYTES if number else 0, Changing.COUNTERS: row}
        for step in self.steps:
            step(values)


def _prepared(search, launch):
    """A function that repeats the launch with other markers."""
    markers = {name: value for name, value in launch.arguments.items() if isinstance(value, Changing)}
    fixed = {
        name: np.uint64(value.data.ptr) if isinstance(value, cupy.ndarray) else value
        for name, value in launch.now(search).items()
    }
    kernel = Kernel(search.launch.get(launch.header, launch.name, launch.shape), cooperative=False)
    blocks = launch.blocks or search.launch.grid(launch.work)
    prepared = PreparedLaunch(kernel, blocks, BLOCK, cooperative=False, **fixed)
    return lambda values: prepared(**{name: values[marker] for name, marker in markers.items()})
