"""Pages of results from their lines of JSON: nothing is measured here, and no GPU is needed.

    python -m benchmarks.pages [name …]

writes the named pages of benchmarks/results again, or all that follow from a .jsonl file. tests/house compares them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import setting
from benchmarks.before import BEST_SEARCH
from benchmarks.papers import (
    ablations_page,
    pushpull_page,
    turbo_kernels_page,
    turbobc_page,
    turbobfs_page,
    xbfs_page,
)
from benchmarks.papers import pages as papers_pages
from benchmarks.sanitize import run as sanitize
from benchmarks.setting import remarks, table

Record = dict[str, Any]
RESULTS = setting.ROOT / "benchmarks" / "results"
MACHINE = ("gpu", "multiprocessors", "driver", "cuda", "cupy", "numpy", "python", "hopwave")  # keys of gpu_search.head


def rendered(name: str, folder: Path = RESULTS) -> str:
    """The page of this name, from its .jsonl file. Most files hold one line per run; the newest run makes the page."""
    lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    return FROM_LINES[name](lines) if name in FROM_LINES else setting.page(lines[-1])


def names(folder: Path = RESULTS) -> list[str]:
    """Every page."""
    return sorted(page.stem for page in folder.glob("*.md"))


def split(lines: list[Record]) -> tuple[Record, list[Record]]:
    """The machine of the last line, and every line without its machine."""
    about = {key: lines[-1][key] for key in MACHINE}
    return about, [{key: value for key, value in line.items() if key not in MACHINE} for line in lines]


def headed(about: Record) -> str:
    """The machine, as a sentence."""
    return ", ".join(f"{key} {value}" for key, value in about.items())


# ---------------------------------------------------------------- every plan on a GPU

ACROSS = 5  # graphs in one table


def search_page(about: dict[str, Any], rows: list[dict[str, Any]]) -> str:
    """gpu-search.md: every plan on every graph."""
    lines = ["# Every search plan on the GPU", "", ", ".join(f"{key} {value}" for key, value in about.items()), ""]
    lines += [
        "Milliseconds of GPU time for a whole search / for its levels alone (GTEPS in parentheses); distances only, "
        "median over sources. Every search gave the CPU engine's answer. Times of whole searches include Python's "
        "launches, a few hundred microseconds; gpu-hopwave.md times our kernel alone.",
        "",
        *(f"{remark}\n" for remark in remarks(rows)),
    ]
    graphs, plans = list(dict.fromkeys(r["graph"] for r in rows)), list(dict.fromkeys(r["plan"] for r in rows))
    cell = {(r["graph"], r["plan"]): r for r in rows}
    for some in (graphs[begin : begin + ACROSS] for begin in range(0, len(graphs), ACROSS)):
        lines += ["| plan | " + " | ".join(some) + " |", "|---" * (len(some) + 1) + "|"]
        lines += [f"| {plan} | " + " | ".join(_shown(cell.get((graph, plan), {})) for graph in some) + " |"
                  for plan in plans]  # fmt: skip
        lines.append("")
    lines += ["| graph | vertices | arcs | levels | bytes per vertex and arc, by plan |", "|---|---|---|---|---|"]
    for graph in graphs:
        some = [cell[graph, plan] for plan in plans if "bytes" in cell.get((graph, plan), {})]
        each = ", ".join(f"{r['plan']} {r['bytes'] / (r['n'] + r['m']):.1f}" for r in some)
        if some:
            lines.append(f"| {graph} | {some[0]['n']:,} | {some[0]['m']:,} | {some[0]['levels']} | {each} |")
    return "\n".join(lines) + "\n"


def _shown(row: dict[str, Any]) -> str:
    """One plan on one graph."""
    if row.get("verified"):
        return f"{row['ms']:.3f} / {row['ms_in_levels']:.3f} ({row['gteps']:.2f})"
    return row.get("error", "wrong" if row else "")


# ---------------------------------------------------------------- betweenness on a GPU

SOURCES = 64  # of a sampled run
ALL = 40_000  # vertices up to which all sources are compared
PART_NOTES = {
    "single": "One source per call, on a graph that is on the GPU; its scores stay there. Milliseconds of the public "
    "call by the host's clock: the median of seven calls, and of that the mean over four sources. *Level by level* is "
    "the same call before `hopwave-wide` became one launch. *Best before* as below. *Difference from batch* is the "
    "largest relative difference of a score, summed over the four sources, from `hopwave-batch`.",
    "sampled": f"Runs of {SOURCES} sources in the largest component. *Best before* is the best single-source time of "
    "Gunrock 1.2, TurboBC, GSWITCH, hybrid_BC and cuGraph on one H200; on delaunay20 and grid1000 each of them returns "
    "NaN, infinity or garbage. *Difference from CPU* is the largest relative difference of a score from the CPU "
    "engine's, for four sources.",
    "exact": "All sources. The paper's times are quoted from it; its GPU was a Titan Xp.",
    "agree": f"Real graphs, with all sources up to {ALL:,} vertices. The last four columns are the largest relative "
    "difference of a score from the CPU engine's: with the plan that `auto` picks, with two plans by name, and for "
    f"edges with {SOURCES} sources.",
}
PARTS = {
    "single": "One source",
    "sampled": "A run of 64 sources",
    "exact": "Exact betweenness of all vertices",
    "agree": "Agreement with the CPU engine",
}


def betweenness_page(about: Record, found: dict[str, list[Record]]) -> str:
    """gpu-betweenness.md: one table for each part of `PARTS` that was measured."""
    text = ["# Betweenness on the GPU", headed(about)]
    for part, rows in ((part, rows) for part, rows in found.items() if rows):
        text += [f"## {PARTS[part]}", table(rows), PART_NOTES[part]]
    return "\n\n".join(text) + "\n"


def _by_part(lines: list[Record]) -> str:
    about, rows = split(lines)
    found: dict[str, list[Record]] = {part: [] for part in PARTS}
    for row in rows:
        found[row.pop("part")].append(row)
    return betweenness_page(about, found)


# ---------------------------------------------------------------- hopwave's own search, and large graphs

HOPWAVE_NOTE = """\
Plan `hopwave-gpu`: device time of a whole search including its reset, distances only, median over 16 sources of the
largest component. Every graph was first checked against a simple kernel: three sources, with and without predecessors,
the sizes of every level, and the rule replayed. *Best before* is the best existing code on the same GPU model and the
same graph families. These times were collected before the project began and not measured again; for XBFS they are
kernel time alone. Made by `benchmarks/gpu/hopwave.py --time --publish`."""
HOPWAVE_DEEP = """\
Microseconds per level, where the time of each source is divided by its own number of levels. They are of an earlier
run, in which these four searches took up to 2% less; of the last one only the medians above were kept:"""
HOPWAVE_TRIED = """\
What was tried and did not help: middle teams of 8, 24, 32 or 64 blocks; 256 or 512 working threads per block; pieces of
two arcs; a warp that arrives at the barrier before its block's results are written; acquire and release fences instead
of sequentially consistent ones in the grid's barrier."""


