"""Implementing Push-Pull Efficiently in GraphBLAS (Yang, Buluç & Owens, 2018)."""

import time
from dataclasses import replace
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of, on_host
from hopwave.graph import Graph
from hopwave.papers.lab import Lab, WrongAnswer, claimed, ms_of, over, rows_of
from hopwave.papers.records import Case, Row, quoted, tables
from hopwave.planning.rules import Always

IDEAS = quoted("pushpull")["ideas"]  # Table 2: hopwave's plan → the row's name, the paper's GTEPS and speedup
OTHERS = ("SuiteSparse", "CuSha", "baseline", "Ligra", "push-pull")  # programs that the paper compares with Gunrock
(TABLE_3,) = tables("pushpull")
KINDS = ("back a level", "in the level", "to the next level")  # kinds of arcs


# ---------------------------------------------------------------- Table 1, Figure 2: the four products
#
#   by rows            growing number of entries in f, no mask   by columns           growing number of entries in f
#   by rows, masked    f full, growing number of rows in mask    by columns, masked   … and a mask of 2/3 as many
#
# linalg tests the mask before it computes a term, so its masked product by columns saves work, although Table 1
# predicts no saving. `by columns, then mask` follows the paper: the full product, then the mask.

la = hw.linalg
SHARES = (1 / 4096, 1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
THEN = "by columns, then mask"
PRODUCTS = quoted("pushpull")["costs"]  # product → Table 1's cost and exponent
RING = la.semiring.plus_second


def operands(product: str, n: int, count: int) -> tuple[Any, Any]:
    """f and the mask; None for no mask."""

    def drawn(size: int, seed: int) -> Any:
        return np.sort(np.random.default_rng(seed).choice(n, max(1, size), replace=False))

    full, masked = product == "by rows, masked", "mask" in product
    f = la.Vector.from_entries(np.arange(n) if full else drawn(count, 1), 1.0, n)
    mask = la.Vector.from_entries(drawn(count if full else 2 * count // 3, 2), True, n) if masked else None
    return f, mask


def products(lab: Lab) -> list[Row]:
    """Figure 2: milliseconds of each product for growing vectors, each compared with SciPy's or CuPy's."""
    graph, origin = lab.kron()
    A = la.Matrix.from_graph(graph).to(lab.device)
    right, rows = plain(lab, graph), []
    for share in SHARES:
        count = max(1, int(graph.n * share))
        times = {f"{one} ms": measure(lab, A, one, count, right) for one in PRODUCTS}
        rows.append({"entries": count, **times, "from": origin})
    return rows


def plain(lab: Lab, graph: Any) -> Any:
    """The matrix of SciPy or CuPy for checking results."""
    if lab.device == "cpu":
        return graph.to_scipy(np.float64)
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    offsets, neighbours = rows_of(graph, cupy)
    return csr_matrix((cupy.ones(graph.m), neighbours, offsets), shape=(graph.n, graph.n))


def measure(lab: Lab, A: Any, product: str, count: int, right: Any) -> float:
    """Milliseconds of one product, after it was checked."""
    n = A.shape[0]
    f, mask = operands(product, n, count)
    f, mask = f.to(lab.device), mask and mask.to(lab.device)
    xp: Any = module_of(f.values)
    direction = "pull" if product.startswith("by rows") else "push"
    f.convert("dense" if direction == "pull" else "sparse")
    common: Any = {"direction": direction, "early_exit": False, "device": lab.device}

    def call() -> Any:
        if product == THEN:
            y = la.mxv(A, f, RING, **common)
            return la.apply(y, la.unary.identity, mask=mask, structural=True)
        return la.mxv(A, f, RING, mask=mask, structural=mask is not None, **common)

    there = xp.ones(n, bool) if mask is None else mask.to_dense(False)
    if not bool(xp.allclose(call().to_dense(0.0), xp.where(there, right @ f.to_dense(0.0), 0), rtol=1e-9)):
        raise WrongAnswer(f"the product {product} is wrong; please report this")
    return lab.mean_ms(call)


def costs(lab: Lab) -> list[Row]:
    """Table 1: the exponent p of cost ~ entries^p, fitted to the larger half of Figure 2's sizes."""
    part = lab.measured("products")[len(SHARES) // 2 :]
    rows: list[Row] = []
    for product, (formula, power) in PRODUCTS.items() if part else ():
        logs = np.log([row["entries"] for row in part]), np.log([row[f"{product} ms"] for row in part])
        stated = {"paper: expected cost": formula, "paper: exponent": power}
        rows.append({"product": product, **stated, "exponent": float(np.polyfit(*logs, 1)[0])})
    return rows


# ---------------------------------------------------------------- searches


def one_graph(lab: Lab, case: Case, graph: Graph) -> Row:
    """Table 3 and Figure 7: mean milliseconds of ten searches, as in section 7.1, with the baseline."""
    graph = graph.to_undirected() if graph.directed else graph
    plans = {"push-pull": "pushpull", "baseline": "pushpull-baseline"}
    runs, sources, right = lab.in_turn(graph, plans, min(10, lab.effort.sources))
    ms = {name: [ms_of(levels) for levels in some] for name, some in runs.items()}
    row: Row = {f"{name} ms": fmean(some) for name, some in ms.items()} | {"sources": len(ms["push-pull"])}
    row |= {"fastest ms": min(ms["push-pull"]), "slowest ms": max(ms["push-pull"])}
    row |= {"degree": int(np.asarray(graph.degrees).max()), "diameter": max(int(one.max()) for one in right)}
    row |= {"push-pull MTEPS": graph.m / row["push-pull ms"] / 1e3, "gain": row["baseline ms"] / row["push-pull ms"]}
    row["SuiteSparse ms"] = lab.suitesparse_ms(graph, sources[0], right[0])
    for name in OTHERS:
        theirs, gunrock = case.stated[f"{name} ms"], case.stated["Gunrock ms"]
        row[f"paper: {name}"] = theirs / gunrock if isinstance(theirs, int | float) else None
    return row


searches = over(one_graph, TABLE_3)


def ideas(lab: Lab) -> list[Row]:
    """Table 2: one optimisation after another, on kron 21; means over the sources, as in section 7.1."""
    lab.grant(0.15)
    graph, _ = lab.kron()
    runs, _, right = lab.in_turn(graph, dict(zip(IDEAS, IDEAS, strict=True)), lab.effort.sources)
    degrees = np.asarray(graph.degrees)
    arcs = [int(degrees[on_host(one) >= 0].sum(dtype=np.int64)) for one in right]
    rows = []
    for plan, (name, gteps, *gain) in IDEAS.items():
        ms = [ms_of(levels) for levels in runs[plan]]
        ours = fmean(arcs[: len(ms)]) / fmean(ms) / 1e6
        checked = median(sum(level.checked for level in levels) for levels in runs[plan])
        row: Row = {"optimisation": name, "ms": fmean(ms), "median ms": median(ms), "GTEPS": ours, "sources": len(ms)}
        row |= {"median arcs checked": checked, "paper: GTEPS": gteps, "paper: gain": gain[0] if gain else None}
        rows.append(row)
    for before, after in pairwise(rows):
        after["gain"] = before["ms"] / after["ms"]
    return rows


def iterations(lab: Lab) -> list[Row]:
    """Figure 5: the arcs of each iteration by destination, and its milliseconds with only pushes and only pulls."""
    lab.grant(0.1)
    graph, _ = lab.kron()
    runs, _, right = lab.in_turn(graph, one_way(), min(lab.effort.sources, 16))
    rows = kinds(graph, right[0])
    for number, row in enumerate(rows):
        for name, some in runs.items():
            taken = [1e3 * levels[number].seconds for levels in some if len(levels) > number]
            row[f"{name} ms"] = median(taken) if taken else None
    return rows


def one_way() -> dict[str, Any]:
    push, pull = hw.plan("pushpull-structure"), hw.plan("pushpull-exit").steps[1]
    return {"push": push, "pull": replace(push, name="pushpull-pull-only", steps=(pull,), rule=Always())}


def kinds(graph: Graph, distances: Any) -> list[Row]:
    """For every level, its vertices, the unvisited vertices, and the destinations of its out-arcs."""
    xp: Any = module_of(distances)
    indptr, indices = rows_of(graph, xp)
    row = distances[xp.searchsorted(indptr, xp.arange(graph.m, dtype=indptr.dtype), side="right") - 1]
    onward = distances[indices] - row
    rows = []
    for level in range(int(distances.max()) + 1):
        arcs = onward[row == level]
        sizes = {"frontier": int((distances == level).sum()), "unvisited": int((distances > level).sum())}
        counts = {name: int((arcs == step).sum()) for step, name in enumerate(KINDS, -1)}
        rows.append({"iteration": level + 1, **sizes, **counts})
    return rows


def samples(lab: Lab) -> list[Row]:
    """Figure 6: every iteration of searches from many sources, as points."""
    graph, _ = lab.kron()
    sources, plans = lab.sources(graph, lab.effort.points), one_way()
    rows = []
    lab.grant(0.15)
    for plan in plans.values():
        lab.search(graph, plan, sources[0])  # compiles
    for source in sources:
        for name, plan in plans.items():
            left = graph.n - 1
            for number, level in enumerate(lab.search(graph, plan, source)[0]):
                size = level.vertices if name == "push" else left
                row = {"series": f"{name} {number + 1}", "iteration": number + 1, "direction": name, "entries": size}
                rows.append(row | {"ms": 1e3 * level.seconds, "looks": level.checked / max(1, left)})
                left -= level.found
        if time.perf_counter() > lab.until:
            break
    return rows


def fewer(lab: Lab) -> list[Row]:
    """Figure 6's points, thinned for a page."""
    rows = lab.measured("samples")
    return rows[:: max(1, len(rows) // 600)]


def looks(lab: Lab) -> list[Row]:
    """5.1 and Figure 6: medians of each iteration, and the parents read for each unvisited vertex."""
    rows = []
    most = max((row["iteration"] for row in lab.measured("samples")), default=0)
    for number in range(1, most + 1):
        row: Row = {"iteration": number}
        for name in ("push", "pull"):
            some = [one for one in lab.measured("samples") if one["iteration"] == number and one["direction"] == name]
            for shown, column in ((f"{name} ms", "ms"), (f"{name}: entries", "entries")):
                row |= {shown: median(one[column] for one in some)} if some else {}
            if some and name == "pull":
                row["parents read per unvisited vertex"] = median(one["looks"] for one in some)
        rows.append(row | {"paper: parents read": quoted("pushpull")["parents"].get(str(number))})
    return rows


STUDIES = {
    "products": products, "costs": costs, "ideas": ideas, "iterations": iterations, "samples": samples, "looks": looks,
    "fewer": fewer, "searches": searches, "claims": claimed("pushpull"),
}  # fmt: skip
