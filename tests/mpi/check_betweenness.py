"""Betweenness over ranks: the same scores as one process computes, with the graph whole or in parts."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from rank_setup import DEVICE, WORLD, share_of

import hopwave as hw
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.distributed import dependencies
from hopwave.distributed.wire import HostWire
from hopwave.engines.cpu.betweenness import core_run
from hopwave.errors import EngineError, GraphError
from hopwave.executors.deal import SourceBlock


def same(graph: hw.Graph, parts: hd.DistributedGraph | hw.Graph, split: str, **options: Any) -> None:
    found = hd.betweenness_centrality(parts, split=split, **options)
    right = hw.betweenness_centrality(graph, **options)
    assert found.certificate.error <= found.certificate.tolerance and found.sources == right.sources
    scores = found.scores if parts is graph else found.gather()
    if scores is not None:
        np.testing.assert_allclose(scores, right.scores, rtol=1e-9, atol=1e-12)


def check_betweenness() -> None:
    names = ["kronecker", "grid-with-missing-edges", "star-of-33", "kronecker-directed", "two-isolated-vertices"]
    names += ["layers-directed", "single-vertex", "self-loop-only", "repeats-directed", "one-edge", "barbell"]
    for name in share_of(names):
        graph = TRAPS[name]()
        same(graph, graph, "sources")
        few = {"sources": [0, graph.n // 2]} if graph.n > 40 else {}
        for ranges in ("1d", "2d"):
            parts = hd.spread(graph, layout=ranges)
            same(graph, parts, "graph", **few)
            same(graph, parts, "graph", endpoints=True, normalized=False, cutoff=2, **few)
        same(graph, parts, "auto", **few)
    graph = TRAPS["kronecker"]()
    for split in ("sources", "graph"):
        same(graph, hd.spread(graph), split, k=7, seed=5)
        same(graph, hd.spread(graph), split, k=7, seed=5, endpoints=True)
    with pytest.raises(GraphError, match="split"):
        hd.betweenness_centrality(graph, split="halves")
    if WORLD.size > 1:
        with pytest.raises(GraphError, match="seed=None"):
            hd.betweenness_centrality(graph, k=3)


def check_betweenness_by_sources() -> None:
    """Uses the engine of the checked device; ranks that share a GPU take turns."""
    for name in ("kronecker", "grid-with-missing-edges", "kronecker-directed"):
        graph = TRAPS[name]()
        same(graph, graph, "sources", device=DEVICE)
    same(graph, hd.spread(graph, device=DEVICE), "sources", device=DEVICE, k=7, seed=5)


def check_betweenness_by_batches() -> None:
    """Reduced runs: ranks share out the core of a graph of chains, and sources where the core has too many paths."""
    core = np.random.default_rng(1).integers(0, 60, (2, 160))
    inner = 60 + np.arange(160 * 8).reshape(160, 8)
    path = np.concatenate([core[:1].T, inner, core[1:].T], axis=1)
    graph = hw.Graph.from_edges(path[:, :-1].ravel(), path[:, 1:].ravel())
    with patch.object(core_run.CoreRun, "batch_size", lambda run: 8):  # several batches
        for ask, right in (
            (hd.betweenness_centrality, hw.betweenness_centrality),
            (hd.edge_betweenness_centrality, hw.edge_betweenness_centrality),
        ):
            found, alone = ask(graph), right(graph, device="cpu")
            assert found.reduction == alone.reduction and found.reduction.chains > 100
            np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-12)
        with patch.object(core_run.CoreRun, "batches", too_many):
            found = hd.betweenness_centrality(graph)
        assert found.reduction is not None and found.reduction.chains == 0
        np.testing.assert_allclose(found.scores, hw.betweenness_centrality(graph, reduce=False).scores, rtol=1e-11)


def too_many(run: Any, first: int, end: int) -> Any:
    """Path counts outgrow float64 on the rank that has the first batch."""
    if first == 0:
        raise OverflowError
    return np.zeros_like(run.total)


def check_betweenness_along_weights() -> None:
    """By sources, on a graph that every rank has; a graph in parts has no weights, and its arcs must be countable."""
    bare = TRAPS["kronecker-directed"]()
    graph = bare.with_weights(np.random.default_rng(1).integers(1, 4, bare.m).astype(np.float64))
    same(graph, graph, "sources", weights=True)
    same(graph, graph, "auto", weights=True, k=7, seed=5, endpoints=True, cutoff=4.5)
    with pytest.raises(GraphError, match="a DistributedGraph has no weights; give every rank"):
        hd.betweenness_centrality(hd.spread(bare), weights=True)
    with pytest.raises(GraphError, match="cannot be counted"):
        hd.betweenness_centrality(TRAPS["triangle"](), weights=np.zeros(6))


def check_edges_and_targets() -> None:
    """Edges and subsets, along hops and weights, on a graph that every rank has."""
    bare = TRAPS["kronecker-directed"]()
    graph = bare.with_weights(np.random.default_rng(1).integers(1, 4, bare.m).astype(np.float64))
    some = list(range(0, graph.n, 3))
    demand = {"source_weights": np.arange(graph.n) % 3, "target_weights": np.arange(graph.n) % 5}
    for options in (
        {"weights": False},
        {"weights": True},
        {"weights": True, "k": 7, "seed": 5},
        {"weights": False, "sources": some, "targets": some[1:]},
        {"weights": True, **demand},
    ):
        found, right = (
            hd.edge_betweenness_centrality(graph, **options),
            hw.edge_betweenness_centrality(graph, **options),
        )
        np.testing.assert_allclose(found.scores, right.scores, rtol=1e-9, atol=1e-12)
        assert found.certificate.error <= found.certificate.tolerance and found.sources == right.sources
        assert (found.bounds is None) == (right.bounds is None) == ("k" not in options)
        if "k" in options:
            np.testing.assert_allclose(found.bounds, right.bounds, rtol=1e-9, atol=1e-12)
    undirected = TRAPS["kronecker"]()
    found, right = hd.edge_betweenness_centrality(undirected), hw.edge_betweenness_centrality(undirected)
    np.testing.assert_allclose(found.scores, right.scores, rtol=1e-9, atol=1e-12)
    same(graph, graph, "sources", weights=True, sources=some, targets=some[1:])
    same(graph, graph, "sources", weights=False, **demand)
    same(undirected, hd.spread(undirected), "auto", targets=[0, 5, 9])
    with pytest.raises(GraphError, match="targets= needs a graph that every rank has whole"):
        hd.betweenness_centrality(hd.spread(bare), targets=[0], split="graph")
    with pytest.raises(GraphError, match="source_weights= needs a graph that every rank has whole"):
        hd.betweenness_centrality(hd.spread(bare), source_weights=demand["source_weights"], split="graph")
    for option in ({"threads": 2}, {"device": "cuda"}):
        with pytest.raises(GraphError, match="one CPU thread per rank"):
            hd.betweenness_centrality(hd.spread(bare), split="graph", **option)
    for call in (hd.betweenness_centrality, hd.edge_betweenness_centrality, hd.spread):
        with pytest.raises(EngineError, match="threads=2 are those of a CPU"):
            call(bare, device="cuda", threads=2)
    with pytest.raises(GraphError, match="edges are scored on a graph that every rank has whole"):
        hd.edge_betweenness_centrality(hd.spread(bare))


def check_sampled_paths() -> None:
    """With one seed, ranks give the bits of one process (paths, sources, auto); an error on one rank reaches all."""
    graph = TRAPS["kronecker-directed"]()
    along = graph.with_weights(np.random.default_rng(1).integers(1, 4, graph.m).astype(np.float64))
    for options in ({"top": None}, {"top": 1}, {"weights": True, "delta": 0.2}):
        asked: dict[str, Any] = {
            "epsilon": 0.1,
            "method": "paths",
            "seed": 3,
            "progress": False,
            "weights": False,
            **options,
        }
        found, right = hd.betweenness_centrality(along, **asked), hw.betweenness_centrality(along, **asked)
        assert np.array_equal(found.scores, right.scores) and np.array_equal(found.bounds, right.bounds)
        assert found.pairs == right.pairs and found.undecided == right.undecided and found.delta == right.delta
        assert found.certificate == right.certificate
    parts = hd.betweenness_centrality(hd.spread(graph), epsilon=0.1, method="paths", seed=3)
    assert parts.pairs is not None and parts.bounds is not None and parts.bounds.max(initial=0.0) <= 0.1
    for method in ("auto", "sources", "exact"):
        found = hd.betweenness_centrality(graph, epsilon=0.1, method=method, seed=3)
        right = hw.betweenness_centrality(graph, epsilon=0.1, method=method, seed=3, progress=False)
        assert found.sources == right.sources
        np.testing.assert_allclose(found.scores, right.scores, rtol=1e-9, atol=1e-12)
    with pytest.raises(GraphError, match="leaves it in parts"):
        hd.betweenness_centrality(hd.spread(graph), epsilon=0.1, seed=3, split="graph")
    chain = hw.Graph.from_edges([0, 1], [1, 2], weights=[1e20, 1.0])
    with pytest.raises(GraphError, match="cannot be counted"):
        hd.betweenness_centrality(chain, epsilon=0.3, method="paths", seed=1, weights=True)


def check_path_counts_beyond_float64() -> None:
    """32 vertices per layer, all joined to all of the next layer: 2^1150 shortest paths from end to end."""
    width, depth = 32, 230
    layer = np.arange(width)
    u = np.concatenate([np.repeat(layer + d * width, width) for d in range(depth)])
    v = np.concatenate([np.tile(layer + (d + 1) * width, width) for d in range(depth)])
    graph = hw.Graph.from_edges(u, v, n=width * (depth + 1))
    same(graph, hd.spread(graph), "graph", sources=[0])


def check_an_exchange_serves_many_sources() -> None:
    """A long path has as many levels as vertices; one exchange per level and source would take thousands of them."""
    graph, asked, gather = hw.generate.path(60), 0, HostWire.allgather

    def counted(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return gather(*given)

    for width in (dependencies.WIDEST, 7):
        with patch.object(HostWire, "allgather", counted), patch.object(dependencies, "WIDEST", width):
            asked = 0
            same(graph, hd.spread(graph), "graph", endpoints=width == 7)
        batches = -(-graph.n // width)
        assert asked <= batches * (graph.n + 2) + 20


def check_an_error_inside_sources_ends_all() -> None:
    """A run that fails on one rank raises on all ranks, and no rank waits for a block that never comes."""

    def failing(*_: Any) -> None:
        raise GraphError("this rank is broken")

    broken = patch.object(SourceBlock, "run", failing if WORLD.rank == WORLD.size - 1 else SourceBlock.run)
    with broken, pytest.raises(GraphError, match="broken"):
        hd.betweenness_centrality(TRAPS["kronecker"]())
