"""The meaning of column names in benchmarks/results: units, parameters, programs, and papers' numbers.

A new benchmark needs no entry here if its columns are named like the others ("SciPy ms", "GPU s", "paper's MTEPS").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from benchmarks.before import BEST_SEARCH
from hopwave.papers.turbobfs import TABLE_I, TABLE_II
from hopwave.planning.catalogue import CATALOGUE

FIRST = ("cpu-search", "gpu-hopwave", "gpu-search", "cpu-betweenness", "gpu-betweenness", "graph500")
PARTS = {"single": "one source", "sampled": "64 sources", "exact": "all sources", "agree": "beside the CPU"}
PARAMETERS = {  # numbers that belong to the label of a row
    *("threads", "threads per rank", "threads a rank", "ranks", "scale", "edge factor", "entries", "epsilon", "edges"),
    *("sources", "layout", "millions", "share"),
}
NO_MEASUREMENTS = {"fuzz", "sanitizer"}  # they record what was tried, and whether it was right
NOT_IN_LABELS = {  # text about how numbers were made
    *("part", "table", "method", "peer", "NetworkX", "its method", "verified", "options", "rule", "sizes", "transport"),
    "remark",  # shown below the chart
    *("degree", "degree max/mean/std", "searches valid", "first search", "certificate", "name", "benchmark"),
    *("version", "python", "machine", "hopwave", "scipy", "error", "device"),
}
ASSUMED = {  # columns without a unit in their name
    "gpu-calls": (("wall", "device", "aim"), "ms"),
    "gpu-hopwave": (("with parents", "target"), "ms"),
    "ranks": (("the same without parents",), "KB"),
    "ranks-h200": (("the same without parents",), "KB"),
}
SAME_UNIT = {  # other names of the same unit
    ("gpu-betweenness", "best before, ms"): "ms per source"
}
PROGRAMS = {  # words of a column's name → who made the number
    "scipy": "SciPy",
    "mmread": "SciPy",
    "igraph": "igraph",
    "rustworkx": "rustworkx",
    "graphblas": "python-graphblas",
    "networkx": "NetworkX",
    "networkit": "NetworKit",
    "gapbs": "GAP Benchmark Suite",
    "gunrock": "Gunrock",
    "graphblast": "GraphBLAST",
    "gswitch": "GSWITCH",
    "pyarrow": "pyarrow",
    "best before": "best GPU code",
    "paper": "the papers",
    "authors": "the authors' programs",
}
ON_GPUS = {"best before", "gunrock", "graphblast", "gswitch", "authors"}
AIMS = ("aim", "target", "goal", "floor", "limits")
PUSH_PULL = {  # GTEPS of its Table 2, on kron_g500-logn21
    "pushpull-baseline": 0.874,
    "pushpull-structure": 1.411,
    "pushpull-direction": 1.527,
    "pushpull-masking": 3.932,
    "pushpull-exit": 15.83,
    "pushpull": 42.44,
}
CASES = (*TABLE_I, *TABLE_II)
TITAN = "NVIDIA Titan Xp"  # used by TurboBFS and TurboBC
K40 = "NVIDIA Tesla K40c"  # used by push-pull
PAPERS_GPUS = {"papers-pushpull": K40, "papers-xbfs": "NVIDIA Quadro P6000", "papers-hiragushi": "NVIDIA Tesla M2050"}


@dataclass(frozen=True)
class Source:
    """Where a number comes from."""

    name: str
    plan: str
    engine: str
    device: str
    mark: str = "dot"


def assumed_unit(name: str, title: str, column: str) -> str:
    """The unit of a column that names none: listed above, a plan's, or a program's if the title has the unit."""
    columns, unit = ASSUMED.get(name, ((), ""))
    if column in columns:
        return unit
    if column in CATALOGUE:
        return "ms"
    program = column.removeprefix("processor: ").lower()
    in_title = re.search(r", (ms(?: per \w+)?)$", title)
    return in_title[1] if in_title and program in {"hopwave", *PROGRAMS} else ""


def source_of(name: str, where: dict[str, Any], row: dict[str, Any], series: str) -> Source:
    """Who made a column's number, with which plan and on which device."""
    series = {"peer": str(row.get("peer")), "scipy": "SciPy"}.get(series, series)
    if method := row.get("method"):
        series = f"{method} {series}".strip()
    text = f"{series} {row.get('from', '')}".lower()
    words = re.findall(r"[\w-]+", series)
    words += [f"turbobfs-{word}" for word in words] if "turbobfs" in name else []
    plan = next((word for word in words if word in CATALOGUE and word != "hopwave"), None)
    plan = plan or row.get(f"{series} plan") or row.get("plan") or "auto"
    cpu = cores(where)
    gpu = where.get("gpu") or ("NVIDIA H200" if name.endswith(("-cuda", "-h200")) else "")
    if any(word in re.findall(r"\w+", series.lower()) for word in AIMS):
        return Source(series, "", "an aim", gpu or cpu, "aim")
    if word := program_in(text):
        if word == "paper":
            return Source(series, "", PROGRAMS[word], PAPERS_GPUS.get(name, TITAN), "paper")
        return Source(series, "", PROGRAMS[word], gpu if word in ON_GPUS else cpu)
    return Source(series, str(plan), *_engine(name, row, series, gpu, cpu))


