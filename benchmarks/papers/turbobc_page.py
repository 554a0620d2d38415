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
    faster: str  # times faster than the sequential code · gunrock · ligra


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
# Table 4: n and m in millions, d, scf, seconds, MTEPS, times faster than the sequential code · ligra.
BIG = {
    "kmer-V1r (U)": (214, 465, 324, 2, 14.3, 33, "94.5 · 0.9"),
    "it-2004 (D)": (42, 1151, 50, 543, 3.1, 371, "39.5 · 0.8"),
    "GAP-twitter (D)": (62, 1469, 15, 126, 7.3, 201, "50.4 · 0.8"),
    "sk-2005 (D)": (51, 1950, 54, 1262, 6.8, 287, "30.5 · 0.7"),
}
EXACT = {"mycielskian16": (159.8, 10257), "mycielskian17": (715.2, 13778)}  # Table 5: seconds, MTEPS
MESHES = ("delaunay_n15", "email-Enron", "luxembourg_osm")  # exact runs that the paper does not have
ORDER = [
    *PAPER,
    *("email-Enron", "cnr-2000", "ego-Twitter", "wiki-Vote"),  # the last three directed
    *("grid1000", "delaunay18", "hub17"),
]

NOTE = (
    "Milliseconds per source, measured on the host. The paper's figures are quoted from it: the algorithm it found "
    "best, on a Titan Xp; its d also counts the last, empty level. *In float64* and *on the CPU* count, among the "
    "sources timed with scCSC, those whose path counts exceeded 32 bits and those whose levels span more than the "
    "range of float64. *Paper over others*: how many times faster TurboBC was than its sequential code, gunrock and "
    "ligra, on the authors' machine. *Ours* is `plan='auto'` with 64 sources. Every score of every algorithm agreed to "
    "1e-9 with the CPU engine's, on graphs of over 500 million arcs with sums made of CuPy's own operations, before it "
    "was timed."
)
HUB = (
    "hub17 is made like the mawi graphs of Table 2, which cannot be downloaded here: one vertex is joined to 88% of "
    "all others, and the mean degree is 2. The paper finds scCOOC the fastest on such graphs (section 4.1), since a "
    "thread or a warp that reads the column of that vertex keeps all others waiting. Here scCOOC takes {0:.3g} ms per "
    "source, scCSC {1:.3g} and veCSC {2:.3g}."
)
MEMORY = (
    "Megabytes that CuPy's memory pool holds for a run, × the paper's 7n + m words of 4 bytes. 9n + 2m words is what "
    "the paper counts for gunrock's arrays; gunrock itself was not run. Each vertex has the "
    "paper's seven arrays, but four of them are float64 (float32 cannot be certified to 1e-9): 11n + m words. Where "
    "path counts needed float64, there is one n more. scCOOC also stores m columns."
)
SCF = (
    "The formula is a picture that is not in the paper's text. Σ degree(u)·degree(v) over the arcs, divided by n times "
    "the greatest degree, gives the paper's value for every graph that is the paper's own up to mycielskian17; for "
    "mycielskian18 and 19 the paper's values are lower, for a reason that we do not know. Nothing is said of "
    "the kron and smallworld graphs, which are made here with other random numbers."
)
BIG_NOTE = (
    "Table 4 is not to be had: these graphs of 0.5 to 2 billion arcs cannot be downloaded here. The values are the "
    "paper's; gunrock ran out of memory on all four."
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
    if "hub17" in by_name:
        text.append(HUB.format(*(by_name["hub17"][plan]["ms"] for plan in PLANS)))
    text += ["## Memory (Figures 3-5)", table(map(memory_row, records)), MEMORY]
    if scf := scf_rows(records):
        text += ["## The scale-free metric (equation 5)", table(scf), SCF]
    text += ["## Big graphs (Table 4)", table(big_rows()), BIG_NOTE]
    exact = [exact_row(one) for one in records if one["name"] in (*EXACT, *MESHES)]
    if exact:
        text += ["## All sources (Table 5)", table(exact), WHOLE]
    return "\n\n".join(text) + "\n"


def speed_row(one: dict[str, Any]) -> dict[str, Any]:
    paper, best = PAPER.get(one["name"]), min(PLANS, key=lambda plan: one[plan]["ms"])
    row = {key: one[key] for key in ("graph", "n", "m", "degree max/mean/std", "scf", "depth")}
    row["paper m · d · scf"] = f"{paper.arcs}k · {paper.depth} · {paper.scf}" if paper else None
    row["paper"] = f"{paper.ms} ms, {paper.mteps} MTEPS ({paper.algorithm})" if paper else None
    row["paper over others ×"] = paper.faster if paper else None
    row |= {plan.removeprefix("turbobc-"): f"{one[plan]['ms']:.3g}" for plan in PLANS}
    row["MTEPS"] = f"{one[best]['mteps']:.0f} ({best.removeprefix('turbobc-')})"
    again = one["turbobc-sccsc"]
    row["in float64 · on the CPU"] = f"{again['in float64']} · {again['on the cpu']} of {again['sources']}"
    own = one["ours"]
    return row | {"ours": own and f"{own['ms']:.3g} ({own['plan']})", "ours MTEPS": own and round(own["mteps"])}


def memory_row(one: dict[str, Any]) -> dict[str, Any]:
    row = {"graph": one["graph"], "7n + m, MB": (7 * one["n"] + one["m"]) * 4 / 1e6}
    row["9n + 2m, MB"] = (9 * one["n"] + 2 * one["m"]) * 4 / 1e6
    for plan in PLANS:
        short = plan.removeprefix("turbobc-")
        row |= {f"{short} MB": one[plan]["words"] * 4 / 1e6, f"{short} ×": one[plan]["words over 7n + m"]}
    return row


def scf_rows(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Our equation 5 beside the paper's values; the kron and smallworld graphs are not the paper's own."""
    rows = []
    for one in records:
        paper = PAPER.get(one["name"])
        if paper:
            same = not one["name"].startswith(("kron", "smallworld"))
            departs = None if not same else "no" if one["scf"] == paper.scf else f"{one['scf'] / paper.scf - 1:+.2%}"
            rows.append({"graph": one["graph"], "scf": one["scf"], "paper's scf": paper.scf, "departs": departs})
    return rows


def big_rows() -> list[dict[str, Any]]:
    """What the paper states in Table 4."""
    heads = ("n, millions", "m, millions", "d", "scf", "paper s", "paper MTEPS", "paper over sequential · ligra ×")
    return [{"graph": name} | dict(zip(heads, values, strict=True)) for name, values in BIG.items()]


def exact_row(one: dict[str, Any]) -> dict[str, Any]:
    paper = EXACT.get(one["name"])
    row = {"graph": one["graph"], "n · m, millions": f"{one['n'] * one['m'] / 1e6:.0f}"}
    row["paper s"] = f"{paper[0]} ({paper[1]} MTEPS)" if paper else "–"
    row |= {f"{plan.removeprefix('turbobc-')} s": f"{one[plan]['ms'] * one['n'] / 1e3:.3g}" for plan in PLANS}
    exact, own = one.get("exact"), one["ours"]
    row["ours s"] = f"{exact['seconds']:.3g}" if exact else own and f"{own['ms'] * one['n'] / 1e3:.3g} (projected)"
    return row | {"certificate": exact and f"{exact['certificate']:.1e}"}
