"""The page of XBFS's figures and tables, made from gpu-xbfs.jsonl, with the paper's own values. It needs no GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.before import PEERS
from benchmarks.setting import remarks, table

Record = dict[str, Any]

# The paper's Table 2: milliseconds on a Quadro P6000 (Ligra: 24 cores). Its graphs cannot be downloaded here.
TABLE_2 = {
    "DB": (7.9, 30.2, 12.9, 16.4, 54.0),
    "DP": (5.3, 14.0, 8.1, 22.9, 48.2),
    "EW": (19.6, 88.7, 74.7, 145.0, 71.9),
    "FR": (102.8, 408.0, 883.9, None, 526.7),
    "LJ": (6.9, 24.0, 17.0, 34.9, 29.4),
    "OR": (2.83, 14.2, 48.7, 154.1, 29.8),
    "TR": (28.1, 101.3, 73.4, 171.2, 95.1),
    "US": (10.2, 21.2, 17.7, 28.3, 62.6),
    "WK": (21.4, 76.9, 92.1, 168.5, 259.3),
    "WL": (23.6, 59.5, 120.7, 262.8, 58.3),
}
FIGURE_5 = {"K80": 5.2, "P6000": 4.1, "Titan Xp": 2.5, "V100": 1.7}  # atomic operations over prefix sums
FIGURE_11 = {"+ Ad": "2.3 (1.1-3.5)", "warp": "3.1 (1.9-4.8)", "XBFS": "3.5 (2.1-5.0)"}
FIGURE_12 = {"Enterprise": 0.70, "+ Ad": 0.68, "XBFS": 0.57}  # bottom-up's share of the time
FIGURE_13 = {0: 0.18, 1: 0.157, 3: 0.114, 2: 0.549}  # shares of the gain
FIGURE_14 = {"static": 1.4, "thread": 1.6, "warp": 1.6, "donate": "0.95-0.99 × warp"}
WAYS = {0: "scan-free", 1: "single-scan", 3: "no queue", 2: "double-scan"}
DOUBLE = 2  # the number of bottom-up's step
LOSES = 0.9  # a gain below which a graph is named


def ratio(value: float | None) -> str | None:
    return None if value is None else f"{value:.2f}"


def share(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"


def bottom_up(records: list[Record]) -> list[Record]:
    """The graphs on which some search went bottom-up."""
    return [one for one in records if one["XBFS"]["searches bottom-up"] and "+ Ad" in one]


def table_2(records: list[Record]) -> str:
    rows = []
    for one in records:
        peer = PEERS.get(one["graph"], {})
        rows.append({
            "graph": one["graph"], "vertices": f"{one['n']:,}", "arcs": f"{one['m']:,}", "levels": one["levels"],
            "XBFS ms": one["XBFS"]["ms"], "Enterprise ms": one["Enterprise"]["ms"],
            "XBFS is × faster": ratio(one["Enterprise"]["ms"] / one["XBFS"]["ms"]),
            "authors' XBFS ms": peer.get("XBFS"), "Gunrock 1.2 ms": peer.get("Gunrock 1.2"),
        })  # fmt: skip
    paper = [
        {"graph": name, "XBFS ms": ms[0], "Enterprise ms": ms[1], "Tigr ms": ms[2], "Gunrock ms": ms[3],
         "Ligra ms": ms[4], "XBFS is × faster than Enterprise": ratio(ms[1] / ms[0])}
        for name, ms in TABLE_2.items()
    ]  # fmt: skip
    return f"{table(rows)}\n\nThe paper's, on a Quadro P6000:\n\n{table(paper)}"


def figure_5(rows: list[Record]) -> str:
    shown = [
        {"status array, 2^20 vertices": one["millions"], "of them in the queue": f"{one['share']:.1%}",
         "atomic ms": one["atomic"], "double scan ms": one["double scan"], "CuPy's prefix sum ms": one["CuPy"],
         "double scan ÷ atomic": ratio(one["double scan"] / one["atomic"]),
         "CuPy ÷ atomic": ratio(one["CuPy"] / one["atomic"])}
        for one in rows
    ]  # fmt: skip
    paper = ", ".join(f"{value} × on {gpu}" for gpu, value in FIGURE_5.items())
    return f"{table(shown)}\n\nThe paper: atomic operations are faster by {paper}."


def figure_9(records: list[Record]) -> str:
    rows = []
    for one in bottom_up(records):
        work = one["work"] or {}
        for degrees, cell in work.items():
            if not isinstance(cell, dict):
                continue
            rows.append({
                "graph": one["graph"], "degree": degrees, "rows": f"{cell['rows']:,}", "median work": cell["median"],
                "99% of the rows at most": cell["99%"], "most": cell["most"],
                "rows with up to 5": share(cell["up to 5"]),
                "correlation": ratio(work["correlation"]), "arcs read": share(work["work over degree"]),
            })  # fmt: skip
    return table(rows)


def figure_10(records: list[Record]) -> str:
    rows = [
        {"graph": one["graph"], "searches": one["ahead"]["searches"], "found ahead": share(one["ahead"]["share"]),
         "least": share(one["ahead"]["least"]), "most": share(one["ahead"]["most"]),
         "Lemma 3": share(one["ahead"]["lemma 3"])}
        for one in bottom_up(records)
        if one["ahead"]
    ]  # fmt: skip
    mean = float(np.mean([one["ahead"]["share"] for one in bottom_up(records) if one["ahead"]]))
    expected = float(np.mean([one["ahead"]["lemma 3"] for one in bottom_up(records) if one["ahead"]]))
    rows.append({"graph": "mean", "found ahead": share(mean), "Lemma 3": share(expected)})
    return table([*rows, {"graph": "the paper", "found ahead": "88% (40 to over 99%)"}])


def figure_11(records: list[Record]) -> str:
    rows = []
    for one in bottom_up(records):
        base = one["Enterprise"]["ms"]
        row = {"graph": one["graph"], "baseline ms": base}
        rows.append(row | {f"{bar} ×": ratio(base / one[key]["ms"]) for key, bar in BARS.items()})
    means = {f"{bar} ×": ratio(geomean(one["Enterprise"]["ms"] / one[key]["ms"] for one in bottom_up(records)))
             for key, bar in BARS.items()}  # fmt: skip
    paper = {f"{bar} ×": FIGURE_11[key] for key, bar in BARS.items()}
    return table([*rows, {"graph": "geometric mean", **means}, {"graph": "the paper", **paper}])


BARS = {"+ Ad": "+ Ad", "warp": "+ WB", "XBFS": "+ Async"}


def geomean(values: Any) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def up_share(cell: Record) -> float:
    """Bottom-up's share of the time."""
    return float(cell["choice 2"] / sum(cell[f"choice {choice}"] for choice in range(4)))


