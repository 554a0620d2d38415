"""Fuzzing of every function that the NetworkX backend serves, compared with NetworkX itself.

Graphs of every kind and their views, with nodes that look alike (1, "1", (1,)), parallel edges, loops, and weights that
are missing, None, of other types, zero, negative or not finite; arguments are drawn by their names. What `can_run`
takes must answer as NetworkX does: the same values, types of numbers and order, or the same exception. hopwave keeps
the converted graph with NetworkX's graph, so graphs change between questions: edges and nodes come and go, attributes
change in place, views show what their graph has become.
"""

import importlib
import inspect
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from networkx.utils.backends import _registered_algorithms as registered

from hopwave.networkx_backend import dispatch
from questions import Difference

KINDS = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
NAMES: tuple[Callable[[int], Any], ...] = (
    lambda i: i,
    lambda i: i,
    str,
    lambda i: (i, str(i), (i, 0), i + 0.5)[i % 4],
    lambda i: (2**63 + i, -i, f"{i}.0", frozenset([i]))[i % 4],
)
USUAL = (1, 2, 3, 1.0, 2.5, 0.5)
ODD = (0, 0.0, None, True, np.float32(2), np.int64(3), Fraction(1, 3), 10**400, -1, math.inf, math.nan, "2", 2**53 + 1)
NUMPY = ("int64", "float64", "float32")  # types of numbers
MOST = 200  # entries of an answer that is an iterator
NODE = ("source", "target", "u", "v", "s", "t", "node", "root", "n", "start")
NODES = ("sources", "targets", "nbunch", "nodes", "S", "C", "top_nodes", "ego_nodes", "vertices", "bunch")
# Deliberate differences (docs/networkx.md): hopwave follows the definition, or needs no labels that can be sorted; of
# several solutions of hits NetworkX returns a random one, and paths over edges of length 0 it may list twice.
BETTER: dict[str, Callable[[Any, dict[str, Any], Any], bool]] = {
    "hits": lambda G, given, theirs: True,
    "group_betweenness_centrality": lambda G, given, theirs: G.is_directed() or len(given["C"]) > 1,
    "newman_betweenness_centrality": lambda G, given, theirs: theirs[:2] == ["raises", "TypeError"],
    **dict.fromkeys(
        ("all_shortest_paths", "single_source_all_shortest_paths", "all_pairs_all_shortest_paths"),
        lambda G, given, theirs: any(not length for *_, length in G.edges(data=given.get("weight"), default=1)),
    ),
}
CONSTANT = ("alpha", "beta", "tol", "eps", "gamma", "dtype", "create_using", "sort_neighbors", "neighbors", "backend")


class Custom(nx.Graph):  # type: ignore[misc]
    """A class of the user's own."""


def drawn_graph(draw: random.Random) -> tuple[Any, str]:
    """A graph or a view of one, and its description."""
    n, kind, name = draw.choice((0, 1, 2, 3, 4, 5, 6, 7)), draw.choice((*KINDS, *KINDS, Custom)), draw.choice(NAMES)
    G, nodes = kind(), [name(i) for i in range(n)]
    draw.shuffle(nodes)
    G.add_nodes_from(nodes)
    shape = draw.choice(("random", "random", "tree", "cycle", "dense", "path"))
    if shape == "random" and nodes:
        pairs = [(draw.choice(nodes), draw.choice(nodes)) for _ in range(draw.randint(0, 2 * n))]
    elif shape == "tree":
        pairs = [(nodes[draw.randrange(i)], nodes[i]) for i in range(1, n)]
    elif shape == "dense":
        pairs = [(u, v) for u in nodes for v in nodes if u != v and draw.random() < 0.6]
    else:
        pairs = [(nodes[i - 1], nodes[i]) for i in range(shape == "path", n)]
    odd, missing = draw.choice((0, 0, 0, 0.2)), draw.choice((0, 0, 0.3, 1))
    for u, v in pairs:
        given = {"weight": draw.choice(ODD if draw.random() < odd else USUAL)} if draw.random() >= missing else {}
        G.add_edge(u, v, **given, **({"km": draw.choice(USUAL)} if draw.random() < 0.5 else {}))
    about = f"{kind.__name__} {nodes} {list(G.edges(data=True))}"
    view = draw.choice(("itself", "itself", "itself", "part", "reversed", "undirected", "frozen"))
    if view == "part":
        chosen = draw.sample(nodes, min(n, max(1, n - 1)))
        return G.subgraph(chosen), f"subgraph {chosen} of {about}"
    if view == "reversed" and G.is_directed():
        return G.reverse(copy=False), f"reverse of {about}"
    if view == "undirected":
        return G.to_undirected(as_view=True), f"undirected view of {about}"
    return nx.freeze(G) if view == "frozen" else G, f"{view}, {about}"


