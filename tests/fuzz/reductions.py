"""Reduced betweenness beside the run without reduction, on random graphs that have much to remove.

Trees, cacti, cycles, theta graphs, parallel chains, twins, blocks, and mixtures of them, connected or not; hops and
lengths with ties; vertices and edges; demand, endpoints, scales, subsets. A score may differ by 1e-11 of the largest
one, and by 1e-9 of itself.
"""

import itertools
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.algorithms import distances, reduction
from hopwave.algorithms.reduction import distance_sums, union

Ends = list[tuple[int, int]]
Generator = np.random.Generator


def tree(rng: Generator, n: int) -> Ends:
    return [(v, int(rng.integers(max(0, v - rng.integers(1, 9)), v))) for v in range(1, n)]


def cactus(rng: Generator, n: int) -> Ends:
    edges, used = [], 1
    while used < n:
        at, size = int(rng.integers(used)), int(rng.integers(1, 7))
        ring = [at, *range(used, used + size)]
        used += size
        edges += [*itertools.pairwise(ring), (ring[-1], at)]
    return edges


def cycle(rng: Generator, n: int) -> Ends:
    return [(v, (v + 1) % n) for v in range(n)]


def theta(rng: Generator, n: int) -> Ends:
    """Several chains between the same two ends, some of them equally long; now and then very many."""
    edges, used = [], 2
    for _ in range(int(rng.integers(2, 6 if rng.integers(8) else 40))):
        inner = list(range(used, used + int(rng.integers(0, 6))))
        used += len(inner)
        edges += itertools.pairwise([0, *inner, 1])
    return edges


