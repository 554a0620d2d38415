"""Draws docs/speed.svg and docs/betweenness.svg from benchmarks/results, like the charts of benchmarks/report."""

from __future__ import annotations

from typing import Any

from benchmarks.before import BEST_SEARCH
from benchmarks.pages import RESULTS
from benchmarks.report import facts
from benchmarks.report.charts import Chart, Point, Row, newest_runs
from benchmarks.report.drawing import picture

ON_CPU = {
    "kron20": "kron 20, 31 M arcs",
    "uniform20": "uniform 2²⁰, 34 M arcs",
    "smallworld": "small world, 1 M arcs",
    "delaunay18": "Delaunay 2¹⁸, 1.6 M arcs",
    "grid1000": "grid 1000², 3.9 M arcs",
}
ON_GPU = {
    "kron21": "kron 21, 167 M arcs",
    "rmat22": "rmat 22, 484 M arcs",
    "uniform20": "uniform 2²⁰, 34 M arcs",
    "luxembourg_osm": "luxembourg_osm, 1,004 levels",
    "grid1000": "grid 1000², 1,445 levels",
}
PEERS = {"scipy ms": "SciPy", "python-graphblas ms": "python-graphblas", "igraph ms": "igraph"}
BEFORE = "best GPU code"


def last_run(name: str) -> list[dict[str, Any]]:
    """The rows of the newest run in a file of results: one line with all rows, or one line per row."""
    return newest_runs(RESULTS / f"{name}.jsonl")[-1].rows


def row(label: str, ours: float, others: dict[str, float | None]) -> Row:
    """One graph: hopwave's time, and the measured times of others."""
    times = {"hopwave": ours, **{name: value for name, value in others.items() if value is not None}}
    return Row(label, "", tuple(Point(name, value, "", name, "", "dot") for name, value in times.items()))


def on_cores(name: str) -> str:
    """The CPU of a file's newest run."""
    return f"on {facts.cores(newest_runs(RESULTS / f'{name}.jsonl')[-1].where)}"


def panel(title: str, unit: str, rows: list[Row]) -> Chart:
    """One machine's rows."""
    return Chart("", title, unit, "", "", tuple(rows))


def search_panels() -> list[Chart]:
    """One search, on a CPU and on a GPU."""
    cpu = {one["graph"]: one for one in last_run("cpu-search")}
    gpu = {one["graph"]: one for one in last_run("gpu-hopwave")}
    return [
        panel(
            on_cores("cpu-search"),
            "ms",
            [
                row(title, cpu[key]["hopwave ms"], {peer: cpu[key][column] for column, peer in PEERS.items()})
                for key, title in ON_CPU.items()
            ],
        ),
        panel(
            "on one H200 (device time)",
            "ms",
            [row(title, gpu[key]["ms"], {BEFORE: BEST_SEARCH[key][0]}) for key, title in ON_GPU.items()],
        ),
    ]


def betweenness_panels() -> list[Chart]:
    """Betweenness per source, on a CPU and on a GPU. Codes that gave wrong scores have no time."""
    cpu = [
        row(one["what"], one["hopwave ms per source"], {one["peer"]: one["peer ms per source"]})
        for one in last_run("cpu-betweenness")
    ]
    gpu = [
        row(one["graph"], one["ms per source"], {BEFORE: one["best before, ms"]})
        for one in last_run("gpu-betweenness")
        if one["part"] == "sampled"
    ]
    return [
        panel(on_cores("cpu-betweenness"), "ms per source", cpu),
        panel("on one H200, in a run of 64 sources", "ms per source", gpu),
    ]


def search() -> str:
    """docs/speed.svg."""
    return picture("Milliseconds of one breadth-first search (farther left is faster)", search_panels())


def betweenness() -> str:
    """docs/betweenness.svg."""
    return picture("Milliseconds of betweenness per source (farther left is faster)", betweenness_panels())
