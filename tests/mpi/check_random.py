"""Random questions over ranks, compared with one process; in a third, one rank disagrees, and every rank raises."""

import random
from typing import Any

from check_betweenness import same as same_scores
from check_products import LAYOUTS, RINGS, ask_product
from check_searches import agrees

import hopwave as hw
from checks import FOLDER, WORLD, refused, written
from hopwave import distributed as hd
from hopwave import generate
from hopwave import linalg as la

MINE = WORLD.size > 1 and WORLD.rank == WORLD.size - 1  # whether this rank is the one that disagrees


def check_random_questions(seed: int = 0) -> None:
    """Some questions, and more if a seed is given. All ranks draw the same graph, layout and question."""
    draw = random.Random(seed)
    for _ in range(60 if seed else 12):
        n, directed = draw.choice((2, 5, 12, 20, 33)), draw.random() < 0.5
        most = draw.choice((n // 2, 2 * n, n * n))
        ends = [[draw.randrange(n) for _ in range(most)] for _ in range(2)]
        G = draw.choice((hw.Graph.from_edges(*ends, n=n, directed=directed), generate.path(n), generate.star(n)))
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
            ask_product(draw, G, dir(la.semiring) if seed else RINGS)
        else:
            disagree(draw, G, parts, source)


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
