"""The page of TurboBC's tables, made from gpu-turbobc.jsonl, with the paper's own figures. It needs no GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.setting import table

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


PAPER = {
    "delaunay_n15": Paper(1, "scCSC", 197, 84, 13, 4.7, 42),
    "delaunay_n16": Paper(1, "scCSC", 393, 110, 14, 7.1, 55),
    "luxembourg_osm": Paper(1, "scCSC", 239, 1035, 2, 50.0, 5),
    "smallworld": Paper(2, "scCOOC", 1000, 9, 61, 1.0, 1000),
    "mycielskian15": Paper(3, "veCSC", 11111, 3, 41166, 1.7, 6536),
    "mycielskian16": Paper(3, "veCSC", 33383, 3, 82833, 3.4, 9819),
    "mycielskian17": Paper(3, "veCSC", 100246, 3, 166407, 7.9, 12689),
    "mycielskian18": Paper(3, "veCSC", 300934, 3, 333199, 18.5, 16267),
    "kron18": Paper(3, "veCSC", 21166, 6, 5846, 8.7, 2433),
    "kron19": Paper(3, "veCSC", 43563, 6, 6609, 17.4, 2504),
    "kron20": Paper(3, "veCSC", 89241, 6, 7410, 58.4, 1528),
    "kron21": Paper(3, "veCSC", 182084, 6, 8161, 193.2, 943),
}
EXACT = {"mycielskian16": (159.8, 10257), "mycielskian17": (715.2, 13778)}  # Table 5: seconds, MTEPS
MESHES = ("delaunay_n15", "email-Enron", "luxembourg_osm")  # exact runs that the paper does not have
ORDER = [
    *PAPER,
    *("email-Enron", "cnr-2000", "ego-Twitter", "wiki-Vote"),  # the last three directed
    *("grid1000", "delaunay18"),
]

NOTE = (
    "Milliseconds per source, measured on the host. The paper's figures are quoted from it: the algorithm it found "
    "best, on a Titan Xp; its d also counts the last, empty level. *In float64* and *on the CPU* count, among the "
    "sources timed with scCSC, those whose path counts exceeded 32 bits and those whose levels span more than the "
    "range of float64. *Ours* is `plan='auto'` with 64 sources. Every score of every algorithm agreed with the CPU "
    "engine's to 1e-9 before it was timed."
)
MEMORY = (
    "Words of 4 bytes that CuPy's memory pool holds for a run, divided by the paper's 7n + m. Each vertex has the "
    "paper's seven arrays, but four of them are float64 (float32 cannot be certified to 1e-9): 11n + m words. Where "
    "path counts needed float64, there is one n more. scCOOC also stores m columns."
)
WHOLE = (
    "TurboBC's times are the milliseconds per source above, times n: a projection from up to 64 sources. Ours was run"
    " on all sources and certified, unless marked as projected. *Certificate* is its relative error."
)


def tables(by_name: dict[str, dict[str, Any]]) -> str:
    """The page of results, from the record of each graph."""
    records = [by_name[name] for name in ORDER if name in by_name]
    text = ["# TurboBC's tables", ", ".join(f"{key} {value}" for key, value in records[0]["where"].items())]
    text += ["## One source (Tables 1-3)", table(map(speed_row, records)), NOTE]
    text += ["## Memory (Figures 3-5)", table(map(memory_row, records)), MEMORY]
    exact = [exact_row(one) for one in records if one["name"] in (*EXACT, *MESHES)]
    if exact:
        text += ["## All sources (Table 5)", table(exact), WHOLE]
    return "\n\n".join(text) + "\n"


def speed_row(one: dict[str, Any]) -> dict[str, Any]:
    paper, best = PAPER.get(one["name"]), min(PLANS, key=lambda plan: one[plan]["ms"])
    row = {key: one[key] for key in ("graph", "n", "m", "degree max/mean/std", "scf", "depth")}
    row["paper m · d · scf"] = f"{paper.arcs}k · {paper.depth} · {paper.scf}" if paper else None
    row["paper"] = f"{paper.ms} ms, {paper.mteps} MTEPS ({paper.algorithm})" if paper else None
    row |= {plan.removeprefix("turbobc-"): f"{one[plan]['ms']:.3g}" for plan in PLANS}
    row["MTEPS"] = f"{one[best]['mteps']:.0f} ({best.removeprefix('turbobc-')})"
    again = one["turbobc-sccsc"]
    row["in float64 · on the CPU"] = f"{again['in float64']} · {again['on the cpu']} of {again['sources']}"
    own = one["ours"]
    return row | {"ours": own and f"{own['ms']:.3g} ({own['plan']})", "ours MTEPS": own and round(own["mteps"])}


def memory_row(one: dict[str, Any]) -> dict[str, Any]:
    row = {"graph": one["graph"], "7n + m, MB": (7 * one["n"] + one["m"]) * 4 / 1e6}
    for plan in PLANS:
        short = plan.removeprefix("turbobc-")
        row |= {f"{short} MB": one[plan]["words"] * 4 / 1e6, f"{short} ×": one[plan]["words over 7n + m"]}
    return row


def exact_row(one: dict[str, Any]) -> dict[str, Any]:
    paper = EXACT.get(one["name"])
    row = {"graph": one["graph"], "n · m, millions": f"{one['n'] * one['m'] / 1e6:.0f}"}
    row["paper s"] = f"{paper[0]} ({paper[1]} MTEPS)" if paper else "–"
    row |= {f"{plan.removeprefix('turbobc-')} s": f"{one[plan]['ms'] * one['n'] / 1e3:.3g}" for plan in PLANS}
    exact, own = one.get("exact"), one["ours"]
    row["ours s"] = f"{exact['seconds']:.3g}" if exact else own and f"{own['ms'] * one['n'] / 1e3:.3g} (projected)"
    return row | {"certificate": exact and f"{exact['certificate']:.1e}"}
