"""What docs/scaling.md predicts from: measured levels of ranks, and counted messages of up to 8,192 simulated ranks.

    python -m benchmarks.scaling --measure cpu [--scales 16 18 20] [--ranks 1 2 4]     levels of real ranks
    python -m benchmarks.scaling --measure cuda --scales 18 20 22 24 25 --ranks 1      of one rank on a GPU
    python -m benchmarks.scaling --simulate 20 [--ranks 1 4 16 64 256 1024 4096 8192]  counts; no MPI needed

Each adds lines to scaling.jsonl; lines of the same machine and kind are replaced. Then `python -m benchmarks.pages` and
`python -m docs`.

The model: a level of the busiest rank takes

    turns · a + b · arcs looked at + c · own vertices           computing; fitted to the levels of one rank, for pushes
                                                                and for pulls; turns: ranks of a row, in a 2D pull
    (exchanges + passes) · h                                    the host's work for an exchange; what two ranks take
                                                                beyond the rest
    (exchanges · log2 P + passes) · latency + packets · o + bytes / rate                    the network
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks import setting
from benchmarks.pages import Record, keep, rows
from benchmarks.ranks import run_job
from benchmarks.setting import command_line, gpu
from benchmarks.simulated import Search

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
                found = run_job(count, "benchmarks.scaling", **given)
                lines.append(
                    {"part": "measured", "ranks": count, **given, "where": setting.machine() | gpu(device), **found}
                )
                print(count, layout, scale, [round(one["ms"], 2) for one in found["searches"]], flush=True)
    return lines


def simulated(scale: int, ranks: list[int], sources: int) -> list[Record]:
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


# ---------------------------------------------------------------- the model


@dataclass(frozen=True)
class Network:
    """Microseconds of a small message, microseconds to post a packet, gigabytes per second of one rank."""

    latency: float
    packet: float
    rate: float


@dataclass(frozen=True)
class Machine:
    """Milliseconds of a level of one rank, (a, b, c) of pushes and of pulls; and h, of the host for an exchange."""

    push: tuple[float, float, float]
    pull: tuple[float, float, float]
    exchange: float = 0.0


# One 400 Gb/s port per GPU, in a network without contention.
NDR = Network(latency=4.0, packet=0.4, rate=50.0)
LED_BY_GPU = 0.02  # milliseconds of a turn, if no host stood between two kernels


def fitted(lines: Iterable[Record], device: str) -> Machine:
    """The levels of one rank as sums of three terms, none below 0, by least squares of the relative errors."""
    from scipy.optimize import nnls

    found = {}
    alone = [line for line in lines if line["part"] == "measured" and line["device"] == device and line["ranks"] == 1]
    for direction in ("push", "pull"):
        rows, times = [], []
        for line in alone:
            for level in (one for search in line["searches"] for one in search["levels"]):
                if level["direction"] == direction:
                    arcs = level["edges"] if direction == "push" else level["checked"]
                    rows.append([1.0, arcs * 1e-6, line["n"] * 1e-6])
                    times.append(level["ms"])
        matrix = np.array(rows) / np.array(times)[:, None]
        a, b, c = nnls(matrix, np.ones(len(times)))[0]
        found[direction] = (float(a), float(b) * 1e-6, float(c) * 1e-6)
    return Machine(**found)


def host_ms(lines: list[Record]) -> float:
    """Milliseconds of the host for an exchange: what two ranks on CPUs take longer than the rest says."""
    found = []
    for line in lines:
        if line["part"] == "measured" and line["device"] == "cpu" and line["ranks"] == 2:
            same = counted(lines, scale=line["scale"], layout=line["layout"], ranks=2)[0]
            ms = fmean(one["ms"] for one in line["searches"])
            steps = sum(summed(same)[key] for key in ("exchanges", "passes"))
            found.append((ms - sum(search_ms(same, fitted(lines, "cpu"), network_of(line)))) / steps)
    return fmean(found)


def network_of(line: Record) -> Network:
    """The memory of one machine as a network, as a measured line found it."""
    return Network(line.get("exchange us", 0.0) / math.log2(max(line["ranks"], 2)), 0.0, line.get("GB/s", 1.0))


def level_ms(line: Record, level: Record, machine: Machine, network: Network, factor: float) -> tuple[float, float]:
    """Milliseconds of computing and on the network, of a level counted on a graph `factor` times smaller."""
    pull = level["direction"] == "pull"
    a, b, c = machine.pull if pull else machine.push
    rows, columns = line["grid"] or (line["ranks"], 1)
    turns = columns if pull else 1
    computing = turns * a + b * level["checked by one"] * factor + c * line["own"] * factor
    if line["ranks"] == 1:
        return computing, 0.0
    packets, others = level["packets by one"], (rows - 1) + (columns - 1) * (2 if pull else 1)
    if factor > 1:  # in a larger graph no packet is empty
        packets = others if line["grid"] else line["ranks"] - 1
    computing += machine.exchange * (level["exchanges"] + level["passes"])
    steps = level["exchanges"] * math.log2(line["ranks"]) + level["passes"]
    sent = level["headers"] + (level["sent by one"] - level["headers"]) * factor
    return computing, (steps * network.latency + packets * network.packet) * 1e-3 + sent / network.rate * 1e-6


def search_ms(line: Record, machine: Machine, network: Network, factor: float = 1.0) -> tuple[float, float]:
    """Milliseconds of computing and on the network of a whole search, the mean over the sources."""
    sums = []
    for search in line["searches"]:
        levels = [level_ms(line, level, machine, network, factor) for level in search["levels"]]
        sums.append([sum(part) for part in zip(*levels, strict=True)])
    computing, exchanging = (fmean(column) for column in zip(*sums, strict=True))
    return computing, exchanging


def counted(lines: Iterable[Record], **wanted: Any) -> list[Record]:
    """The simulated lines with these values."""
    return [line for line in lines if line["part"] == "counted" and all(line[key] == wanted[key] for key in wanted)]


def led_by_gpu(machine: Machine) -> Machine:
    """A machine of the same speed whose levels are led by the GPU, without waiting for the host."""
    return Machine((LED_BY_GPU, *machine.push[1:]), (LED_BY_GPU, *machine.pull[1:]))


def predictions(lines: list[Record], per_rank: int) -> list[Record]:
    """Weak scaling: GTEPS with 2^per_rank vertices on each GPU, led by the host as now, and by the GPU.

    The network alone is a bound: what is left if computing took no time.
    """
    now = replace(fitted(lines, "cuda"), exchange=host_ms(lines))
    largest = max(line["scale"] for line in counted(lines))
    rows: dict[int, Record] = {}
    for line in counted(lines, scale=largest):
        n, layout = line["ranks"] << per_rank, line["layout"].upper()
        row = rows.setdefault(
            line["ranks"], {"GPUs": line["ranks"], "scale": per_rank + line["ranks"].bit_length() - 1}
        )
        for how, machine in (("as now", now), ("led by the GPU", led_by_gpu(now))):
            computing, network = search_ms(line, machine, NDR, n / line["n"])
            row[f"{layout}, {how}"] = 16e-6 * n / (computing + network)
        row[f"{layout}, the network alone"] = 16e-6 * n / network if network else None
    order = [f"{layout}, {how}" for how in ("as now", "led by the GPU", "the network alone") for layout in ("1D", "2D")]
    return [{key: row[key] for key in ("GPUs", "scale", *order)} for row in rows.values()]


def checked(lines: list[Record]) -> list[Record]:
    """Measured searches beside their predictions, where the same graph and ranks were counted."""
    rows = []
    for line in (one for one in lines if one["part"] == "measured"):
        same = counted(lines, scale=line["scale"], layout=line["layout"], ranks=line["ranks"])
        predicted = None
        if same and (line["ranks"] == 1 or "GB/s" in line):
            machine = replace(fitted(lines, line["device"]), exchange=host_ms(lines))
            predicted = sum(search_ms(same[0], machine, network_of(line)))
        rows.append({"device": line["device"], "ranks": line["ranks"], "layout": line["layout"], "scale": line["scale"],
                     "ms": fmean(one["ms"] for one in line["searches"]), "predicted": predicted,
                     "latency": line.get("exchange us"), "rate": line.get("GB/s")})  # fmt: skip
    return rows


def summed(line: Record) -> Record:
    """A counted line as a row: means over the sources of sums over the levels."""

    def mean(key: str) -> float:
        return fmean(sum(level[key] for level in search["levels"]) for search in line["searches"])

    grid = " × ".join(map(str, line["grid"])) if line["grid"] else "–"
    looks = fmean(
        sum(level["checked by one"] for level in search["levels"])
        / max(sum(level["checked"] for level in search["levels"]) / line["ranks"], 1)
        for search in line["searches"]
    )
    return {"ranks": line["ranks"], "layout": line["layout"], "grid": grid, "scale": line["scale"],
            "levels": fmean(len(search["levels"]) for search in line["searches"]),
            "exchanges": mean("exchanges"), "passes": mean("passes"), "sent": mean("sent") / 1e6,
            "by_one": mean("sent by one") / 1e3, "headers": mean("headers") / 1e3,
            "parents": mean("for parents by one") / 1e3, "packets": mean("packets by one"),
            "busiest": looks}  # fmt: skip


def values(lines: list[Record]) -> Record:
    """What the page of results shows."""
    largest = max((line["scale"] for line in counted(lines)), default=0)
    every = counted(lines, scale=largest)
    where = {", ".join(f"{key} {value}" for key, value in line["where"].items()): None
             for line in lines if line["part"] == "measured"}  # fmt: skip
    return {
        "where": "; ".join(where) or "simulated only", "scale": largest,
        "roots": len(every[0]["searches"]) if every else 0,
        "counts": [summed(line) for line in every], "runs": checked(lines),
    }  # fmt: skip


def main() -> None:
    given = command_line(
        __doc__, measure=str, scales=[16, 18, 20], ranks=[int], simulate=int, roots=ROOTS, job=json.loads
    )
    if given.job is not None:
        work(given.job)
        return
    new = measured(given.measure, given.scales, given.ranks or [1, 2, 4]) if given.measure else []
    if given.simulate:
        new += simulated(given.simulate, given.ranks or [2**k for k in range(14)], given.roots)
    made = {kind(line) for line in new}
    kept = [line for line in rows(NAME) if kind(line) not in made] + new
    title = "Ranks: measured levels, and counted messages of up to 8,192"
    keep([{"benchmark": NAME, "title": title, "where": setting.machine(), "rows": kept, "note": ""}])


if __name__ == "__main__":
    main()
