"""The numbers that decide how work is dealt to an executor. They change the time of a run, never its result."""

from __future__ import annotations

import os

from hopwave.planning.many_sources import Sweep

TASKS_PER_WORKER = 2  # under way at a time: one is computed, the other waits, so that no worker is idle
FIRST_TASKS = 2 * (os.cpu_count() or 1)  # under way before any worker has replied
AHEAD = 4  # results that may wait for an earlier block, per task under way: each is one array of n numbers
TRIES = 3  # for a block whose worker died
POLL_SECONDS = 0.05  # how often a long run looks at Ctrl-C, progress and checkpoints
GRAPHS_KEPT = 2  # graphs that a worker process keeps, for the next blocks and the next call

BLOCKS = 256  # searches are divided into about this many blocks before blocks grow, so that workers end together
LANES = 64  # searches that share their steps; fewer are not worth a message
ROW_BYTES = 1 << 26  # at most, of distances in one reply
PAIRS = 1 << 12  # pairs of vertices per task, at least
ON_GPU = 16  # times as many searches or pairs per task as on a CPU: a GPU runs thousands at once


def tasks_under_way(workers: int) -> int:
    """How many tasks to have under way after `workers` workers have replied.

    An executor does not tell how many workers it has. Two tasks per known worker reach up to twice as many workers, so
    the number of known workers doubles until all are known.

    >>> tasks_under_way(0) == FIRST_TASKS, tasks_under_way(1000)
    (True, 2000)
    """
    return max(FIRST_TASKS, TASKS_PER_WORKER * workers)


def sources_per_block(job: Sweep, n: int, device: str = "cpu") -> int:
    """Searches per task. Columns along weights keep the job's own blocks, because these decide the rounding.

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
        columns = n if job.targets is None or not job.weighted else len(job.targets)
        size = min(size, max(1, ROW_BYTES // ((8 if job.weighted else 4) * max(1, columns))))
    return size


def pairs_per_block(pairs: int, device: str = "cpu") -> int:
    """Random pairs per task.

    >>> pairs_per_block(100), pairs_per_block(1 << 22)
    (4096, 16384)
    """
    return max(PAIRS, pairs // BLOCKS) * (ON_GPU if device == "cuda" else 1)
