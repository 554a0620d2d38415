"""The values of gpu-turbobfs.md: TurboBFS's tables from gpu-turbobfs.jsonl, with the paper's numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from benchmarks.setting import remarks
from hopwave.papers.records import Case
from hopwave.papers.turbobfs import TABLE_I, TABLE_II

Record = dict[str, Any]
PLANS = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")  # turbobfs-…


def short(case: Case) -> str:
    """Our name of a graph of the paper."""
    if case.made and case.made[0] in ("kron", "mycielskian"):
        return f"{case.made[0]}{case.made[1]}"
    return case.name.rpartition("/")[2] or case.shown


TABLES = {"I": {short(case): case for case in TABLE_I}, "II": {short(case): case for case in TABLE_II}}
PAPER = {name: case.stated for table in TABLES.values() for name, case in table.items()}
OWN_BIG = "kron25"  # as many vertices and arcs as Table III's graphs, but none of them
OWN_NOTE = (
    " The last row is a graph of that size made here (Graph500's generator, scale 25, 16 edges per vertex), which the "
    "paper does not have."
)


def values(lines: list[Record]) -> Record:
    """The rows of each table, and the values of the notes."""
    by_name = {line["name"]: line | computed(line) for line in lines}
    tables = [[by_name[name] for name in table if name in by_name] for table in TABLES.values()]
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
    paper = PAPER.get(one["name"], {})
    others = [str(paper[f"({program})x"]) for program in ("GBLAST", "gunrock", "GBLAS")] if paper else []
    return {
        "kind": "D" if one["directed"] else "U", "best": best, "MTEPS": one["m"] / one[best]["ms"] / 1e3,
        "MTEPS in levels": round(one["m"] / min(one[plan]["ms in levels"] for plan in PLANS) / 1e3),
        "paper": {"d": paper.get("d"), "MTEPS": paper.get("MTEPS"), "faster": " · ".join(others) or None},
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
