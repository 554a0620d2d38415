"""Kronecker graphs (Graph500, R-MAT): at each level, every edge draws one cell of the initiator matrix."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import float64s, ignoring
from hopwave.checks.numbers import shown
from hopwave.checks.options import flag
from hopwave.errors import GraphError, gpu_part
from hopwave.generate import counter
from hopwave.generate.parameters import check_memory, check_part, check_seed, check_whole
from hopwave.graph import Graph, construct
from hopwave.graph.csr import LARGEST_VERTEX_COUNT as LARGEST_N
from hopwave.graph.csr import builders, is_compiled_faster

Edges = tuple[npt.NDArray[Any], npt.NDArray[Any]]

GRAPH500 = (0.57, 0.19, 0.19, 0.05)
DRAW_BITS = 31  # bits per level: two draws fit into one 64-bit word, and 2^31 still fits into uint32


def kronecker(
    scale: int,
    edge_factor: int = 16,
    initiator: Sequence[float] = GRAPH500,
    seed: int = 1,
    directed: bool = False,
    permute: bool = True,
) -> Graph:
    """A Kronecker graph of k^scale vertices (2^scale for Graph500) and edge_factor times as many edge draws.

    Examples
    --------
    >>> G = hw.generate.kronecker(scale=8, edge_factor=16, seed=1)
    >>> G.n
    256
    """
    scale, n, _, _ = _size(scale, initiator)
    if n > LARGEST_N:
        problem = f"scale={scale} gives {n:,} vertices, but ids have 31 bits"
        raise GraphError(f"{problem}; use kronecker_edges or a smaller scale")
    draws = check_part(n, edge_factor, 0, None)[1]
    check_memory(draws)
    seed, permute, directed = check_seed(seed), flag("permute", permute), flag("directed", directed)
    place = construct.choose_builder("auto", "cpu", draws)
    if place == "cuda" and permute and np.array_equal(np.ravel(initiator), GRAPH500):
        src, dst = gpu_part("kronecker").edges(scale, seed, 0, draws, np.int32)  # the same edges, drawn on the GPU
    else:
        src, dst = kronecker_edges(scale, edge_factor, seed, 0, draws, initiator, permute)
    builder = builders[place]()
    ends = builder.column(src, "src"), builder.column(dst, "dst")
    rows = builder.rows_of(*ends, n, symmetric=not directed, merge=True)
    return Graph._built(rows, place, directed)


def rmat(
    scale: int, edge_factor: int = 16, initiator: Sequence[float] = GRAPH500, seed: int = 1, permute: bool = False
) -> Graph:
    """A directed Kronecker graph whose vertex ids are not shuffled (R-MAT).

    Examples
    --------
    >>> hw.generate.rmat(scale=6).directed
    True
    """
    return kronecker(scale, edge_factor, initiator, seed, directed=True, permute=permute)


def kronecker_edges(
    scale: int,
    edge_factor: int = 16,
    seed: int = 1,
    first: int = 0,
    count: int | None = None,
    initiator: Sequence[float] = GRAPH500,
    permute: bool = True,
) -> Edges:
    """Edges first ... first + count - 1 of the list that `kronecker` draws: (sources, targets), int32 if ids fit.

    Each block is drawn independently, so that every rank of a cluster can draw its own part.

    Examples
    --------
    >>> from hopwave.generate import kronecker_edges
    >>> whole = kronecker_edges(scale=4, count=20)
    >>> part = kronecker_edges(scale=4, first=15, count=5)
    >>> bool((whole[0][15:] == part[0]).all() and (whole[1][15:] == part[1]).all())
    True
    """
    scale, n, k, thresholds = _size(scale, initiator)
    seed, permute = check_seed(seed), flag("permute", permute)
    first, count = check_part(n, edge_factor, first, count)
    if k == 2 and scale and n <= LARGEST_N and is_compiled_faster(count):
        from hopwave.generate.recursive_compiled import draw_edges

        return draw_edges(scale, seed, first, count, DRAW_BITS, thresholds, permute)

    def draw(begin: int, end: int) -> Edges:
        rows, columns = _descend(scale, seed, first + begin, end - begin, k, thresholds)
        return (counter.scramble(rows, n, seed), counter.scramble(columns, n, seed)) if permute else (rows, columns)

    return counter.edges(n, count, draw)


def _size(scale: int, initiator: Sequence[float]) -> tuple[int, int, int, npt.NDArray[np.uint32]]:
    """(scale, number of vertices, k, borders); see `cell_borders`. Ids and counters have at most 62 bits."""
    k, borders = cell_borders(initiator)
    scale = check_whole("scale", scale, 0, int(62 / math.log2(k) + 1e-9))
    return scale, k**scale, k, borders


@ignoring("over")
def cell_borders(initiator: Sequence[float]) -> tuple[int, npt.NDArray[np.uint32]]:
    """k, and the k^2 - 1 borders between the cells, as integers of DRAW_BITS bits."""
    given = float64s(initiator)
    if given is None:
        raise GraphError(f"initiator={shown(initiator)} is not a matrix of numbers; pass k x k probabilities")
    cells = given.ravel()
    k = math.isqrt(cells.size)
    if k < 2 or k * k != cells.size:
        raise GraphError(f"initiator has {cells.size} cells, so it is not a square matrix; pass 4, 9, 16, ... numbers")
    if not (np.isfinite(cells).all() and (cells >= 0).all()):
        raise GraphError(f"initiator={initiator!r} has a negative or infinite cell; pass probabilities")
    total = float(cells.sum())
    if abs(total - 1) > 1e-6:
        raise GraphError(f"initiator={initiator!r} sums to {total:g} instead of 1; divide it by its sum")
    borders = np.rint(np.cumsum(cells)[:-1] / total * 2**DRAW_BITS)
    return k, borders.astype(np.uint32)


def _descend(scale: int, seed: int, first: int, count: int, k: int, thresholds: npt.NDArray[np.uint32]) -> Edges:
    """Rows and columns of a block of edges: `scale` draws per edge, each of which gives one digit in base k."""
    id_type: Any = np.uint32 if k**scale <= LARGEST_N else np.uint64
    rows, columns = np.zeros(count, dtype=id_type), np.zeros(count, dtype=id_type)
    words = (scale + 1) // 2
    for level in range(scale):
        if level % 2 == 0:
            word = counter.bits(seed, "kronecker", first * words + level // 2, count, stride=words)
            draw = (word >> np.uint64(64 - DRAW_BITS)).astype(np.uint32)
        else:
            draw = (word & np.uint64(2**DRAW_BITS - 1)).astype(np.uint32)
        row, column = _quadrant(draw, thresholds) if k == 2 else _cell(draw, thresholds, k)
        rows *= id_type(k)
        rows += row
        columns *= id_type(k)
        columns += column
    return rows, columns


def _quadrant(draw: npt.NDArray[np.uint32], thresholds: npt.NDArray[np.uint32]) -> Edges:
    """Row bit and column bit of a draw for k = 2, faster than `_cell`; recursive_compiled.draw explains how."""
    below, middle, above = (border - draw for border in thresholds - np.uint32(1))
    below ^= middle
    below ^= above
    below >>= np.uint32(31)
    middle >>= np.uint32(31)
    return middle, below


def _cell(draw: npt.NDArray[np.uint32], thresholds: npt.NDArray[np.uint32], k: int) -> Edges:
    row, column = np.divmod(np.searchsorted(thresholds, draw, side="right"), k)
    return row.astype(np.uint32), column.astype(np.uint32)
