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
    text += ["## Push-pull, Table 2: GTEPS (gain over the column before)", push_pull(cells, graphs)]
    text += paragraphs(cells, graphs)
    return "\n\n".join(part for part in text if part) + "\n"


ABOUT = """\
Times are inside the levels, by the GPU's clock, median over sources in the largest component; GTEPS are the arcs of the
reached part over that time. From each source all plans search in turn. Every search was compared with the distances of
`hopwave-gpu`. Made by `benchmarks/papers/ablations.py`; XBFS's figures are on [gpu-xbfs.md](gpu-xbfs.md), push-pull's
others on [gpu-pushpull.md](gpu-pushpull.md), Hiragushi's on [gpu-hiragushi.md](gpu-hiragushi.md)."""
PUSH_PULL = [
    """\
*Structure only* gains {structure:.2f} × on kron 21, the paper 1.62 ×. Both sorts here are by log M bits and take three
passes; one moves keys and values, the other keys alone. The rest of a push, gathering neighbours before the sort and
reducing and masking after it, is the same for both, which bounds the gain. On small graphs a level is a few launches,
whatever they move.""",
    """\
*Change of direction* gains {direction:.2f} ×, the paper 1.08 ×. The unmasked product reads all arcs, in equal shares,
at every pull: on an H200 that is far cheaper than to sort the frontier's arcs. It loses on: {direction_loses}. (With
one thread per row, as it was here before, it was 0.17 × on kron 21: a thread alone read a hub's 199,000 arcs.)""",
    """\
*Masking* gains {masking:.2f} ×, the paper 2.58 ×. It loses a tenth or more on: {masking_loses}. The masked product is
the paper's Algorithm 2, one thread per row, and the unmasked one is balanced, which counts where there are few levels
and large hubs.""",
    """\
*Early exit* gains {exit:.2f} ×, the paper 4.02 ×. The greatest gain is {greatest} here, and that of early exit there.
Pulls that check few arcs are little more than launches, which may be why it gains less.""",
    """\
*Operand reuse* gains {reuse:.2f} ×, the paper 2.68 ×. It changes pulls alone: they take {pulls_without:.0f} µs without
it and {pulls_with:.0f} µs with it, and check the same arcs to the last one ([gpu-pushpull.md](gpu-pushpull.md)). Pushes
are the same in both columns, {pushes_without:.0f} and {pushes_with:.0f} µs. What it saves is a bitmap of the frontier,
made where a search turns to pulling: n/8 bytes set to 0 and one pass over the queue, about 20 µs. What it costs: all
visited vertices are read while new ones are found, so that these are merged by a launch of their own after every pull.
A merge moves 3n/8 bytes, {merged:.1f} MB, in a launch that takes microseconds whatever it moves. By the paper's own
GTEPS operand reuse saved 7 ms of 11.5 on a K40c, where writing a vector of two million values takes well under 0.1 ms;
what else it saved there, the paper does not say.""",
]
KRON = "kron21e44"  # the graph of the paper's Table 2
SHORT = {"structure only": "structure", "change of direction": "direction", "masking": "masking", "early exit": "exit",
         "operand reuse": "reuse"}  # fmt: skip


def gains(cells: dict[tuple[str, str], Record], graph: str) -> dict[str, float]:
    """What each optimisation gains over the row before, by its name."""
    times = [cells[graph, plan]["ms"] for plan in PLANS]
    names = [what for what, *_ in TABLE_2.values()]
    return {what: before / after for what, before, after in zip(names[1:], times, times[1:], strict=False)}


def paragraphs(cells: dict[tuple[str, str], Record], graphs: list[str]) -> list[str]:
    """A paragraph on each optimisation, where the paper's graph was measured."""
    if KRON not in graphs:
        return []
    here = gains(cells, KRON)
    greatest = max(here, key=lambda one: here[one])
    said: Record = {SHORT[what]: gain for what, gain in here.items()} | {"greatest": f"that of {greatest}"}
    for column, plan in (("without", "pushpull-exit"), ("with", "pushpull")):
        pulls = cells[KRON, plan]["ms in pulls"]
        said |= {f"pulls_{column}": 1e3 * pulls, f"pushes_{column}": 1e3 * (cells[KRON, plan]["ms"] - pulls)}
    said["merged"] = 3 * cells[KRON, "pushpull"]["n"] / 8 / 1e6
    for what, least in (("change of direction", 1.0), ("masking", 0.9)):
        some = [f"{graph} ({gain:.2f})" for graph in graphs if (gain := gains(cells, graph)[what]) < least]
        said[f"{SHORT[what]}_loses"] = ", ".join(some) or "no graph"
    return [paragraph.format(**said) for paragraph in PUSH_PULL]
