"""Numbers in the notes of docs/papers.toml, from benchmarks/results: a note says {name}, and a new run changes it.

Papers' own numbers, and numbers that hold by construction, are written out in the notes.
"""

from __future__ import annotations

from functools import cache
from statistics import fmean
from typing import Any

from benchmarks import pages, turbo_kernels

from hopwave.papers.lab import unlike

ADDED = ("adaptive queues", "… with balancing", "… with looking ahead")  # Figure 11 of XBFS
PLANS = ("sccsc", "sccooc", "vecsc")  # the fastest in Tables 1, 2 and 3 of TurboBC


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
    shares = {f"{row['table']} {row['algorithm']}": f"{row['% of graphs']:.0f}%"
              for row in rows_of("turbobfs", "Sections IV-A")}  # fmt: skip
    searched = [row["best"] for row in graphs.values()]
    suite = [row["(GBLAS)x"] for row in rows_of("turbobfs", "Figure 4") if "(GBLAS)x" in row]
    return {
        "bfs_products": percents(pages.values("gpu-turbo-kernels")["bfs"]),
        "bfs_graphs": f"{len(graphs)} rows on an H200, {len(graphs) - len(own)} of them on stand-ins",
        "bfs_same_depth": f"{sum(row['d'] == row['paper: d'] for row in own)} of the other {len(own)}",
        "bfs_files": str(sum(row["from"] == "the paper's file" for row in own)),
        "bfs_gteps": f"{largest['MTEPS'] / 1e3:.0f}", "bfs_best": largest["best"],
        "bfs_tdbu": "{} and {} ms".format(*(f"{largest[f'{plan} ms']:.1f}" for plan in ("tdbu", "tdbu-ve"))),
        "bfs_vecsc": f"{largest['td-vecsc ms']:.1f} ms",
        "bfs_tdbu_best": f"Algorithm 4 on {searched.count('tdbu')} and Algorithm 5 on {searched.count('tdbu-ve')}",
        "bfs_regular": f"bottom-up by threads on {shares['I bu-sc']} and scCSC on {shares['I td-sccsc']}",
        "bfs_suite": f"In Figure 4, SuiteSparse:GraphBLAS takes {min(suite):.0f} to {max(suite):.0f} times as long, on "
                     "the CPU of the same machine." if suite else
                     "Figure 4 needs python-graphblas, which is not installed on the machine of our page; there it has "
                     "only the paper's bars.",
        "bfs_irregular": f"tdbu on {shares['II tdbu']}, bottom-up by warps on {shares['II bu-ve']}, "
                         f"veCSC on {shares['II td-vecsc']} and scCOOC on {shares['II td-sccooc']}",
    }  # fmt: skip


def turbobc() -> dict[str, str]:
    kernels = pages.values("gpu-turbo-kernels")
    slower = [f"{row['algorithm'].split()[1]} on {row['graph']}" for row in kernels["pairs"] if row["gain"] < 1]
    graphs = {row["graph"]: row for number in "1234" for row in rows_of("turbobc", f"Table {number}") if "best" in row}
    scc, csc, vec = (graphs["mawi-12345"][f"{plan} ms"] for plan in ("sccooc", "sccsc", "vecsc"))
    stand_ins = sum(row["from"].startswith("stand-in") for row in graphs.values())
    searches = {row["graph"]: row for row in rows_of("turbobfs", "Table II")}
    both = [(row["vecsc ms"], searches[graph]["td-vecsc ms"]) for graph, row in graphs.items() if "mycielski" in graph]
    top = [one["mycielski19"]["MTEPS"] for one in (searches, graphs)]
    groups = [[row["best"] for row in rows_of("turbobc", f"Table {number}")] for number in "123"]
    fastest = [f"{group.count(plan)} of {len(group)}" for group, plan in zip(groups, PLANS, strict=True)]
    big = [row["(sequential)x"] for row in rows_of("turbobc", "Table 4") if "(sequential)x" in row]
    kron = [row["best"] for graph, row in graphs.items() if "kron" in graph]
    exact = [row["how"] for row in rows_of("turbobc", "Table 5")]
    over = {row["where"]: row for row in rows_of("turbobc", "Abstract") if "sequential" in row["claim"]}
    return {
        "bc_products": percents(kernels["bc"]), "bc_whole_numbers": f"{kernels['gain'][1]:.2f}",
        "bc_slower": ", ".join(slower) or "never",
        "bc_load_forward": f"{kernels['most'][turbo_kernels.FORWARD]:.1f}",
        "bc_load_back": f"{kernels['most'][turbo_kernels.BACKWARD]:.1f}",
        "bc_hub": f"scCOOC takes {scc:.1f} ms per source, veCSC {vec:,.0f} and scCSC {csc:,.0f}",
        "bc_gteps": f"{graphs['mycielski19']['MTEPS'] / 1e3:.0f}",
        "bc_same": "the same" if top[0] > top[1] else "reversed",
        "bc_order": f"{sum(scores > search for scores, search in both)} of {len(both)}",
        "bc_order_ratio": f"{min(scores / search for scores, search in both):.2f} to "
                          f"{max(scores / search for scores, search in both):.2f}",
        "bc_fastest": "scCSC on {} rows of Table 1, scCOOC on {} of Table 2, veCSC on {} of Table 3".format(*fastest),
        "bc_big": f"One thread was timed on {len(big)} of the four: TurboBC is {min(big):.0f} to {max(big):.0f} times "
                  "as fast; the paper has 30.5 to 94.5." if big else
                  "One thread takes about a minute on each: `--seconds 450` includes it, our page does not.",
        "bc_kronecker": f"{kron.count('sccooc')} of {len(kron)}",
        "bc_sequential": f"{over['Abstract']['ours']:.0f}× ({over['Abstract']['remark']})",
        "bc_thread": f"{graphs['mycielski18']['(sequential)x']:.0f}",
        "bc_thread_own": f"{graphs['mycielski18']['ms']:.2f}",
        "bc_projected": f"{sum(how.startswith('projected') for how in exact)} of the {len(exact)}",
        "bc_graphs": f"{len(graphs)} of the 33 graphs on an H200, {stand_ins} of them stand-ins",
    }  # fmt: skip


