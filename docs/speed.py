"""Draws docs/speed.svg from benchmarks/results: one search, hopwave beside other libraries, on a logarithmic axis."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.before import BEST_SEARCH

RESULTS = Path(__file__).resolve().parents[1] / "benchmarks" / "results"
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
COLOURS = {"hopwave": "ours", "SciPy": "a", "python-graphblas": "b", "igraph": "c", "best code before": "d"}

WIDTH, NAMES, ROW, TOP = 860, 210, 30, 58
FIRST, LAST = 0.03, 3000.0  # milliseconds at the two ends of the axis
STYLE = """
  .page { fill: #ffffff } .rule { stroke: #d5dde6; stroke-width: 1 } .span { stroke: #b4c1ce; stroke-width: 2 }
  .ours { fill: #0b66c3 } .a { fill: #e07b00 } .b { fill: #7a5cc0 } .c { fill: #2f9e5f } .d { fill: #c43d5b }
  text { font-family: system-ui, sans-serif; font-size: 12px; fill: #1c2733 } .small { fill: #55677a; font-size: 11px }
  .title { font-size: 14px; font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0f151c } .rule { stroke: #26323f } .span { stroke: #4a5a6b }
    .ours { fill: #58a6ff } .a { fill: #f0a04b } .b { fill: #a78bfa } .c { fill: #56d08b } .d { fill: #f07a94 }
    text { fill: #e6edf5 } .small { fill: #9fb2c6 }
  }
"""


@dataclass(frozen=True)
class Row:
    """One graph: what hopwave takes, and what others take, in milliseconds."""

    name: str
    ours: float
    others: dict[str, float]


def last_run(name: str) -> list[dict[str, Any]]:
    """The rows of the newest run in a file of results: one line with all rows, or one line per row."""
    lines = [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    rows: list[dict[str, Any]] = lines[-1].get("rows", lines)
    return rows


def panels() -> dict[str, list[Row]]:
    """Title → its rows."""
    cpu = {row["graph"]: row for row in last_run("cpu-search")}
    gpu = {row["graph"]: row for row in last_run("gpu-hopwave")}
    return {
        "on 2 Arm cores": [
            Row(title, cpu[key]["hopwave ms"], {peer: cpu[key][column] for column, peer in PEERS.items()})
            for key, title in ON_CPU.items()
        ],
        "on one H200 (device time)": [
            Row(title, gpu[key]["ms"], {"best code before": BEST_SEARCH[key][0]}) for key, title in ON_GPU.items()
        ],
    }


def place(ms: float) -> float:
    """Where a time is on the axis."""
    share = (math.log10(ms) - math.log10(FIRST)) / (math.log10(LAST) - math.log10(FIRST))
    return NAMES + share * (WIDTH - NAMES - 40)


def svg() -> str:
    """The picture."""
    drawn = panels()
    height = TOP + sum(ROW * (len(rows) + 1) + 10 for rows in drawn.values()) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="Milliseconds of one breadth-first search, hopwave beside other libraries">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
        '<text class="title" x="16" y="24">Milliseconds of one breadth-first search (farther left is faster)</text>',
        *_legend(),
        *_axis(height),
    ]
    y = TOP
    for title, rows in drawn.items():
        y += ROW
        parts.append(f'<text class="title" x="16" y="{y}">{escape(title)}</text>')
        for row in rows:
            y += ROW
            parts += _row(row, y - 4)
        y += 10
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend() -> list[str]:
    parts, x = [], 16.0
    for name, colour in COLOURS.items():
        parts.append(f'<circle class="{colour}" cx="{x + 5:g}" cy="42" r="5"/>')
        parts.append(f'<text x="{x + 15:g}" y="46">{name}</text>')
        x += 34 + 7 * len(name)
    return parts


def _axis(height: int) -> list[str]:
    parts = []
    for exponent in range(-1, 4):
        x, label = place(10.0**exponent), f"{10.0**exponent:g} ms"
        parts.append(f'<line class="rule" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height - 26}"/>')
        parts.append(f'<text class="small" x="{x:.1f}" y="{height - 10}" text-anchor="middle">{label}</text>')
    return parts


def _row(row: Row, y: int) -> list[str]:
    ends = [row.ours, *row.others.values()]
    parts = [
        f'<text x="24" y="{y + 4}">{escape(row.name)}</text>',
        f'<line class="span" x1="{place(min(ends)):.1f}" y1="{y}" x2="{place(max(ends)):.1f}" y2="{y}"/>',
    ]
    for name, ms in [*row.others.items(), ("hopwave", row.ours)]:
        parts.append(
            f'<circle class="{COLOURS[name]}" cx="{place(ms):.1f}" cy="{y}" r="6">'
            f"<title>{escape(row.name)}: {name} {ms:.3g} ms</title></circle>"
        )
    return parts
