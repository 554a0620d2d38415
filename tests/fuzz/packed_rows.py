"""Fuzzing of compressed rows: answers on the GPU and across the bus, beside plain rows there, SciPy and the reference.

Graphs have up to some thousand vertices, so that groups of 32 arcs take from 0 to 12 bits: even and uneven degrees,
near and far neighbours, loops, empty rows, one row of all arcs.
"""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components, shortest_path

import hopwave as hw
from hopwave import generate
from hopwave.arrays import on_host
from questions import Difference, agree

Ask = Callable[[hw.Graph], Any]
ROUNDS = 1e-9  # change per vertex at which the eigenvector's rounds end
OF_REFERENCE = 60  # most vertices for which the reference engine adds up betweenness


def drawn(draw: random.Random) -> hw.Graph:
    """A graph of some kind, with vertices in any order."""
    n, directed = draw.choice((1, 2, 5, 31, 33, 64, 200, 1000, 4000)), draw.random() < 0.5
    seed = draw.randrange(1 << 30)
    rng = np.random.default_rng(seed)
    if draw.random() < 0.125:
        return generate.kronecker(draw.randint(1, 11), draw.choice((1, 8, 24)), seed=seed, directed=directed)
    few, count = min(n, 150), draw.choice((n // 2, n, 4 * n, 9 * n))
    tails, steps = rng.integers(0, n, count), rng.integers(-3, 4, count)
    names = rng.permutation(n) if draw.random() < 0.7 else np.arange(n)
    u, v = draw.choice((
        lambda: names[rng.integers(0, n, (2, count))],
        lambda: names[(rng.random((2, count)) ** 4 * n).astype(np.int64)],  # uneven degrees
        lambda: (names[tails], names[np.clip(tails + steps, 0, n - 1)]),  # near neighbours
        lambda: (names[np.zeros(n, np.int64)], names),  # a star
        lambda: (names[:-1], names[1:]),
        lambda: names[np.stack(np.nonzero(rng.random((few, few)) < 0.7))],
        lambda: np.zeros((2, 0), np.int64),
    ))()  # fmt: skip
    return hw.Graph.from_edges(*((v, u) if draw.random() < 0.5 else (u, v)), n=n, directed=directed)


def asked(draw: random.Random, G: hw.Graph) -> dict[str, Ask]:
    """The questions that read compressed rows, with arguments drawn at random."""
    some = sorted(draw.sample(range(G.n), min(G.n, draw.choice((1, 3, 40, 140)))))
    limit, k, on = draw.choice((None, 0, 2)), draw.randint(1, G.n), {"device": "cuda"}
    given: dict[str, Any] = draw.choice(({"sources": some}, {"k": min(G.n, 30), "seed": 1}, {"sources": some[:1]}))
    if draw.random() < 0.4:
        given |= {"targets": some, "cutoff": draw.choice((None, 2))}
    elif draw.random() < 0.4:
        given = {"source_weights": np.arange(G.n) % 3 * 0.5, "sources": some}
    plan = draw.choice(("auto", "hopwave-block", "hopwave-wide"))
    return {
        f"search within {limit}": lambda H: hw.bfs(H, some[:2], depth_limit=limit, **on).distances,
        f"{len(some)} searches": lambda H: hw.bfs_many(H, some, **on),
        "closeness": lambda H: hw.closeness_centrality(H, some, **on).scores,
        f"harmonic {k}": lambda H: hw.harmonic_centrality(H, k=k, seed=1, **on).scores,
        "histogram": lambda H: hw.distance_histogram(H, some, **on).counts,
        "pairs": lambda H: np.unique([on_host(column) for column in hw.pairs_within(H, 2, some, **on)], axis=1),
        "components": lambda H: hw.weakly_connected_components(H, **on).labels,
        f"betweenness by {plan}, {given}": lambda H: hw.betweenness_centrality(H, plan=plan, **given, **on).scores,
        "PageRank": lambda H: hw.pagerank(H, tol=1e-13, max_iter=1000, **on).scores,
        "Katz": lambda H: hw.katz_centrality(H, 0.5 / (1 + G.n), **on).scores,
        "eigenvector": lambda H: hw.eigenvector_centrality(H, max_iter=20000, tol=ROUNDS, **on).scores,
    }


def answer(ask: Ask, G: hw.Graph) -> Any:
    """An answer on the host, or the error's class: what has no answer has none on any rows."""
    try:
        return np.asarray(on_host(ask(G)))
    except hw.HopwaveError as error:
        return type(error).__name__


def on_cuda(draw: random.Random, folder: Path) -> int:
    """One graph and every question."""
    G = drawn(draw)
    limit = draw.choice((None, 0, draw.randrange(1 << 12)))
    packed = G.to("cuda", compressed=True, memory_limit=limit)
    about = f"{G} compressed within {limit}"
    if draw.random() < 0.2 and G.directed:
        G, packed, about = G.reversed(), packed.reversed(), f"{about}, reversed"
    questions = asked(draw, G)
    for name, ask in questions.items():
        found, right = answer(ask, packed), answer(ask, G)
        if isinstance(found, str) or isinstance(right, str):
            if not (isinstance(found, str) and isinstance(right, str) and found == right):
                raise Difference(f"{name} of {about}: found {found}, expected {right}")
        else:
            apart = 3 * G.n * ROUNDS if name == "eigenvector" else 1e-12  # one round more or less
            if found.shape != right.shape or not np.allclose(found, right, rtol=1e-9, atol=apart):
                raise Difference(f"{name} of {about}: found {found.tolist()}, expected {right.tolist()}"[:2000])
    alone = draw.randrange(G.n)
    far = shortest_path(G.to_scipy(), unweighted=True, indices=alone, directed=G.directed)
    result = hw.bfs(packed, alone, device="cuda")
    if not agree(result.distances, np.where(np.isinf(far), -1, far), False):
        raise Difference(f"search from {alone} of {about}")
    if not hw.validate(G, alone, on_host(result.distances), on_host(result.predecessors)):
        raise Difference(f"predecessors from {alone} of {about}")
    parts = connected_components(G.to_scipy(), directed=True, connection="weak")[0]
    if hw.weakly_connected_components(packed, device="cuda").count != parts:
        raise Difference(f"components of {about}")
    if G.n <= OF_REFERENCE:
        right = hw.betweenness_centrality(G, weights=np.ones(G.m), device="reference").scores
        if not agree(hw.betweenness_centrality(packed, device="cuda").scores, right, False):
            raise Difference(f"betweenness of {about}")
    return len(questions) + 3
