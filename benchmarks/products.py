"""The four products of push-pull's Table 1 and Figure 2: how their cost grows with the entries of vector and mask.

    python -m benchmarks.products [--device cpu | cuda] [--scale 18] [--edge-factor 16] [--repeats 9]

As in the paper's section 3.2, on a Kronecker graph, with places drawn at random:

    by rows                more and more entries in f, no mask       by columns           more and more entries in f
    by rows, masked        f full, more and more rows in the mask    by columns, masked   … and a mask of 2/3 as many

Every product is compared with SciPy's before it is timed (on a GPU, with CuPy's). Early exit is off, as in the paper.
Writes a table, a picture, and how the cost grows: the exponent p of
cost ~ entries^p that fits best. In Table 1 it is 0 for the unmasked product by rows and 1 for the other three.
"""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import WRITTEN, publish
from benchmarks.setting import command_line, generate, gpu, hw, plotting, synchronize
from hopwave.arrays import module_of

la = hw.linalg
SHARES = [1 / 4096, 1 / 1024, 1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 3 / 8, 1 / 2, 3 / 4, 1]
PRODUCTS = ["by rows", "by rows, masked", "by columns", "by columns, masked"]
RING = la.semiring.plus_second


def places(n: int, count: int, seed: int) -> Any:
    return np.sort(np.random.default_rng(seed).choice(n, count, replace=False))


def operands(product: str, n: int, count: int) -> tuple[Any, Any]:
    """f and the mask; None for no mask."""
    full = product == "by rows, masked"
    f = la.Vector.from_entries(np.arange(n) if full else places(n, count, 1), 1.0, n)
    if full:
        return f, la.Vector.from_entries(places(n, count, 2), True, n)
    return f, la.Vector.from_entries(places(n, max(1, 2 * count // 3), 2), True, n) if "masked" in product else None


def plain(G: hw.Graph, device: str) -> Any:
    """The matrix of SciPy or CuPy that results are compared with."""
    if device == "cpu":
        return G.to_scipy(np.float64)
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    return csr_matrix((cupy.ones(G.m), cupy.asarray(G.indices), cupy.asarray(G.indptr)), shape=(G.n, G.n))


def measure(A: Any, product: str, count: int, device: str, repeats: int, right: Any) -> tuple[float, int]:
    """Milliseconds (the median) and entries touched."""
    n = A.shape[0]
    f, mask = (None if one is None else one.to(device) for one in operands(product, n, count))
    xp = module_of(f.values)
    direction = "pull" if product.startswith("by rows") else "push"
    f.convert("dense" if direction == "pull" else "sparse")
    keywords: Any = {"mask": mask, "structural": mask is not None, "direction": direction, "early_exit": False}
    y, why = la.mxv(A, f, RING, explain=True, device=device, **keywords)
    assert why.product == product, why
    expected = right @ f.to_dense()
    there = xp.ones(n, bool) if mask is None else mask.to_dense(False)
    assert bool(xp.allclose(y.to_dense(), xp.where(there, expected, 0), rtol=1e-9)), (product, count)
    times = []
    for _ in range(repeats):
        synchronize(device)
        began = time.perf_counter()
        la.mxv(A, f, RING, device=device, **keywords)
        synchronize(device)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e3, why.touched


def exponent(rows: list[dict[str, Any]], column: str) -> float:
    """p of cost ~ entries^p, fitted to the larger half of the sizes, where fixed costs are small."""
    part = rows[len(rows) // 2 :]
    return float(np.polyfit(np.log([row["entries"] for row in part]), np.log([row[column] for row in part]), 1)[0])


def draw(rows: list[dict[str, Any]], title: str, path: Path) -> None:
    if (pyplot := plotting()) is None:
        return
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, unit, label in zip(axes, ("ms", "touched"), ("milliseconds", "entries touched"), strict=True):
        for product in PRODUCTS:
            axis.plot(
                [row["entries"] for row in rows], [row[f"{product}, {unit}"] for row in rows], "o-", label=product
            )
        axis.set(xlabel="entries of f (of the mask, for rows masked)", ylabel=label)
    axes[0].legend()
    figure.suptitle(title)
    figure.savefig(path, dpi=150)


def main() -> None:
    options = command_line(__doc__, device="cpu", scale=18, edge_factor=16, repeats=9)
    G = generate.kronecker(options.scale, options.edge_factor, seed=1)
    right = plain(G, options.device)
    A = la.Matrix.from_graph(G).to(options.device)
    rows = []
    for share in SHARES:
        count = max(1, int(G.n * share))
        row: dict[str, Any] = {"entries": count}
        for product in PRODUCTS:
            row[f"{product}, ms"], row[f"{product}, touched"] = measure(
                A, product, count, options.device, options.repeats, right
            )
        rows.append(row)
        print(row, flush=True)
    growth = "; ".join(
        f"{one}: time {exponent(rows, f'{one}, ms'):.2f}, entries touched {exponent(rows, f'{one}, touched'):.2f}"
        for one in PRODUCTS
    )
    model = next(device.model for device in hw.devices() if device.kind == options.device)
    title = f"The four products on kron {options.scale} ({G.m:,} arcs), {model}"
    name = "linalg-products" if options.device == "cpu" else "linalg-products-cuda"
    note = (
        "Exponent p of cost ~ entries^p, fitted to the larger half of the sizes (push-pull, Table 1: 0 by rows, 1 for "
        "the others): "
        f"{growth}."
        f"\n\n![the four products]({name}.png)"
    )
    publish(name, title, rows, note, gpu(options.device))
    draw(rows, title, WRITTEN / f"{name}.png")


if __name__ == "__main__":
    main()
