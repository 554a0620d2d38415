"""The README's table of times, from benchmarks/results: the times of hopwave's calls and of the best other code.

A new run of a benchmark changes the table with the next `python -m docs`; nothing in it is written by hand.
"""

from __future__ import annotations

from typing import Any

from benchmarks import pages

HEAD = "| | on | hopwave, ms | of that on the GPU | others, ms |\n|---|---|---|---|---|"


def row_of(benchmark: str, **wanted: Any) -> dict[str, Any]:
    """The row of the newest run with these values.

    >>> row_of("gpu-calls", question="bfs", graph="kron18")["question"]
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


def rows() -> list[tuple[str, str, float, float | None, str]]:
    """(what, machine, wall milliseconds, milliseconds on the device or None, the other code's time)."""
    found = []
    for graph, title in (("smallworld", "small world, 1 M arcs"), ("kron18", "kron 18, 7.6 M arcs")):
        row = row_of("cpu-betweenness", graph=graph)
        found.append(
            (f"betweenness per source, {title}", "2 cores", row["hopwave ms"], None, f"{ms(row['igraph ms'])} (igraph)")
        )
    search, one = (row_of("gpu-calls", question=what, graph="kron18") for what in ("bfs", "betweenness of one source"))
    per = "betweenness, 64 sources, per source"
    kron18, kron21, roads = (
        row_of("gpu-betweenness", question=per, graph=graph) for graph in ("kron18e43", "kron21e44", "luxembourg_osm")
    )
    best = row_of("gpu-search", graph="kron18e43")
    other = f"{best['best GPU code ms']:g} ({best['code']})"
    found.append(("one search, kron 18, 19 M arcs", "H200", search["hopwave ms"], search["device ms"], other))
    other = f"{ms(kron18['best GPU code ms'])} (best GPU code)"
    found.append(("betweenness of one source, kron 18", "H200", one["hopwave ms"], one["device ms"], other))
    for row, title in ((kron21, "kron 21, 167 M arcs"), (roads, "luxembourg_osm, 1,004 levels")):
        other = f"{ms(row['best GPU code ms'])} (best GPU code)"
        found.append((f"betweenness per source of 64, {title}", "H200", row["hopwave ms"], None, other))
    ranks, cugraph = row_of("gpu-pagerank", graph="kron21"), row_of("peers-cugraph", graph="kron 21")
    found.append(
        ("PageRank, kron 21", "H200", ranks["hopwave ms"], None, f"{ms(cugraph['PageRank, cuGraph'])} (cuGraph)")
    )
    return found


def sentence() -> str:
    """Two results that are not milliseconds."""
    mesh = row_of("gpu-betweenness", question="betweenness, exact", graph="delaunay_n15")["hopwave ms"] / 1e3
    graph500 = max((row for row in pages.rows("graph500") if "H200" in row["device"]), key=lambda row: row["scale"])
    return (
        f"Exact betweenness of a Delaunay mesh of 2¹⁵ points takes {mesh:.2g} s on the H200. Graph500 on that GPU, "
        f"{graph500['searches, all valid']} roots, all valid: {graph500['GTEPS, harmonic mean']:.0f} GTEPS at scale "
        f"{graph500['scale']}."
    )


def markdown() -> str:
    """The table, and a sentence below it."""
    lines = [f"| {what} | {on} | {ms(wall)} | {ms(device)} | {other} |" for what, on, wall, device, other in rows()]
    return "\n".join([HEAD, *lines, "", sentence()])
