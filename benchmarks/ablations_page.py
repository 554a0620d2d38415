"""The page of push-pull's Table 2, made from gpu-ablations.jsonl. It needs no GPU."""

from __future__ import annotations

from typing import Any

from benchmarks.setting import remarks, table

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
PLANS = tuple(TABLE_2)


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


def page(lines: list[Record]) -> str:
    """gpu-ablations.md."""
    cells = {(line["graph"], line["plan"]): line for line in lines}
    graphs = list(dict.fromkeys(line["graph"] for line in lines))
    where = ", ".join(f"{key} {lines[-1][key]}" for key in MACHINE)
    text = ["# What each idea of the papers gains", where, ABOUT, *remarks(lines)]
    text += ["## Push-pull, Table 2: GTEPS (gain over the column before)", push_pull(cells, graphs), *PUSH_PULL]
    return "\n\n".join(part for part in text if part) + "\n"


ABOUT = """\
Times are inside the levels, by the GPU's clock, median over sources in the largest component; GTEPS are the arcs of the
reached part over that time. Every search was compared with the distances of `hopwave-gpu`. Made by
`benchmarks/gpu_ablations.py`; XBFS's figures are on [gpu-xbfs.md](gpu-xbfs.md), push-pull's others on
[gpu-pushpull.md](gpu-pushpull.md), Hiragushi's on [gpu-hiragushi.md](gpu-hiragushi.md)."""
PUSH_PULL = [
    """\
*Structure only* gains 1.17 × on kron 21, the paper 1.62 ×. Both sorts here are by log M bits and take three passes; one
moves keys and values, the other keys alone. The rest of a push, gathering neighbours before the sort and reducing and
masking after it, is the same for both, which bounds the gain. On small graphs a level is a dozen launches, whatever
they move.""",
    """\
*Change of direction* gains 1.63 ×, the paper 1.08 ×. The unmasked product reads all arcs, in equal shares, at every
pull: on an H200 that is far cheaper than to sort the frontier's arcs. It gains on every graph. (With one thread per
row, as it was here before, it was 0.17 × on kron 21: a thread alone read a hub's 199,000 arcs.)""",
    """\
*Masking* gains 2.47 ×, the paper 2.58 ×: agreement. On graphs with few levels and large hubs it loses up to half
(cnr-2000, mycielskian15, ego-Twitter): the masked product is the paper's Algorithm 2, one thread per row, and the
unmasked one is balanced.""",
    """\
*Early exit* gains 2.58 ×, the paper 4.02 ×: the same in kind; it is the largest gain on kron 21 here as there.""",
    """\
*Operand reuse* gains 1.13 ×, the paper 2.68 ×. It saves making a dense frontier where a search turns to pulling, here a
bitmap, in about 20 µs; arcs checked are the same to the last one ([gpu-pushpull.md](gpu-pushpull.md)). By the paper's
own GTEPS it saved 7 ms of 11.5 on a K40c, where writing a vector of two million values takes well under 0.1 ms; what
else it saved there, the paper does not say.""",
]
