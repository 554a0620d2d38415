"""The values of gpu-xbfs.md: XBFS's figures and tables, from gpu-xbfs.jsonl."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean
from typing import Any

from benchmarks.before import PEERS
from benchmarks.setting import remarks

Record = dict[str, Any]
WAYS = ("0", "1", "3", "2")  # the rule's numbers: scan-free, single-scan, no queue, double-scan (bottom-up)
VARIANTS = ("static", "thread", "warp", "donate")  # Figure 14
LOSES = 0.9  # gain below which a graph is named


def values(lines: list[Record]) -> Record:
    """Every figure's rows, their means, and the numbers of the notes."""
    graphs = [one | {"peer": PEERS.get(one["graph"], {})} for one in lines if "XBFS" in one]
    some = [one | shares(one) for one in graphs if one["XBFS"]["searches bottom-up"] and "+ Ad" in one]
    ahead = [one for one in some if one["ahead"]]
    gains = {one["graph"]: one["Enterprise"]["ms"] / one["XBFS"]["ms"] for one in graphs}
    static = {one["graph"]: one["+ Ad"]["choice 2"] / one["static"]["choice 2"] for one in some}
    return {
        "remarks": remarks(graphs),
        "queues": next((one["rows"] for one in lines if one["graph"] == "queues"), []),
        "graphs": graphs, "bottom_up": some, "ahead": ahead,
        "faster": between(gains.values()),
        "authors": between(one["peer"]["XBFS"] / one["XBFS"]["ms"] for one in graphs if one["peer"]),
        "work": [{"graph": one["graph"], "degree": degree, "level": one["work"], **row} for one in some
                 for degree, row in (one["work"] or {}).items() if isinstance(row, dict)],
        "kron": next((one["ahead"] for one in graphs if one["graph"] == "kron21e44"), None) or {},
        "mean": {key: mean(one["ahead"][key] for one in ahead) for key in ("share", "lemma 3")}
        | {bar: mean(one["up"][bar] for one in some) for bar in ("Enterprise", "+ Ad", "XBFS")}
        | {"fewer": mean(one["fewer"] for one in some)},
        "ideas": {bar: geomean(one["Enterprise"]["ms"] / one[bar]["ms"] for one in some)
                  for bar in ("+ Ad", "warp", "XBFS")},
        "ad": between(one["Enterprise"]["ms"] / one["+ Ad"]["ms"] for one in some),
        "deep": between(gains[one["graph"]] for one in graphs if "+ Ad" not in one),
        "all": {way: sum(one["saved"][way] for one in some) for way in (*WAYS, "all")},
        "double_on": max(some, key=lambda one: one["saved"]["2"])["graph"] if some else None,
        "balanced": {way: geomean(one["+ Ad"]["choice 2"] / one[way]["choice 2"] for one in some) for way in VARIANTS},
        "whole": {way: geomean(one["+ Ad"]["ms"] / one[way]["ms"] for one in some) for way in VARIANTS},
        "static_most": max(static.values(), default=None),
        "static_loses": ", ".join(graph for graph, gain in static.items() if gain < LOSES) or "no graph",
        "donated": between(one["donate"]["choice 2"] / one["warp"]["choice 2"] for one in some),
    }  # fmt: skip


def shares(one: Record) -> Record:
    """Bottom-up's share of the time on one graph, the saving of each way to make a queue, the share of arcs saved."""
    spent = {bar: sum(one[bar][f"choice {way}"] for way in WAYS) for bar in ("Enterprise", "+ Ad", "XBFS")}
    saved = {way: one["Enterprise"][f"choice {way}"] - one["+ Ad"][f"choice {way}"] for way in WAYS}
    return {
        "up": {bar: one[bar]["choice 2"] / spent[bar] for bar in spent},
        "saved": saved | {"all": sum(saved.values())},
        "fewer": 1 - one["XBFS"]["checked bottom-up"] / one["warp"]["checked bottom-up"],
    }


def mean(some: Iterable[float]) -> float | None:
    found = list(some)
    return fmean(found) if found else None


def geomean(some: Iterable[float]) -> float | None:
    middle = mean(map(math.log, some))
    return None if middle is None else math.exp(middle)


def between(some: Iterable[float]) -> str:
    """The least and the greatest.

    >>> between([2.04, 1.26]), between([])
    ('1.3 to 2.0', '–')
    """
    found = list(some)
    return f"{min(found):.1f} to {max(found):.1f}" if found else "–"
