"""The values of gpu-authors.md: the papers' plans compared with their authors' programs."""

from __future__ import annotations

from statistics import median
from typing import Any

from benchmarks.setting import remarks

Record = dict[str, Any]
TURBOBFS = [f"turbobfs-{name}" for name in ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu")]
PLANS = ["hopwave-gpu", *TURBOBFS, "xbfs", "pushpull"]
# Milliseconds of the authors' programs on an H200, median of 6 sources: TurboBFS, XBFS (its kernels alone), GraphBLAST.
# Collected before hopwave was written. The last two are Gunrock 1.2 and GSWITCH, for which there is no plan.
AUTHORS: dict[str, tuple[float | None, float | str | None, float | None, float, float]] = {
    "email-Enron": (1.52, 0.57, 1.10, 0.79, 1.12),
    "kron18e43": (1.85, 0.40, 0.76, 0.55, 11.8),
    "kron21e44": (7.4, 0.87, None, 0.64, 47),
    "rmat22e64": (15, 1.33, None, 0.73, 104),
    "uniform20e16": (2.47, 0.59, 1.00, 0.80, 1.70),
    "mycielskian17": (1.79, 0.19, 0.46, 3.74, 12),
    "delaunay20": (56, "> 25.9", 69.8, 41.6, 10.9),
    "grid1000": (499, 90, 215, 146, 32.5),
    "luxembourg_osm": (19.2, 45, 146, 108, 21.8),
    "osm-netherlands-cities": (20.9, 39, 100, 71, 15.4),
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
    theirs = dict(zip(("TurboBFS", "XBFS", "GraphBLAST", "Gunrock", "GSWITCH"), AUTHORS[one["name"]], strict=True))
    ours = {"TurboBFS": one[best]["ms"], "XBFS": one["xbfs"]["ms in levels"], "GraphBLAST": one["pushpull"]["ms"]}
    gain = {program: value / ms if isinstance(value := theirs[program], (int, float)) else None
            for program, ms in ours.items()}  # fmt: skip
    return {"turbobfs": one[best], "best": best.removeprefix("turbobfs-"), "levels": round(one[best]["levels"]),
            "theirs": theirs, "gain": gain}  # fmt: skip


def host_time(lines: list[Record], plans: list[str]) -> float:
    """Milliseconds that whole calls take beyond their levels: the median over graphs and plans."""
    return median(one[plan]["ms"] - one[plan]["ms in levels"] for one in lines for plan in plans)
