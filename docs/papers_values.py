"""Numbers in the notes of docs/papers.toml, from benchmarks/results: a note says {name}, and a new run changes it.

Papers' own numbers, and what is so by construction, are written out in the notes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from benchmarks.linalg import products as linalg_products
from benchmarks.pages import RESULTS
from benchmarks.papers import ablations_page, turbo_kernels_page, turbobc_page, turbobfs_page
from benchmarks.papers import pages as papers_pages

from docs.speed import last_run

Record = dict[str, Any]


def lines(name: str) -> list[Record]:
    """All lines of a .jsonl file."""
    return [json.loads(line) for line in (RESULTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@cache
def values() -> dict[str, str]:
    """Every number by its name.

    >>> "table_2" in values()
    True
    """
    return turbobfs() | turbobc() | hiragushi() | xbfs() | pushpull()


def percents(shares: list[float]) -> str:
    """From the least to the greatest.

    >>> percents([0.873, 0.999])
    '87 to 100%'
    """
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f}%"


def product_shares(paper: str) -> list[float]:
    """Of the time in kernels, by algorithm and graph."""
    some = [one for one in lines("gpu-turbo-kernels") if one["algorithm"].startswith(paper)]
    return [turbo_kernels_page.products(one) / turbo_kernels_page.spent(one) for one in some]


def turbobfs() -> dict[str, str]:
    graphs = {one["name"]: one for one in lines("gpu-turbobfs") if one["name"] in turbobfs_page.PAPER}
    largest = graphs["mycielskian19"]
    best = turbobfs_page.best_of(largest)
    return {
        "bfs_products": percents(product_shares("TurboBFS")), "bfs_graphs": str(len(graphs)),
        "bfs_same_depth": str(sum(one["d"] == turbobfs_page.stated(name)[0] for name, one in graphs.items())),
        "bfs_gteps": f"{largest['m'] / largest[best]['ms'] / 1e6:.0f}", "bfs_best": best,
    }  # fmt: skip


def turbobc() -> dict[str, str]:
    graphs, kernels = {one["name"]: one for one in lines("gpu-turbobc")}, lines("gpu-turbo-kernels")
    gains = {(row["graph"], row["algorithm"].split()[1]): row["float64 / whole"]
             for row in turbo_kernels_page.type_rows(kernels)}  # fmt: skip
    slower = [f"{algorithm} on {graph}" for (graph, algorithm), gain in gains.items() if gain < 1]
    loads = [max(row[f"{role}, GB/s loaded"] for row in turbo_kernels_page.load_rows(kernels))
             for role in (turbo_kernels_page.FORWARD, turbo_kernels_page.BACKWARD)]  # fmt: skip
    scc, csc, vec = (graphs["hub17"][plan]["ms"] for plan in turbobc_page.PLANS)
    return {
        "bc_products": percents(product_shares("TurboBC")), "bc_whole_numbers": f"{max(gains.values()):.2f}",
        "bc_slower": ", ".join(slower) or "never",
        "bc_load_forward": f"{loads[0] / turbo_kernels_page.BANDWIDTH:.1f}",
        "bc_load_back": f"{loads[1] / turbo_kernels_page.BANDWIDTH:.1f}",
        "bc_hub": f"scCOOC takes {scc:.2f} ms per source, veCSC {vec:.2f} and scCSC {csc:.1f}",
        "bc_gteps": f"{graphs['mycielskian19']['turbobc-vecsc']['mteps'] / 1e3:.0f}",
        "bc_graphs": str(sum(name in turbobc_page.PAPER for name in graphs)),
    }  # fmt: skip


def hiragushi() -> dict[str, str]:
    graphs = lines("gpu-hiragushi")
    kron20 = papers_pages.most_gained([one for one in graphs if one["name"] == "kron20"])
    most = papers_pages.most_gained(graphs)
    return {"hybrid_kron20": f"{kron20['most']:.1f}", "hybrid_most": f"{most['most']:.1f}", "hybrid_on": most["graph"]}


def xbfs() -> dict[str, str]:
    graphs = {one["graph"] for one in lines("gpu-xbfs") if "sources" in one}
    return {"xbfs_graphs": str(len(graphs))}


def pushpull() -> dict[str, str]:
    cells = {(one["graph"], one["plan"]): one for one in lines("gpu-ablations")}
    gains = ablations_page.gains(cells, ablations_page.KRON)
    *most, last = (f"{gain:.2f}" for gain in gains.values())
    products = last_run("linalg-products-cuda")
    powers = [f"{linalg_products.exponent(products, f'{one}, ms'):.2f}" for one in linalg_products.PRODUCTS]
    (enron,) = (one for one in lines("gpu-authors") if one["name"] == "email-Enron")
    (ranks,) = (row for row in last_run("gpu-ranks") if row["graph"].startswith("email-Enron"))
    (figure_6,) = (one for one in lines("gpu-pushpull") if one["part"] == "iterations")
    (saved,) = (one for one in lines("gpu-pushpull") if one["part"] == "reuse")
    reuse = [saved["pushpull-exit"][key] / saved["pushpull"][key] for key in ("ms", "ms in pulls")]
    return {
        "reuse": f"{reuse[0]:.2f}", "reuse_pulls": f"{reuse[1]:.2f}",
        "table_2": f"{', '.join(most)} and {last}", "table_2_more": str(len({graph for graph, _ in cells}) - 1),
        "direction": f"{gains['change of direction']:.2f}",
        "power_rows": powers[0], "power_rows_masked": powers[1], "power_columns": f"{powers[2]} and {powers[3]}",
        "rank_round": f"{ranks['µs per round']:.0f}",
        "pushpull_level": f"{1e3 * enron['pushpull']['ms in levels'] / enron['pushpull']['levels']:.0f}",
        "figure_6": f"{figure_6['sources']:,}",
    }  # fmt: skip
