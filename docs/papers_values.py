"""Numbers in the notes of docs/papers.toml, from benchmarks/results: a note says {name}, and a new run changes it.

Papers' own numbers, and numbers that hold by construction, are written out in the notes.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import Any

from benchmarks import pages, turbo_kernels


@cache
def values() -> dict[str, str]:
    """Every number by its name.

    >>> "table_2" in values()
    True
    """
    return turbobfs() | turbobc() | hiragushi() | xbfs() | pushpull()


def percents(shares: list[float]) -> str:
    """The least and the greatest, as percentages.

    >>> percents([0.873, 0.999])
    '87 to 100%'
    """
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f}%"


def rows_of(paper: str, number: str) -> list[dict[str, Any]]:
    """The rows of a paper's table or figure, or of all whose numbers begin so."""
    lines = pages.lines(f"papers-{paper}", pages.RESULTS)
    return [row for line in lines if line["number"].startswith(number) for row in line["rows"]]


def turbobfs() -> dict[str, str]:
    graphs = {row["graph"]: row for row in rows_of("turbobfs", "Table") if "best" in row}
    own = [row for row in graphs.values() if not row["from"].startswith("stand-in")]
    largest = graphs["mycielski19"]
    return {
        "bfs_products": percents(pages.values("gpu-turbo-kernels")["bfs"]),
        "bfs_graphs": f"{len(graphs)} rows on an H200, {len(graphs) - len(own)} of them on stand-ins",
        "bfs_same_depth": f"{sum(row['d'] == row['paper: d'] for row in own)} of the other {len(own)}",
        "bfs_gteps": f"{largest['MTEPS'] / 1e3:.0f}", "bfs_best": largest["best"],
    }  # fmt: skip


def turbobc() -> dict[str, str]:
    kernels = pages.values("gpu-turbo-kernels")
    slower = [f"{row['algorithm'].split()[1]} on {row['graph']}" for row in kernels["pairs"] if row["gain"] < 1]
    graphs = {row["graph"]: row for number in "1234" for row in rows_of("turbobc", f"Table {number}") if "best" in row}
    scc, csc, vec = (graphs["mawi-12345"][f"{plan} ms"] for plan in ("sccooc", "sccsc", "vecsc"))
    stand_ins = sum(row["from"].startswith("stand-in") for row in graphs.values())
    return {
        "bc_products": percents(kernels["bc"]), "bc_whole_numbers": f"{kernels['gain'][1]:.2f}",
        "bc_slower": ", ".join(slower) or "never",
        "bc_load_forward": f"{kernels['most'][turbo_kernels.FORWARD]:.1f}",
        "bc_load_back": f"{kernels['most'][turbo_kernels.BACKWARD]:.1f}",
        "bc_hub": f"scCOOC takes {scc:.2f} ms per source, veCSC {vec:.2f} and scCSC {csc:.1f}",
        "bc_gteps": f"{graphs['mycielski19']['MTEPS'] / 1e3:.0f}",
        "bc_graphs": f"{len(graphs)} of the 33 graphs on an H200, {stand_ins} of them stand-ins",
    }  # fmt: skip


def hiragushi() -> dict[str, str]:
    gains = {row["graph"]: row["gain"] for row in rows_of("hiragushi", "Figure 4(a)") if "gain" in row}
    least = min(gains, key=lambda graph: gains[graph])
    return {
        "hybrid_kron20": f"{gains['kron_g500-logn20']:.1f}", "hybrid_rows": str(len(gains)),
        "hybrid_least": f"{gains[least]:.1f}", "hybrid_least_on": least,
    }  # fmt: skip


def xbfs() -> dict[str, str]:
    def spread(number: str, column: str) -> str:
        found = [row[column] for row in rows_of("xbfs", number) if column in row]
        return f"{min(found):.0f} to {max(found):.0f}"

    text = {row.get("claim", row.get("what")): row.get("ours") for row in rows_of("xbfs", "Text")}
    gains = [row for row in rows_of("xbfs", "Figure 11") if "gain: XBFS" in row]
    ad, wb, whole = ([row[f"gain: {name}"] for row in gains] for name in ("Ad", "Ad + WB", "XBFS"))
    ahead = [after / before for before, after in zip(wb, whole, strict=True)]
    shared = [row for row in rows_of("xbfs", "Figure 14") if "balance: donation" in row]
    donation = fmean(row["balance: donation"] / row["balance: warp-centric"] for row in shared)
    return {
        "xbfs_graphs": str(sum("XBFS ms" in row for row in rows_of("xbfs", "Table 2"))),
        "xbfs_ahead": spread("Figure 10", "found ahead %"), "xbfs_lemma": spread("Figure 10", "Lemma 3 %"),
        "xbfs_scan_free": f"{text['share of scan-free, %']:.0f}",
        "xbfs_double_scan": f"{text['share of double-scan, %']:.0f}",
        "xbfs_gains": f"{fmean(ad):.2f}, {fmean(wb):.2f} and {fmean(whole):.2f}", "xbfs_donation": f"{donation:.3f}",
        "xbfs_looking": f"× {min(ahead):.2f} to {max(ahead):.2f}, faster on {sum(gain > 1 for gain in ahead)} of "
                        f"{len(ahead)} graphs",
    }  # fmt: skip


def pushpull() -> dict[str, str]:
    gains = [row["gain"] for row in rows_of("pushpull", "Table 2") if "gain" in row]
    *most, last = (f"{gain:.2f}" for gain in gains)
    powers = [f"{row['exponent']:.2f}" for row in rows_of("pushpull", "Table 1")]
    (enron,) = (one for one in pages.values("gpu-authors")["graphs"] if one["name"] == "email-Enron")
    (ranks,) = (row for row in pages.rows("gpu-pagerank") if row["graph"] == "email-Enron")
    return {
        "reuse": last, "table_2": f"{', '.join(most)} and {last}", "direction": f"{gains[1]:.2f}",
        "power_rows": powers[0], "power_rows_masked": powers[1], "power_columns": f"{powers[2]} and {powers[3]}",
        "rank_round": f"{ranks['µs per round']:.0f}",
        "pushpull_level": f"{1e3 * enron['pushpull']['ms in levels'] / enron['pushpull']['levels']:.0f}",
    }  # fmt: skip