def hiragushi() -> dict[str, str]:
    gains = {row["graph"]: row["gain"] for row in rows_of("hiragushi", "Figure 4(a)") if "gain" in row}
    least, most = (choose(gains, key=lambda graph: gains[graph]) for choose in (min, max))
    stand_ins = {row["graph"] for row in rows_of("hiragushi", "Figure 4(a)") if row["from"].startswith("stand-in")}
    named = {graph: f"the stand-in of {graph}" if graph in stand_ins else graph for graph in (least, most)}
    teps = {(row["ranks on"], row["ranks"]): row["GTEPS"] for row in rows_of("hiragushi", "Figure 5(a)")}
    ranks = {job: f"{gteps:.2f}" for job, gteps in teps.items()}
    sent = {row["layout"]: row["KB sent per search"] for row in pages.rows("ranks-h200")
            if (row["table"], row["device"], row["ranks"]) == ("strong", "cpu", 4)}  # fmt: skip
    return {
        "hybrid_layouts": f"{sent['1d']:,.0f} KB with 1D and {sent['2d']:,.0f} KB with 2D",
        "hybrid_rows": str(len(gains)),
        "hybrid_least": f"{gains[least]:.1f}", "hybrid_least_on": named[least],
        "hybrid_most": f"{gains[most]:.1f}", "hybrid_most_on": named[most],
        "hybrid_cpu": ", ".join(ranks["cpu", count] for count in (1, 2, 4)),
        "hybrid_four": "exceed" if teps["cpu", 4] > teps["cuda", 4] else "stay below",
        "hybrid_gpu": ", ".join(ranks["cuda", count] for count in (1, 2, 4)),
    }  # fmt: skip


