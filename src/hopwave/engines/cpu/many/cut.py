"""Searches on the CPU that are cut off once their source cannot be among the highest: one per worker at a time."""

import numpy as np

from hopwave.engines.cpu import policy
from hopwave.engines.cpu.compile_notice import compiling
from hopwave.engines.cpu.crew import thread_count
from hopwave.engines.cpu.many import cut_kernels as kernels
from hopwave.engines.cpu.workers import new_control, run_workers
from hopwave.engines.host_memory import workers_that_fit
from hopwave.planning.many_sources import CutSwept

SCORES = {
    "closeness": kernels.CLOSENESS,
    "wasserman_faust": kernels.WASSERMAN_FAUST,
    "harmonic": kernels.HARMONIC,
}
BYTES_PER_VERTEX = 8  # of one worker's arrays


def cut_sweep(loaded, job, poll, threads=None):
    """The searches of a job (jobs.CutSweep)."""
    n, k = loaded.n, len(job.sources)
    alone = k * (n + loaded.m) <= policy.SMALL_JOB
    workers = 1 if alone else workers_that_fit(max(1, min(thread_count(threads), k)), 0, BYTES_PER_VERTEX * n)
    shared = kernels.SharedState(
        sources=job.sources,
        low=job.low,
        high=job.high,
        sums=np.zeros((k, 4), np.int64),
        inverse=np.zeros(k),
        control=new_control(),
        score=np.int64(SCORES[job.score]),
        least=np.float64(job.least),
        back=np.int64(not loaded.graph.directed),
    )
    states = [kernels.WorkerState(np.full(n, -1, np.int32), np.empty(n, np.uint32)) for _ in range(workers)]
    with compiling(kernels.take_searches):
        run_workers(kernels.take_searches, loaded.rows, states, shared, poll, alone)
    sums = shared.sums
    return CutSwept(
        reached=sums[:, kernels.REACHED],
        total=sums[:, kernels.TOTAL],
        inverse=shared.inverse,
        whole=sums[:, kernels.WHOLE] != 0,
        arcs=int(sums[:, kernels.ARCS].sum()),
    )


def reach_bounds(loaded):
    """How many vertices each vertex reaches, at least and at most; the same number where the graph is undirected."""
    from hopwave.engines.cpu.components import close_components
    from hopwave.engines.cpu.many.run import component_labels

    if not loaded.graph.directed:
        label = component_labels(loaded.graph, strong=False)
        size = np.bincount(label)[label].astype(np.int64)
        return size, size
    indptr, indices = loaded.rows
    label = np.empty(loaded.n, np.int32)
    with compiling(kernels.reach_along):
        count = close_components(indptr, indices, label)
        low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)
        giant = np.int64(np.argmax(np.bincount(label))) if loaded.n else np.int64(0)
        kernels.reach_along(indptr, indices, label, np.argsort(label, kind="stable"), giant, low, high)
    return low[label], high[label]
