"""The values of gpu-turbobfs.md: TurboBFS's tables from gpu-turbobfs.jsonl, with the paper's numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.papers.turbo_tables import ROWS
from benchmarks.setting import remarks

Record = dict[str, Any]
PLANS = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")  # turbobfs-…

# Our name → the paper's graph, and TurboBFS's speedups over GraphBLAST, gunrock and SuiteSparse:GraphBLAS (Tables I to
# III; OOM: out of memory).
PAPER = {
    "cit-HepPh": ("SNAP/cit-HepPh", "22.7 · 4.2 · 13.3"),
    "email-Enron": ("SNAP/email-Enron", "4.5 · 1.7 · 6.3"),
    "delaunay_n15": ("DIMACS10/delaunay_n15", "9.0 · 3.1 · 8.5"),
    "delaunay_n16": ("DIMACS10/delaunay_n16", "8.9 · 3.4 · 11.7"),
    "astro-ph": ("Newman/astro-ph", "15.0 · 2.7 · 12.7"),
    "luxembourg_osm": ("DIMACS10/luxembourg_osm", "16.8 · 6.7 · 3.5"),
    "smallworld": ("DIMACS10/smallworld", "8.0 · 2.4 · 24.2"),
    "mycielskian12": ("Mycielski/mycielskian12", "5.5 · 2.2 · 7.5"),
    "mycielskian13": ("Mycielski/mycielskian13", "3.9 · 1.8 · 12.5"),
    "mycielskian14": ("Mycielski/mycielskian14", "2.0 · 1.5 · 23.3"),
    "mycielskian15": ("Mycielski/mycielskian15", "1.3 · 1.7 · 30.9"),
    "mycielskian16": ("Mycielski/mycielskian16", "1.1 · 1.5 · 36.2"),
    "mycielskian17": ("Mycielski/mycielskian17", "0.8 · 1.5 · 42.2"),
    "mycielskian18": ("Mycielski/mycielskian18", "0.8 · 1.7 · 48.0"),
    "mycielskian19": ("Mycielski/mycielskian19", "OOM · 1.8 · 57.3"),
    "kron16": ("DIMACS10/kron_g500-logn16", "2.1 · 1.2 · 28.3"),
    "kron17": ("DIMACS10/kron_g500-logn17", "1.7 · 0.8 · 16.7"),
    "kron18": ("DIMACS10/kron_g500-logn18", "1.3 · 0.9 · 30.0"),
    "kron19": ("DIMACS10/kron_g500-logn19", "1.1 · 0.9 · 17.3"),
    "kron20": ("DIMACS10/kron_g500-logn20", "1.1 · 1.1 · 24.6"),
    "kron21": ("DIMACS10/kron_g500-logn21", "0.9 · 1.2 · 15.4"),
}
STATED = {graph: (depth, mteps) for name, graph, depth, mteps in ROWS if name.startswith("TurboBFS")}
LISTED = {(table, graph) for table, graph, *_ in ROWS}
OWN_BIG = "kron25"  # as many vertices and arcs as Table III's graphs, but none of them
OWN_NOTE = (
    " The last row is a graph of that size made here (Graph500's generator, scale 25, 16 edges per vertex), which the "
    "paper does not have."
)


def stated(name: str) -> tuple[int, int]:
    """The paper's d and MTEPS for one of our graphs."""
    return STATED[PAPER[name][0]]


def values(lines: list[Record]) -> Record:
    """The rows of each table, and the values of the notes."""
    by_name = {line["name"]: line | computed(line) for line in lines}
    tables = [[by_name[name] for name, (graph, _) in PAPER.items() if name in by_name and (number, graph) in LISTED]
              for number in ("TurboBFS I", "TurboBFS II")]  # fmt: skip
    regular, irregular = tables
    counting = Counter(min(PLANS[:3], key=lambda plan: float(one[plan]["ms"])) for one in irregular)
    seconds = sorted({line["where"]["seconds per plan"] for line in lines})
    where = lines[-1]["where"]
    return {
        "where": ", ".join(f"{key} {where[key]}" for key in where if key not in ("trials", "seconds per plan")),
        "trials": where["trials"], "seconds": " or ".join(map(str, seconds)), "remarks": remarks(lines),
        "graphs": list(by_name.values()), "regular": regular, "irregular": irregular,
        "fastest": [fastest(some) for some in tables], "differs": [differs(some) for some in tables],
        "best": sum(one["best"] == "bu-ve" for one in irregular), "count": len(irregular),
        "counting": ", ".join(f"{plan} on {count}" for plan, count in counting.most_common()),
        "own": [by_name[OWN_BIG]] if OWN_BIG in by_name else [],
        "own_note": OWN_NOTE if OWN_BIG in by_name else "",
    }  # fmt: skip


def best_of(one: Record) -> str:
    """The fastest algorithm by whole calls."""
    return min(PLANS, key=lambda plan: float(one[plan]["ms"]))


def computed(one: Record) -> Record:
    """What the tables show of a graph besides its line."""
    best, size = best_of(one), one["n"] + one["m"]
    paper = stated(one["name"]) if one["name"] in PAPER else (None, None)
    return {
        "kind": "D" if one["directed"] else "U", "best": best, "MTEPS": one["m"] / one[best]["ms"] / 1e3,
        "MTEPS in levels": round(one["m"] / min(one[plan]["ms in levels"] for plan in PLANS) / 1e3),
        "paper": dict(zip(("d", "MTEPS", "faster"), (*paper, PAPER.get(one["name"], (None, None))[1]), strict=True)),
        "words": 4 * size / 1e6, "n, millions": round(one["n"] / 1e6), "m, millions": round(one["m"] / 1e6),
        "held": {plan: f"{one[plan]['bytes'] / 1e6:.3g} / {one[plan]['bytes'] / size:.1f}" for plan in PLANS},
    }  # fmt: skip


def fastest(some: list[Record]) -> str:
    """How often each algorithm was the fastest."""
    return ", ".join(f"{plan} {count}" for plan, count in Counter(one["best"] for one in some).most_common())


def differs(some: list[Record]) -> str:
    """The graphs whose depth differs from the paper's, and those with fewer MTEPS."""
    other = [f"{one['name']} ({one['d']} for {one['paper']['d']})" for one in some if one["d"] != one["paper"]["d"]]
    lower = [one["name"] for one in some if one["MTEPS"] < one["paper"]["MTEPS"]]
    text = f"d differs on {', '.join(other)}." if other else "d is the paper's on all of them."
    return text + (f" Whole calls have fewer MTEPS than the paper's on {', '.join(lower)}." if lower else "")