def argument(draw: random.Random, name: str, default: Any, nodes: list[Any]) -> Any:
    """A value for an argument of this name; the default where no other is known."""
    needed = default is inspect.Parameter.empty
    if name in NODE and not (name == "n" and default is None):
        if name == "v" and default is None and draw.random() < 0.3:
            return [*draw.sample(nodes, len(nodes) // 2), *["nowhere"] * draw.randint(0, 1)]  # some of eccentricity's
        return draw.choice([*nodes * 3, "nowhere"]) if needed or draw.random() < 0.7 else default
    if name in NODES:
        some = [draw.sample(nodes, draw.randint(0, len(nodes))) for _ in range(3)]
        if name == "C" and draw.random() < 0.3:
            return some
        return some[0] if needed or draw.random() < 0.7 else default
    if name in ("weight", "distance") and not needed:
        return draw.choice((default, None, "weight", "weight", "km", "absent", lambda u, v, d: 2))
    if name in ("cutoff", "distance", "depth_limit", "radius", "distance_limit", "k", "l", "n"):
        return draw.choice((0, 1, 2, 3, 2.5, -1) if needed else (default, default, 0, 1, 2, 3, 2.5, -1, math.inf))
    if name in ("personalization", "nstart", "dangling", "states"):
        return draw.choice((None, {v: draw.random() for v in nodes}, dict.fromkeys(nodes[:1], 1)))
    if name == "seed":
        return draw.randrange(100)
    if name == "method":
        return draw.choice((default, "dijkstra", "bellman-ford", "unweighted", "magic"))
    if name in ("return_seen", "resolution"):
        return draw.choice((default, 0.5))
    if name == "e":
        return draw.choice((None, {v: i % 3 for i, v in enumerate(nodes)}))
    if name == "scc":
        return draw.choice((None, [set(nodes)]))
    if name == "communities":
        cut = draw.randint(0, len(nodes))
        return [set(part) for part in (nodes[:cut], nodes[cut:]) if part]
    return draw.random() < 0.5 if isinstance(default, bool) else default


def plain(found: Any) -> Any:
    """An answer as lists, with words for types."""
    if isinstance(found, nx.Graph):
        parts = [sorted(map(plain, part), key=repr) for part in (found.nodes(data=True), found.edges(data=True))]
        return ["graph", type(found).__name__, *parts]
    if isinstance(found, dict):
        return ["dict", *([plain(key), plain(value)] for key, value in found.items())]
    if isinstance(found, set | frozenset):
        return ["set", *sorted(map(repr, found))]
    if isinstance(found, np.generic):
        return [type(found).__name__, found.item()]
    if isinstance(found, bool | int | float):
        return [type(found).__name__, found]
    if isinstance(found, list | tuple):
        return [type(found).__name__, *map(plain, found)]
    if hasattr(found, "__next__"):
        return ["iterator", *map(plain, islice(found, MOST))]
    return repr(found)


def untyped(answer: Any) -> Any:
    """An answer without the difference of 1 and 1.0."""
    if not isinstance(answer, list):
        return answer
    if len(answer) == 2 and answer[0] in ("int", "float", *NUMPY):
        return ["number", float(answer[1]) if abs(answer[1]) < 2**53 else answer[1]]
    return [untyped(one) for one in answer]


def agree(found: Any, expected: Any) -> bool:
    """Whether they are the same up to rounding. NetworkX may return NumPy's numbers, hopwave never does."""
    if isinstance(expected, list) and len(expected) == 2 and expected[0] in NUMPY and found != expected:
        expected = plain(expected[1])
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-9) or (math.isnan(found) and math.isnan(expected))
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(agree, found, expected))
    return type(found) is type(expected) and bool(found == expected)


