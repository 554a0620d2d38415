"""Nsight Compute's counts of TurboBFS's and TurboBC's kernels, and the values of gpu-turbo-kernels.md."""

from __future__ import annotations

import csv
from typing import Any

from hopwave.papers.turbobc import TABLE_3

Record = dict[str, Any]
BEGINS = "run_begins"  # the kernel that is launched before each run
METRICS = {  # ncu's names → ours; all are sums over one launch
    "gpu__time_duration.sum": "ns",
    "l1tex__t_bytes_pipe_lsu_mem_global_op_ld.sum": "loaded bytes",
    "dram__bytes_read.sum": "bytes from memory",
}
FORWARD, BACKWARD = "forward product", "backward product"
ROLES = {  # which kernels are products; all others only prepare or mask
    **dict.fromkeys(("scatter", "pull", "forward_arcs", "forward_columns", "forward_warps"), FORWARD),
    **dict.fromkeys(("backward_arcs", "backward_columns", "backward_warps"), BACKWARD),
}
BANDWIDTH = 4800  # GB/s of the H200's memory, by its data sheet
MTEPS = {"".join(map(str, case.made[:2])): case.stated["MTEPS"] for case in TABLE_3 if case.made}  # the paper's
KINDS = {"unsigned": "whole numbers", "double": "float64"}


def launches(text: str) -> list[Record]:
    """ncu's metrics of every launch, in order: from its --csv output, one line per launch and metric.

    >>> head = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
    >>> line = '"0","void hopwave::steps::mask<int>(int)","gpu__time_duration.sum","ns","1,250"'
    >>> launches(f"==PROF== Connected to process 1\\n{head}\\n{line}")
    [{'kernel': 'mask', 'ns': 1250.0}]
    """
    found: dict[str, Record] = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        one = found.setdefault(row["ID"], {"kernel": plain_name(row["Kernel Name"])})
        if row["Metric Name"] in METRICS:
            one[METRICS[row["Metric Name"]]] = float(row["Metric Value"].replace(",", ""))
    return list(found.values())


def plain_name(name: str) -> str:
    """A kernel's name without its type, namespace, template arguments and parameters.

    >>> plain_name("void hopwave::steps::pull<int, (hopwave::steps::Mapping)1>(const int *)"), plain_name("pull")
    ('pull', 'pull')
    """
    return name.partition("(")[0].partition("<")[0].rpartition("::")[2].split()[-1]


def by_run(found: list[Record], runs: list[Record]) -> list[Record]:
    """The runs, each with the sums of its kernels. A launch of BEGINS precedes the kernels of every run."""
    parts: list[dict[str, Record]] = []
    for one in found:
        if one["kernel"] == BEGINS:
            parts.append({})
            continue
        sums = parts[-1].setdefault(one["kernel"], {"launches": 0} | dict.fromkeys(METRICS.values(), 0.0))
        sums["launches"] += 1
        for key in METRICS.values():
            sums[key] += one[key]
    if len(parts) != len(runs):
        raise ValueError(f"ncu saw {len(parts)} runs and there were {len(runs)}")
    return [run | {"kernels": part} for run, part in zip(runs, parts, strict=True)]


def values(lines: list[Record]) -> Record:
    """The rows of each table, and the numbers of the notes."""
    lines = sorted(lines, key=lambda one: str(one["graph"]))  # a graph's runs keep their order
    runs, loads = [one | computed(one) for one in lines], load_rows(lines)
    products = {paper: [one["products"] for one in runs if one["algorithm"].startswith(f"{paper} ")]
                for paper in ("TurboBFS", "TurboBC")}  # fmt: skip
    pairs = type_rows(lines)
    gains = [row["gain"] for row in pairs]
    return {
        "runs": runs, "bfs": extremes(products["TurboBFS"]), "bc": extremes(products["TurboBC"]),
        "pairs": pairs, "gain": extremes(gains), "loads": loads,
        "most": {role: max((row[role][0] for row in loads), default=0) / BANDWIDTH for role in (FORWARD, BACKWARD)},
    }  # fmt: skip


def extremes(some: list[float]) -> list[float | None]:
    """The least and the greatest; two None if there are none."""
    return [min(some, default=None), max(some, default=None)]


def spent(one: Record, role: str = "") -> float:
    """Microseconds in the kernels of one run, or only in those with this role."""
    return sum(sums["ns"] for name, sums in one["kernels"].items() if not role or ROLES.get(name) == role) / 1e3


def computed(one: Record) -> Record:
    """The time of one run in its kernels, and its products' shares."""
    whole, forward, backward = spent(one), spent(one, FORWARD), spent(one, BACKWARD)
    return {
        "kind": KINDS.get(one["counts"]), "launches": sum(sums["launches"] for sums in one["kernels"].values()),
        "µs": whole, "forward": forward / whole, "backward": backward / whole if backward else None,
        "products": (forward + backward) / whole,
    }  # fmt: skip


def type_rows(lines: list[Record]) -> list[Record]:
    """Forward products of runs that differ only in the type of path counts: whole numbers and float64."""
    found = {(one["graph"], one["algorithm"], one["counts"]): spent(one, FORWARD) for one in lines}
    return [{"graph": graph, "algorithm": algorithm, "whole": whole, "float64": other, "gain": other / whole}
            for (graph, algorithm, counts), whole in found.items()
            if counts == "unsigned" and (other := found.get((graph, algorithm, "double")))]  # fmt: skip


def load_rows(lines: list[Record]) -> list[Record]:
    """For each veCSC product on the mycielskian graphs: GB/s that threads load, and GB/s from memory."""
    rows = []
    for one in lines:
        if one["algorithm"] != "TurboBC veCSC" or one["counts"] != "unsigned" or "mycielskian" not in one["graph"]:
            continue
        row: Record = {"graph": one["graph"], "mteps": round(one["m"] / spent(one)), "paper": MTEPS.get(one["graph"])}
        for role in (FORWARD, BACKWARD):
            (sums,) = (sums for name, sums in one["kernels"].items() if ROLES.get(name) == role)
            row[role] = [round(sums[key] / sums["ns"]) for key in ("loaded bytes", "bytes from memory")]
        rows.append(row)
    return rows
