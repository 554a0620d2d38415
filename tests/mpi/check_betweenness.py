"""Betweenness over ranks: the same scores as one process computes, with the graph whole or in parts."""

from typing import Any
from unittest.mock import patch

import numpy as np

import hopwave as hw
from checks import DEVICE, WORLD, refused
from graphs import TRAPS
from hopwave import distributed as hd
from hopwave.distributed import dependencies
from hopwave.distributed.wire import HostWire
from hopwave.engines.cpu.betweenness import core_run
from hopwave.errors import EngineError, GraphError
from hopwave.executors.deal import source_block


def close(found: Any, right: Any) -> None:
    np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-12)


def same(graph: hw.Graph, parts: hd.DistributedGraph | hw.Graph, split: str, **options: Any) -> None:
    found = hd.betweenness_centrality(parts, split=split, **options)
    right = hw.betweenness_centrality(graph, **options)
    assert found.certificate.error <= found.certificate.tolerance and found.sources == right.sources
    scores = found.scores if parts is graph else found.gather()
    if scores is not None:
        close(scores, right.scores)


def with_weights(graph: hw.Graph) -> hw.Graph:
    return graph.with_weights(np.random.default_rng(1).integers(1, 4, graph.m).astype(np.float64))


def check_betweenness() -> None:
    names = ["star-of-33", "kronecker-directed", "layers-directed", "two-isolated-vertices", "repeats-directed"]
    alone = ["kronecker", "grid-with-missing-edges", "single-vertex", "self-loop-only", "one-edge", "barbell"]
    for turn, name in enumerate(names if WORLD.size > 1 else names + alone):
        graph = TRAPS[name]()
        same(graph, graph, "sources")
        few = {"sources": [0, graph.n // 2]} if graph.n > 40 else {}
        parts = hd.spread(graph, layout=("1d", "2d")[turn % 2])
        same(graph, parts, "graph", **few)
        same(graph, parts, "graph", endpoints=True, normalized=False, cutoff=2, **few)
        same(graph, parts, "auto", **few)
    graph = TRAPS["kronecker"]()
    for split in ("sources", "graph"):
        for endpoints in (False, True):
            same(graph, hd.spread(graph), split, k=7, seed=5, endpoints=endpoints)
    if WORLD.size > 1:
        refused(GraphError, "seed=None", hd.betweenness_centrality, graph, k=3)


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

    def too_many(run: Any, first: int, end: int) -> Any:
        """Path counts outgrow float64 on the rank that has the first batch."""
        if first == 0:
            raise OverflowError
        return np.zeros_like(run.total)

    with patch.object(core_run.CoreRun, "batch_size", lambda run: 8):  # several batches
        for name in ("betweenness_centrality", "edge_betweenness_centrality"):
            found, alone = getattr(hd, name)(graph), getattr(hw, name)(graph, device="cpu")
            assert found.reduction == alone.reduction and found.reduction.chains > 100
            np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-12)
        with patch.object(core_run.CoreRun, "batches", too_many):
            found = hd.betweenness_centrality(graph)
        assert found.reduction is not None and found.reduction.chains == 0
        np.testing.assert_allclose(found.scores, hw.betweenness_centrality(graph, reduce=False).scores, rtol=1e-11)


def check_edges_targets_and_weights() -> None:
    """Edges, subsets, demand and weights, on a graph that every rank has."""
    bare, undirected = TRAPS["kronecker-directed"](), TRAPS["kronecker"]()
    graph, some = with_weights(bare), list(range(0, bare.n, 3))
    demand = {"source_weights": np.arange(graph.n) % 3, "target_weights": np.arange(graph.n) % 5}
    for options in (
        {"weights": False},
        {"weights": True},
        {"weights": True, "k": 7, "seed": 5},
        {"weights": False, "sources": some, "targets": some[1:]},
        {"weights": True, **demand},
    ):
        found, right = (one.edge_betweenness_centrality(graph, **options) for one in (hd, hw))
        close(found.scores, right.scores)
        assert found.certificate.error <= found.certificate.tolerance and found.sources == right.sources
        assert (found.bounds is None) == (right.bounds is None) == ("k" not in options)
        if "k" in options:
            close(found.bounds, right.bounds)
    close(*(one.edge_betweenness_centrality(undirected).scores for one in (hd, hw)))
    same(graph, graph, "sources", weights=True)
    same(graph, graph, "auto", weights=True, k=7, seed=5, endpoints=True, cutoff=4.5)
    same(graph, graph, "sources", weights=True, sources=some, targets=some[1:])
    same(graph, graph, "sources", weights=False, **demand)
    same(undirected, hd.spread(undirected), "auto", targets=[0, 5, 9])


def check_betweenness_refuses() -> None:
    bare = TRAPS["kronecker-directed"]()
    parts, demand = hd.spread(bare), np.ones(bare.n)
    whole = "needs the full graph on every rank, so it cannot be combined with split='graph'"
    for message, G, options in (
        ("split='halves' is not known", bare, {"split": "halves"}),
        ("split='graph' needs a DistributedGraph", bare, {"split": "graph"}),
        (f"targets= {whole}", parts, {"targets": [0], "split": "graph"}),
        (f"source_weights= {whole}", parts, {"source_weights": demand, "split": "graph"}),
        (f"epsilon= {whole}", parts, {"epsilon": 0.1, "seed": 3, "split": "graph"}),
        ("one CPU thread per rank", parts, {"threads": 2, "split": "graph"}),
        ("one CPU thread per rank", parts, {"device": "cuda", "split": "graph"}),
        ("a DistributedGraph has no weights; pass a hopwave.Graph", parts, {"weights": True}),
        ("cannot be counted", TRAPS["triangle"](), {"weights": np.zeros(6)}),
    ):
        refused(GraphError, message, hd.betweenness_centrality, G, **options)
    for call in (hd.betweenness_centrality, hd.edge_betweenness_centrality, hd.spread):
        refused(EngineError, "threads=2 cannot be combined", call, bare, device="cuda", threads=2)
    refused(GraphError, "edge betweenness needs the full graph", hd.edge_betweenness_centrality, parts)


def check_sampled_paths() -> None:
    """With one seed, ranks give the bits of one process (paths, sources, auto); an error on one rank reaches all."""
    graph = TRAPS["kronecker-directed"]()
    for options in ({"top": None}, {"top": 1}, {"weights": True, "delta": 0.2}):
        asked = {"epsilon": 0.1, "method": "paths", "seed": 3, "progress": False, "weights": False, **options}
        found, right = (one.betweenness_centrality(with_weights(graph), **asked) for one in (hd, hw))
        assert np.array_equal(found.scores, right.scores) and np.array_equal(found.bounds, right.bounds)
        for name in ("pairs", "undecided", "delta", "certificate"):
            assert getattr(found, name) == getattr(right, name)
    parts = hd.betweenness_centrality(hd.spread(graph), epsilon=0.1, method="paths", seed=3)
    assert parts.pairs is not None and parts.bounds is not None and parts.bounds.max(initial=0.0) <= 0.1
    for method in ("auto", "sources", "exact"):
        found, right = (one.betweenness_centrality(graph, epsilon=0.1, method=method, seed=3) for one in (hd, hw))
        assert found.sources == right.sources
        close(found.scores, right.scores)
    chain = hw.Graph.from_edges([0, 1], [1, 2], weights=[1e20, 1.0])
    sampled = {"epsilon": 0.3, "method": "paths", "seed": 1, "weights": True}
    refused(GraphError, "cannot be counted", hd.betweenness_centrality, chain, **sampled)


def check_path_counts_beyond_float64() -> None:
    """32 vertices per layer, all joined to all of the next layer: 2^1150 shortest paths from end to end."""
    width, depth = 32, 230
    layer, layers = np.arange(width), width * np.arange(depth)[:, None]
    u, v = (layers + np.repeat(layer, width)).ravel(), (layers + width + np.tile(layer, width)).ravel()
    graph = hw.Graph.from_edges(u, v, n=width * (depth + 1))
    same(graph, hd.spread(graph), "graph", sources=[0])


def check_an_exchange_serves_many_sources() -> None:
    """A path has as many levels as vertices; one exchange per level and source would take hundreds of them."""
    graph, asked, gather = hw.generate.path(30), 0, HostWire.allgather

    def counted(*given: Any) -> Any:
        nonlocal asked
        asked += 1
        return gather(*given)

    for width in (dependencies.WIDEST, 7):
        with patch.object(HostWire, "allgather", counted), patch.object(dependencies, "WIDEST", width):
            asked = 0
            same(graph, hd.spread(graph), "graph", endpoints=width == 7)
        assert asked <= -(-graph.n // width) * (graph.n + 2) + 20


def check_an_error_inside_sources_ends_all() -> None:
    """A run that fails on one rank raises on all ranks, and no rank waits for a block that never comes."""

    def failing(*_: Any) -> None:
        raise GraphError("this rank is broken")

    block = failing if WORLD.rank == WORLD.size - 1 else source_block
    with patch("hopwave.distributed.betweenness.source_block", block):
        refused(GraphError, "broken", hd.betweenness_centrality, TRAPS["kronecker"]())
