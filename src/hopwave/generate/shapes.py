"""Graphs of a fixed shape, and random graphs: uniform, small world, preferential attachment, points in the plane."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.generate import counter
from hopwave.generate.parameters import check_memory, check_part, check_real, check_seed, check_whole
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT as LARGEST_N

Edges = tuple[npt.NDArray[Any], npt.NDArray[Any]]

MOST_SHARED = 1 << 40  # maximum vertices of a graph that is distributed over ranks; one process stores fewer


def star(n: int) -> Graph:
    """A star of n vertices: vertex 0 is joined to every other vertex.

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

    Examples
    --------
    >>> hw.generate.cycle(5).degrees.tolist()
    [2, 2, 2, 2, 2]
    """
    n = check_whole("n", n, 3)
    tails = np.arange(n, dtype=np.int32)
    return Graph.from_edges(tails, np.roll(tails, -1), n=n, directed=directed)


def complete(n: int) -> Graph:
    """A complete graph: every pair of n vertices is joined.

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

    Each diamond is a joint, two middle vertices and the next joint. With 1,024 or more diamonds, the number of paths
    exceeds float64.

    Parameters
    ----------
    k : int
        Number of diamonds.

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
        Size of the grid. Vertex r * columns + c is in row r, column c.
    missing : float, optional
        Probability that an edge is missing.

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
    """Mycielski's graph of chromatic number k: dense and without triangles (k=12: 3,071 vertices, 203,600 edges).

    The construction starts with one edge (k = 2). Each step copies the vertices, joins every copy to the neighbours of
    its original, and joins all copies to one new vertex, so that n becomes 2n + 1.

    Parameters
    ----------
    k : int
        Chromatic number, at least 2.

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


# ---------------------------------------------------------------- random graphs


def uniform(n: int, edge_factor: int = 16, seed: int = 1, directed: bool = False) -> Graph:
    """A uniform random graph: n * edge_factor edges, both endpoints drawn uniformly (GAPBS's urand: n = 2**scale).

    Examples
    --------
    >>> hw.generate.uniform(n=1024, edge_factor=8).n
    1024
    """
    n = check_whole("n", n, 1)
    check_memory(check_part(n, edge_factor, 0, None)[1])
    return Graph.from_edges(*uniform_edges(n, edge_factor, seed), n=n, directed=directed)


def uniform_edges(n: int, edge_factor: int = 16, seed: int = 1, first: int = 0, count: int | None = None) -> Edges:
    """Edges first ... first + count - 1 of the list that `uniform` draws: (sources, targets), int32 if ids fit.

    Each block is drawn independently, so that every rank of a cluster can draw its own part.

    Examples
    --------
    >>> from hopwave.generate import uniform_edges
    >>> bool((uniform_edges(100, count=20)[0][15:] == uniform_edges(100, first=15, count=5)[0]).all())
    True
    """
    n, seed = check_whole("n", n, 1, MOST_SHARED), check_seed(seed)
    first, count = check_part(n, edge_factor, first, count)

    def draw(begin: int, end: int) -> Edges:
        ends = counter.integers(seed, "uniform", 2 * (first + begin), 2 * (end - begin), n)
        return ends[0::2], ends[1::2]

    return counter.edges(n, count, draw)


def smallworld(n: int, k: int = 10, p: float = 0.1, seed: int = 1) -> Graph:
    """A small world (Watts and Strogatz): a ring, each vertex with k neighbours, each edge rewired with probability p.

    Parameters
    ----------
    n : int
        Number of vertices, at least 3.
    k : int, optional
        Number of neighbours on the ring; an even number.
    p : float, optional
        Probability that an edge is rewired.

    Notes
    -----
    A rewired edge keeps its first endpoint. It is never a self-loop, an edge of the ring or a repeated edge, so the
    graph always has n * k / 2 edges. An edge that finds no valid endpoint in 64 draws is not rewired.

    Examples
    --------
    >>> hw.generate.smallworld(100, k=4, p=0.2).m
    400
    """
    n = check_whole("n", n, 3)
    k = check_whole("k", k, 2, n - 1)
    if k % 2:
        raise GraphError(f"k={k} is odd, but a ring has equally many neighbours on both sides; pass an even number")
    p, seed = check_real("p", p, 0.0, 1.0), check_seed(seed)
    half = k // 2
    check_memory(n * half)
    src = np.repeat(np.arange(n, dtype=np.int64), half)
    dst = (src + np.tile(np.arange(1, half + 1), n)) % n
    moving = np.flatnonzero(counter.fractions(seed, "rewire", 0, src.size) < p)
    taken = np.empty(0, dtype=np.int64)
    for attempt in range(64):
        if not moving.size:
            break
        tail = src[moving]
        head = counter.integers(seed, f"place {attempt}", 0, moving.size, n)
        apart = np.abs(tail - head)
        place = np.minimum(tail, head) * n + np.maximum(tail, head)
        _, winners = np.unique(place, return_index=True)  # if several edges draw the same pair, the first is rewired
        free = np.zeros(moving.size, dtype=bool)
        free[winners] = True
        free &= (np.minimum(apart, n - apart) > half) & ~np.isin(place, taken)
        dst[moving[free]] = head[free]
        taken = np.concatenate([taken, place[free]])
        moving = moving[~free]
    return Graph.from_edges(src, dst, n=n)


def barabasi_albert(n: int, k: int = 4, seed: int = 1) -> Graph:
    """Preferential attachment (Barabasi and Albert): each new vertex joins k old vertices, drawn by degree.

    Parameters
    ----------
    n : int
        Number of vertices, at least k + 1.
    k : int, optional
        Number of edges that each new vertex draws. Repeated edges are merged.

    Notes
    -----
    The first k + 1 vertices form a star. The probability of an old vertex is proportional to its degree.

    Examples
    --------
    >>> int(hw.generate.barabasi_albert(1000, k=3).degrees.max()) > 30
    True
    """
    k = check_whole("k", k, 1)
    n = check_whole("n", n, k + 1)
    seed = check_seed(seed)
    check_memory(n * k)
    # A uniformly drawn endpoint of an old edge is a vertex drawn in proportion to its degree. Slots 2e and 2e + 1 are
    # the endpoints of edge e. Even slots and the slots of the star contain vertices. Every other odd slot points to an
    # older slot, and pointers are followed to a slot with a vertex (Batagelj and Brandes, 2005).
    new = np.repeat(np.arange(k + 1, n, dtype=np.int64), k)
    tails = np.concatenate([np.zeros(k, dtype=np.int64), new])
    star = np.arange(1, k + 1, dtype=np.int64)
    older = 2 * k * (new - k)  # number of slots of earlier vertices; drawing only from them avoids self-loops
    slot = counter.integers(seed, "attach", 0, new.size, older)
    pointer = np.concatenate([np.zeros(k, dtype=np.int64), slot])
    while True:
        open_ = np.flatnonzero((slot % 2 == 1) & (slot >= 2 * k))
        if not open_.size:
            break
        slot[open_] = pointer[slot[open_] // 2]
    heads = np.where(slot % 2 == 0, tails[slot // 2], np.append(star, 0)[np.minimum(slot // 2, k)])
    return Graph.from_edges(tails, np.concatenate([star, heads]), n=n)


def delaunay(n: int, seed: int = 1) -> Graph:
    """The Delaunay triangulation of n random points in the unit square.

    Examples
    --------
    >>> G = hw.generate.delaunay(100)
    >>> G.m < 6 * G.n
    True
    """
    n = check_whole("n", n, 1)
    points = _points(n, seed)
    if n < 3:  # no triangle: at most one edge
        return Graph.from_edges(np.arange(n - 1), np.arange(1, n), n=n)
    from scipy.spatial import Delaunay

    corners = Delaunay(points).simplices
    src = np.concatenate([corners[:, 0], corners[:, 1], corners[:, 2]])
    dst = np.concatenate([corners[:, 1], corners[:, 2], corners[:, 0]])
    return Graph.from_edges(src, dst, n=n)


def geometric(n: int, radius: float | None = None, seed: int = 1) -> Graph:
    """A random geometric graph: n random points in the unit square, joined if they are closer than the radius.

    Parameters
    ----------
    radius : float, optional
        Radius. Default: 0.55 sqrt(ln n / n), as in the rgg_n_2_* graphs of the DIMACS challenge; this is just large
        enough to connect nearly all vertices.

    Examples
    --------
    >>> hw.generate.geometric(50, radius=2.0).m == 50 * 49  # all points are closer than 2
    True
    """
    n = check_whole("n", n, 1)
    radius = 0.55 * math.sqrt(math.log(n) / n) if radius is None else check_real("radius", radius, 0.0, 2.0)
    points = _points(n, seed)
    check_memory(int(n * n * min(1.0, math.pi * radius * radius) / 4))
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(radius, output_type="ndarray")
    return Graph.from_edges(pairs[:, 0], pairs[:, 1], n=n)


def _points(n: int, seed: int) -> npt.NDArray[np.float64]:
    check_memory(n)
    return counter.fractions(check_seed(seed), "points", 0, 2 * check_whole("n", n, 1, LARGEST_N)).reshape(n, 2)
