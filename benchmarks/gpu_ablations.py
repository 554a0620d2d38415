"""What each idea of the papers gains, from the runs that gpu_search.py wrote:

    python benchmarks/gpu_ablations.py [benchmarks/results/gpu-search.jsonl]

Push-pull's Table 2 (five optimisations, one after the other), XBFS's Figures 13 (time by way of making a queue), 14
(balancing of bottom-up) and 10 and 15 (the look ahead), Hiragushi's Figure 4 (hybrid against push only). Times are
inside the levels, without Python's time between them. Writes gpu-ablations.md beside its input.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Rows = dict[tuple[str, str], dict[str, Any]]

# The paper's own Table 2, on kron_g500-logn21 and a Tesla K40c: GTEPS, and the gain of each row over the one before.
TABLE_2 = {
    "pushpull-baseline": ("baseline", 0.874, None),
    "pushpull-structure": ("structure only", 1.411, 1.62),
    "pushpull-direction": ("change of direction", 1.527, 1.08),
    "pushpull-masking": ("masking", 3.932, 2.58),
    "pushpull-exit": ("early exit", 15.83, 4.02),
    "pushpull": ("operand reuse", 42.44, 2.68),
}
XBFS_STEPS = {
    "push(twc, queue)": "scan-free",
    "push(twc, scan)": "single-scan",
    "pull(thread, compacted, exit, async)": "double-scan and bottom-up",
    "push(twc, reuse)": "no queue",
}


def table(head: Iterable[str], lines: Iterable[Iterable[str]]) -> list[str]:
    titles = list(head)
    return ["| " + " | ".join(row) + " |" for row in (titles, ["---"] * len(titles), *lines)] + [""]


def gteps(row: dict[str, Any]) -> float:
    return float(row["gteps"] * row["ms"] / row["ms_in_levels"])


def push_pull(rows: Rows, graphs: list[str]) -> list[str]:
    """Table 2 for every graph."""
    lines = []
    for plan, (what, paper, ratio) in TABLE_2.items():
        cells, before = [], None if plan == "pushpull-baseline" else list(TABLE_2)[list(TABLE_2).index(plan) - 1]
        for graph in graphs:
            here = rows[graph, plan]
            gained = f" ({rows[graph, before]['ms_in_levels'] / here['ms_in_levels']:.2f}×)" if before else ""
            cells.append(f"{gteps(here):.3g}{gained}")
        lines.append([what, f"{paper}" + (f" ({ratio:.2f}×)" if ratio else ""), *cells])
    head = ["GTEPS (gain over the row before)", "paper, kron 21", *graphs]
    return ["## Push-pull, Table 2", "", *table(head, lines)]


def ways(rows: Rows, graphs: list[str]) -> list[str]:
    """Figure 13: the share of the time in each way of making a queue."""
    lines = []
    for graph in graphs:
        spent = [rows[graph, "xbfs"].get(f"ms in {step}", 0.0) for step in XBFS_STEPS]
        whole = sum(spent) or 1.0
        lines.append([graph, *(f"{part / whole:.0%}" for part in spent)])
    return ["## XBFS, Figure 13: time for each way to make a queue", "", *table(["graph", *XBFS_STEPS.values()], lines)]


def balance(rows: Rows, graphs: list[str]) -> list[str]:
    """Figure 14: milliseconds of bottom-up by how rows are dealt out."""
    step = "ms in pull(thread, compacted, exit, async)"
    plans = ("xbfs-static", "xbfs-thread", "xbfs-warp")
    lines = [
        [graph, *(f"{rows[graph, plan].get(step, 0.0):.3f}" for plan in plans)]
        for graph in graphs
        if rows[graph, "xbfs-static"].get(step)
    ]
    return [
        "## XBFS, Figure 14: ms of bottom-up for each way of balancing",
        "",
        *table(["graph", *(p.removeprefix("xbfs-") for p in plans)], lines),
    ]


def ahead(rows: Rows, graphs: list[str]) -> list[str]:
    """Figures 10 and 15: what the look ahead finds early, and how many arcs it saves."""
    lines = []
    for graph in graphs:
        there, without = rows[graph, "xbfs"], rows[graph, "xbfs-sync"]
        if not there.get("ms in pull(thread, compacted, exit, async)"):
            continue
        saved = 1 - there["checked"] / without["checked"]
        share = there["ahead"] / max(1, there["found"])
        checks = [f"{run['checked']:,.0f}" for run in (without, there)]
        times = [f"{run['ms_in_levels']:.3f}" for run in (without, there)]
        lines.append([graph, f"{share:.1%}", *checks, f"{saved:.1%}", *times])
    head = ["graph", "found ahead", "arcs checked, sync", "async", "saved", "ms, sync", "async"]
    return ["## XBFS, Figures 10 and 15: looking ahead", "", *table(head, lines)]


def hybrid(rows: Rows, graphs: list[str]) -> list[str]:
    """Figure 4(a): the hybrid over Merrill's push only; (b): the share of its time that goes up."""
    lines = []
    for graph in graphs:
        ours, merrill = rows[graph, "hiragushi-hybrid"], rows[graph, "merrill"]
        up = ours.get("ms in pull(thread, compacted, visited, exit)", 0.0) / ours["ms_in_levels"]
        times = f"{merrill['ms_in_levels']:.3f}", f"{ours['ms_in_levels']:.3f}"
        lines.append([graph, *times, f"{merrill['ms_in_levels'] / ours['ms_in_levels']:.1f}×", f"{up:.0%}"])
    head = ["graph", "ms push only", "ms hybrid", "gain", "bottom-up's share"]
    return ["## Hiragushi, Figure 4: hybrid compared with push only", "", *table(head, lines)]


def page(runs: list[dict[str, Any]], name: str = "gpu-search.jsonl") -> str:
    """The whole page, from the lines of gpu-search.jsonl; empty if no graph has every plan that is needed."""
    rows: Rows = {(run["graph"], run["plan"]): run for run in runs if run.get("verified")}
    wanted = {*TABLE_2, "xbfs", "xbfs-static", "xbfs-thread", "xbfs-warp", "xbfs-sync", "hiragushi-hybrid", "merrill"}
    ran = {graph: {plan for other, plan in rows if other == graph} for graph, _ in rows}
    graphs = [graph for graph, plans in ran.items() if wanted <= plans]
    if not graphs:
        return ""
    one = runs[0]
    about = f"{one['gpu']}, CUDA {one['cuda']}, CuPy {one['cupy']}; from {name}; times of the levels alone."
    lines = ["# What each idea of the papers gains", "", about, ""]
    for section in (push_pull, ways, balance, ahead, hybrid):
        lines += section(rows, graphs)
    return "\n".join(lines)


def main() -> int:
    path = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent / "results" / "gpu-search.jsonl"
    text = page([json.loads(line) for line in path.read_text().splitlines()], path.name)
    if not text:
        print(f"{path} has no graph on which every plan of the papers ran; run benchmarks/gpu_search.py first")
        return 1
    path.with_name("gpu-ablations.md").write_text(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
