"""Rejections by samples, checkpoints and betweenness runs."""

import math
import os
import socket
from functools import partial
from pathlib import Path
from typing import Any

import hopwave as hw
from hopwave import EngineError, FormatError, GraphError, PlanError, generate
from hopwave.algorithms.draws import draw_sources
from rejections import Row, each

PATH, SEVEN, GRID = generate.path(4), generate.path(7), generate.grid(40, 40)
ARCS, APART = generate.path(4, directed=True), hw.Graph.from_edges([0, 2], [1, 3])
SAMPLED: Any = hw.betweenness_centrality, hw.closeness_centrality, hw.average_shortest_path_length
SMALL = {"memory_limit": 10_000}

BETWEENNESS: list[tuple[dict[str, Any], str]] = [
    ({"k": 2, "sources": [0]}, "k= cannot be combined with sources="),
    ({"k": 2, "targets": [0]}, "use sources= with targets="),
    ({"epsilon": 0.1, "k": 2}, "epsilon= cannot be combined with"),
    ({"epsilon": 0.1, "endpoints": True}, "epsilon= cannot be combined with"),
    ({"epsilon": 0.1, "targets": [1]}, "epsilon= cannot be combined with"),
    ({"epsilon": 0.1, "checkpoint": "run.npz", "method": "sources", "seed": 1}, "does not support checkpoint="),
    ({"epsilon": 0.1, "checkpoint": "run.npz"}, "pass an integer as seed="),
    ({"cutoff": -1}, "cutoff=-1"),
    ({"cutoff": 1.5}, "cutoff=1.5"),
    ({"memory_limit": 0}, "memory_limit=0"),
    ({"sources": []}, "list of sources is empty"),
    ({"targets": []}, "list of targets is empty"),
    ({"epsilon": "small"}, "epsilon='small'"),
    ({"delta": 7}, "delta=7"),
    ({"progress": "yes"}, "progress='yes'"),
    ({"sources": [9]}, "9 is not a vertex"),
    ({"targets": ["x"]}, "'x' is not a vertex"),
    ({"method": "paths"}, "epsilon="),
    ({"method": "exact", "k": 2}, "one"),
    ({"top": 0, "epsilon": 0.1}, "top=0"),
    ({"top": 3}, "epsilon="),
    ({"top": 3, "epsilon": 0.1, "method": "exact"}, "method='paths'"),
    ({"method": "paths", "epsilon": 0.1, "plan": "hopwave-block"}, "one"),
]


def to_a_pipe(tmp: Path) -> Any:
    os.mkfifo(tmp / "pipe")
    return hw.betweenness_centrality(PATH, checkpoint=tmp / "pipe")


def to_a_socket(tmp: Path) -> Any:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(tmp / "socket"))  # a long path does not fit into an address
        return hw.betweenness_centrality(PATH, checkpoint=tmp / "socket")


ROWS: list[Row] = [
    *[(partial(hw.betweenness_centrality, PATH, **asked), hw.HopwaveError, word) for asked, word in BETWEENNESS],
    *each(lambda k: draw_sources(7, k, 1), [-1, 0, 8, 2.0, True, "3"], GraphError, "from 1 to 7, or None for all"),
    *[(partial(ask, SEVEN, k=k), GraphError, "k=") for ask in SAMPLED for k in (-1, 8, 2.0, True)],
    *each(lambda seed: draw_sources(7, 2, seed), ["one", 1.5, [1]], GraphError, "is not a seed"),
    (lambda: hw.betweenness_centrality(generate.path(200), epsilon=0.1, seed="one"), GraphError, "is not a seed"),
    *each(lambda x: hw.betweenness_centrality(PATH, epsilon=x), [0, 1, math.nan, -0.1], GraphError, "between 0 and 1"),
    *each(lambda x: hw.betweenness_centrality(PATH, epsilon=0.1, delta=x), [0, 1], GraphError, "between 0 and 1"),
    # Memory: refused before the run.
    (lambda: hw.betweenness_centrality(GRID, **SMALL), EngineError, "raise memory_limit="),
    (lambda: hw.edge_betweenness_centrality(GRID, **SMALL), EngineError, "may use 10.00 kB"),
    (lambda: hw.betweenness_centrality(GRID, plan="hopwave-wide", **SMALL), EngineError, "raise memory_limit="),
    (lambda: hw.betweenness_centrality(GRID, epsilon=0.1, **SMALL), EngineError, "raise memory_limit="),
    (lambda: hw.edge_betweenness_centrality(GRID, **SMALL), EngineError, "may use 10.00 kB"),
    (lambda: hw.betweenness_centrality(PATH, method="paths", epsilon=0.1, memory_limit=100), EngineError, "raise"),
    # Plans.
    (lambda: hw.betweenness_centrality(PATH, plan="xbfs"), PlanError, "for betweenness use"),
    (lambda: hw.betweenness_centrality(PATH, plan="hopwave-batch", device="cpu"), PlanError, "use 'hopwave-block'"),
    (lambda: hw.edge_betweenness_centrality(PATH, plan="hopwave-wide"), PlanError, "only scores vertices"),
    (lambda: hw.betweenness_centrality(PATH, plan="hopwave-wide", epsilon=0.1), PlanError, "only scores vertices"),
    (lambda: hw.edge_betweenness_centrality(PATH, k=1, delta=0), GraphError, "delta=0 is not a probability"),
    (lambda: hw.betweenness_centrality(PATH, k=1).bound, AttributeError, "no attribute 'bound'"),  # type: ignore[attr-defined]
    (lambda: hw.closeness_centrality(ARCS, k=2), GraphError, "not strongly connected"),
    (lambda: hw.average_shortest_path_length(APART, k=2), GraphError, "is infinite: the graph is not connected"),
    # The highest scores, and intervals of samples.
    (lambda: hw.closeness_centrality(PATH, top=0), GraphError, "top=0"),
    (lambda: hw.harmonic_centrality(PATH, top=1.5), GraphError, "top=1.5"),
    (lambda: hw.closeness_centrality(PATH, top=1, sources=[0]), GraphError, "sources="),
    (lambda: hw.closeness_centrality(PATH, top=1, k=2), GraphError, "k="),
    (lambda: hw.harmonic_centrality(PATH, top=1, among=[0]), GraphError, "among="),
    (lambda: hw.closeness_centrality(PATH, top=1, delta=2), GraphError, "delta=2"),
    (lambda: hw.harmonic_centrality(SEVEN, interval="normal"), GraphError, "scores are exact without k="),
    (lambda: hw.average_shortest_path_length(SEVEN, k=1, interval="normal"), GraphError, "no standard error"),
    # Checkpoints that are not files.
    (lambda tmp: hw.betweenness_centrality(PATH, checkpoint=tmp), FormatError, "a folder, not a file"),
    (lambda tmp: hw.betweenness_centrality(PATH, checkpoint=tmp / "missing" / "a.npz"), FormatError, "create it first"),
    (lambda: hw.betweenness_centrality(PATH, checkpoint=os.devnull), FormatError, "a device, not a file"),
    *([(to_a_pipe, FormatError, "a pipe, not a file")] if hasattr(os, "mkfifo") else []),
    *([(to_a_socket, FormatError, "a socket, not a file")] if hasattr(socket, "AF_UNIX") else []),
]
