"""Every served function compared with NetworkX, on random labelled graphs: values, order, exceptions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import _hopwave_nx_info as info
from hopwave.networkx_backend import backend
from hopwave.networkx_backend.dispatch import SINCE_3_7, Served

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
LABELS = st.one_of(
    st.integers(-3, 40),
    st.text("abc", max_size=2),
    st.tuples(st.integers(0, 3), st.text("xy", max_size=1)),
    st.booleans(),
)
MISSING = "no such node"


@dataclass(frozen=True)
class Case:
    """A graph, and arguments for functions."""

    G: nx.Graph
    s: Any
    t: Any
    some: list[Any]
    others: list[Any]
    hops: int
    number: int


@st.composite
def cases(draw: Any, kinds: tuple[type[nx.Graph], ...]) -> Case:
    nodes = draw(st.lists(LABELS, max_size=9, unique=True))
    G = draw(st.sampled_from(kinds))(name=draw(st.sampled_from(["", "a name"])))
    G.add_nodes_from(nodes)
    node = st.sampled_from(nodes) if nodes else st.nothing()
    edges = draw(st.lists(st.tuples(node, node), max_size=18)) if nodes else []
    G.add_edges_from(edges)
    end = st.one_of(node, node, node, st.just(MISSING))
    group = st.lists(node, max_size=4) if nodes else st.just([])
    return Case(G, draw(end), draw(end), draw(group), draw(group), draw(st.integers(0, 4)), draw(st.integers(-1, 10)))


Calls = list[Callable[[Case], dict[str, Any]]]

FROM_SOURCE: Calls = [lambda c: {"source": c.s}, lambda c: {"source": c.s, "cutoff": c.hops}]
TO_TARGET: Calls = [lambda c: {"target": c.t}, lambda c: {"target": c.t, "cutoff": c.hops}]
SEARCHED: Calls = [lambda c: {"source": c.s}, lambda c: {"source": c.s, "depth_limit": c.hops}]
EXTREME: Calls = [lambda c: {}, lambda c: {"usebounds": True}, lambda c: {"e": {v: i % 3 for i, v in enumerate(c.G)}}]
PAIR: Calls = [lambda c: {"source": c.s, "target": c.t}, lambda c: {"source": c.s, "target": c.s}]
SAMPLED: Calls = [
    lambda c: {},
    lambda c: {"normalized": False},
    lambda c: {"k": c.number, "seed": random.Random(c.hops)},
    lambda c: {"k": c.number, "seed": random.Random(c.hops), "normalized": False},
]
SIDE: Calls = [lambda c: {"nodes": [v for v, d in c.G.degree() if d % 2]}, lambda c: {"nodes": c.some}]

ARGUMENTS: dict[str, Calls] = {
    "average_clustering": [lambda c: {}, lambda c: {"count_zeros": False}],
    "generic_bfs_edges": SEARCHED,
    "bfs_edges": [*SEARCHED, lambda c: {"source": c.s, "reverse": True, "depth_limit": c.hops}],
    "bfs_tree": [*SEARCHED, lambda c: {"source": c.s, "reverse": True}, lambda c: {"source": None}],
    "bfs_predecessors": SEARCHED,
    "bfs_successors": SEARCHED,
    "bfs_layers": [lambda c: {"sources": c.s}, lambda c: {"sources": c.some}],
    "bfs_labeled_edges": [lambda c: {"sources": c.s if c.s != MISSING else c.some}, lambda c: {"sources": c.some}],
    "descendants_at_distance": [lambda c: {"source": c.s, "distance": c.hops}],
    "descendants": [lambda c: {"source": c.s}],
    "ancestors": [lambda c: {"source": c.s}],
    "ego_graph": [lambda c: {"n": c.s}, lambda c: {"n": c.s, "radius": c.hops, "center": False}],
    "single_source_shortest_path": FROM_SOURCE,
    "single_source_shortest_path_length": FROM_SOURCE,
    "single_target_shortest_path": TO_TARGET,
    "single_target_shortest_path_length": TO_TARGET,
    "all_pairs_shortest_path": [lambda c: {}, lambda c: {"cutoff": c.hops}],
    "all_pairs_shortest_path_length": [lambda c: {}, lambda c: {"cutoff": c.hops}],
    "bidirectional_shortest_path": PAIR,
    "predecessor": [
        *FROM_SOURCE,
        lambda c: {"source": c.s, "cutoff": math.inf},
        lambda c: {"source": c.s, "cutoff": 1.5},
        lambda c: {"source": c.s, "return_seen": True},
        lambda c: {"source": c.s, "target": c.t},
        lambda c: {"source": c.s, "target": c.t, "return_seen": True},
    ],
    "has_path": [*PAIR, lambda c: {"source": c.s, "target": None}, lambda c: {"source": None, "target": c.t}],
    "shortest_path": [*PAIR, *FROM_SOURCE[:1], *TO_TARGET[:1], lambda c: {}, lambda c: {"method": "magic"}],
    "shortest_path_length": [*PAIR, *FROM_SOURCE[:1], *TO_TARGET[:1], lambda c: {}, lambda c: {"method": "magic"}],
    "all_shortest_paths": PAIR,
    "single_source_all_shortest_paths": FROM_SOURCE[:1],
    "average_shortest_path_length": [lambda c: {}, lambda c: {"method": "magic"}],
    "betweenness_centrality": [
        *SAMPLED,
        lambda c: {"endpoints": True},
        lambda c: {"endpoints": c.number},  # any truthy value will do
        lambda c: {**SAMPLED[2](c), "endpoints": True},
    ],
    "edge_betweenness_centrality": SAMPLED,
    "betweenness_centrality_subset": [
        lambda c: {"sources": c.some, "targets": c.others},
        lambda c: {"sources": [*c.some, c.s], "targets": [*c.others, MISSING], "normalized": True},
    ],
    # NetworkX follows the definition if every vertex is a target; test_definitions.py has the other cases.
    "edge_betweenness_centrality_subset": [
        lambda c: {"sources": c.some, "targets": [*c.G, MISSING]},
        lambda c: {"sources": iter(c.some), "targets": list(c.G), "normalized": True},
    ],
    "group_betweenness_centrality": [
        lambda c: {"C": c.some[:2]},
        lambda c: {"C": set(c.some[:2]), "normalized": False},
        lambda c: {"C": [c.some[:1], [MISSING]]},
        lambda c: {"C": [c.some[:2], c.others[:1], []], "normalized": False, "endpoints": True},
    ],
    "percolation_centrality": [
        lambda c: {"states": {node: 0.5 + (place % 3) / 4 for place, node in enumerate(c.G)}},
        lambda c: {"states": dict.fromkeys(c.G, 0.25), "attribute": "ignored"},
    ],
    "newman_betweenness_centrality": [
        lambda c: {"cutoff": math.inf},
        lambda c: {},
        lambda c: {"normalized": False, "cutoff": c.hops},
        lambda c: {"v": c.s},
    ],
    "bipartite_betweenness_centrality": SIDE,
    "bipartite_closeness_centrality": [*SIDE, lambda c: {"nodes": c.some, "normalized": False}],
    "closeness_centrality": [lambda c: {}, lambda c: {"wf_improved": False}, lambda c: {"u": c.s}],
    "harmonic_centrality": [
        lambda c: {},
        lambda c: {"nbunch": c.some},
        lambda c: {"sources": c.others},
        lambda c: {"nbunch": c.some, "sources": c.others},
    ],
    "group_closeness_centrality": [lambda c: {"S": c.some}, lambda c: {"S": [*c.some, c.s]}],
    "local_reaching_centrality": [lambda c: {"v": c.s}],
    "katz_centrality": [lambda c: {"alpha": 0.11, "max_iter": 50}],  # with 0.1, changes would equal the limit exactly
    "eccentricity": [lambda c: {}, lambda c: {"v": c.s}, lambda c: {"v": [*c.some, MISSING]}, lambda c: {"v": 3.5}],
    "diameter": EXTREME,
    "radius": EXTREME,
    "center": EXTREME,
    "periphery": EXTREME,
    "efficiency": [lambda c: {"u": c.s, "v": c.t}, lambda c: {"u": None, "v": c.t}],
    "node_connected_component": [lambda c: {"n": c.s}],
    "condensation": [lambda c: {}, lambda c: {"scc": [set(c.G)]}],
    "sets": [lambda c: {}, lambda c: {"top_nodes": c.some}],
    "modularity": [
        lambda c: {"communities": [{v} for v in c.G]},
        lambda c: {"communities": (set(c.some), set(c.G) - set(c.some)), "resolution": 0.5, "weight": None},
        lambda c: {"communities": [set(c.some)]},
    ],
}

UNDIRECTED = {
    "connected_components", "number_connected_components", "is_connected", "node_connected_component", "efficiency",
    "global_efficiency", "local_efficiency", "schultz_index", "gutman_index", "hyper_wiener_index",
    "triangles", "group_betweenness_centrality", "transitivity", "square_clustering",
    "biconnected_components", "biconnected_component_edges", "is_biconnected", "articulation_points", "bridges",
    "has_bridges",
}  # fmt: skip
DIRECTED = {
    "weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected", "is_semiconnected",
    "strongly_connected_components", "number_strongly_connected_components", "is_strongly_connected", "condensation",
    "attracting_components", "number_attracting_components", "is_attracting_component",
    "in_degree_centrality", "out_degree_centrality",
}  # fmt: skip
SIMPLE = {
    "schultz_index",
    "gutman_index",
    "hyper_wiener_index",
    "edge_betweenness_centrality",
    "edge_betweenness_centrality_subset",
    "triangles",
    "core_number",
    "clustering",
    "average_clustering",
    "transitivity",
    "pagerank",
    "eigenvector_centrality",
    "katz_centrality",
    "degree_centrality",
    "in_degree_centrality",
    "out_degree_centrality",
    "modularity",
}
# Several answers are right, and NetworkX's is random; test_link_analysis_and_clustering.py compares graphs with one
# answer.
SEVERAL_RIGHT = {"hits"}
# Dictionaries whose order NetworkX does not promise: it comes from sets, or from another traversal.
UNORDERED = {"color", "bipartite_closeness_centrality"}


def kinds_of(name: str) -> tuple[type[nx.Graph], ...]:
    return tuple(
        kind
        for kind in KINDS
        if not (name in UNDIRECTED and kind().is_directed())
        and not (name in DIRECTED and not kind().is_directed())
        and not (name in SIMPLE and kind().is_multigraph())
    )


def plain(value: Any, ordered: bool = True) -> Any:
    """A value as nested plain containers, in order."""
    if isinstance(value, nx.Graph):
        return type(value), value.graph, list(value.nodes(data=True)), list(value.edges(data=True))
    if isinstance(value, dict):
        items = [(key, plain(item, ordered)) for key, item in value.items()]
        return items if ordered else sorted(items, key=repr)
    if isinstance(value, Iterator | list):
        return [plain(item, ordered) for item in value]
    return tuple(plain(item, ordered) for item in value) if isinstance(value, tuple) else value


def outcome(function: Any, case: Case, arguments: dict[str, Any], which: str, ordered: bool) -> Any:
    try:
        return plain(function(case.G, **arguments, backend=which), ordered)
    except Exception as error:
        return type(error), str(error)


def same(mine: Any, theirs: Any) -> bool:
    """Whether two results are equal, floats up to rounding; NumPy scalars never are."""
    if isinstance(mine, np.generic):
        return False
    if isinstance(mine, float) and isinstance(theirs, int | float):
        return math.isclose(mine, theirs, rel_tol=1e-11, abs_tol=1e-14) or (math.isnan(mine) and math.isnan(theirs))
    if isinstance(mine, list | tuple) and isinstance(theirs, list | tuple):
        return len(mine) == len(theirs) and all(same(a, b) for a, b in zip(mine, theirs, strict=True))
    return bool(mine == theirs)


LATER = set() if SINCE_3_7 else {"centroid"}  # functions that this NetworkX lacks or defines differently
LISTED = {name: about for name, about in info.FUNCTIONS.items() if name not in LATER}
INSTALLED = LISTED.keys() & nx.utils.backends._registered_algorithms.keys()


def numbered(case: Case) -> Case:
    """The case with node numbers as labels. In edge scores, NetworkX takes a node (a, b) for the edge a → b."""
    number = {node: i for i, node in enumerate(case.G)}
    some, others = ([number[node] for node in group] for group in (case.some, case.others))
    return Case(nx.relabel_nodes(case.G, number), 0, 1, some, others, case.hops, case.number)


@pytest.mark.hypothesis
@pytest.mark.filterwarnings(r"ignore:\s*bfs_predecessors is deprecated:DeprecationWarning")  # by NetworkX 3.7
@pytest.mark.parametrize("name", sorted(INSTALLED - SEVERAL_RIGHT))
def test_equals_networkx(name: str) -> None:
    function = nx.utils.backends._registered_algorithms[name]
    calls = ARGUMENTS.get(name, [lambda c: {}])
    ordered = name not in UNORDERED

    @settings(max_examples=settings.default.max_examples // 2)
    @given(cases(kinds_of(name)))
    def check(case: Case) -> None:
        if name == "newman_betweenness_centrality" or name.startswith("edge_betweenness"):
            case = numbered(case)  # NetworkX sorts the nodes of the first, and labels of mixed types have no order
        for call in calls:
            theirs = outcome(function, case, call(case), "networkx", ordered)
            mine = outcome(function, case, call(case), "hopwave", ordered)
            assert same(mine, theirs), f"{name}({call(case)}): hopwave {mine}, NetworkX {theirs}"

    with nx.config(warnings_to_ignore={"cache"}):
        check()


def test_the_list_for_networkx_is_the_list_served() -> None:
    assert set(LISTED) == set(backend.functions)
    assert len(backend.functions) >= 60
    assert set(ARGUMENTS) | UNDIRECTED | DIRECTED | SIMPLE | UNORDERED | SEVERAL_RIGHT <= set(backend.functions)


@pytest.mark.parametrize("name", sorted(INSTALLED))
def test_signatures_are_those_of_networkx(name: str) -> None:
    """Our parameters are NetworkX's, in its order, followed only by the keywords that get_info lists."""
    theirs = nx.utils.backends._registered_algorithms[name].__wrapped__
    newer = backend.functions[name].newer
    names = [one for one in theirs.__signature__.parameters if not one.startswith("backend") and one not in newer]
    mine = list(backend.functions[name].signature.parameters)
    assert [parameter for parameter in mine if parameter in names] == names
    told = {keyword.partition(" ")[0] for keyword in info.FUNCTIONS[name][1]}
    assert set(mine) - set(names) == told


def test_a_keyword_of_a_newer_networkx_may_say_its_default() -> None:
    """NetworkX passes all its keywords, even those that hopwave's function does not have."""
    older = Served("harmonic_diameter", lambda G, sp=None: (G, sp), "distance_measures")
    assert older.newer == {"weight": None}
    assert older(1, weight=None) == (1, None)
    assert older.arguments((1,), {"weight": None}) == {"G": 1, "sp": None}
    with pytest.raises(TypeError, match="weight"):
        older.arguments((1,), {"weight": "km"})
