"""The Graph500 benchmark: a Kronecker graph, validated searches from random roots, and their statistics.

A run generates the edges, builds the graph (timed), draws roots, searches from each root (timed) and validates it.

>>> from hopwave import graph500
>>> outcome = graph500.run(scale=8, roots=4)
>>> outcome.valid, outcome.values()["SCALE"]
(True, 8)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from hopwave import engines
from hopwave.api import choice
from hopwave.errors import GraphError, PlanError
from hopwave.generate import counter
from hopwave.generate.parameters import check_seed, check_whole
from hopwave.graph500.outcome import Kernel, Outcome, Searched
from hopwave.planning.catalogue import plan as named_plan
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan

__all__ = ["Outcome", "Searched", "run"]
ROOTS = 64


def run(
    scale: int, edge_factor: int = 16, device: str = "auto", roots: int = ROOTS, seed: int = 1, *, layout: str = "1d",
    threads: int | None = None, ranks: bool = False, sssp: bool = False, plan: str | Plan = "auto",
    progress: Callable[[int, Searched], None] | None = None,
) -> Outcome:  # fmt: skip
    """Run the Graph500 benchmark: times, TEPS, and whether every search is valid.

    Parameters
    ----------
    scale : int
        The graph has 2^scale vertices.
    edge_factor : int, optional
        Edges per vertex.
    device : {"auto", "cpu", "cuda"}, optional
        Device. "auto" uses a GPU if one is available.
    roots : int, optional
        Number of timed searches.
    seed : int, optional
        The same seed gives the same graph and the same roots.
    layout : {"1d", "2d"}, optional
        How vertices are split over ranks.
    threads : int, optional
        Threads of the CPU engine.
    ranks : bool, optional
        Whether to run over all ranks of this MPI job. All ranks must call this function and get the same outcome.
    sssp : bool, optional
        Also run the third kernel, shortest paths.
    plan : str or Plan, optional
        How to search: "auto", or a plan of `hopwave.plans()`. A GPU without ranks runs only "auto"; with another plan,
        device="auto" uses the CPU.
    progress : callable, optional
        Called with (number of searches done, the last search) after every search of either kernel.

    Examples
    --------
    >>> run(scale=7, roots=2, device="cpu", plan="hiragushi-hybrid").valid
    True
    """

    def check() -> int:
        check_whole("scale", scale, 1, 40)
        check_whole("edge_factor", edge_factor, 1, 1 << 20)
        check_whole("roots", roots, 1, 1 << scale)
        if layout != "1d" and not ranks:
            raise GraphError(f"layout={layout!r} needs several ranks; start the program with mpiexec, or omit layout=")
        if device == "cuda" and threads is not None:
            raise GraphError(f"threads={threads!r} cannot be combined with device='cuda'; omit one of them")
        if plan != "auto":
            named_plan(plan)
        return check_seed(seed)

    if ranks:
        from hopwave.distributed import world

        seed = world().together(check)
    else:
        seed = check()
    on_gpu = ranks or plan == "auto" or str(plan) == "hopwave-dense"
    if device == "auto":
        device = "cuda" if on_gpu and threads is None and choice.has_gpu() else "cpu"
    machine: Any  # stores and searches the graph: all ranks of a job, a GPU, or this process
    if ranks:
        from hopwave.graph500.on_host import OverRanks

        machine = OverRanks(scale, edge_factor, device, seed, layout, threads, plan)
    elif device == "cuda":
        if not on_gpu:
            raise PlanError(
                f"plan {str(plan)!r} cannot run Graph500 on a GPU, whose layout allows only searches in one launch; "
                "use device='cpu', plan='auto', or ranks (mpiexec -n 1 hopwave graph500 ...)"
            )
        engines.engine("cuda")  # raises an EngineError that names a missing library
        from hopwave.graph500.on_cuda import OnCuda

        machine = OnCuda(scale, edge_factor, seed)
    elif device != "cpu":
        raise GraphError(f"device={device!r} is not known; use 'auto', 'cpu' or 'cuda'")
    else:
        from hopwave.graph500.on_host import OnCpu

        chosen = named_plan("hopwave" if plan == "auto" else plan)
        if reason := chosen.why_not(SearchJob()):
            raise PlanError(reason)
        machine = OnCpu(scale, edge_factor, seed, threads, chosen)
    drawn = draw_roots(machine, 1 << scale, roots, seed)
    searches: list[Searched] = []
    paths: list[Searched] = []

    def each(kernel: Kernel, found: list[Searched]) -> None:
        for root in drawn[:1]:
            kernel.search(root)  # warm-up for compilation, not timed
        for root in drawn:
            found.append(kernel.search(root))
            if progress is not None:
                progress(len(searches) + len(paths), found[-1])

    each(machine, searches)
    if sssp:
        each(machine.shortest(seed), paths)
    return Outcome(
        scale, edge_factor, machine.construction_seconds, searches, machine.generation_seconds, machine.about, paths
    )


def draw_roots(machine: Any, n: int, count: int, seed: int) -> list[int]:
    """Different random vertices, each with an edge to another vertex; fewer than `count` if the graph has fewer."""
    seen: dict[int, None] = {}
    block = 4 * count
    for first in range(0, 16 * n + block, block):
        drawn = np.array(list(dict.fromkeys(counter.integers(seed, "graph500 roots", first, block, n).tolist())))
        for vertex in drawn[machine.can_start(drawn)].tolist():
            if vertex not in seen and len(seen) < count:
                seen[vertex] = None
        if len(seen) == count:
            break
    return list(seen)
