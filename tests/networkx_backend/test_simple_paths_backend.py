"""nx.shortest_simple_paths through hopwave: NetworkX's paths in NetworkX's order, errors and early ends."""

from __future__ import annotations

from itertools import islice
from typing import Any

import networkx as nx
import numpy as np
import pytest

LENGTHS: dict[str, Any] = {
    "ties": lambda draw: int(draw.integers(0, 4)),
    "fractions": lambda draw: draw.integers(0, 30) / 10,
    "mixed": lambda draw: float(draw.random()) if draw.random() < 0.5 else int(draw.integers(0, 2)),
}


def random_graph(lengths: str, directed: bool, seed: int) -> Any:
    draw = np.random.default_rng(seed)
    g = nx.gnp_random_graph(int(draw.integers(2, 11)), float(draw.choice([0.2, 0.4, 0.7])), seed, directed)
    for _, _, data in g.edges(data=True):
        data["km"] = LENGTHS[lengths](draw)
    return nx.relabel_nodes(g, {v: f"v{v}" for v in g}) if seed % 2 else g


def listed(g: Any, weight: str | None, **backend: str) -> Any:
    g.__networkx_cache__.clear()
    try:
        return list(islice(nx.shortest_simple_paths(g, list(g)[0], list(g)[-1], weight, **backend), 50))  # noqa: RUF015
    except nx.NetworkXNoPath as error:
        return str(error)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_paths_come_in_networkxs_order(lengths: str, directed: bool) -> None:
    for seed in range(25):
        g = random_graph(lengths, directed, seed)
        for weight in (None, "km"):
            assert listed(g, weight, backend="hopwave") == listed(g, weight), (seed, weight)


def test_errors_are_networkxs() -> None:
    for ends in ((0, 9), (9, 0)):
        paths = nx.shortest_simple_paths(nx.path_graph(3), *ends, backend="hopwave")
        with pytest.raises(nx.NodeNotFound, match="node 9 not in graph"):
            next(paths)  # not before, as in NetworkX
    g = nx.Graph([(0, 1, {"km": -1})])
    with pytest.raises(NotImplementedError, match="raised NotImplementedError"):  # not when the first path is read
        nx.shortest_simple_paths(g, 0, 1, weight="km", backend="hopwave")
