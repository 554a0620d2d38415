"""The values for those pages of benchmarks/gpu that have a template."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.before import BEST_SEARCH
from benchmarks.setting import remarks, table

Record = dict[str, Any]
ACROSS = 5  # graphs in one table of gpu-search.md
DEEP = 100  # levels from which gpu-hopwave.md has times per level
SOURCES = 64  # per sampled run of betweenness
ALL = 40_000  # most vertices for which all sources are compared
PARTS = ("single", "sampled", "exact", "agree")  # sections of gpu-betweenness.md


def search(lines: list[Record]) -> Record:
    """Values for every plan on every graph."""
    graphs, plans = (list(dict.fromkeys(line[key] for line in lines)) for key in ("graph", "plan"))
    cells = {(line["graph"], line["plan"]): line for line in lines}
    tables = [
        table({"plan": plan} | {graph: shown(cells.get((graph, plan), {})) for graph in graphs[begin : begin + ACROSS]}
              for plan in plans)
        for begin in range(0, len(graphs), ACROSS)
    ]  # fmt: skip
    sizes = []
    for graph in graphs:
        if some := [cells[graph, plan] for plan in plans if "bytes" in cells.get((graph, plan), {})]:
            each = ", ".join(f"{one['plan']} {one['bytes'] / (one['n'] + one['m']):.1f}" for one in some)
            sizes.append(some[0] | {"each": each})
    return {"remarks": remarks(lines), "tables": tables, "sizes": sizes}


def shown(line: Record) -> str:
    """The text for one plan on one graph."""
    if line.get("verified"):
        return f"{line['ms']:.3f} / {line['ms_in_levels']:.3f} ({line['gteps']:.2f})"
    return line.get("error", "wrong" if line else "")


def betweenness(lines: list[Record]) -> Record:
    """The rows of each part."""
    parts = {part: [line for line in lines if line["part"] == part] for part in PARTS}
    return parts | {"sources": SOURCES, "vertices": ALL}


def hopwave(lines: list[Record]) -> Record:
    """The times of hopwave's own search, and times per level if there are many levels."""
    rows, deep = [], []
    for line in lines:
        before, code = BEST_SEARCH[line["graph"]]
        met = "yes" if line["ms"] <= line["target"] else "no"
        rows.append(line | {"met": met, "before": before, "code": code})
        if line["levels"] > DEEP:
            each = [1e3 * ms / levels for ms, levels in zip(line["all"], line["all levels"], strict=True)]
            deep.append(line | {"median": median(each), "slowest": max(each)})
    return {"rows": rows, "deep": deep}


def scale(lines: list[Record]) -> Record:
    """A row for each scale and kind of rows, and one for each graph of a file."""
    order = {"plain": 0, "compressed": 1, "across the bus": 2}  # the CPU engine is last
    found = [line for line in lines if "scale" in line]
    found.sort(key=lambda line: (line["scale"], order.get(line["row format"], len(order))))
    graphs = sorted((line for line in lines if "graph" in line), key=lambda line: line["arcs"])
    return {"rows": found, "graphs": graphs, "asked": [line for line in graphs if "PageRank ms" in line]}
