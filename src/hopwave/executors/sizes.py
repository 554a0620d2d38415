"""Every number by which work is dealt to an executor. They change how long a result takes, never a bit of it."""

from __future__ import annotations

import os

from hopwave.planning.jobs import Sweep

TASKS_PER_WORKER = 2  # under way at a time: one is computed, one waits, so that no worker waits for the next
FIRST_TASKS = 2 * (os.cpu_count() or 1)  # under way before any worker has replied
AHEAD = 4  # results per task under way that may wait for an earlier block: each is one array of n numbers
TRIES = 3  # for a block whose worker died
POLL_SECONDS = 0.05  # how often a long run looks at Ctrl-C, progress and checkpoints
GRAPHS_KEPT = 2  # by a worker process, for the next blocks and the next call

BLOCKS = 256  # into which searches are divided before blocks grow, so that workers end together
LANES = 64  # searches that share their steps; fewer are not worth a message
ROW_BYTES = 1 << 26  # of distances in one reply
PAIRS = 1 << 12  # of vertices, at least, between which one task draws paths
ON_GPU = 16  # times as many searches or pairs per task: a GPU runs thousands at once


def tasks_under_way(workers: int) -> int:
    """How many tasks to have under way after that many workers have replied.

    An executor does not say how many workers it has. Two tasks per known worker reach twice as many, so that the
    number doubles until all are known.

    >>> tasks_under_way(0) == FIRST_TASKS, tasks_under_way(1000)
    (True, 2000)
    """
    return max(FIRST_TASKS, TASKS_PER_WORKER * workers)


def sources_per_block(job: Sweep, n: int, device: str = "cpu") -> int:
    """Searches per task. Columns along weights have blocks of their own, which decide how they are rounded.

    >>> import numpy as np
    >>> many = Sweep(np.arange(100_000), "sums")
    >>> sources_per_block(many, 100_000), sources_per_block(Sweep(np.arange(99), "rows"), 1 << 22)
    (384, 4)
    >>> sources_per_block(many, 100_000, "cuda")
    6144
    """
    if job.weighted and job.keep == "columns":
        return job.block or len(job.sources)
    size = max(1, len(job.sources) // (BLOCKS * LANES)) * LANES * (ON_GPU if device == "cuda" else 1)
    if job.keep == "rows":
        size = min(size, max(1, ROW_BYTES // ((8 if job.weighted else 4) * max(1, n))))
    return size


def pairs_per_block(pairs: int, device: str = "cpu") -> int:
    """Random pairs per task.

    >>> pairs_per_block(100), pairs_per_block(1 << 22)
    (4096, 16384)
    """
    return max(PAIRS, pairs // BLOCKS) * (ON_GPU if device == "cuda" else 1)
