"""Some calls of every function that the NetworkX backend serves, beside NetworkX; `make fuzz` tries more."""

from __future__ import annotations

import random

import networkx as nx
import pytest
import served
from difference import Difference
from hypothesis import settings

import hopwave as hw

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("share", range(4))
def test_every_function_answers_as_networkx_does(share: int) -> None:
    draw, names = random.Random(share), served.names()[share::4]
    found = dict.fromkeys(names, 0)
    for _ in range(settings.default.max_examples):
        G, about = served.drawn_graph(draw)
        for name in names:
            found[name] += served.try_call(draw, G, about, name)
    assert sum(map(bool, found.values())) > len(names) / 2  # the others are left to NetworkX, by can_run


BOTH = ("hopwave", "networkx")
FOUND = {  # calls on which the fuzzer found a difference
    "single_source_all_shortest_paths": (nx.path_graph(3), {"source": 0, "weight": "weight", "method": "unweighted"}),
    "degree_centrality": (nx.path_graph(1), {}),
    "newman_betweenness_centrality": (nx.path_graph(6), {"cutoff": 2.5}),
    "percolation_centrality": (nx.path_graph(2), {"states": {0: 1}}),
    "dijkstra_path_length": (nx.path_graph(2), {"source": 0, "target": None}),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(name: str) -> None:
    G, given = FOUND[name]
    found, right = (served.answer(lambda by=by: served.public(name)(G, **given, backend=by)) for by in BOTH)
    assert served.agree(found, right) or found[:2] == ["raises", "NotImplementedError"]


def test_a_wrong_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hw, "degree_centrality", hw.pagerank)
    with pytest.raises(Difference, match=r"degree_centrality.* of path: found"):
        served.try_call(random.Random(1), nx.path_graph(4), "path", "degree_centrality")
