"""Draws docs/speed*.svg and docs/betweenness.svg from benchmarks/results, like the charts of benchmarks/report.py."""

from __future__ import annotations

from typing import Any

from benchmarks import pages
from benchmarks.report import Chart, Row, picture

ON_CPU = {
    "kron20": "kron 20, 31 M arcs",
    "uniform20": "uniform 2²⁰, 34 M arcs",
    "smallworld": "small world, 1 M arcs",
    "delaunay18": "Delaunay 2¹⁸, 1.6 M arcs",
    "grid1000": "grid 1000², 3.9 M arcs",
}
ON_GPU = {
    "email-Enron": "email-Enron, 0.4 M arcs",
    "kron18e43": "kron 18, 19 M arcs",
    "kron21e44": "kron 21, 167 M arcs",
}
PEERS = ("SciPy", "python-graphblas", "igraph", "rustworkx")
BEFORE = "best GPU code"


def row(label: str, found: dict[str, Any], ours: str, others: tuple[str, ...]) -> Row:
    """One graph: hopwave's time, and the measured times of others."""
    times = {"hopwave": found[ours]} | {other: found.get(f"{other} ms") for other in others}
    return Row(label, {name: value for name, value in times.items() if value is not None})


def on_cores(name: str) -> str:
    """The CPU of a benchmark's newest run."""
    where = pages.lines(name)[-1]["where"]
    return f"on {where['cores']} {'Arm' if where['machine'] == 'aarch64' else 'x86'} cores"


def panel(title: str, unit: str, rows: list[Row]) -> Chart:
    """One machine's rows."""
    return Chart("", title, unit, "", "", tuple(rows))


def search_panels() -> list[Chart]:
    """One search, on a CPU and on a GPU."""
    cpu, gpu = ({one["graph"]: one for one in pages.rows(name)} for name in ("cpu-search", "gpu-search"))
    calls = {
        one["graph"]: {"call ms": one["hopwave ms"]} for one in pages.rows("gpu-calls") if one["question"] == "bfs"
    }
    return [
        panel(
            on_cores("cpu-search"), "ms", [row(title, cpu[key], "hopwave ms", PEERS) for key, title in ON_CPU.items()]
        ),
        panel(
            "on one H200 (time of the call)",
            "ms",
            [row(title, gpu[key] | calls[key], "call ms", (BEFORE,)) for key, title in ON_GPU.items()],
        ),
    ]


def betweenness_panels() -> list[Chart]:
    """Betweenness per source, on a CPU and on a GPU. Codes that gave wrong scores have no time."""
    cpu = [row(f"{one['graph']}, {what(one)}", one, "hopwave ms", PEERS) for one in pages.rows("cpu-betweenness")]
    sampled = [one for one in pages.rows("gpu-betweenness") if one["question"] == "betweenness, 64 sources, per source"]
    gpu = [row(one["graph"], one, "hopwave ms", (BEFORE,)) for one in sampled]
    return [
        panel(on_cores("cpu-betweenness"), "ms per source", cpu),
        panel("on one H200, in a run of 64 sources", "ms per source", gpu),
    ]


def what(one: dict[str, Any]) -> str:
    """The sources of a row about betweenness."""
    return str(one["question"]).removeprefix("betweenness, ").removesuffix(", per source")


def search() -> str:
    """docs/speed.svg."""
    return picture("Milliseconds of one breadth-first search (farther left is faster)", search_panels())


def narrow() -> str:
    """docs/speed-narrow.svg, for phones."""
    return picture("Milliseconds of one search (farther left is faster)", search_panels(), width=400)


def betweenness() -> str:
    """docs/betweenness.svg."""
    return picture("Milliseconds of betweenness per source (farther left is faster)", betweenness_panels())
