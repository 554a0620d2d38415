"""Push-pull's four products (Table 1, Figure 2): how their cost grows with the entries of vector and mask.

    by rows            more and more entries in f, no mask       by columns           more and more entries in f
    by rows, masked    f full, more and more rows in the mask    by columns, masked   … and a mask of 2/3 as many

linalg tests the mask before it computes a term, so that its masked product by columns saves work where Table 1 says
that nothing is saved. The fifth series, `by columns, then mask`, does as the paper: the whole product, then the mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import hopwave as hw
from hopwave.arrays import module_of
from hopwave.papers.lab import Lab, WrongAnswer
from hopwave.papers.records import Row

la = hw.linalg
SHARES = (1 / 4096, 1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)
THEN = "by columns, then mask"
# Table 1's exponents
PRODUCTS = {"by rows": 0, "by rows, masked": 1, "by columns": 1, "by columns, masked": 1, THEN: 1}
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
    """The matrix of SciPy or CuPy that results are compared with."""
    if lab.device == "cpu":
        return graph.to_scipy(np.float64)
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    from hopwave.engines.cuda.graph import CudaGraph

    offsets, neighbours = CudaGraph(graph).rows
    return csr_matrix((cupy.ones(graph.m), neighbours, offsets), shape=(graph.n, graph.n))


def measure(lab: Lab, A: Any, product: str, count: int, right: Any) -> float:
    """Milliseconds of one product, after it was compared."""
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
    formulas = ("O(dM)", "O(d nnz(m))", "O(d nnz(f) log nnz(f))", "O(d nnz(f) log nnz(f))", "O(d nnz(f) log nnz(f))")
    part = lab.measured("products")[len(SHARES) // 2 :]
    rows: list[Row] = []
    for (product, power), formula in zip(PRODUCTS.items(), formulas, strict=True) if part else ():
        logs = np.log([row["entries"] for row in part]), np.log([row[f"{product} ms"] for row in part])
        stated = {"paper: expected cost": formula, "paper: exponent": power}
        rows.append({"product": product, **stated, "exponent": float(np.polyfit(*logs, 1)[0])})
    return rows
