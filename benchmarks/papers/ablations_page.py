"""The values of gpu-ablations.md: push-pull's Table 2, from gpu-ablations.jsonl."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from benchmarks.setting import remarks

Record = dict[str, Any]
# The rows of Table 2; each adds one idea to the row before.
PLANS = {"pushpull-baseline": "baseline", "pushpull-structure": "structure", "pushpull-direction": "direction",
         "pushpull-masking": "masking", "pushpull-exit": "exit", "pushpull": "reuse"}  # fmt: skip
NAMES = {"structure": "structure only", "direction": "change of direction", "masking": "masking", "exit": "early exit",
         "reuse": "operand reuse"}  # fmt: skip
KRON = "kron21e44"  # the graph of the paper's Table 2


def values(lines: list[Record]) -> Record:
    """A row for each graph, and the numbers of the notes about the paper's graph."""
    graphs = by_graph(lines)
    said: Record = {"graphs": list(graphs.values()), "remarks": remarks(lines), "gain": None, "kron": None}
    for idea, least in (("direction", 1.0), ("masking", 0.9)):
        some = [f"{graph} ({one['gain'][idea]:.2f})" for graph, one in graphs.items() if one["gain"][idea] < least]
        said[f"{idea}_loses"] = ", ".join(some) or "no graph"
    if KRON in graphs:
        kron = graphs[KRON]
        said |= {"gain": kron["gain"], "greatest": NAMES[max(kron["gain"], key=lambda idea: kron["gain"][idea])]}
        for column in ("exit", "reuse"):
            pulls = kron[column]["ms in pulls"]
            said[column] = {"pulls": 1e3 * pulls, "pushes": 1e3 * (kron[column]["ms"] - pulls)}
        said["merged"] = 3 * kron["reuse"]["n"] / 8 / 1e6
    return said


def by_graph(lines: list[Record]) -> dict[str, Record]:
    """The lines of each graph by idea, and the gain of each idea over the row before."""
    found: dict[str, Record] = {}
    for line in lines:
        found.setdefault(line["graph"], {"graph": line["graph"]})[PLANS[line["plan"]]] = line
    for one in found.values():
        one["gain"] = {idea: one[before]["ms"] / one[idea]["ms"] for before, idea in pairwise(PLANS.values())}
    return found