def figure_12(records: list[Record]) -> str:
    rows = [
        {"graph": one["graph"], **{f"bottom-up, {bar}": share(up_share(one[bar])) for bar in FIGURE_12}}
        for one in bottom_up(records)
    ]
    means = {f"bottom-up, {bar}": share(float(np.mean([up_share(one[bar]) for one in bottom_up(records)])))
             for bar in FIGURE_12}  # fmt: skip
    paper = {f"bottom-up, {bar}": share(value) for bar, value in FIGURE_12.items()}
    return table([*rows, {"graph": "mean", **means}, {"graph": "the paper", **paper}])


def gains(one: Record) -> dict[int, float]:
    """Milliseconds that the levels of each way to make a queue save, against the baseline's same levels."""
    return {choice: one["Enterprise"][f"choice {choice}"] - one["+ Ad"][f"choice {choice}"] for choice in WAYS}


def figure_13(records: list[Record]) -> str:
    rows = []
    for one in bottom_up(records):
        saved = gains(one)
        whole = sum(saved.values())
        rows.append({"graph": one["graph"], "ms saved": whole}
                    | {way: share(saved[choice] / whole) for choice, way in WAYS.items()})  # fmt: skip
    total = {choice: sum(gains(one)[choice] for one in bottom_up(records)) for choice in WAYS}
    mean = {way: share(total[choice] / sum(total.values())) for choice, way in WAYS.items()}
    paper = {way: share(FIGURE_13[choice]) for choice, way in WAYS.items()}
    return table([*rows, {"graph": "all", "ms saved": sum(total.values()), **mean}, {"graph": "the paper", **paper}])


def figure_14(records: list[Record]) -> str:
    rows = []
    for one in bottom_up(records):
        before = one["+ Ad"]
        row = {"graph": one["graph"], "by degree ms": before["choice 2"]}
        row |= {f"{way} ×": ratio(before["choice 2"] / one[way]["choice 2"]) for way in FIGURE_14}
        rows.append(row | {f"{way} ×, whole search": ratio(before["ms"] / one[way]["ms"]) for way in FIGURE_14})
    means = {f"{way} ×": ratio(geomean(one["+ Ad"]["choice 2"] / one[way]["choice 2"] for one in bottom_up(records)))
             for way in FIGURE_14}  # fmt: skip
    means |= {f"{way} ×, whole search": ratio(geomean(one["+ Ad"]["ms"] / one[way]["ms"] for one in bottom_up(records)))
              for way in FIGURE_14}  # fmt: skip
    paper = {f"{way} ×, whole search": value for way, value in FIGURE_14.items()}
    return table([*rows, {"graph": "geometric mean", **means}, {"graph": "the paper", **paper}])


