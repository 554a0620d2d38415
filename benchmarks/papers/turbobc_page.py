"""The values of gpu-turbobc.md: TurboBC's tables from gpu-turbobc.jsonl, with the paper's numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Record = dict[str, Any]
PLANS = ("turbobc-sccooc", "turbobc-sccsc", "turbobc-vecsc")


@dataclass(frozen=True)
class Paper:
    """One line of the paper's tables; its GPU was a Titan Xp."""

    table: int
    algorithm: str
    arcs: int  # thousands
    depth: int
    scf: int
    ms: float
    mteps: int
    faster: str  # speedups over the sequential code · gunrock · ligra


PAPER = {
    "delaunay_n15": Paper(1, "scCSC", 197, 84, 13, 4.7, 42, "14.4 · 2.4 · 1.2"),
    "delaunay_n16": Paper(1, "scCSC", 393, 110, 14, 7.1, 55, "25.3 · 2.2 · 1.9"),
    "luxembourg_osm": Paper(1, "scCSC", 239, 1035, 2, 50.0, 5, "24.7 · 2.3 · 1.0"),
    "smallworld": Paper(2, "scCOOC", 1000, 9, 61, 1.0, 1000, "27.6 · 1.5 · 1.5"),
    "mycielskian15": Paper(3, "veCSC", 11111, 3, 41166, 1.7, 6536, "17.4 · 1.2 · 2.3"),
    "mycielskian16": Paper(3, "veCSC", 33383, 3, 82833, 3.4, 9819, "26.6 · 1.5 · 3.4"),
    "mycielskian17": Paper(3, "veCSC", 100246, 3, 166407, 7.9, 12689, "34.6 · 1.7 · 4.4"),
    "mycielskian18": Paper(3, "veCSC", 300934, 3, 333199, 18.5, 16267, "45.8 · 2.1 · 5.1"),
    "mycielskian19": Paper(3, "veCSC", 903195, 3, 651837, 48.9, 18470, "53.1 · 2.7 · 5.2"),
    "kron18": Paper(3, "veCSC", 21166, 6, 5846, 8.7, 2433, "31.6 · 0.9 · 1.1"),
    "kron19": Paper(3, "veCSC", 43563, 6, 6609, 17.4, 2504, "44.7 · 1.0 · 0.9"),
    "kron20": Paper(3, "veCSC", 89241, 6, 7410, 58.4, 1528, "34.0 · 1.3 · 1.0"),
    "kron21": Paper(3, "veCSC", 182084, 6, 8161, 193.2, 943, "24.5 · 1.1 · 1.0"),
}
EXACT = {"mycielskian16": (159.8, 10257), "mycielskian17": (715.2, 13778)}  # Table 5: seconds, MTEPS
MESHES = ("delaunay_n15", "email-Enron", "luxembourg_osm")  # exact runs that the paper does not have
ORDER = [
    *PAPER,
    *("email-Enron", "cnr-2000", "ego-Twitter", "wiki-Vote"),  # the last three are directed
    *("grid1000", "delaunay18", "hub17"),
]


def values(lines: list[Record]) -> Record:
    """A record for each graph, and the graphs of each table."""
    by_name = {line["name"]: line for line in lines}
    graphs = [by_name[name] | computed(by_name[name]) for name in ORDER if name in by_name]
    return {
        "graphs": graphs,
        "stated": [one for one in graphs if one["paper"]],
        "whole": [one | all_sources(one) for one in graphs if one["name"] in (*EXACT, *MESHES)],
        "hub": by_name.get("hub17"),
    }


def computed(one: Record) -> Record:
    """What the tables show of a graph besides its record."""
    paper, best = PAPER.get(one["name"]), min(PLANS, key=lambda plan: float(one[plan]["ms"]))
    found: Record = {"ours": None, "paper": paper and asdict(paper), "paper_graph": None, "paper_time": None}
    if paper:
        found["paper_graph"] = f"{paper.arcs}k · {paper.depth} · {paper.scf}"
        found["paper_time"] = f"{paper.ms} ms, {paper.mteps} MTEPS ({paper.algorithm})"
        if not one["name"].startswith(("kron", "smallworld")):  # these are not the paper's own graphs
            found["departs"] = "no" if one["scf"] == paper.scf else f"{one['scf'] / paper.scf - 1:+.2%}"
    if own := one["ours"]:
        found["ours"] = own | {"shown": f"{own['ms']:.3g} ({own['plan']})", "mteps": round(own["mteps"])}
    return {"departs": None} | found | {
        "mteps": f"{one[best]['mteps']:.0f} ({best.removeprefix('turbobc-')})",
        "7n + m": (7 * one["n"] + one["m"]) * 4 / 1e6, "9n + 2m": (9 * one["n"] + 2 * one["m"]) * 4 / 1e6,
        **{f"{plan} MB": one[plan]["words"] * 4 / 1e6 for plan in PLANS},
    }  # fmt: skip


def all_sources(one: Record) -> Record:
    """Seconds for all sources: extrapolated for the paper's plans, measured for ours if it was run."""
    paper, exact, own = EXACT.get(one["name"]), one.get("exact"), one["ours"]
    projected = own and f"{own['ms'] * one['n'] / 1e3:.3g} (projected)"
    return {
        "n · m": one["n"] * one["m"] / 1e6, "paper_whole": paper and f"{paper[0]} ({paper[1]} MTEPS)",
        "seconds": [one[plan]["ms"] * one["n"] / 1e3 for plan in PLANS], "certificate": exact and exact["certificate"],
        "ours_whole": f"{exact['seconds']:.3g}" if exact else projected,
    }  # fmt: skip