def answer(call: Callable[[], Any]) -> Any:
    """What a call returns, or the exception that it raises; views have another text for a key that is not there."""
    try:
        return plain(call())
    except Exception as error:  # any, and the same as NetworkX's
        return ["raises", type(error).__name__, "" if isinstance(error, KeyError) else str(error)]


def try_call(draw: random.Random, G: Any, about: str, name: str) -> int:
    """Call one function; 0 if hopwave leaves this call to NetworkX."""
    function, nodes, given = public(name), list(G), {}
    for parameter in inspect.signature(registered[name].orig_func).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.name in ("G", "graph", "B"):
            given[parameter.name] = G
        elif parameter.default is parameter.empty or (
            parameter.name == "seed" or (parameter.name not in CONSTANT and draw.random() < 0.6)
        ):
            given[parameter.name] = argument(draw, parameter.name, parameter.default, nodes)
    if inspect.Parameter.empty in given.values():
        raise KeyError(f"{name}: an argument of {list(given)} is not known here")
    if given.get("weight") is not None:
        given.pop("usebounds", None)  # NetworkX may never return: with NaN, or if weights of the two directions differ
    if dispatch.can_run(name, (), dict(given)) is not True:
        return 0
    found, expected = (answer(lambda by=by: function(**given, backend=by)) for by in ("hopwave", "networkx"))
    if found[:2] == ["raises", "NotImplementedError"]:
        return 0  # the arguments alone did not tell; NetworkX goes on by itself
    if name in BETTER and BETTER[name](G, given, expected):
        return 0
    whole = getattr(G, "_graph", G)  # of a view
    floats = any(isinstance(value, float) for *_, edge in whole.edges(data=True) for value in edge.values())
    if floats or name == "square_clustering":
        found, expected = untyped(found), untyped(expected)  # 1 is 1.0 there: see docs/networkx.md
    if not agree(found, expected):
        shown = {key: value for key, value in given.items() if value is not G}
        raise Difference(f"{name}({shown}) of {about}: found {found}, expected {expected}")
    return 1


def public(name: str) -> Any:
    """The function as a user calls it: with the decorators that check its graph and its seed."""
    inner = registered[name].orig_func
    return getattr(importlib.import_module(inner.__module__), inner.__name__)


def change(G: Any, draw: random.Random) -> str:
    """Change a graph in one way; returns a description."""
    nodes, edges = list(G), list(G.edges)
    kind = draw.choice(("edge", "edges", "node", "cut", "drop", "weight", "forget"))
    if kind == "node" or not nodes:
        G.add_node(new := f"n{draw.randrange(9)}")
        return f"node {new}"
    if kind in ("edge", "edges"):
        new = [(draw.choice(nodes), draw.choice([*nodes, 57])) for _ in range(4 if kind == "edges" else 1)]
        G.add_edges_from(new, weight=draw.choice(USUAL))
    elif kind == "drop" or not edges:
        G.remove_node(new := draw.choice(nodes))
    else:
        new = draw.choice(edges)
        if kind == "cut":
            G.remove_edge(*new)
        elif kind == "weight":
            G.edges[new]["weight"] = draw.choice(USUAL)  # in place: NetworkX does not notice
        else:
            G.edges[new].pop("weight", None)
    return f"{kind} {new}"


def inputs(draw: random.Random, folder: Path) -> int:
    """A graph that changes, and eight functions after each change."""
    count, (G, about), names = 0, drawn_graph(draw), [name for name in dispatch.FUNCTIONS if name in registered]
    with nx.config(warnings_to_ignore={"cache"}):
        for _ in range(4):
            count += sum(try_call(draw, G, about, name) for name in draw.sample(names, 8))
            if not nx.is_frozen(whole := getattr(G, "_graph", G)):
                about += f", {change(whole, draw)}"
            elif whole is G:
                break
    return count