def figure_15(records: list[Record]) -> str:
    rows = []
    for one in bottom_up(records):
        still, ahead = (one[bar]["checked bottom-up"] for bar in ("warp", "XBFS"))
        rows.append({"graph": one["graph"], "arcs checked, synchronous": f"{still:,}", "asynchronous": f"{ahead:,}",
                     "saved": share(1 - ahead / still), "synchronous ms": one["warp"]["choice 2"],
                     "asynchronous ms": one["XBFS"]["choice 2"]})  # fmt: skip
    pairs = [[one[bar]["checked bottom-up"] for bar in ("warp", "XBFS")] for one in bottom_up(records)]
    rows.append({"graph": "mean", "saved": share(float(np.mean([1 - after / before for before, after in pairs])))})
    return table([*rows, {"graph": "the paper", "saved": "23.2% (1 to 51%)"}])


SECTIONS: dict[str, Callable[[list[Record]], str]] = {
    "Table 2: milliseconds of a search": table_2,
    "Figure 9: degree and work of bottom-up rows": figure_9,
    "Figure 10 and Lemma 3: the share of the next level that is found ahead": figure_10,
    "Figure 11: three ideas, one after another": figure_11,
    "Figure 12: bottom-up's share of the time": figure_12,
    "Figure 13: what each way to make a queue contributes": figure_13,
    "Figure 14: balancing of bottom-up": figure_14,
    "Figure 15: arcs checked bottom-up": figure_15,
}


def page(records: list[Record]) -> str:
    """gpu-xbfs.md."""
    graphs = [one for one in records if "XBFS" in one]
    where = ", ".join(f"{key} {value}" for key, value in records[-1]["where"].items())
    text = ["# XBFS's tables and figures", where, ABOUT, *remarks(graphs)]
    queues = next((one for one in records if one["graph"] == "queues"), None)
    if queues:
        text += ["## Figure 5: a queue by atomic operations or prefix sums", figure_5(queues["rows"]), NOTE_5]
    for title, section in SECTIONS.items():
        if section is table_2 or bottom_up(graphs):
            text += [f"## {title}", section(graphs), NOTES[section.__name__].format(**said(graphs))]
    text += ["## Figure 16: other GPUs", FIGURE_16]
    return "\n\n".join(part for part in text if part) + "\n"


