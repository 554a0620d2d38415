"""The page of push-pull's Table 2 and Hiragushi's Figure 4, made from gpu-ablations.jsonl. It needs no GPU."""

from __future__ import annotations

from typing import Any

from benchmarks.setting import table

Record = dict[str, Any]
MACHINE = ("gpu", "multiprocessors", "driver", "cuda", "cupy", "numpy", "python", "hopwave")

# The paper's own Table 2, on kron_g500-logn21 and a Tesla K40c: GTEPS, and the gain of each row over the one before.
TABLE_2 = {
    "pushpull-baseline": ("baseline", 0.874, None),
    "pushpull-structure": ("structure only", 1.411, 1.62),
    "pushpull-direction": ("change of direction", 1.527, 1.08),
    "pushpull-masking": ("masking", 3.932, 2.58),
    "pushpull-exit": ("early exit", 15.83, 4.02),
    "pushpull": ("operand reuse", 42.44, 2.68),
}
PLANS = (*TABLE_2, "hiragushi-hybrid", "merrill")


def push_pull(cells: dict[tuple[str, str], Record], graphs: list[str]) -> str:
    """Table 2 for every graph: GTEPS, and the gain over the column before."""
    rows: list[Record] = []
    for graph in graphs:
        row: Record = {"graph": graph, "sources": cells[graph, "pushpull"]["sources"]}
        before = None
        for plan, (what, *_) in TABLE_2.items():
            here = cells[graph, plan]
            gain = "" if before is None else f" ({before['ms'] / here['ms']:.2f}×)"
            row[what] = f"{here['gteps']:.3g}{gain}"
            before = here
        rows.append(row)
    paper: Record = {"graph": "the paper, kron 21 on a K40c", "sources": None}
    for what, gteps, ratio in TABLE_2.values():
        paper[what] = f"{gteps}" + ("" if ratio is None else f" ({ratio:.2f}×)")
    return table([*rows, paper])


def hybrid(cells: dict[tuple[str, str], Record], graphs: list[str]) -> str:
    """Figure 4(a): the hybrid over Merrill's push only; (b): the share of its time that goes up."""
    rows: list[Record] = []
    for graph in graphs:
        ours, merrill = cells[graph, "hiragushi-hybrid"], cells[graph, "merrill"]
        rows.append({"graph": graph, "sources": ours["sources"], "push only ms": merrill["ms"], "hybrid ms": ours["ms"],
                     "gain": f"{merrill['ms'] / ours['ms']:.2f}×",
                     "bottom-up's share": f"{ours['ms in pulls'] / ours['ms']:.0%}"})  # fmt: skip
    return table([*rows, {"graph": "the paper, at most", "gain": "29×"}])


def page(lines: list[Record]) -> str:
    """gpu-ablations.md."""
    cells = {(line["graph"], line["plan"]): line for line in lines}
    graphs = list(dict.fromkeys(line["graph"] for line in lines))
    where = ", ".join(f"{key} {lines[-1][key]}" for key in MACHINE)
    text = ["# What each idea of the papers gains", where, ABOUT]
    text += ["## Push-pull, Table 2: GTEPS (gain over the column before)", push_pull(cells, graphs), *PUSH_PULL]
    text += ["## Hiragushi, Figure 4: hybrid compared with push only", hybrid(cells, graphs), HYBRID]
    return "\n\n".join(part for part in text if part) + "\n"


ABOUT = """\
Times are inside the levels, by the GPU's clock, median over sources in the largest component; GTEPS are the arcs of the
reached part over that time. Every search was compared with the distances of `hopwave-gpu`. Made by
`benchmarks/gpu_ablations.py`; XBFS's figures are on [gpu-xbfs.md](gpu-xbfs.md), push-pull's others on
[gpu-pushpull.md](gpu-pushpull.md)."""
PUSH_PULL: list[str] = []
HYBRID = ""
