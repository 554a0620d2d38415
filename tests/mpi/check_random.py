"""Random questions over ranks, compared with one process; in a third of them one rank disagrees, and every rank raises.

tests/fuzz/ranks.py asks more of them, with other seeds.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from check_betweenness import same as same_scores
from check_products import both
from check_products import same as same_vector
from check_searches import agrees

import hopwave as hw
from checks import FOLDER, WORLD, refused, written
from hopwave import distributed as hd
from hopwave import linalg as la
from hopwave.distributed import linalg as da
from questions.cases import pairs

LAYOUTS = ("1d", "2d", (1, WORLD.size))
MINE = WORLD.size > 1 and WORLD.rank == WORLD.size - 1  # whether this rank is the one that disagrees


def check_random_questions(seed: int = 0) -> None:
    """Some questions, and more if a seed is given. All ranks draw the same graph, layout and question."""
    draw = random.Random(seed)
    for _ in range(60 if seed else 12):
        n = draw.choice((2, 5, 12, 20, 33))
        u, v = zip(*(pairs(draw, n) or [(0, 1)]), strict=True)
        G = hw.Graph.from_edges(list(u), list(v), n=n, directed=draw.random() < 0.5)
        parts, source = hd.spread(G, layout=draw.choice(LAYOUTS)), draw.randrange(n)
        kind = draw.choice(("search", "scores", "file", "product", *["disagree"] * (2 if WORLD.size > 1 else 0)))
        if kind == "search":
            agrees(G, parts, source)
        elif kind == "scores":
            same_scores(G, parts, draw.choice(("graph", "sources", "auto")), endpoints=source % 2 == 0)
        elif kind == "file":
            path, directed = written("random.mtx", G), draw.choice((None, True) if G.directed else (None, False, True))
            assert hd.read(path, directed=directed).replicated() == hw.read(path, directed=directed, progress=False)
        elif kind == "product":
            ask_product(draw, G)
        else:
            disagree(draw, G, parts, source)


def ask_product(draw: random.Random, G: hw.Graph) -> None:
    """One product over ranks, compared with linalg: any semiring, mask and direction."""
    ring = la.semiring[draw.choice(dir(la.semiring))]
    A = la.Matrix.from_graph(G, np.array([float(draw.randint(1, 4)) for _ in range(G.m)]))
    B = da.DistributedMatrix.from_matrix(A, layout=draw.choice(LAYOUTS), device="cpu")
    places, let = (sorted(draw.sample(range(G.n), draw.randint(0, G.n))) for _ in range(2))
    (x, y), (m, mask) = both(places, np.array([float(draw.randint(1, 4)) for _ in places]), B), both(let, True, B)
    how: dict[str, Any] = {"structural": True, "complement": draw.random() < 0.5}
    how["direction"] = draw.choice(("auto", "push", "pull"))
    if draw.random() < 0.5:
        right, found = la.vxm(x, A, ring, mask=m, **how), da.vxm(y, B, ring, mask=mask, **how)
    else:
        right, found = la.mxv(A, x, ring, mask=m, **how), da.mxv(B, y, ring, mask=mask, **how)
    same_vector(found, right, ring.any_term, (ring.name, how, places, let))


def disagree(draw: random.Random, G: hw.Graph, parts: hd.DistributedGraph, source: int) -> None:
    """One rank has another source, option, function, graph, or file of the same size."""
    changed = hw.Graph.from_csr(G.indptr, G.indices, directed=G.directed, labels=[f"v{i}" for i in range(G.n)])
    own = FOLDER / f"random-{WORLD.rank}.mtx"
    edges = "2 1\n3 1\n" if MINE else "2 1\n3 2\n"
    own.write_text(f"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n{edges}")
    calls: tuple[Any, ...] = (
        lambda: hd.bfs(parts, (source + MINE) % G.n),
        lambda: hd.betweenness_centrality(parts, endpoints=MINE),
        lambda: hd.betweenness_centrality(parts) if MINE else hd.bfs(parts, source),
        lambda: hd.betweenness_centrality(changed if MINE else G),
        lambda: hd.read(own),
    )
    refused(hw.HopwaveError, ".", draw.choice(calls))