ABOUT = """\
Times are inside the levels, by the GPU's clock; a search's is the median over sources in the largest component. As in
the paper, directed graphs have a reverse of each arc. Every search was compared with the distances of `hopwave-gpu`.
The baseline is Enterprise as far as the XBFS paper describes it (`benchmarks/papers/enterprise.py`): all queues by a
strided scan of the status array with prefix sums, rows by degree to a block, a warp or a thread, bottom-up too. The
paper's ten graphs cannot be downloaded here, and its GPU was a Quadro P6000: what can be compared are gains, counts and
shares. Made by `benchmarks/papers/xbfs.py`."""
NOTE_5 = """\
Best of five. On an H200 the paper's Observation 1 holds for arrays of up to a few million statuses, and against CuPy's
prefix sum also where few vertices enter the queue. Beyond that the atomic queue is the slowest, since every warp takes
its places from one counter. The paper's own advantage shrinks with every GPU, from 5.2 × to 1.7 ×."""
FIGURE_16 = """\
Not to be had: we have one GPU. The paper's XBFS is 1.8, 2.3 and 4.1 × faster on a P6000, a Titan Xp and a V100 than on
a K80."""
NOTES = {
    "table_2": """\
The authors' own programs ran on the same GPU model before this project began; their XBFS is kernel time alone, as ours
is time inside the levels. XBFS is {faster} × faster than the baseline, less than in the paper: see Figure 11. The
authors' program takes {authors} × as long as its plan here.""",
    "figure_9": """\
The first bottom-up level of one search; *work* is the number of neighbours that a row reads. Both of the paper's
observations hold. Most rows of high degree are little work: on kron 21, of those with 4,096 neighbours or more, 99%
read at most eleven. And on some graphs they are much work, as on the paper's DP, US and WL: here wiki-Vote and
ego-Twitter. On Kronecker graphs the correlation of degree and work is near 0.""",
    "figure_10": """\
By the paper's definition: of the second bottom-up level's vertices, the share that the first one marks. Lemma 3 gives
the chance of each of them, if rows are gone through one after another; the column is its mean. An H200 runs 270,336
threads at once. Where the queue is shorter, all rows run together, and few see what another has just found. On kron 21,
with a queue of 1.5 million rows, the share comes close to the lemma: {ahead} for {lemma}. The paper's P6000 runs 61,440
threads, and its graphs have 3 to 66 million vertices. One thread on a CPU finds the lemma's share within three points
(tests/house/test_xbfs_counts.py). For graphs of over 200 million arcs the counts are of four searches.""",
    "figure_11": """\
Ad: the way to make a queue is chosen at each level. WB: rows of bottom-up are fetched by warps, not dealt out by
degree. Async: looking ahead. All three gain less than in the paper. Ad gains {ad} ×; to scan all statuses costs an H200
little beside a launch on graphs of this size. On the deep graphs of Table 2, where each of a thousand levels saves a
scan, XBFS gains {deep} ×. WB and Async: see Figures 14 and 15.""",
    "figure_12": """\
The paper's baseline spends most of its time bottom-up, ours {baseline_up}. Each top-down level of the baseline makes
its queue by two scans and a prefix sum, and on graphs of this size most levels are top-down and small. Without these
scans (+ Ad) {ad_up} of the time is bottom-up, and the other two ideas change that little.""",
    "figure_13": """\
What the levels of each way save against the same levels of the baseline, as a share of all that is saved. Scan-free
saves most. The sorted queue of bottom-up has 54.9% in the paper and {double} here, nearly all of that on {double_on}:
the strided reads that the paper blames Enterprise for cost an H200 no more on smaller graphs, where the 32 statuses
that a thread reads lie in one line of its cache.""",
    "figure_14": """\
Rows of bottom-up by degree (a block, a warp or a thread), as in Enterprise, against the paper's three ways and its work
donation. To give rows to threads regardless of their degree gains where rows are many and end early (Kronecker and
uniform graphs: up to {static:.1f} ×). It loses a tenth or more on {static_loses}, as on the paper's DB; there a thread
reads a long row alone that a block or a warp would share, which may be why. Fetching rows one by one is slowest on
kron 21: every row is an atomic operation on one counter. Work donation takes {donate} × as long as warps without it; in
the paper it is 1 to 5% slower.""",
    "figure_15": """\
Counted over bottom-up levels alone, all sources together. Fewer arcs are saved than in the paper because fewer vertices
are found ahead (Figure 10), and none where bottom-up takes one level. The time does not change.""",
}


def between(values: list[float]) -> str:
    """The least and the greatest."""
    return f"{min(values):.1f} to {max(values):.1f}" if values else "–"


def said(records: list[Record]) -> Record:
    """The numbers of the notes."""
    some, kron = bottom_up(records), next((one for one in records if one["graph"] == "kron21e44"), {})
    gain = {one["graph"]: one["Enterprise"]["ms"] / one["XBFS"]["ms"] for one in records}
    theirs = [(PEERS.get(one["graph"], {}).get("XBFS"), one["XBFS"]["ms"]) for one in records]
    ups = {bar: float(np.mean([up_share(one[bar]) for one in some])) if some else 0.0 for bar in FIGURE_12}
    ahead = kron.get("ahead") or {}
    saved = {choice: sum(gains(one)[choice] for one in some) for choice in WAYS}
    balanced = {one["graph"]: one["+ Ad"]["choice 2"] / one["static"]["choice 2"] for one in some}
    return {
        "faster": between(list(gain.values())), "authors": between([them / ours for them, ours in theirs if them]),
        "ahead": share(ahead.get("share")), "lemma": share(ahead.get("lemma 3")),
        "ad": between([one["Enterprise"]["ms"] / one["+ Ad"]["ms"] for one in some]),
        "deep": between([gain[one["graph"]] for one in records if "+ Ad" not in one]),
        "baseline_up": share(ups["Enterprise"]), "ad_up": share(ups["+ Ad"]),
        "double": share(saved[DOUBLE] / sum(saved.values())) if some else "–",
        "double_on": max(some, key=lambda one: gains(one)[DOUBLE])["graph"] if some else "–",
        "static_loses": ", ".join(name for name, gain in balanced.items() if gain < LOSES) or "no graph",
        "donate": between([one["donate"]["choice 2"] / one["warp"]["choice 2"] for one in some]),
        "static": max((one["+ Ad"]["choice 2"] / one["static"]["choice 2"] for one in some), default=1.0),
    }  # fmt: skip
