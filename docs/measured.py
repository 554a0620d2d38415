"""The README's table of times, from benchmarks/results: the times of hopwave's calls and of the best other code.

A new run of a benchmark changes the table with the next `python -m docs`; nothing in it is written by hand.
"""

from __future__ import annotations

from typing import Any

from benchmarks import pages

HEAD = "| task | graph | hardware | hopwave (ms) | GPU time (ms) | baseline (ms) |\n|---|---|---|---|---|---|"


def row_of(benchmark: str, **wanted: Any) -> dict[str, Any]:
    """The row of the newest run with these values.

    >>> row_of("gpu-calls", question="bfs", graph="kron18e43")["question"]
    'bfs'
    """
    for row in pages.rows(benchmark):
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    raise LookupError(f"the record of {benchmark} has no row with {wanted}; docs/measured.py asks for it")


def ms(value: float | None) -> str:
    """A time with two digits.

    >>> ms(0.0707), ms(44.85), ms(None)
    ('0.071', '45', '')
    """
    if value is None:
        return ""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 10 else f"{value:#.2g}"


def rows() -> list[tuple[str, str, str, float, float | None, str]]:
    """(task, graph, hardware, wall-clock milliseconds, milliseconds on the GPU or None, the baseline's time)."""
    found: list[tuple[str, str, str, float, float | None, str]] = []
    for graph, title in (
        ("smallworld", "small world, 1 M arcs"),
        ("kron18", "kron 18, edge factor 16, 7.6 M arcs"),
    ):
        row, task = row_of("cpu-betweenness", graph=graph), "betweenness, per source (16 sources)"
        found.append((task, title, "2 cores", row["hopwave ms"], None, f"{ms(row['igraph ms'])} (igraph)"))
    asked = ("bfs", "betweenness of one source")
    search, one = (row_of("gpu-calls", question=what, graph="kron18e43") for what in asked)
    per = "betweenness, 64 sources, per source"
    kron18, roads = (row_of("gpu-betweenness", question=per, graph=graph) for graph in ("kron18e43", "luxembourg_osm"))
    best, dense = row_of("gpu-search", graph="kron18e43"), "kron 18, edge factor 43, 19 M arcs"
    other = f"{best['best GPU code ms']:g} ({best['code']})"
    found.append(("breadth-first search", dense, "H200", search["hopwave ms"], search["device ms"], other))
    other = f"{ms(kron18['best GPU code ms'])} (best GPU code)"
    found.append(("betweenness, one source", dense, "H200", one["hopwave ms"], one["device ms"], other))
    other = f"{ms(roads['best GPU code ms'])} (best GPU code, single source)"
    task, title = "betweenness, per source (64 sources at once)", "luxembourg_osm, 1,004 levels"
    found.append((task, title, "H200", roads["hopwave ms"], None, other))
    for task, question in (
        ("betweenness, 64 sources in one call", "betweenness, 64 sources"),
        ("PageRank", "PageRank to 1e-6 in total, cuGraph in float32"),
    ):
        row = row_of("peers-cugraph-many", graph="kron 21", question=question)
        other, title = f"{ms(row['cuGraph ms'])} (cuGraph)", "kron 21, edge factor 16, 64 M arcs"
        found.append((task, title, "H200", row["hopwave ms"], None, other))
    return found


def sentence() -> str:
    """Two results that are not milliseconds."""
    mesh = row_of("gpu-betweenness", question="betweenness, exact", graph="delaunay_n15")["hopwave ms"] / 1e3
    graph500 = max((row for row in pages.rows("graph500") if "H200" in row["device"]), key=lambda row: row["scale"])
    return (
        f"Exact betweenness of a Delaunay mesh of 2¹⁵ points takes {mesh:.2g} s on the H200. On Graph500 at scale "
        f"{graph500['scale']}, the same GPU reaches {graph500['GTEPS, harmonic mean']:.0f} GTEPS over "
        f"{graph500['searches, all valid']} validated searches."
    )


def markdown() -> str:
    """The table, and a sentence below it."""
    lines = [
        f"| {task} | {graph} | {hardware} | {ms(wall)} | {ms(device) or '–'} | {other} |"
        for task, graph, hardware, wall, device, other in rows()
    ]
    return "\n".join([HEAD, *lines, "", sentence()])
