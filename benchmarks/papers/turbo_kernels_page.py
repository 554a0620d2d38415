"""The page of TurboBFS's and TurboBC's kernels, made from gpu-turbo-kernels.jsonl. It needs no GPU."""

from __future__ import annotations

import csv
from typing import Any

from benchmarks.papers.turbobc_page import PAPER
from benchmarks.setting import table

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
KINDS = {"unsigned": "whole numbers", "double": "float64"}


def launches(text: str) -> list[Record]:
    """What ncu says of every launch, in order: its --csv output, one line per launch and metric.

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
    """The runs, each with the sums of its kernels. A launch of BEGINS comes before the kernels of every run."""
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


def page(lines: list[Record]) -> str:
    """gpu-turbo-kernels.md."""
    lines = sorted(lines, key=lambda one: str(one["graph"]))  # runs of a graph keep their order
    where = ", ".join(f"{key} {value}" for key, value in lines[-1]["where"].items())
    text = ["# The kernels of TurboBFS and TurboBC", where, ABOUT]
    text += ["## What the products take", table(map(share_row, lines)), shares(lines)]
    text += ["## Whole numbers beside float64 (TurboBC 3.4)", table(type_rows(lines)), types(lines)]
    loads = load_rows(lines)
    text += ["## Load throughput (TurboBC, Figures 5b and 5c)", table(loads), LOADS, throughput(lines)]
    return "\n\n".join(filter(None, text)) + "\n"


def spent(one: Record, role: str = "") -> float:
    """Microseconds in the kernels of one run, or in those with that role."""
    return sum(sums["ns"] for name, sums in one["kernels"].items() if not role or ROLES.get(name) == role) / 1e3


def products(one: Record) -> float:
    return spent(one, FORWARD) + spent(one, BACKWARD)


def share_row(one: Record) -> Record:
    return {
        "graph": one["graph"], "algorithm": one["algorithm"], "path counts": KINDS.get(one["counts"]),
        "launches": sum(sums["launches"] for sums in one["kernels"].values()), "all kernels µs": spent(one),
        "forward product": f"{spent(one, FORWARD) / spent(one):.1%}",
        "backward product": f"{spent(one, BACKWARD) / spent(one):.1%}" if spent(one, BACKWARD) else None,
        "products": f"{products(one) / spent(one):.1%}",
    }  # fmt: skip


def shares(lines: list[Record]) -> str:
    """The paragraph about the papers' 90%."""
    said = []
    for paper in ("TurboBFS", "TurboBC"):
        some = [products(one) / spent(one) for one in lines if one["algorithm"].startswith(paper)]
        said.append(f"{min(some):.0%} to {max(some):.0%} in {paper}'s")
    return f"{SHARES} Here: {', '.join(said)}."


def pairs(lines: list[Record]) -> list[tuple[Record, Record]]:
    """Runs of TurboBC that differ in the type of path counts alone: whole numbers, float64."""
    found = {(one["graph"], one["algorithm"], one["counts"]): one for one in lines}
    return [(one, found[graph, algorithm, "double"]) for (graph, algorithm, counts), one in found.items()
            if counts == "unsigned" and (graph, algorithm, "double") in found]  # fmt: skip


def type_rows(lines: list[Record]) -> list[Record]:
    return [
        {"graph": one["graph"], "algorithm": one["algorithm"], "whole numbers µs": spent(one, FORWARD),
         "float64 µs": spent(other, FORWARD), "float64 / whole": spent(other, FORWARD) / spent(one, FORWARD)}
        for one, other in pairs(lines)
    ]  # fmt: skip


def types(lines: list[Record]) -> str:
    """The paragraph about the paper's 2.7 times."""
    gains = [row["float64 / whole"] for row in type_rows(lines)]
    return f"{TYPES} Here: {min(gains):.2f} to {max(gains):.2f} times."


def load_rows(lines: list[Record]) -> list[Record]:
    rows = []
    for one in lines:
        if one["algorithm"] != "TurboBC veCSC" or one["counts"] != "unsigned" or "mycielskian" not in one["graph"]:
            continue
        row: Record = {"graph": one["graph"]}
        for role in (FORWARD, BACKWARD):
            (sums,) = (sums for name, sums in one["kernels"].items() if ROLES.get(name) == role)
            row[f"{role}, GB/s loaded"] = round(sums["loaded bytes"] / sums["ns"])
            row[f"{role}, GB/s from memory"] = round(sums["bytes from memory"] / sums["ns"])
        paper = PAPER.get(one["graph"])
        row["MTEPS in kernels"] = round(one["m"] / spent(one))
        rows.append(row | {"paper's MTEPS": paper and paper.mteps})
    return rows


def throughput(lines: list[Record]) -> str:
    """The sentence about the paper's 60%."""
    rows = load_rows(lines)
    if not rows:
        return ""
    forward, backward = (max(row[f"{role}, GB/s loaded"] for row in rows) / BANDWIDTH for role in (FORWARD, BACKWARD))
    return (
        f"Here: up to {forward:.1f} (forward) and {backward:.1f} times (back) the memory's bandwidth; there 1.6 times."
    )


ABOUT = """\
One source per run, the vertex of highest degree; the time of every kernel by Nsight Compute, one after the other and
with empty caches (its default), so that gaps between launches do not count. Answers were checked before: TurboBFS's by
CuPy's own operations, TurboBC's scores beside `plan='auto'`. Made by `benchmarks/papers/turbo_kernels.py`."""
SHARES = """\
Both papers say that the products take up to 90% of the time (TurboBFS III-B, TurboBC 3.3). In TurboBFS's scCSC, veCSC
and bottom-up searches the product is the only kernel of a level, since it writes levels and path counts itself; what is
left is to begin a search."""
TYPES = """\
The forward product alone. The paper's products of integers were up to 2.7 times faster than those of floats, and both
have 4 bytes there; here a path count that does not fit into 4 bytes is a float64."""
LOADS = """\
The paper's veCSC kernels load 60% more bytes per second than the 575 GB/s of its Titan Xp's memory, since caches serve
a part of them; the values of single graphs are in a picture that is not in the text. The H200's memory has 4,800 GB/s
by its data sheet. *Loaded* are the bytes that threads ask for, *from memory* what the caches did not have. *MTEPS in
kernels* are arcs over the time in all kernels of a source, forward and back. gunrock was not run."""
