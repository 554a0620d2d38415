"""The README's table of times, from benchmarks/results: the times of hopwave's calls and of the best other code.

A new run of a benchmark changes the table with the next `python -m docs`; nothing in it is written by hand.
"""

from __future__ import annotations

from typing import Any

from benchmarks.before import BEST_SEARCH

from docs.speed import last_run

HEAD = "| | on | hopwave, ms | of that on the GPU | others, ms |\n|---|---|---|---|---|"


def row_of(benchmark: str, **wanted: Any) -> dict[str, Any]:
    """The row of the newest run with these values; a text only has to begin with the value.

    >>> row_of("gpu-calls", call="bfs", graph="kron18")["call"]
    'bfs'
    """

    def fits(found: Any, value: Any) -> bool:
        return found == value or (isinstance(found, str) and found.startswith(f"{value} ("))

    for row in last_run(benchmark):
        if all(fits(row.get(key), value) for key, value in wanted.items()):
            return row
    raise LookupError(f"benchmarks/results/{benchmark}.jsonl has no row with {wanted}; docs/measured.py asks for it")


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
    for what, title in (
        ("smallworld, 16 sources", "small world, 1 M arcs"),
        ("kron18, 16 sources", "kron 18, 7.6 M arcs"),
    ):
        row = row_of("cpu-betweenness", what=what)
        other = f"{ms(row['peer ms per source'])} ({row['peer']})"
        found.append((f"betweenness per source, {title}", "2 cores", row["hopwave ms per source"], None, other))
    search, one = (row_of("gpu-calls", call=call, graph="kron18") for call in ("bfs", "betweenness of one source"))
    kron18, kron21, roads = (
        row_of("gpu-betweenness", part="sampled", graph=graph) for graph in ("kron18e43", "kron21e44", "luxembourg_osm")
    )
    before, code = BEST_SEARCH["kron18"]
    found.append(("one search, kron 18, 19 M arcs", "H200", search["wall"], search["device"], f"{before:g} ({code})"))
    best = f"{ms(kron18['best before, ms'])} (best GPU code)"
    found.append(("betweenness of one source, kron 18", "H200", one["wall"], one["device"], best))
    for row, title in ((kron21, "kron 21, 167 M arcs"), (roads, "luxembourg_osm, 1,004 levels")):
        best = f"{ms(row['best before, ms'])} (best GPU code)"
        found.append((f"betweenness per source of 64, {title}", "H200", row["ms per source"], None, best))
    ranks, cugraph = row_of("gpu-ranks", graph="kron21"), row_of("peers-cugraph", graph="kron 21")
    found.append(
        ("PageRank, kron 21", "H200", ranks["PageRank ms"], None, f"{ms(cugraph['PageRank, cuGraph'])} (cuGraph)")
    )
    return found


def sentence() -> str:
    """Two results that are not milliseconds."""
    mesh = row_of("gpu-betweenness", part="exact", graph="delaunay_n15")["seconds"]
    graph500 = max((row for row in last_run("graph500") if "H200" in row["device"]), key=lambda row: row["scale"])
    return (
        f"Exact betweenness of a Delaunay mesh of 2¹⁵ points takes {mesh:.2g} s on the H200. Graph500 on that GPU, "
        f"{graph500['searches, all valid']} roots, all valid: {graph500['GTEPS, harmonic mean']:.0f} GTEPS at scale "
        f"{graph500['scale']}."
    )


def markdown() -> str:
    """The table, and a sentence below it."""
    lines = [f"| {what} | {on} | {ms(wall)} | {ms(device)} | {other} |" for what, on, wall, device, other in rows()]
    return "\n".join([HEAD, *lines, "", sentence()])
