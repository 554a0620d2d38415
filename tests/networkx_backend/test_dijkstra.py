"""Shortest paths along an edge attribute: values, order, paths and exceptions equal NetworkX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from test_backend import KINDS, Case, outcome, same
from test_weighted import roads

from hopwave.networkx_backend import backend

pytestmark = pytest.mark.usefixtures("quiet")


KM = {"weight": "km"}
Call = Callable[[Case], dict[str, Any]]
FROM_ONE: list[Call] = [
    lambda c: KM | {"source": c.s},
    lambda c: {"source": c.s, "weight": "no edge has it"},
    lambda c: KM | {"source": c.s, "cutoff": c.hops},
    lambda c: KM | {"source": c.t, "cutoff": -1},
]
FROM_SEVERAL: list[Call] = [
    lambda c: KM | {"sources": c.some},
    lambda c: KM | {"sources": [*c.others, *c.others], "cutoff": c.hops},
    lambda c: KM | {"sources": set()},
]
PAIR: list[Call] = [
    lambda c: KM | {"source": c.s, "target": c.t},
    lambda c: KM | {"source": c.t, "target": c.s},
    lambda c: KM | {"source": c.s, "target": c.s},
    lambda c: KM | {"source": c.s, "target": "nowhere"},
    lambda c: KM | {"source": c.s, "target": None},
    lambda c: KM | {"source": "nowhere", "target": c.t},
]
ANY_END: list[Call] = [
    *PAIR,
    lambda c: KM,
    lambda c: KM | {"source": c.s},
    lambda c: KM | {"target": c.t},
    lambda c: KM | {"target": "nowhere"},
    lambda c: KM | {"source": c.s, "method": "magic"},
]
ARGUMENTS: dict[str, list[Call]] = {
    "single_source_dijkstra": [*FROM_ONE, *PAIR, lambda c: KM | {"source": c.s, "target": c.t, "cutoff": c.hops}],
    "single_source_dijkstra_path": FROM_ONE,
    "single_source_dijkstra_path_length": FROM_ONE,
    "multi_source_dijkstra": [*FROM_SEVERAL, lambda c: KM | {"sources": c.some, "target": c.t}],
    "multi_source_dijkstra_path": FROM_SEVERAL,
    "multi_source_dijkstra_path_length": FROM_SEVERAL,
    "dijkstra_predecessor_and_distance": FROM_ONE,
    "dijkstra_path": PAIR,
    "dijkstra_path_length": PAIR,
    "bidirectional_dijkstra": PAIR,
    "all_pairs_dijkstra": [lambda c: KM, lambda c: KM | {"cutoff": c.hops}],
    "all_pairs_dijkstra_path": [lambda c: KM],
    "shortest_path": ANY_END,
    "shortest_path_length": ANY_END,
}
ALL_PATHS: dict[str, list[Call]] = {
    "all_shortest_paths": [*PAIR, lambda c: KM | {"source": c.s, "target": c.t, "method": "magic"}],
    "single_source_all_shortest_paths": [lambda c: KM | {"source": c.s}],
    "all_pairs_all_shortest_paths": [lambda c: KM],
}


def compare(name: str, calls: list[Call], tidy: Callable[[Any], Any]) -> None:
    function = nx.utils.backends._registered_algorithms[name]

    @settings(max_examples=settings.default.max_examples // 4)
    @given(roads(KINDS))
    def check(case: Case) -> None:
        for call in calls:
            theirs = tidy(outcome(function, case, call(case), "networkx", ordered=True))
            mine = outcome(function, case, call(case), "hopwave", ordered=True)
            assert same(mine, theirs), f"{name}({call(case)}): hopwave {mine}, NetworkX {theirs}"

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ARGUMENTS)
def test_equals_networkx(name: str) -> None:
    compare(name, ARGUMENTS[name], lambda found: found)


def without_repeats(found: Any) -> Any:
    """Drops repeats: NetworkX lists a path again for every arc of length 0 that leads back to the source."""
    if not isinstance(found, list | tuple):
        return found
    kept: list[Any] = []
    for one in map(without_repeats, found):
        if not (isinstance(one, list) and kept and one == kept[-1]):
            kept.append(one)
    return type(found)(kept)


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", ALL_PATHS)
def test_every_path_once(name: str) -> None:
    compare(name, ALL_PATHS[name], without_repeats)


def test_what_is_left_to_networkx() -> None:
    G = nx.path_graph(30)
    for name in ("shortest_path", "single_source_dijkstra"):
        reason = backend.can_run(name, (G, 0), {"weight": lambda u, v, data: 2})
        assert reason == "weight is a Python function, which compiled searches cannot call"
    reason = backend.can_run("shortest_path", (G, 0), {"weight": "km", "method": "bellman-ford"})
    assert reason == "Bellman-Ford's order of results is not Dijkstra's; hopwave runs method='dijkstra'"
    assert backend.can_run("shortest_path", (G, 0), {"method": "bellman-ford"}) is True
    G.add_edge(0, 29, weight=-1)
    with nx.config(backend_priority=["hopwave"], fallback_to_nx=True):
        for call in (nx.single_source_dijkstra, nx.all_pairs_dijkstra_path, nx.all_pairs_dijkstra):
            with pytest.raises(ValueError, match="Contradictory paths"):
                list(call(G) if call is not nx.single_source_dijkstra else call(G, 0))


def test_distances_of_whole_lengths_are_whole() -> None:
    G = nx.DiGraph([(0, 1, {"weight": 2}), (1, 2, {"weight": 3})])
    assert type(nx.dijkstra_path_length(G, 0, 2, backend="hopwave")) is int
    length, path = nx.bidirectional_dijkstra(G, 0, 2, backend="hopwave")
    assert (length, type(length), path) == (5, int, [0, 1, 2])
