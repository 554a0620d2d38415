"""TurboBFS: GPU Based Breadth-First Search Algorithms in the Language of Linear Algebra (Artiles & Saeed, 2021)."""

from collections import Counter
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of, on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer, check_search, claimed, degree_of, log2_of, over
from hopwave.papers.records import Case, Row, quoted, tables
from hopwave.planning.jobs import SearchJob

PLANS = ("td-sccooc", "td-sccsc", "td-vecsc", "bu-sc", "bu-ve", "tdbu", "tdbu-ve")
TABLE_I, TABLE_II, TABLE_III = tables("turbobfs")


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """The seven algorithms on one graph, checked, then timed, with path counts if supported."""
    root, ms = lab.root_of(graph), {}
    first: Any = None
    for plan in PLANS:
        record = hw.plan(f"turbobfs-{plan}")
        counted = record.why_not(SearchJob(path_counts=True)) is None

        def call(record: Any = record, counted: bool = counted) -> Any:
            return hw.bfs(graph, root, plan=record, device=lab.device, predecessors=False, path_counts=counted)

        found = call()
        counts = found.path_counts if counted else None
        if first is None:
            check_search(graph, found.distances, counts, root)
            first, depth = (found.distances, counts), found.depth
        elif not bool((found.distances == first[0]).all()) or not same(counts, first[1], module_of(first[0])):
            raise WrongAnswer(f"{case.shown}: turbobfs-{plan} differs from turbobfs-{PLANS[0]}; please report this")
        ms[plan] = lab.mean_ms(call)
    best = min(ms, key=lambda plan: ms[plan])
    row: Row = {"degree": degree_of(graph), "d": depth + 1, "best": best, "ms": ms[best]}
    row["MTEPS"] = graph.m / ms[best] / 1e3
    row |= {f"{plan} ms": taken for plan, taken in ms.items()} | {"paths ms": min(ms[plan] for plan in PLANS[:3])}
    suite = lab.suitesparse_ms(graph, root, first[0])
    return row | {"SuiteSparse ms": suite, "(GBLAS)x": suite and suite / ms[best]}


searches = over(one_graph, TABLE_I, TABLE_II, TABLE_III)


def same(counts: Any, first: Any, xp: Any) -> bool:
    """Whether path counts agree, if both exist: above 2^53 they are rounded."""
    if counts is None or first is None:
        return True
    return bool(xp.allclose(log2_of(counts, xp), log2_of(first, xp), rtol=0, atol=1e-9))


def histograms(lab: Lab) -> list[Row]:
    """Figure 2: the relative histogram of degrees of a regular and of an irregular graph."""
    chosen = {"delaunayn19", "mycielski19" if lab.device == "cuda" else "mycielski15"}
    rows = []
    for case in (*TABLE_I, *TABLE_II):
        if case.shown not in ({"delaunayn15", "mycielski12"} if lab.quick else chosen):
            continue
        if (graph := lab.shelf.get(case).graph) is None:
            continue
        degrees = np.asarray(graph.degrees)
        edges = np.linspace(0, degrees.max() + 1, min(40, int(degrees.max()) + 2))
        counts, _ = np.histogram(degrees, edges)
        for low, count in zip(edges, counts / graph.n, strict=False):
            name = f"{case.shown}, {lab.shelf.get(case).origin}"
            rows.append({"graph": name, "degree from": float(low), "share of vertices": float(count)})
    return rows


EXAMPLE = Graph.from_edges([1, 1, 0, 3, 0], [0, 3, 2, 2, 4], n=5, directed=True)  # Figures 1 and 3, ids from 0


def example(lab: Lab) -> list[Row]:
    """Figure 3: f and σ of every level of the example, root 2 (here 1), by TurboBFS-tdscCSC."""
    found = hw.bfs(EXAMPLE, 1, plan="turbobfs-td-sccsc", device=lab.device, path_counts=True, predecessors=False)
    distance, counts = on_host(found.distances), on_host(found.path_counts)
    rows = []
    for level, (f, sigma) in enumerate(quoted("turbobfs")["example"].values()):
        new, all_found = (
            np.where(mask, counts, 0).astype(int) for mask in (distance == level, (distance >= 0) & (distance <= level))
        )
        ours = {"f": " ".join(map(str, new)), "σ": " ".join(map(str, all_found))}
        rows.append({"d": level, **ours, "paper: f": f, "paper: σ": sigma})
    return rows


def formats(lab: Lab) -> list[Row]:
    """Figure 1: the arrays of the example in both formats, one-based as in the paper."""
    order = np.lexsort((np.repeat(np.arange(EXAMPLE.n), EXAMPLE.degrees), EXAMPLE.indices))
    rows = np.repeat(np.arange(EXAMPLE.n), EXAMPLE.degrees)[order] + 1
    columns = EXAMPLE.indices[order] + 1
    starts = np.concatenate([[1], 1 + np.cumsum(EXAMPLE.in_degrees)])
    arrays: dict[str, Any] = {"row_A (both formats)": rows, "col_A (COOC)": columns, "CP_A (CSC)": starts}
    return [{"array": name, "values": " ".join(map(str, array))} for name, array in arrays.items()]


def fastest(lab: Lab) -> list[Row]:
    """IV-A and IV-B: how often each algorithm is the fastest of its table."""
    rows = []
    for number, shares in quoted("turbobfs")["fastest"].items():
        best = Counter(row["best"] for row in lab.measured("searches") if row["table"] == number and "best" in row)
        best["tdbu"] += best.pop("tdbu-ve", 0)
        for plan in PLANS[:-1]:
            ours = {"% of graphs": 100 * best[plan] / best.total() if best.total() else None}
            rows.append({"table": number, "algorithm": plan, **ours, "paper: % of graphs": shares.get(plan)})
    return rows


STUDIES = {
    "formats": formats, "searches": searches, "histograms": histograms, "example": example, "fastest": fastest,
    "claims": claimed("turbobfs"),
}  # fmt: skip