def chained(rng: Generator, n: int) -> Ends:
    """A small dense graph whose edges are chains, and loops at its vertices."""
    core, edges = max(2, n // 6), []
    used = core
    for _ in range(2 * core):
        u, v = (int(x) for x in rng.integers(0, core, 2))
        inner = list(range(used, used + int(rng.integers(2 if u == v else 0, 5))))
        used += len(inner)
        edges += itertools.pairwise([u, *inner, v])
    return edges


def twins(rng: Generator, n: int) -> Ends:
    few = max(2, n // 5)
    edges = sparse(rng, few)
    for v in range(few, n):
        like = int(rng.integers(few))
        edges += [(v, y if x == like else x) for x, y in edges[: 3 * few] if like in (x, y)]
        if rng.integers(3) == 0:
            edges.append((v, like))
    return edges


def sparse(rng: Generator, n: int) -> Ends:
    return [(int(u), int(v)) for u, v in rng.integers(0, n, (int(rng.integers(n, 2 * n + 1)), 2))]


def blocks(rng: Generator, n: int) -> Ends:
    edges, used = [], 1
    while used < n:
        at, size = int(rng.integers(used)), int(rng.integers(2, 7))
        own = [at, *range(used, used + size)]
        used += size
        edges += [(u, v) for i, u in enumerate(own) for v in own[:i] if rng.random() < 0.7]
    return edges


FAMILIES = (tree, cactus, cycle, theta, chained, twins, sparse, blocks)


def copied(rng: Generator, n: int, ends: Any, lengths: Any) -> tuple[int, Any, Any]:
    """Some vertices get twins, open or closed, at the same lengths."""
    for _ in range(int(rng.integers(1, 5))):
        v, closed, like = int(rng.integers(n)), rng.integers(2), []
        for copy in range(n, n + int(rng.integers(1, 4))):
            at = (ends == v).any(axis=1) & ~np.isin(ends, like).any(axis=1)
            ends, lengths = np.concatenate([ends, np.where(ends == v, copy, ends)[at]]), np.append(lengths, lengths[at])
            like.append(copy)
        pairs = np.array(list(itertools.combinations([v, *like], 2)) if closed else [], np.int64).reshape(-1, 2)
        ends, lengths = np.concatenate([ends, pairs]), np.append(lengths, np.full(len(pairs), rng.choice(lengths)))
        n += len(like)
    return n, ends, lengths


def drawn(rng: Generator) -> hw.Graph:
    """One or two graphs of the families, side by side or joined by an edge; lengths are few multiples of a number."""
    edges: Ends = []
    for _ in range(int(rng.integers(1, 3))):
        above = max((max(edge) for edge in edges), default=-1) + 1
        part = FAMILIES[rng.integers(len(FAMILIES))](rng, int(rng.integers(2, 40)))
        edges += [(u + above, v + above) for u, v in part]
        if above and rng.integers(2):
            edges.append((int(rng.integers(above)), above))
    n = max((max(edge) for edge in edges), default=0) + 1
    ends = np.unique(np.sort(np.array(edges, np.int64).reshape(-1, 2), axis=1), axis=0)
    lengths = rng.integers(1, int(rng.integers(2, 8)), len(ends)) * (0.5, 0.125, 1.0, 100.0)[rng.integers(4)]
    if rng.integers(2) and len(ends):
        n, ends, lengths = copied(rng, n, ends, lengths)
    ends = rng.permutation(n)[ends]
    return hw.Graph.from_edges(ends[:, 0], ends[:, 1], n=n, weights=lengths, combine="min")


def options_of(rng: Generator, n: int) -> dict[str, Any]:
    options: dict[str, Any] = {"weights": bool(rng.integers(2)), "normalized": bool(rng.integers(2)), "device": "cpu"}
    for name in ("source_weights", "target_weights"):
        if rng.integers(3) == 0:
            options[name] = rng.random(n) * 3 * (rng.random(n) < 0.8)
    for name in ("sources", "targets"):
        if rng.integers(4) == 0:
            options[name] = rng.choice(n, max(1, n // 2), replace=False)
    for side in ("source", "target"):
        if f"{side}_weights" in options:  # without any, no pair counts, which is refused
            options[f"{side}_weights"][options.get(f"{side}s", [0])[0]] += 0.1
    return options


def compare(seed: int, device: str = "cpu") -> None:
    """One graph, its vertices and edges; raises an AssertionError that names the seed."""
    rng = np.random.default_rng(seed)
    G = drawn(rng)
    options = options_of(rng, G.n)
    asked = [(hw.betweenness_centrality, options | {"endpoints": bool(rng.integers(2))})]
    asked.append((hw.edge_betweenness_centrality, options))
    first = np.zeros(0)
    for ask, given in asked:
        least = {"LEAST_SOURCES": 0, "LEAST_GAIN": 0.0, "LEAST_WORK": {"cpu": 0, "cuda": 0}}
        core = {"LEAST_INNER": 0.0, "LEAST_CHAIN_GAIN": 0.0 if seed % 4 else 1e9}
        alike = {"LEAST_SHARE": 0.0 if seed % 3 else 1.0, "LEAST_TWIN_GAIN": 0.0}
        with patch.multiple(reduction, **least, LOOK_ANYWAY=0), patch.multiple(union, **core, **alike):
            found = ask(G, **given | {"device": device})
        first = first if len(first) else found.scores
        whole = ask(G, **given, reduce=False)
        assert found.reduction is not None and whole.reduction is None, seed
        apart, largest = abs(found.scores - whole.scores), whole.scores.max(initial=0.0)
        assert (apart <= 1e-11 * largest).all() and (apart <= 1e-9 * whole.scores + 1e-15 * largest).all(), (
            f"seed {seed}, {ask.__name__}: {apart.max()} of {largest}, {given}"
        )
    if options.keys() == {"weights", "normalized", "device"}:
        theirs = nx.betweenness_centrality(
            G.to_networkx(), normalized=options["normalized"], weight="weight" if options["weights"] else None,
            endpoints=asked[0][1]["endpoints"], backend="networkx",
        )  # fmt: skip
        assert np.allclose(first, list(theirs.values()), rtol=1e-9, atol=1e-11 * max(1.0, first.max(initial=0.0))), seed


def compare_sums(seed: int) -> None:
    """Closeness, harmonic centrality and eccentricity of one graph, by its core and by its trees alone."""
    G = drawn(np.random.default_rng(seed))
    rng, weights = np.random.default_rng(seed + 1), bool(seed % 2)
    some = rng.permutation(G.n)[: max(1, G.n // 2)] if seed % 3 == 0 else None
    least: dict[str, Any] = {"LEAST_SOURCES": 0, "LEAST_GAIN": 1.0, "LEAST_WORK": {"cpu": 0}, "LEAST_CORE_GAIN": 0.0}
    for ask, exact in ((hw.closeness_centrality, True), (hw.harmonic_centrality, False)):
        whole = ask(G, some, weights=weights, device="cpu", reduce=False).scores
        for shallow in (False, True) if exact and not weights else (False,):
            with patch.multiple(distance_sums, **least, _shallow=lambda *_, shallow=shallow: shallow):
                found = ask(G, some, weights=weights, device="cpu")
            assert found.reduction is not None and (G.n < 2 or found.reduction.gain > 0), seed
            assert (found.scores == whole).all() if exact else np.allclose(found.scores, whole, 1e-13, 0), (seed, ask)
    if some is None and hw.is_connected(G):
        with (
            patch.multiple(distance_sums, **least, _shallow=lambda *_: False),
            patch.object(distances, "SMALL", seed % 4),
        ):
            found = hw.eccentricity(G, weights=weights, device="cpu").scores
        assert (found == hw.eccentricity(G, weights=weights, device="cpu", reduce=False).scores).all(), seed


def inputs(draw: random.Random, folder: Path) -> int:
    """One graph."""
    seed = draw.randrange(1 << 40)
    compare(seed)
    compare_sums(seed)
    return 4


def on_cuda(draw: random.Random, folder: Path) -> int:
    """One graph on a GPU, compared with the CPU."""
    compare(draw.randrange(1 << 40), "cuda")
    return 2
