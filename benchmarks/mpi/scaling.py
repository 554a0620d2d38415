"""What docs/scaling.md predicts from: measured levels of ranks, and counted messages of up to 8,192 simulated ranks.

    python -m benchmarks.mpi.scaling --measure cpu [--scales 16 18 20] [--ranks 1 2 4]     levels of real ranks
    python -m benchmarks.mpi.scaling --measure cuda --scales 18 20 22 24 25 --ranks 1      of one rank on a GPU
    python -m benchmarks.mpi.scaling --simulate 20 [--ranks 1 4 16 64 256 1024 4096 8192]  counts; no MPI needed

Each adds lines to scaling.jsonl; lines of the same machine and kind are replaced. Then `python -m benchmarks.pages` and
`python -m docs`.
"""

from __future__ import annotations

import json
import time
from statistics import median
from typing import Any

import numpy as np

from benchmarks.mpi.ranks import run_job
from benchmarks.mpi.simulated import Search
from benchmarks.pages import write
from benchmarks.setting import RESULTS, command_line, gpu, machine

Record = dict[str, Any]
NAME = "scaling"
ROOTS = 4
REPEATS = 5
PROBES = 50
PROBED = 1 << 20  # bytes of each rank when bandwidth is measured


def work(settings: Record) -> None:
    """Every rank of a job: the levels of searches, each the fastest of some repeats; and what an exchange costs."""
    from hopwave import distributed

    world = distributed.world()
    threads = 1 if settings["device"] == "cpu" else None
    given = {"device": settings["device"], "layout": settings["layout"], "threads": threads}
    graph = distributed.kronecker(settings["scale"], **given)
    searches = []
    for root in roots_of(graph.n):
        if distributed.bfs(graph, root, depth_limit=1).reached < 2 or len(searches) == ROOTS:
            continue
        runs = []
        for _ in range(REPEATS):
            world.barrier()
            runs.append(distributed.bfs(graph, root).trace)
        levels = [
            {"direction": one.direction, "vertices": one.vertices, "edges": one.edges, "checked": one.checked,
             "ms": 1e3 * min(run[at].seconds for run in runs),
             "waiting ms": 1e3 * min(run[at].waiting for run in runs)}
            for at, one in enumerate(runs[0])
        ]  # fmt: skip
        searches.append({"root": root, "ms": 1e3 * min(sum(one.seconds for one in run) for run in runs),
                         "sent": sum(one.sent for one in runs[0]), "levels": levels})  # fmt: skip
    row = {"n": graph.n, "m": graph.m, "searches": searches} | exchange_cost(world, graph)
    if world.rank == 0:
        print(json.dumps(row))


def roots_of(n: int) -> list[int]:
    """Vertices to begin at; those without neighbours are passed over."""
    return [int(one) for one in np.random.default_rng(1).integers(0, n, 12 * ROOTS)]


def exchange_cost(world: Any, graph: Any) -> Record:
    """Microseconds of an exchange of a few numbers among all ranks, and gigabytes per second that one rank sends."""
    if world.size == 1:
        return {}
    numbers, data = np.zeros(5, np.int64), graph.wire.buffer(PROBED)
    sizes, small, large = [PROBED] * world.size, [], []
    for _ in range(PROBES):
        world.barrier()
        began = time.perf_counter()
        graph.wire.allgather(world.comm, numbers)
        small.append(time.perf_counter() - began)
        world.barrier()
        began = time.perf_counter()
        graph.wire.allgatherv(world.comm, data, sizes)()
        large.append(time.perf_counter() - began)
    latency = median(small)
    rate = PROBED * (world.size - 1) / max(median(large) - latency, 1e-9)
    return {"exchange us": latency * 1e6, "GB/s": rate / 1e9}


def measured(device: str, scales: list[int], ranks: list[int]) -> list[Record]:
    """The lines of real ranks."""
    lines = []
    for scale in scales:
        for count in ranks:
            for layout in ("1d", "2d") if count > 2 else ("1d",):
                given = {"device": device, "layout": layout, "scale": scale}
                found = run_job(count, "benchmarks.mpi.scaling", **given)
                lines.append({"part": "measured", "ranks": count, **given, "where": machine() | gpu(device), **found})
                print(count, layout, scale, [round(one["ms"], 2) for one in found["searches"]], flush=True)
    return lines


def counted(scale: int, ranks: list[int], sources: int) -> list[Record]:
    """The lines of simulated ranks: per level, what all send and what the busiest rank sends and looks at."""
    import hopwave as hw
    from hopwave.distributed.layout import Layout, bucket_size, grid_columns
    from hopwave.planning.catalogue import CATALOGUE

    graph = hw.generate.kronecker(scale)
    size = bucket_size(graph.n)
    weights = np.add.reduceat(graph.degrees.astype(np.int64), np.arange(0, graph.n, size)) + size
    roots = [root for root in roots_of(graph.n) if graph.degrees[root]][:sources]
    lines = []
    for count in ranks:
        for layout in ("1d", "2d"):
            columns = grid_columns(layout, count)
            search = Search(graph, Layout.balanced(graph.n, count, weights, columns), CATALOGUE["hopwave"])
            began = time.perf_counter()
            searches = [{"root": root, "levels": [totals(level) for level in search.run(root)]} for root in roots]
            lines.append({"part": "counted", "scale": scale, "n": graph.n, "m": graph.m, "layout": layout,
                          "ranks": count, "grid": [count // columns, columns] if columns else None,
                          "own": int(search.lengths.max()), "searches": searches})  # fmt: skip
            print(count, layout, f"{time.perf_counter() - began:.1f} s", flush=True)
    return lines


def totals(level: Any) -> Record:
    """A level of a simulated search, without the arrays over ranks."""
    return {
        "direction": level.direction, "vertices": level.vertices, "edges": level.edges, "found": level.found,
        "checked": int(level.checked.sum()), "checked by one": int(level.checked.max()),
        "sent": int(level.sent.sum()), "sent by one": int(level.sent.max()), "headers": int(level.headers),
        "for parents by one": int(level.for_parents.max()), "packets": int(level.packets.sum()),
        "packets by one": int(level.packets.max()), "exchanges": level.exchanges, "passes": level.passes,
    }  # fmt: skip


def kind(line: Record) -> tuple[Any, ...]:
    """Lines of one kind replace each other."""
    return tuple(line.get(key) for key in ("part", "device", "layout", "scale", "ranks"))


def main() -> None:
    given = command_line(
        __doc__, measure=str, scales=[16, 18, 20], ranks=[int], simulate=int, roots=ROOTS, job=json.loads
    )
    if given.job is not None:
        work(given.job)
        return
    new = measured(given.measure, given.scales, given.ranks or [1, 2, 4]) if given.measure else []
    if given.simulate:
        new += counted(given.simulate, given.ranks or [2**k for k in range(14)], given.roots)
    file = RESULTS / f"{NAME}.jsonl"
    old = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []
    made = {kind(line) for line in new}
    write(NAME, RESULTS, [line for line in old if kind(line) not in made] + new)


if __name__ == "__main__":
    main()
