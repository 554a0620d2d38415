"""Tables of benchmarks/results, cut to what a reader compares.

A page holds one between the lines `<!-- table: name -->` and `<!-- /table -->`; `python -m docs` rewrites it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from benchmarks import pages, scaling
from benchmarks.pages import table

Row = dict[str, Any]
PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- /table -->)", re.DOTALL)


def _columns(name: str, **titles: str) -> Callable[[], list[Row]]:
    """The newest run of a benchmark with some of its columns, under other titles."""
    return lambda: [{title: row.get(key) for title, key in titles.items()} for row in pages.rows(name)]


def _gpu_betweenness() -> list[Row]:
    rows = [row for row in pages.rows("gpu-betweenness") if row["question"] == "betweenness, 64 sources, per source"]
    keys = {"graph": "graph", "arcs": "arcs", "hopwave": "hopwave ms", "best GPU code": "best GPU code ms"}
    return [{title: row.get(key) for title, key in keys.items()} for row in rows]


def _gpu_search() -> list[Row]:
    rows = []
    for row in pages.rows("gpu-search"):
        ours = {"graph": row["graph"], "arcs": row["arcs"], "levels": row["levels"], "hopwave": row["device ms"]}
        rows.append(ours | {"best GPU code": f"{row['best GPU code ms']:g} ({row['code']})"})
    return rows


def _gap(name: str) -> Callable[[], list[Row]]:
    """Both programs' times of the GAP kernels, and their ratio."""
    titles = {"graph": "graph", "kernel": "question", "hopwave": "hopwave ms", "GAPBS": "GAPBS ms"}
    return lambda: [
        {title: row[key] for title, key in titles.items()}
        | {"GAPBS / hopwave": f"{row['GAPBS ms'] / row['hopwave ms']:.2f}"}
        for row in ({"question": row.get("kernel")} | row for row in pages.rows(name))
    ]


CUGRAPH_GRAPHS = {  # its name on the page of cuGraph's times → its name on hopwave's pages
    "email-Enron": "email-Enron",
    "kron 18": "kron18",
    "kron 21": "kron21",
    "luxembourg_osm": "luxembourg_osm",
    "grid 1000²": "grid1000",
    "Delaunay 2²⁰": "delaunay20",
}
NEWEST = {  # question → the benchmark and the question of hopwave's newest wall-clock time
    "shortest paths": ("gpu-sssp", "sssp, weights 1 to 255"),
    "PageRank": ("gpu-pagerank", "PageRank to 1e-6 in total"),
    "components": ("gpu-many", "components"),
}


def _cugraph() -> list[Row]:
    """One row per question and graph: both libraries in one run, and hopwave's newest time."""
    rows = []
    for question in ("search", "shortest paths", "PageRank", "components", "triangles"):
        benchmark, what = NEWEST.get(question, ("", ""))
        rows_ = pages.rows(benchmark) if benchmark else []
        newest = {row["graph"]: row["hopwave ms"] for row in rows_ if row["question"] == what}
        for both in pages.rows("peers-cugraph"):
            ours = {"hopwave, same run": both[f"{question}, hopwave"], "cuGraph": both[f"{question}, cuGraph"]}
            now = newest.get(CUGRAPH_GRAPHS[both["graph"]])
            rows.append({"question": question, "graph": both["graph"], **ours, "hopwave, newest run": now})
    return rows


def _pages() -> list[Row]:
    titles = {name: pages.rendered(name).partition("\n")[0].lstrip("# ") for name in pages.names()}
    return [{"table": f"[{name}](../benchmarks/results/{name}.md)", "what": title} for name, title in titles.items()]


def _scaling_counts() -> list[Row]:
    lines = pages.rows("scaling")
    largest = max(line["scale"] for line in scaling.counted(lines))
    titles = {"ranks": "ranks", "layout": "layout", "grid": "grid", "exchanges": "exchanges", "passes": "passes",
              "by_one": "KB sent by the busiest rank", "headers": "KB of headers",
              "packets": "packets of the busiest rank", "busiest": "inspected arcs, busiest rank / mean"}  # fmt: skip
    rows = [scaling.summed(line) for line in scaling.counted(lines, scale=largest) if line["ranks"] > 1]
    return [{title: row[key] for key, title in titles.items()} for row in rows]