def hopwave_page(about: Record, report: list[Record]) -> str:
    """gpu-hopwave.md: the times, and those per level where there are many levels."""
    times, deep = [], []
    for row in report:
        before, code = BEST_SEARCH[row["graph"]]
        times.append({
            "graph": row["graph"], "vertices": row["n"], "arcs": row["m"], "levels": row["levels"], "ms": row["ms"],
            "with predecessors ms": row["with parents"], "target ms": row["target"],
            "target met": "yes" if row["ms"] <= row["target"] else "no", "best before ms": f"{before} ({code})",
            "× faster": before / row["ms"],
        })  # fmt: skip
        if row["levels"] > 100:
            each = [1e3 * ms / levels for ms, levels in zip(row["all"], row["all levels"], strict=True)]
            deep.append({"graph": row["graph"], "median of 16 sources": float(np.median(each)),
                         "slowest source": max(each), "levels, median": row["levels"]})  # fmt: skip
    text = ["# hopwave's own search on the GPU", headed(about), HOPWAVE_NOTE, table(times)]
    return "\n\n".join([*text, HOPWAVE_DEEP, table(deep), HOPWAVE_TRIED]) + "\n"


SCALE_NOTE = """\
Device time until the answers are there by vertex id: distances alone, and with predecessors; medians over 8 sources.
Where no seconds of building are given, they held the compiling of kernels too; [graph500.md](graph500.md) has times of
construction. Scales 28 and 29 were measured an hour before scale 26. Since then, the neighbours in every row are
sorted by degree, and distances and predecessors are written by id in two launches instead of one, which graph500.md
times at 28: less than 5 ms with predecessors, where this page has 6.7."""


def scale_page(about: Record, rows: list[Record]) -> str:
    """gpu-scale.md."""
    return f"# Large Kronecker graphs on the GPU\n\n{headed(about)}\n\n{table(rows)}\n\n{SCALE_NOTE}\n"


FROM_LINES = {  # pages with their own form; all others have that of setting.page
    "gpu-search": lambda lines: search_page(*split(lines)),
    "gpu-ablations": ablations_page.page,
    "gpu-pushpull": pushpull_page.page,
    "gpu-xbfs": xbfs_page.page,
    "gpu-betweenness": _by_part,
    "gpu-hopwave": lambda lines: hopwave_page(*split(lines)),
    "gpu-scale": lambda lines: scale_page(*split(lines)),
    "gpu-authors": papers_pages.authors,
    "gpu-hiragushi": papers_pages.hiragushi,
    "gpu-turbobfs": turbobfs_page.page,
    "ranks-weak-h200": papers_pages.weak,
    "gpu-turbo-kernels": turbo_kernels_page.page,
    "sanitizer": sanitize.page,
    "gpu-turbobc": lambda lines: turbobc_page.tables({line["name"]: line for line in lines}),
}


def main() -> None:
    """Write pages again."""
    for name in sys.argv[1:] or names():
        (RESULTS / f"{name}.md").write_text(rendered(name), encoding="utf-8")


if __name__ == "__main__":
    main()
