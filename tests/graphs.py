"""Small graphs, each named after its trap; random graphs; and the folder of real graphs.

`TRAPS[name]()` returns a graph, which is made only once because graphs are immutable. A search from vertex 0 meets the
trap; any other vertex may be a source too. In a graph whose name ends in "-directed", every edge goes one way only, as
it is listed.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hopwave import Graph, generate

Pairs = list[tuple[int, int]]

# The folder of real graphs, which is not part of the repository.
DATA = Path(os.environ.get("HOPWAVE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def _line(n: int) -> Pairs:
    return [(v, v + 1) for v in range(n - 1)]


def _hub(leaves: int) -> Pairs:
    """A path 0 - 1 to a hub with more neighbours than a block has threads; an edge joins two of the neighbours."""
    hub = 2
    return [(0, 1), (1, hub), *((hub, hub + 1 + leaf) for leaf in range(leaves)), (hub + 1, hub + leaves)]


def _layers(layers: int, width: int) -> Pairs:
    """One vertex, then layers, each fully connected to the next: width^layers shortest paths, all arcs forward."""
    first = [(0, 1 + i) for i in range(width)]
    return first + [
        (1 + layer * width + i, 1 + (layer + 1) * width + j)
        for layer in range(layers - 1)
        for i in range(width)
        for j in range(width)
    ]


def _barbell(bell: int, bar: int) -> Pairs:
    left = [(u, v) for u in range(bell) for v in range(u)]
    right = [(u + bell + bar, v + bell + bar) for u, v in left]
    return left + right + [(v, v + 1) for v in range(bell - 1, bell + bar)]


def _cycle_with_tails(length: int) -> Pairs:
    """A cycle with an arc into and an arc out of each of its vertices: many vertices of in-degree 0 or out-degree 0."""
    ring = [(v, (v + 1) % length) for v in range(length)]
    return ring + [(length + v, v) for v in range(length)] + [(v, 2 * length + v) for v in range(length)]


def _components() -> tuple[int, Pairs]:
    """Paths that are deeper than a batch on a GPU, stars, pairs, loops and isolated vertices, in a mixed-up order."""
    sizes = [60, 7, 1, 30, 9, 2, 9, 1, 7, 2, 7, 1, 9, 12, 9, 30, 2, 12]
    n, low, pairs = sum(sizes), 0, [(209, 209)]
    for size in sizes:
        pairs += [(low + i * (size % 3 == 0), low + i + 1) for i in range(size - 1)] + [(low, low + size // 2)]
        low += size
    return n, [(u * 67 % n, v * 67 % n) for u, v in pairs]


# name: (number of vertices, edges). Each gives an undirected and a directed graph.
PAIRS: dict[str, tuple[int, Pairs]] = {
    "two-isolated-vertices": (2, []),
    "isolated-source": (5, [(1, 2), (2, 3), (3, 4), (4, 1)]),
    "isolated-vertices-between": (9, [(0, 2), (2, 4), (4, 6)]),
    "self-loop-only": (1, [(0, 0)]),
    "self-loop-at-source-alone": (3, [(0, 0), (1, 2)]),
    "loops-everywhere": (6, [*((v, v) for v in range(6)), *_line(6)]),
    "repeats": (4, [(0, 1), (1, 0), (0, 1), (1, 2), (1, 2), (2, 3), (3, 3), (3, 3), (3, 2)]),
    "one-edge": (2, [(0, 1)]),
    "triangle": (3, [(0, 1), (1, 2), (2, 0)]),
    "star-from-the-centre": (9, [(0, v) for v in range(1, 9)]),
    "star-from-a-leaf": (9, [(0, 8), *((8, v) for v in range(1, 8))]),
    "path": (12, _line(12)),
    "path-from-its-middle": (9, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (5, 6), (6, 7), (7, 8)]),
    "cycle-even": (10, [(v, (v + 1) % 10) for v in range(10)]),
    "cycle-odd": (11, [(v, (v + 1) % 11) for v in range(11)]),
    "components-of-many-sizes": _components(),
    "two-components": (10, [*_line(5), (5, 6), (6, 7), (7, 8), (8, 9), (9, 5)]),
    "complete": (12, [(u, v) for v in range(12) for u in range(v)]),
    "bipartite": (11, [(u, 5 + v) for u in range(5) for v in range(6)]),
    "binary-tree": (63, [((v - 1) // 2, v) for v in range(1, 63)]),
    "barbell": (14, _barbell(5, 4)),
    "hub-with-pendant": (2103, _hub(2100)),
    "hub-in-triangles": (999, [*((500, v) for v in range(450, 550)), *((v, v + 2) for v in range(997)), *_line(999)]),
    "layers": (31, _layers(5, 6)),
    "cycle-with-tails": (21, _cycle_with_tails(7)),
    # Vertex counts around the size of a warp, and of 32- and 64-bit words.
    **{f"path-of-{n}": (n, _line(n)) for n in (31, 32, 33, 63, 64, 65)},
    **{f"star-of-{n}": (n, [(n - 1, v) for v in range(n - 1)]) for n in (31, 32, 33, 63, 64, 65)},
}

UNDIRECTED: dict[str, Callable[[], Graph]] = {
    "single-vertex": partial(generate.path, 1),
    "long-path": partial(generate.path, 3001),
    "grid-with-missing-edges": partial(generate.grid, 20, 17, missing=0.2, seed=3),
    "overflow-of-int64-grid": partial(generate.grid, 40, 40),
    "overflow-of-float64-diamonds": partial(generate.diamonds, 1100),
    "few-diamonds": partial(generate.diamonds, 5),
    "kronecker": partial(generate.kronecker, 8, edge_factor=6),
    "uniform": partial(generate.uniform, 150, edge_factor=3),
    "band-of-high-degree": partial(generate.smallworld, 900, k=40, p=0.0),
    "mycielskian": partial(generate.mycielskian, 6),
    "delaunay": partial(generate.delaunay, 200),
    "small-world": partial(generate.smallworld, 120, k=6, p=0.1),
}

DIRECTED: dict[str, Callable[[], Graph]] = {
    "single-vertex-directed": partial(generate.path, 1, directed=True),
    "long-path-directed": partial(generate.path, 3001, directed=True),
    "line-from-its-end-directed": lambda: _graph(10, [(v + 1, v) for v in range(9)], directed=True),
    "source-of-in-degree-0-directed": lambda: _graph(
        6, [(0, 1), (1, 2), (2, 3), (3, 1), (4, 1), (5, 4)], directed=True
    ),
    "shortcut-back-directed": lambda: _graph(8, [*_line(8), *((v, 0) for v in range(1, 8))], directed=True),
    "kronecker-directed": partial(generate.kronecker, 8, edge_factor=6, directed=True),
    "uniform-directed": partial(generate.uniform, 150, edge_factor=2, directed=True),
    "diamonds-directed": lambda: _one_way(generate.diamonds(1100)),
    "overflow-of-int64-grid-directed": lambda: _one_way(generate.grid(40, 40)),
}


def _graph(n: int, pairs: Pairs, directed: bool) -> Graph:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Graph.from_edges(ends[:, 0], ends[:, 1], n=n, directed=directed)


def _one_way(graph: Graph) -> Graph:
    """Every edge goes from its lower to its higher end, so that there are no directed cycles."""
    return Graph.from_edges(*graph.to_edges(), n=graph.n, directed=True)


TRAPS: dict[str, Callable[[], Graph]] = {
    name: cache(make)
    for name, make in (
        *((name, partial(_graph, n, pairs, False)) for name, (n, pairs) in PAIRS.items()),
        *((f"{name}-directed", partial(_graph, n, pairs, True)) for name, (n, pairs) in PAIRS.items()),
        *UNDIRECTED.items(),
        *DIRECTED.items(),
    )
}


@st.composite
def graphs(draw: Any, max_n: int = 24, directed: bool | None = None) -> Graph:
    """Random graphs with loops, repeated edges (merged), isolated vertices and components; some have no edge."""
    n = draw(st.integers(1, max_n))
    vertex = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=3 * n))
    blocks = draw(st.integers(1, 3))  # edges between blocks are moved into one block, which makes larger components
    bent = [(u, v if u % blocks == v % blocks else min(u % blocks + v // blocks * blocks, n - 1)) for u, v in pairs]
    return _graph(n, bent, draw(st.booleans()) if directed is None else directed)
