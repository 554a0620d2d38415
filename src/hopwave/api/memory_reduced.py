"""What reduced runs hold, for hw.estimate_memory: the reduction is made, in linear time, and its arrays are counted.

A run over the core has a Ledger of its own. Blocks are an ordinary job on a smaller graph, beside what puts them back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hopwave.algorithms.reduction import ReducedJob, distance_sums, reduced, why_whole
from hopwave.algorithms.reduction.distance_sums import What
from hopwave.api.blocks import biconnected_components
from hopwave.engines import engine
from hopwave.engines.ledger import Ledger, total
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, Integers
from hopwave.planning.many_sources import Sweep


def reduced_betweenness(graph: Graph, job: BetweennessJob, device: str, threads: int | None) -> ReducedJob | None:
    """The job in parts, if a call would reduce it. The CPU's code finds chains for a GPU too."""
    if why_whole(graph, job, device) is not None:
        return None
    blocks = biconnected_components(graph, "cpu", threads=threads)
    return reduced(graph, job, blocks, threads, device, walked_by="cpu")


def of_core(parts: ReducedJob, device: str, threads: int | None, machine: Any, free: int | None) -> Ledger:
    """A run over the core: what its threads hold, or the GPU."""
    from hopwave.engines.cpu.crew import thread_count

    core, run = parts.core, Ledger()
    if device == "cpu":
        core.prepare()
        workers = max(1, min(thread_count(threads), core.blocks))
        run.take("rows and searches of each thread", workers * total(core.state_arrays()))
        run.take("sums", core.total.nbytes * (1 + max(2, min(2 * workers, core.blocks))))
        run.take("the core and its chains", held(core._C) + held(core._found))
        return run
    from hopwave.engines.cuda.betweenness import core_arrays
    from hopwave.engines.cuda.betweenness.regimes import Machine

    machine = machine or Machine()
    free = machine.memory if free is None else free
    core.prepare(core_arrays.batch_size(core.K, core_arrays.MOST_ROWS, machine.memory, free))
    run.take("rows of a batch", total(core_arrays.row_arrays(core.K, core.rows, core.size, machine.multiprocessors)))
    run.take("sums", 2 * core.total.nbytes)  # whole numbers, two per sum
    run.take("the core and its chains", held(core._C))
    return run


def of_distances(graph: Graph, ids: Integers, what: What, weighted: bool, threads: int | None) -> dict[str, int]:
    """What closeness (what="total") or harmonic centrality ("inverse") hold on a CPU beside their searches."""
    job, cpu = Sweep(ids, "sums", weighted=weighted), engine("cpu")
    found = distance_sums.core_sums(cpu, graph, job, what, threads) if distance_sums.may_pay(cpu, graph, job) else None
    if found is None:
        return {}
    rows = int(found.widest * found.graph.n * (8 if weighted else 4))
    return {"rows of distances": rows, "the core, its chains and the trees": found.nbytes}


def held(arrays: Any) -> int:
    """Bytes of all arrays of a record."""
    return sum(one.nbytes for one in arrays if isinstance(one, np.ndarray))
