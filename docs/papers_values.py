"""Numbers in the notes of docs/papers.toml, from benchmarks/results: a note says {name}, and a new run changes it.

Papers' own numbers, and numbers that hold by construction, are written out in the notes.
"""

from __future__ import annotations

from functools import cache

from benchmarks import pages
from benchmarks.linalg import products as linalg_products
from benchmarks.papers import turbo_kernels_page, turbobc_page

from docs.speed import last_run


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


def turbobfs() -> dict[str, str]:
    rows = [row for line in pages.lines("papers-turbobfs") if line["number"][:5] == "Table" for row in line["rows"]]
    graphs = {row["graph"]: row for row in rows if "best" in row}
    own = [row for row in graphs.values() if not row["from"].startswith("stand-in")]
    largest = graphs["mycielski19"]
    return {
        "bfs_products": percents(pages.values("gpu-turbo-kernels")["bfs"]),
        "bfs_graphs": f"{len(graphs)} rows on an H200, {len(graphs) - len(own)} of them on stand-ins",
        "bfs_same_depth": f"{sum(row['d'] == row['paper: d'] for row in own)} of the other {len(own)}",
        "bfs_gteps": f"{largest['MTEPS'] / 1e3:.0f}", "bfs_best": largest["best"],
    }  # fmt: skip


def turbobc() -> dict[str, str]:
    page, kernels = pages.values("gpu-turbobc"), pages.values("gpu-turbo-kernels")
    slower = [f"{row['algorithm'].split()[1]} on {row['graph']}" for row in kernels["pairs"] if row["gain"] < 1]
    scc, csc, vec = (page["hub"][plan]["ms"] for plan in turbobc_page.PLANS)
    (largest,) = (one for one in page["graphs"] if one["name"] == "mycielskian19")
    return {
        "bc_products": percents(kernels["bc"]), "bc_whole_numbers": f"{kernels['gain'][1]:.2f}",
        "bc_slower": ", ".join(slower) or "never",
        "bc_load_forward": f"{kernels['most'][turbo_kernels_page.FORWARD]:.1f}",
        "bc_load_back": f"{kernels['most'][turbo_kernels_page.BACKWARD]:.1f}",
        "bc_hub": f"scCOOC takes {scc:.2f} ms per source, veCSC {vec:.2f} and scCSC {csc:.1f}",
        "bc_gteps": f"{largest['turbobc-vecsc']['mteps'] / 1e3:.0f}", "bc_graphs": str(len(page["stated"])),
    }  # fmt: skip


def hiragushi() -> dict[str, str]:
    (figure,) = (line for line in pages.lines("papers-hiragushi") if line["number"] == "Figure 4(a)")
    gains = {row["graph"]: row["gain"] for row in figure["rows"] if "gain" in row}
    least = min(gains, key=lambda graph: gains[graph])
    return {
        "hybrid_kron20": f"{gains['kron_g500-logn20']:.1f}", "hybrid_rows": str(len(gains)),
        "hybrid_least": f"{gains[least]:.1f}", "hybrid_least_on": least,
    }  # fmt: skip


def xbfs() -> dict[str, str]:
    return {"xbfs_graphs": str(len(pages.values("gpu-xbfs")["graphs"]))}


def pushpull() -> dict[str, str]:
    ablations, figures = pages.values("gpu-ablations"), pages.values("gpu-pushpull")
    gains, saved = ablations["gain"], figures["one"]
    *most, last = (f"{gain:.2f}" for gain in gains.values())
    products = last_run("linalg-products-cuda")
    powers = [f"{linalg_products.exponent(products, f'{one}, ms'):.2f}" for one in linalg_products.PRODUCTS]
    (enron,) = (one for one in pages.values("gpu-authors")["graphs"] if one["name"] == "email-Enron")
    (ranks,) = (row for row in last_run("gpu-ranks") if row["graph"].startswith("email-Enron"))
    reuse = [saved["pushpull-exit"][key] / saved["pushpull"][key] for key in ("ms", "ms in pulls")]
    return {
        "reuse": f"{reuse[0]:.2f}", "reuse_pulls": f"{reuse[1]:.2f}",
        "table_2": f"{', '.join(most)} and {last}", "table_2_more": str(len(ablations["graphs"]) - 1),
        "direction": f"{gains['direction']:.2f}",
        "power_rows": powers[0], "power_rows_masked": powers[1], "power_columns": f"{powers[2]} and {powers[3]}",
        "rank_round": f"{ranks['µs per round']:.0f}",
        "pushpull_level": f"{1e3 * enron['pushpull']['ms in levels'] / enron['pushpull']['levels']:.0f}",
        "figure_6": f"{figures['figure_6']['sources']:,}",
    }  # fmt: skip
