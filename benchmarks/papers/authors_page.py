"""The values of gpu-authors.md: the papers' plans compared with their authors' programs."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from benchmarks.setting import ROOT, remarks

Record = dict[str, Any]
TURBOBFS = [f"turbobfs-{name}" for name in ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")]
PLANS = ["hopwave-dense", *TURBOBFS, "xbfs", "pushpull"]
PROGRAMS = ("TurboBFS", "XBFS", "GraphBLAST", "Gunrock", "GSWITCH")
# Milliseconds of other programs on an H200, by graph and program: peers-authors.jsonl has the lines.
AUTHORS: dict[str, Record] = {
    row["graph"]: {program: row.get(f"{program} ms") for program in PROGRAMS}
    for row in json.loads((ROOT / "benchmarks/results/peers-authors.jsonl").read_text(encoding="utf-8"))["rows"]
}


def values(lines: list[Record]) -> Record:
    """Our times, theirs, and the host's time."""
    graphs = [one | computed(one) for one in lines]
    slower = [f"{program} on {one['name']} ({gain:.2g})" for one in graphs
              for program, gain in one["gain"].items() if gain is not None and gain < 1]  # fmt: skip
    return {
        "sources": lines[-1]["where"]["sources"], "remarks": remarks(lines), "graphs": graphs,
        "slower": ", ".join(slower) or "none",
        "host_rule": host_time(lines, ["xbfs", "pushpull"]), "host_ahead": host_time(lines, TURBOBFS[:5]),
    }  # fmt: skip


def computed(one: Record) -> Record:
    """The fastest of TurboBFS's algorithms, the authors' times, and their ratios to ours."""
    best = min(TURBOBFS, key=lambda plan: float(one[plan]["ms"]))
    slowest = max(TURBOBFS, key=lambda plan: float(one[plan]["ms"]))
    theirs = AUTHORS[one["name"]]
    ours = {"TurboBFS": one[best]["ms"], "XBFS": one["xbfs"]["ms in levels"], "GraphBLAST": one["pushpull"]["ms"]}
    gain = {program: value / ms if isinstance(value := theirs[program], (int, float)) else None
            for program, ms in ours.items()}  # fmt: skip
    return {"turbobfs": one[best], "best": best.removeprefix("turbobfs-"), "levels": round(one[best]["levels"]),
            "theirs": theirs, "gain": gain, "slowest": slowest.removeprefix("turbobfs-"),
            "slow": one[slowest]}  # fmt: skip


def host_time(lines: list[Record], plans: list[str]) -> float:
    """Milliseconds that whole calls take beyond their levels: the median over graphs and plans."""
    return median(one[plan]["ms"] - one[plan]["ms in levels"] for one in lines for plan in plans)
