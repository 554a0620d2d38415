"""The values of gpu-pushpull.md: push-pull's Figures 5 to 7 and Table 3, from gpu-pushpull.jsonl."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from benchmarks.setting import remarks

Record = dict[str, Any]

# Table 3 and Figure 7 for the graphs of which we make one of equal size. Milliseconds on a Tesla K40c.
PAPER: dict[str, Record] = {
    "kron21e44": {"graph": "kron_g500-logn21", "arcs": 182.1, "degree": 213904, "baseline": 108.7, "ms": 4.088,
                  "MTEPS": 44550},
    "rmat22e64": {"graph": "rmat_s22_e64", "arcs": 483, "degree": 421607, "ms": 4.781, "MTEPS": 101038},
    "rmat23e32": {"graph": "rmat_s23_e32", "arcs": 505.6, "degree": 440396, "ms": 8.655, "MTEPS": 58417},
    "rmat24e16": {"graph": "rmat_s24_e16", "arcs": 519.7, "degree": 432152, "ms": 16.59, "MTEPS": 31327},
}  # fmt: skip


def values(lines: list[Record]) -> Record:
    """The rows of each part that was measured, and the numbers of the notes."""
    parts = {line["part"]: line for line in lines}
    graphs = [one | paper_of(one["graph"]) | {"GTEPS": one["m"] / one["pushpull"] / 1e6,
                     "ratio": one["pushpull-baseline"] / one["pushpull"]}
              for one in lines if one["part"] == "whole"]  # fmt: skip
    kinds, figure_6, reuse = (parts.get(part) for part in ("kinds", "iterations", "reuse"))
    left_out = [paper["graph"] for graph, paper in PAPER.items() if graph not in {one["graph"] for one in graphs}]
    ratios = [one["ratio"] for one in graphs]
    return {
        "remarks": remarks(lines), "kinds": kinds,
        "kind_rows": [row | {"iteration": number, "arcs": row["back"] + row["across"] + row["on"]}
                      for number, row in enumerate(kinds["rows"] if kinds else (), 1)],
        "figure_6": figure_6, "iterations": iterations(figure_6) if figure_6 else [],
        **(quickest(figure_6) if figure_6 else {}),
        "one": reuse, "reuse": [reuse] if reuse else [], **(reused(reuse, graphs[0]["n"]) if reuse else {}),
        "graphs": graphs, "least": min(ratios), "most": max(ratios),
        "kron": next((one for one in graphs if one["graph"] == "kron21e44" and figure_6 and reuse), None),
        "left_out": ", ".join(left_out) or None,
    }  # fmt: skip


def paper_of(graph: str) -> Record:
    """The paper's numbers for a graph of equal size."""
    if graph not in PAPER:
        return {"paper": None, "paper_size": None}
    paper = PAPER[graph]
    size = f"{paper['arcs']} M, {paper['degree']:,}"
    return {"paper": paper | {"GTEPS": paper["MTEPS"] / 1e3}, "paper_size": size}


def span(some: list[float], form: str) -> str:
    """The median, and the tenth and ninetieth percentiles.

    >>> span([1, 2000, 3000], ",.0f")
    '2,000 (1 to 3,000)'
    """
    low, middle, high = (format(value, form) for value in some)
    return f"{middle} ({low} to {high})"


def iterations(one: Record) -> list[Record]:
    """Figure 6: pushes and pulls of each iteration; searches in one direction may have fewer iterations."""
    rows = []
    for number, (push, pull) in enumerate(zip_longest(one["push"], one["pull"]), 1):
        some = push or pull
        rows.append({
            "iteration": number, "searches": some["searches"], "frontier": span(some["frontier"], ",.0f"),
            "unvisited": span(some["unvisited"], ",.0f"), "push": push and span(push["ms"], ".3f"),
            "pull": pull and span(pull["ms"], ".3f"), "looks": pull and pull["looks"],
        })  # fmt: skip
    return rows


def quickest(one: Record) -> Record:
    """The sequence of the faster directions, unless searches had fewer than the note's five iterations."""
    pairs = list(zip(one["push"][:6], one["pull"], strict=False))
    order = ["push" if push["ms"][1] < pull["ms"][1] else "pull" for push, pull in pairs]
    few = "" if one["sources"] >= 1000 else ". The paper took 1,000 sources"
    return {"order": ", ".join(order) if len(pairs) >= 5 else None, "few_sources": few}


def reused(one: Record, n: int) -> Record:
    """The microseconds that operand reuse saves, and those that merging the bitmaps then takes, for n vertices."""
    rest = 1e3 * (one["pushpull-exit"]["ms in pulls"] - one["pushpull"]["ms in pulls"])
    return {"rest": rest, "merge": (one["µs"] - rest) / one["pushpull"]["pulls"], "merged": 3 * n / 8 / 1e6,
            "pushes": 1e3 * one["pushpull"]["ms in pushes"], "pulls": [round(one[plan]["pulls"]) for plan in
            ("pushpull-exit", "pushpull")]}  # fmt: skip