def _scaling_checked() -> list[Row]:
    rows = [row for row in scaling.checked(pages.rows("scaling")) if row["predicted"] is not None]
    titles = {"device": "ranks on", "ranks": "ranks", "layout": "layout", "scale": "scale", "ms": "measured ms",
              "predicted": "predicted ms"}  # fmt: skip
    return [{title: row[key] for key, title in titles.items()} for row in rows]


TABLES: dict[str, Callable[[], list[Row]]] = {
    "cpu-search": _columns(
        "cpu-search",
        **{
            "graph": "graph",
            "arcs": "arcs",
            "hopwave": "hopwave ms",
            "SciPy": "SciPy ms",
            "python-graphblas": "python-graphblas ms",
            "igraph": "igraph ms",
        },
    ),
    "gpu-search": _gpu_search,
    "cpu-betweenness": _columns(
        "cpu-betweenness",
        **{
            "graph": "graph",
            "question": "question",
            "hopwave": "hopwave ms",
            "igraph": "igraph ms",
            "rustworkx": "rustworkx ms",
        },
    ),
    "gpu-betweenness": _gpu_betweenness,
    "cpu-sssp": _columns(
        "cpu-sssp",
        **{"graph": "graph", "arcs": "arcs", "hopwave": "hopwave ms", "SciPy": "SciPy ms", "igraph": "igraph ms"},
    ),
    "cpu-many": _columns(
        "cpu-many",
        **{"question": "question", "hopwave": "hopwave ms", "igraph": "igraph ms", "NetworkX": "NetworkX ms"},
    ),
    "cpu-paths": _columns(
        "cpu-paths",
        **{"graph": "graph", "epsilon": "epsilon", "method": "method", "seconds": "seconds", "error": "real error"},
    ),
    "networkx": _columns(
        "networkx-cpu",
        **{"call": "call", "graph": "graph", "hopwave": "hopwave s", "NetworkX": "NetworkX s", "how": "NetworkX"},
    ),
    "pagerank": _columns(
        "linalg-algorithms",
        **{"what": "question", "graph": "graph", "hopwave": "hopwave ms", "python-graphblas": "python-graphblas ms"},
    ),
    "cugraph": _cugraph,
    "cugraph-many": lambda: [
        {
            "question": row["question"],
            "graph": row["graph"],
            "hopwave": row["hopwave ms"],
            "cuGraph": row["cuGraph ms"],
            "cuGraph / hopwave": f"{row['times cuGraph']:.1f}",
            "scores off": row["scores off by more than 1%"],
        }
        for row in pages.rows("peers-cugraph-many")
        if "betweenness" in row["question"]
    ],
    "networkit": lambda: pages.rows("peers-networkit"),
    "peers-gap": _columns(
        "peers-gap",
        **{"graph": "graph", "kernel": "question", "hopwave": "hopwave ms"},
        **{name: f"{name} ms" for name in ("GAPBS", "Wasp", "LAGraph")},
    ),
    "gapbs": _gap("cpu-gap-2"),
    "gapbs-16-cores": _gap("cpu-gap-16"),
    "gpu-calls": _columns(
        "gpu-calls", **{"call": "question", "graph": "graph", "wall": "hopwave ms", "on the device": "device ms"}
    ),
    "graph500": _columns(
        "graph500",
        **{"scale": "scale", "median ms": "median ms", "GTEPS": "GTEPS, harmonic mean", "device": "device"},
    ),
    "scaling-counts": _scaling_counts,
    "scaling-checked": _scaling_checked,
    "scaling-small": lambda: scaling.predictions(pages.rows("scaling"), 21),
    "scaling-large": lambda: scaling.predictions(pages.rows("scaling"), 26),
    "all-results": _pages,
}


def with_tables(page: str) -> str:
    """The page with its tables of results rewritten.

    >>> with_tables("<!-- table: graph500 -->\\n<!-- /table -->").splitlines()[1].split("|")[1].strip()
    'scale'
    """

    def filled(found: re.Match[str]) -> str:
        rows = table({title: readable(value) for title, value in row.items()} for row in TABLES[found[2]]())
        return f"{found[1]}{rows}\n{found[3]}"

    return PLACE.sub(filled, page)


def readable(value: Any) -> Any:
    """A large number with commas and, if it is measured, three digits that mean something.

    >>> readable(31406374), readable(1487.2), readable(12.34), readable(2000)
    ('31,406,374', '1,490', 12.34, 2000)
    """
    if isinstance(value, float) and 1000 <= value < 1e15:
        return f"{float(f'{value:.3g}'):,.0f}"
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else value
