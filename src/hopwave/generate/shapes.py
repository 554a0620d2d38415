"""Graphs of a fixed shape. Nothing about them is random, except which edges of a grid are missing."""

from __future__ import annotations

import numpy as np

from hopwave.generate import counter
from hopwave.generate.parameters import LARGEST_N, check_memory, check_real, check_seed, check_whole
from hopwave.graph import Graph


def star(n: int) -> Graph:
    """A star of n vertices: vertex 0 joined to every other.

    Parameters
    ----------
    n : int
        The number of vertices.

    See Also
    --------
    path, cycle

    Examples
    --------
    >>> hw.generate.star(4).degrees.tolist()
    [3, 1, 1, 1]
    """
    n = check_whole("n", n, 1)
    leaves = np.arange(1, n, dtype=np.int32)
    return Graph.from_edges(np.zeros_like(leaves), leaves, n=n)


def path(n: int, directed: bool = False) -> Graph:
    """A path of n vertices: 0 - 1 - ... - n-1.

    Parameters
    ----------
    n : int
        The number of vertices.
    directed : bool, optional
        Whether the graph is directed.

    See Also
    --------
    cycle, star, grid

    Examples
    --------
    >>> hw.generate.path(3).degrees.tolist()
    [1, 2, 1]
    """
    n = check_whole("n", n, 1)
    tails = np.arange(n - 1, dtype=np.int32)
    return Graph.from_edges(tails, tails + np.int32(1), n=n, directed=directed)


def cycle(n: int, directed: bool = False) -> Graph:
    """A cycle through n vertices.

    Parameters
    ----------
    n, directed
        As for `path`.

    See Also
    --------
    path

    Examples
    --------
    >>> hw.generate.cycle(5).degrees.tolist()
    [2, 2, 2, 2, 2]
    """
    n = check_whole("n", n, 3)
    tails = np.arange(n, dtype=np.int32)
    return Graph.from_edges(tails, np.roll(tails, -1), n=n, directed=directed)


def complete(n: int) -> Graph:
    """A complete graph: every pair of n vertices joined.

    Parameters
    ----------
    n : int
        The number of vertices.

    See Also
    --------
    star

    Examples
    --------
    >>> hw.generate.complete(4).m
    12
    """
    n = check_whole("n", n, 1)
    check_memory(n * (n - 1) // 2)
    src, dst = np.triu_indices(n, k=1)
    return Graph.from_edges(src, dst, n=n)


def diamonds(k: int) -> Graph:
    """A chain of k diamonds: 2^k shortest paths from vertex 0 to vertex 3k.

    Each diamond is a joint, two middle vertices and the next joint. From 1,024 diamonds on, float64 cannot hold the
    number of paths.

    Parameters
    ----------
    k : int
        How many diamonds.

    See Also
    --------
    path

    Examples
    --------
    >>> hw.generate.diamonds(2).n
    7
    """
    k = check_whole("k", k, 1, (LARGEST_N - 1) // 3)
    joint = 3 * np.arange(k, dtype=np.int64)
    src = np.concatenate([joint, joint, joint + 1, joint + 2])
    dst = np.concatenate([joint + 1, joint + 2, joint + 3, joint + 3])
    return Graph.from_edges(src, dst, n=3 * k + 1)


def grid(rows: int, columns: int, missing: float = 0.0, seed: int = 1) -> Graph:
    """A grid of rows x columns, each vertex joined to its 4 neighbours. Some edges may be missing.

    Parameters
    ----------
    rows, columns : int
        The size. Vertex r * columns + c is in row r, column c.
    missing : float, optional
        The probability that an edge is missing.
    seed : int, optional
        The same seed gives the same graph.

    See Also
    --------
    path, delaunay

    Examples
    --------
    >>> hw.generate.grid(3, 4).m
    34
    """
    rows = check_whole("rows", rows, 1)
    columns = check_whole("columns", columns, 1, LARGEST_N // rows)
    missing = check_real("missing", missing, 0.0, 1.0)
    seed = check_seed(seed)
    check_memory(2 * rows * columns)
    ids = np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)
    src = np.concatenate([ids[:, :-1].ravel(), ids[:-1].ravel()])
    dst = np.concatenate([ids[:, 1:].ravel(), ids[1:].ravel()])
    if missing > 0:
        kept = counter.fractions(seed, "grid", 0, src.size) >= missing
        src, dst = src[kept], dst[kept]
    return Graph.from_edges(src, dst, n=rows * columns)


def mycielskian(k: int) -> Graph:
    """Mycielski's graph of chromatic number k: no triangles, and very dense (k=12: 3,071 vertices, 203,600 edges).

    Starts with one edge (k = 2). Each step copies the vertices, joins every copy to the neighbours of its original, and
    joins all copies to one new vertex: n becomes 2n + 1.

    Parameters
    ----------
    k : int
        The chromatic number, at least 2.

    See Also
    --------
    complete

    Examples
    --------
    >>> hw.generate.mycielskian(4).n  # Groetzsch's graph
    11
    """
    k = check_whole("k", k, 2, 30)
    n, edges = 2, 1
    for _ in range(k - 2):
        n, edges = 2 * n + 1, 3 * edges + n
    check_memory(edges)
    src, dst = np.array([0], dtype=np.int32), np.array([1], dtype=np.int32)
    n = 2
    for _ in range(k - 2):
        originals = np.arange(n, dtype=np.int32)
        src = np.concatenate([src, src + np.int32(n), src, originals + np.int32(n)])
        dst = np.concatenate([dst, dst, dst + np.int32(n), np.full(n, 2 * n, dtype=np.int32)])
        n = 2 * n + 1
    return Graph.from_edges(src, dst, n=n)