@cache
def program_in(text: str) -> str:
    """The word of PROGRAMS that a text names; "" if it is about hopwave.

    >>> program_in("scipy ms"), program_in("networkx's rule ms"), program_in("hopwave beside scipy")
    ('scipy', '', '')
    """
    if "hopwave" in text:
        return ""
    return next((word for word in PROGRAMS if re.search(rf"{word}(?!'s rule)", text)), "")


def _engine(name: str, row: dict[str, Any], series: str, gpu: str, cpu: str) -> tuple[str, str]:
    """hopwave's engine for a series, and its device."""
    words = re.findall(r"\w+", series.lower())
    if "reference" in words:
        return "hopwave, reference", cpu
    on_gpu = bool(gpu) and "cpu" not in words and "all cores" not in str(row.get("from", ""))
    if str(row.get("device", "")).startswith(("cpu", "cuda")):
        on_gpu, gpu = row["device"].startswith("cuda"), gpu or "NVIDIA H200"
    if name == "plans-checked":
        on_gpu = "cuda" in words
    if "ranks" in words or name.partition("-")[0] == "ranks":
        return ("hopwave, ranks on a GPU", gpu) if on_gpu else ("hopwave, ranks", cpu)
    return ("hopwave, GPU", gpu) if on_gpu else ("hopwave, CPU", cpu)


def cores(where: dict[str, Any]) -> str:
    """A machine's CPU, in words.

    >>> cores({"machine": "aarch64", "cores": 2}), cores({"machine": "x86_64", "cores": 16})
    ('2 Arm cores', '16 x86 cores')
    """
    machine = str(where.get("machine", "x86_64"))
    return f"{where.get('cores', 2 if 'aarch64' in machine else 16)} {'Arm' if 'aarch64' in machine else 'x86'} cores"


def stated(name: str, row: dict[str, Any]) -> Iterator[tuple[str, str, float, Source]]:
    """Others' numbers for a row's graph and plan: unit, series, value, source."""
    graph, plan = str(row.get("name") or row.get("graph")), str(row.get("plan", ""))
    paper = Source("", plan, "the papers", TITAN, "paper")
    if name == "gpu-hopwave" and graph in BEST_SEARCH:
        ms, code = BEST_SEARCH[graph]
        yield "ms", f"best before, {code}", ms, Source("", "", PROGRAMS["best before"], "NVIDIA H200")
    elif name == "gpu-search" and plan.startswith("turbobfs"):
        for mteps in _turbobfs(re.sub(r"^kron(\d+)e4\d$", r"kron\1", graph)):
            yield "GTEPS", "paper, its best algorithm", mteps / 1e3, paper
    elif name == "gpu-search" and plan in PUSH_PULL and graph == "kron21e44":
        yield "GTEPS", "paper", PUSH_PULL[plan], Source("", plan, "the papers", K40, "paper")


def _turbobfs(graph: str) -> list[int]:
    """TurboBFS's MTEPS for one of our graphs, if any."""
    names = {"".join(map(str, case.made[:2])) if case.made else case.name.rpartition("/")[2]: case for case in CASES}
    return [names[graph].stated["MTEPS"]] if graph in names else []