def xbfs() -> dict[str, str]:
    text = {row["claim"]: row.get("ours") for row in rows_of("xbfs", "Text")}
    gains = [text[f"{name} over the baseline, ×"] for name in ADDED]
    early = [row for row in rows_of("xbfs", "Figure 10") if "Kronecker" in row["from"]]
    (levels,) = (row for row in rows_of("xbfs", "Figure 10") if row not in early)
    gaps = [abs(row["found ahead %"] - row["Lemma 3 %"]) for row in early]
    figure_5, figure_11 = rows_of("xbfs", "Figure 5"), rows_of("xbfs", "Figure 11")
    wins = [f"{row['millions']} million statuses, 1 of {1 / row['share']:.0f} in the queue"
            for row in figure_5 if row["gain"] > 1]  # fmt: skip
    long = [row["arcs read"] for row in rows_of("xbfs", "Figure 9") if row["degree"] >= 100]
    ahead = [row["gain: XBFS"] / row["gain: Ad + WB"] for row in figure_11]
    alone = [row["graph"] for row in figure_11 if row["gain: XBFS"] < row["gain: Ad"]]
    slower = [row["graph"] for row in figure_11 if row["gain: XBFS"] < 1]
    up = [text[f"bottom-up, {name}, %"] for name in ("baseline", "after adaptive queues", "XBFS")]
    distinct, balances = {row["graph"] for row in unlike(rows_of("xbfs", "Table 1"))}, rows_of("xbfs", "Figure 14")
    queues = {name: f"{text[f'share of {name}, %']:.0f}%" for name in ("no generation", "scan-free", "double-scan")}
    return {
        "xbfs_most": f"{max(row['m'] for row in rows_of('xbfs', 'Table 1')) / 1e6:.0f}",
        "xbfs_graphs": str(len(rows_of("xbfs", "Table 2"))),
        "xbfs_ahead": percents([row["found ahead %"] / 100 for row in early]),
        "xbfs_lemma": percents([row["Lemma 3 %"] / 100 for row in early]),
        "xbfs_levels": f"{levels['found ahead %']:.0f}% (lemma: {levels['Lemma 3 %']:.0f}%)",
        "xbfs_atomic": f"{len(wins)} of {len(figure_5)} arrays ({', '.join(wins)})",
        "xbfs_alone": f"{len(alone)} of {len(figure_11)} graphs ({', '.join(alone)})",
        "xbfs_slower": " and ".join(slower),
        "xbfs_warps_lose": ", ".join(row["graph"] for row in balances if row["balance: warp-centric"] < 1),
        "xbfs_long": f"Of the {len(long)} sampled vertices with at least 100 neighbours, "
                     f"{100 * sum(read <= 5 for read in long) / len(long):.0f}% read at most 5 arcs, and none "
                     f"more than {max(long)}",
        "xbfs_checks": f"{text['fewer edge checks, %']:.1f}%",
        "xbfs_up": "{:.0f}, {:.0f} and {:.0f}%".format(*up), "xbfs_trend": "rises" if up[2] > up[0] else "falls",
        "xbfs_gap": f"{max(gaps):.1f}",
        "xbfs_queues": ", ".join(f"{name} {share}" for name, share in queues.items()),
        "xbfs_warps": f"{text['rows fetched by warps over static rows, ×']:.2f}",
        "xbfs_threads": f"{fmean(row['balance: thread-centric'] for row in balances if row['graph'] in distinct):.2f}",
        "xbfs_all": f"{gains[2] / gains[0]:.2f}",
        "xbfs_gains": "{:.2f}, {:.2f} and {:.2f}".format(*gains),
        "xbfs_donation": f"{text['work donation over warp-centric, ×']:.3f}",
        "xbfs_looking": f"× {min(ahead):.2f} to {max(ahead):.2f}, faster on {sum(gain > 1 for gain in ahead)} of "
                        f"{len(ahead)} graphs",
    }  # fmt: skip


def pushpull() -> dict[str, str]:
    table_2 = rows_of("pushpull", "Table 2")
    (figure_7,) = (row for row in rows_of("pushpull", "Figure 7") if row["graph"] == "kron_g500-logn21")
    gains = [row["gain"] for row in table_2 if "gain" in row]
    *most, last = (f"{gain:.2f}" for gain in gains)
    parents = [row["parents read per unvisited vertex"] for row in rows_of("pushpull", "Figure 6, section 5.1")]
    powers = [f"{row['exponent']:.2f}" for row in rows_of("pushpull", "Table 1")]
    (enron,) = (one for one in pages.values("gpu-authors")["graphs"] if one["name"] == "email-Enron")
    (ranks,) = (row for row in pages.rows("gpu-pagerank") if row["graph"] == "email-Enron")
    return {
        "reuse": last, "table_2": f"{', '.join(most)} and {last}", "direction": f"{gains[1]:.2f}",
        "table_2_all": f"{table_2[0]['ms'] / table_2[-1]['ms']:.1f}",
        "kron21": "{:.2g} and {:.3g} ms".format(*(figure_7[f"{name} ms"] for name in ("push-pull", "baseline"))),
        "kron21_table": f"{table_2[-1]['ms']:.2g} and {table_2[0]['ms']:.3g}",
        "parents": f"{parents[0]:.0f} in the first pull, {parents[2]:.2f} after two levels",
        "power_rows": powers[0], "power_rows_masked": powers[1], "power_columns": f"{powers[2]} and {powers[3]}",
        "rank_round": f"{ranks['µs per round']:.0f}",
        "pushpull_level": f"{1e3 * enron['pushpull']['ms in levels'] / enron['pushpull']['levels']:.0f}",
    }  # fmt: skip
