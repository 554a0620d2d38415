"""Levels launched before the host has read those before them, where no choice depends on what these found.

A plan with one step and no queue (TurboBFS's, all but tdbu) computes every level with the same kernels over the same
arrays; two bitmaps change places. So the host launches some levels, reads the counters of all of them at once, and
launches twice as many. A level that comes after the last one ends at once: its kernels look at the counters of the
level before. From the fifth level on launches are not made anew: those of two levels are recorded and made again, with
another depth and other counters. On a road network the host took longer for each of a thousand levels than the GPU.
"""

from __future__ import annotations

from itertools import pairwise

import cupy
import numpy as np

from hopwave.engines.cuda.counters import FOUND
from hopwave.engines.cuda.launch import BLOCK
from hopwave.engines.cuda.nvrtc import Kernel
from hopwave.engines.cuda.prepared_launch import PreparedLaunch
from hopwave.engines.cuda.search.state import COUNTER_BYTES, MOST_AHEAD
from hopwave.engines.cuda.search.steps import entered, kind_of, pull_rows, push_edges
from hopwave.planning.rules import Always

FIRST = 4  # levels that are launched at once to begin with: many graphs have hardly more


def possible(plan):
    """Whether the levels of the plan need nothing that the host learns from those before."""
    return plan.rule == Always() and kind_of(plan.steps[0]) in (pull_rows, push_edges)


def run(search, plan, trace):
    """All levels of a search. Without a trace the levels that were launched together share their time evenly."""
    search.begin()
    levels, batch, step = [], FIRST, plan.steps[0]
    recorded: dict[int, Recorded] = {}  # the launches of an even level and of an odd one
    limit = search.question.depth_limit
    while search.nf and (limit is None or search.depth < limit):
        count = batch if limit is None else min(batch, limit - search.depth)
        if search.sigma is not None:  # path counts may have to be scaled down after so many
            count = min(count, max(1, search.scaling.safe_levels()))
        times = _launch(search, step, count, recorded if levels else None, trace)
        for counters, seconds in zip(search.read_counters(count), times(), strict=True):
            levels.append(entered(search, step, 0, counters, seconds))
            if not counters[FOUND]:
                break
        batch = min(2 * batch, MOST_AHEAD)
    return levels


def _launch(search, step, count, recorded, trace):
    """Launch that many levels; returns a function that gives the seconds of each once they are over."""
    compute, begun = kind_of(step), search.depth
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
            recorded[search.depth % 2] = Recorded(search, lambda: compute(search, step))
        search.depth += 1
        if trace:
            events[number + 1].record()
    if not trace:
        events[1].record()
    search.ahead = False
    search.take_row(0)
    search.next_row = MOST_AHEAD  # these levels count in the rows
    search.depth = begun
    pairs = list(pairwise(events))
    together = count // len(pairs)  # levels between two events
    return lambda: [cupy.cuda.get_elapsed_time(*pair) * 1e-3 / together for pair in pairs for _ in range(together)]


class Recorded:
    """The launches of one level, made while they are recorded, to be made again for later levels."""

    def __init__(self, search, compute):
        self.search, self.kernels, self.steps = search, search.launch, []
        self.counters = search.all_counters.data.ptr
        search.launch, search.zero = self._launch, self._zero
        try:
            compute()
        finally:
            search.launch = self.kernels
            del search.zero  # which was the instance's own; the class has the plain one

    def _launch(self, header, name, work, *arguments, shape="", blocks=None):
        self.kernels(header, name, work, *arguments, shape=shape, blocks=blocks)
        if work <= 0:
            return
        search = self.search
        changing = {id(search.level): "level", id(search.before): "before", id(search.counters): "counters"}
        named = {changing.get(id(one), f"fixed{i}"): _scalar(one) for i, one in enumerate(arguments)}
        kernel = Kernel(self.kernels.get(header, name, shape), cooperative=False)
        launch = PreparedLaunch(kernel, blocks or self.kernels.grid(work), BLOCK, cooperative=False, **named)
        names = [name for name in changing.values() if name in named]
        self.steps.append(lambda values: launch(**{name: values[name] for name in names}))

    def _zero(self, array, size):
        array.data.memset_async(0, size)
        self.steps.append(lambda values: array.data.memset_async(0, size))

    def again(self, depth, number):
        """The same for the level of that depth, whose counters have that number among those launched together."""
        row = self.counters + number * COUNTER_BYTES
        values = {"level": depth, "before": row - COUNTER_BYTES if number else 0, "counters": row}
        for step in self.steps:
            step(values)


def _scalar(argument):
    """An argument as bytes of a NumPy scalar: the address of an array."""
    return np.uint64(argument.data.ptr) if isinstance(argument, cupy.ndarray) else argument
