"""Shortest paths in hops and along an edge attribute (networkx.algorithms: shortest_paths, simple_paths).

Along an attribute, vertices are settled in NetworkX's order. Dictionaries therefore have the same order, and of several
shortest paths the same one is chosen.
"""

import heapq
import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt

from hopwave.algorithms.shortest_paths import simple_paths
from hopwave.networkx_backend import dispatch
from hopwave.networkx_backend.convert import Lengths, NetworkXGraph, Rows
from hopwave.networkx_backend.dispatch import Threshold, by_ends, hops_or_dijkstra, serves, unless_weighted
from hopwave.networkx_backend.traversal import Ids, arcs_from, compiled, pieces, search, searched
from hopwave.system.threads import imported

Paths = dict[Any, list[Any]]
Closed = npt.NDArray[np.uint8]  # per vertex: whether paths may visit it (engines/cpu/row_order.py)
OPEN: Closed = np.zeros(0, np.uint8)
along_lengths = partial(imported, "hopwave.engines.cpu.shortest_paths.dijkstra")  # its kernels
PAIRED = dispatch.ALONG + " " + dispatch.CONVERTED_BEFORE


def max_levels(cutoff: Any) -> float:
    """The number of levels of NetworkX's loops for a cutoff: at least one; all levels for 0 or None."""
    return max(1, cutoff) if cutoff else float("inf")


@dataclass(frozen=True, eq=False)
class Search:
    """A lazy search in hops or along an edge attribute (None: 1 each); `backwards`: along in_rows."""

    G: NetworkXGraph
    attribute: Any
    sources: list[int]
    limit: float = math.inf
    target: int | None = None
    backwards: bool = False
    hops: bool = False
    read: Lengths | None = None  # lengths already read, shared by several searches

    @property
    def rows(self) -> Rows:
        return self.G.in_rows if self.backwards else self.G.out_rows

    @cached_property
    def lengths(self) -> Lengths:
        return self.read or self.G.lengths_of(self.attribute, into=self.backwards)

    @cached_property
    def found(self) -> tuple[Ids, npt.NDArray[Any], Ids]:
        """The settled vertices in order, up to the target's distance; each vertex's distance and predecessor."""
        if self.hops:
            return searched(self.rows, self.sources, self.limit)
        arcs = along_lengths().arcs(self.rows, self.lengths.values)
        targets = () if self.target is None else (self.target,)
        return along_lengths().dijkstra(arcs, self.sources, self.limit, targets, None)  # type: ignore[no-any-return]

    def distances(self) -> dict[Any, Any]:
        """The distance of every settled vertex, nearest first."""
        order, d, _ = self.found
        numbers = d[order].tolist() if self.hops else self.lengths.numbers(d[order])
        return dict(zip(self.G.names(order), numbers, strict=True))

    def paths(self) -> Paths:
        """A path to (or from) every settled vertex; sources in the order passed, then nearest first."""
        (order, _, before), backwards = self.found, self.backwards
        by_id = {v: [self.G.nodes[v]] for v in self.sources}
        for v, parent, name in zip(order.tolist(), before[order].tolist(), self.G.names(order), strict=True):
            if v != parent:  # a source is its own predecessor
                by_id[v] = [name, *by_id[parent]] if backwards else [*by_id[parent], name]
        return by_id if self.G.plain else dict(zip(self.G.names(list(by_id)), by_id.values(), strict=True))

    def path(self) -> list[Any]:
        """The path to the target, which must be settled."""
        _, _, before = self.found
        assert self.target is not None
        path = [self.target]
        while path[-1] != int(before[path[-1]]):
            path.append(int(before[path[-1]]))
        return self.G.names(path[::-1])

    def distance(self) -> Any:
        """The distance of the target; None if it was not settled, or is not a node."""
        d = self.found[1]
        if self.target is None or self.target < 0 or math.isinf(d[self.target]):
            return None
        return self.lengths.numbers(d[[self.target]])[0]

    def predecessors(self) -> Paths:
        """For each vertex, all its predecessors on shortest paths, in NetworkX's order."""
        order, d, _ = self.found
        tail, head, arcs = arcs_from(self.rows, order)
        offer = d[tail] + self.lengths.values[arcs]
        near = offer <= self.limit
        tight = near & (offer == d[head])
        seen, place = np.unique(head[near], return_index=True)
        discovered = [*self.sources, *(v for v in seen[np.argsort(place)].tolist() if v not in self.sources)]
        by_id: dict[int, list[Any]] = {v: [] for v in discovered}
        for v, u in zip(head[tight].tolist(), self.G.names(tail[tight]), strict=True):
            by_id[v].append(u)
        return dict(zip(self.G.names(list(by_id)), by_id.values(), strict=True))


def node_ids(G: NetworkXGraph, nodes: Collection[Any]) -> list[int]:
    """The ids of sources, each once; raises NetworkX's errors."""
    if not nodes:
        raise ValueError("sources must not be empty")
    for node in nodes:
        if node not in G:
            raise nx.NodeNotFound(f"Node {node} not found in graph")
    return list(dict.fromkeys(G.number[node] for node in nodes))


def run_of(G: NetworkXGraph, sources: Collection[Any], weight: Any, cutoff: Any = None, target: Any = None) -> Search:
    """A search from nodes of the graph; a target that is not a node is never found."""
    limit = math.inf if cutoff is None else float(cutoff)
    return Search(G, weight, node_ids(G, sources), limit, None if target is None else G.number.get(target, -1))


def searches(G: NetworkXGraph, cutoff: Any, weight: Any, hops: bool = False) -> Iterator[tuple[Any, Search]]:
    """A search from every node in turn. Lengths are read first: NetworkX must see a NotImplementedError at once."""
    read = None if hops else G.lengths_of(weight)
    return ((node, replace(run_of(G, [node], weight, cutoff), hops=hops, read=read)) for node in G.nodes)


# ------------------------------------------------------------------ in hops


def from_one(
    read: Any,
    G: NetworkXGraph,
    node: Any,
    cutoff: Any = None,
    end: str = "Source",
    to: bool = False,
    weight: Any = None,
) -> Any:
    """Lengths or paths (`read`) from or to a node; `end` is its name in NetworkX's error."""
    if weight is None and node not in G:
        raise nx.NodeNotFound(f"{end} {node} {'is ' if read is Search.distances else ''}not in G")
    return read(replace(run_of(G, [node], weight, cutoff), backwards=to, hops=weight is None))


def _in_hops(read: Any, suffix: str, threshold: Threshold) -> None:
    def named(ends: str, **how: Any) -> Any:
        return serves(f"{ends}_shortest_path{suffix}", notes=dispatch.ORDER, **how)

    named("single_source", threshold=threshold)(lambda G, source, cutoff: from_one(read, G, source, cutoff))
    named("single_target", threshold=threshold)(
        lambda G, target, cutoff: from_one(read, G, target, cutoff, "Target", True)
    )
    named("all_pairs")(lambda G, cutoff: ((node, read(run)) for node, run in searches(G, cutoff, None, True)))


_in_hops(Search.distances, "_length", dispatch.ONE_SEARCH)
_in_hops(Search.paths, "", dispatch.LISTED_PATHS)


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def bidirectional_shortest_path(G: NetworkXGraph, source: Any, target: Any) -> list[Any]:
    check_ends(G, source, target)
    path = pair(G.out_rows, G.in_rows, G.number[source], G.number[target])
    if path is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    return G.names(path)


@serves(threshold=dispatch.LISTED_PATHS, notes=dispatch.ORDER)
def predecessor(G: NetworkXGraph, source: Any, target: Any = None, cutoff: Any = None, return_seen: Any = None) -> Any:
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} not in G")
    found = search(G.out_rows, [G.number[source]], max_levels(cutoff))
    names = G.names(found.order)
    place = np.full(len(G), -1, np.int32)
    place[found.order] = np.arange(len(found.order), dtype=np.int32)
    u, v, _ = arcs_from(G.out_rows, found.order)
    u, v = place[u], place[v]
    leads = (v >= 0) & (found.level[v] == found.level[u] + 1)
    u, v = u[leads], v[leads]
    before = G.names(found.order[u[np.argsort(v, kind="stable")]])
    pred = dict(zip(names, pieces(before, np.cumsum(np.bincount(v, minlength=len(names)))), strict=True))
    seen = dict(zip(names, found.level.tolist(), strict=True))
    if target is None:
        return (pred, seen) if return_seen else pred
    return (pred.get(target, []), seen.get(target, -1)) if return_seen else pred.get(target, [])


# ------------------------------------------------------------------ in hops or along an edge attribute

ENDS = dispatch.BOTH + " With both endpoints: r" + dispatch.CONVERTED_BEFORE[1:]


def check_method(method: Any) -> None:
    """Raise NetworkX's error for an unknown method, even if the method is not used."""
    if method not in ("dijkstra", "bellman-ford"):
        raise ValueError(f"method not supported: {method}")


@serves(threshold=dispatch.PAIR, notes=dispatch.CONVERTED_BEFORE)
def has_path(G: NetworkXGraph, source: Any, target: Any) -> bool:
    try:
        shortest_path(G, source, target)
    except nx.NetworkXNoPath:
        return False
    return True


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.LISTED_PATHS, dispatch.TWO_SIDED_PAIR), notes=ENDS)
def shortest_path(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return bidirectional_shortest_path(G, source, target)
        return bidirectional_dijkstra(G, source, target, weight)[1]
    return _ways(Search.paths, G, source, target, weight)


@serves(why_not=hops_or_dijkstra, threshold=by_ends(dispatch.ONE_SEARCH, dispatch.DIJKSTRA_PAIR), notes=ENDS)
def shortest_path_length(
    G: NetworkXGraph, source: Any = None, target: Any = None, weight: Any = None, method: Any = "dijkstra"
) -> Any:
    check_method(method)
    if source is not None and target is not None:
        if weight is None:
            return len(bidirectional_shortest_path(G, source, target)) - 1
        return dijkstra_path_length(G, source, target, weight)
    return _ways(Search.distances, G, source, target, weight)


def _ways(read: Any, G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    """Lengths or paths (`read`) from a source, to a target, or of all pairs."""
    if source is None and target is None:
        return ((node, read(run)) for node, run in searches(G, None, weight, weight is None))
    # NetworkX searches from a target in the reversed graph, as from a source.
    return from_one(read, G, target if source is None else source, to=source is None, weight=weight)


def _predecessors(G: NetworkXGraph, source: Any, weight: Any, method: Any) -> dict[Any, list[Any]]:
    """All predecessors on shortest paths from the source, in hops or along an edge attribute."""
    if weight is None or method == "unweighted":
        return predecessor(G, source)  # type: ignore[no-any-return]
    check_method(method)
    return dijkstra_predecessor_and_distance(G, source, None, weight)[0]


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.PAIR_PATHS), notes=dispatch.BOTH)
def all_shortest_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any, method: Any) -> Iterator[list[Any]]:
    return _back(_predecessors(G, source, weight, method), source, target)


@serves(why_not=hops_or_dijkstra, threshold=unless_weighted(dispatch.LISTED_EDGES), notes=dispatch.BOTH)
def single_source_all_shortest_paths(
    G: NetworkXGraph, source: Any, weight: Any, method: Any
) -> Iterator[tuple[Any, list[list[Any]]]]:
    before = _predecessors(G, source, weight, method)
    return ((node, list(_back(before, source, node))) for node in before)


@serves(why_not=hops_or_dijkstra, threshold=dispatch.LISTED_EDGES, notes=dispatch.BOTH)
def all_pairs_all_shortest_paths(
    G: NetworkXGraph, weight: Any, method: Any
) -> Iterator[tuple[Any, dict[Any, list[list[Any]]]]]:
    if weight is not None:
        G.lengths_of(weight)  # may raise NotImplementedError, which NetworkX must see before the iterator starts
    return ((node, dict(single_source_all_shortest_paths(G, node, weight, method))) for node in G.nodes)


def _back(before: dict[Any, list[Any]], source: Any, target: Any) -> Iterator[list[Any]]:
    """All paths from source to target, from predecessors. No path visits a vertex twice, even if arcs have length 0."""
    if target not in before:
        raise nx.NetworkXNoPath(f"Target {target} cannot be reached from given sources")
    yield from simple_paths(lambda node: iter(before[node]), source, target)


# ------------------------------------------------------------------ along an edge attribute


def check_ends(G: NetworkXGraph, source: Any, target: Any) -> None:
    """Raise NetworkX's error if an endpoint is not a node."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")


def from_both_ends(G: NetworkXGraph, weight: Any) -> Callable[..., tuple[list[int], float] | None]:
    """A bidirectional search by source, target and `Closed` vertices: NetworkX's path and its length, or None."""
    from hopwave.engines.cpu.shortest_paths.between import path_from_both_ends

    kernels, into = along_lengths(), G.lengths_of(weight, into=True)  # reads all edges and stores them in G.lengths
    arcs = kernels.arcs(G.out_rows, G.lengths[weight].values), kernels.arcs(G.in_rows, into.values)
    return partial(path_from_both_ends, *arcs)


def pair(out_rows: Rows, in_rows: Rows, source: int, target: int, closed: Closed = OPEN) -> list[int] | None:
    """The shortest path that NetworkX's bidirectional search finds first, or None."""
    from hopwave.engines.cpu.shortest_paths.between import path_between
    from hopwave.engines.cpu.views import unsigned

    rows = [unsigned(part) for part in (*out_rows, *in_rows)]
    found: list[int] | None = path_between(rows, source, target, closed, by_vertices=True)
    return found


# ------------------------------------------------------------------ from several sources, one, or all


def _along_lengths(read: Callable[[Search], Any], suffix: str) -> None:
    """Register functions of several sources, one source and all sources that return `read` of a search."""

    def named(ends: str, **how: Any) -> Any:
        return serves(f"{ends}_dijkstra{suffix}", notes=dispatch.ALONG, **how)

    def some(G: NetworkXGraph, sources: Any, cutoff: Any, weight: Any) -> Any:
        return read(run_of(G, sources, weight, cutoff))

    if suffix:
        named("multi_source", threshold=dispatch.DIJKSTRA)(some)
        named("single_source", threshold=dispatch.DIJKSTRA)(
            lambda G, source, cutoff, weight: some(G, {source}, cutoff, weight)
        )
    named("all_pairs")(lambda G, cutoff, weight: ((node, read(run)) for node, run in searches(G, cutoff, weight)))


_along_lengths(lambda run: (run.distances(), run.paths()), "")
_along_lengths(Search.distances, "_path_length")
_along_lengths(Search.paths, "_path")


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def multi_source_dijkstra(G: NetworkXGraph, sources: Any, target: Any, cutoff: Any, weight: Any) -> Any:
    run = run_of(G, sources, weight, cutoff, target)
    if target is None:
        return run.distances(), run.paths()
    if target in sources:
        return 0, [target]
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"No path to {target}.")
    return run.distance(), run.path()


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def single_source_dijkstra(G: NetworkXGraph, source: Any, target: Any, cutoff: Any, weight: Any) -> Any:
    return multi_source_dijkstra(G, {source}, target, cutoff, weight)


@serves(threshold=dispatch.DIJKSTRA, notes=dispatch.ALONG)
def dijkstra_predecessor_and_distance(
    G: NetworkXGraph, source: Any, cutoff: Any, weight: Any
) -> tuple[Paths, dict[Any, Any]]:
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} is not found in the graph")
    run = run_of(G, [source], weight, cutoff)
    return run.predecessors(), run.distances()


# ------------------------------------------------------------------ one pair


@serves(threshold=dispatch.DIJKSTRA_PAIR, notes=PAIRED)
def dijkstra_path(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    return multi_source_dijkstra(G, {source}, target, None, weight)[1]


@serves(threshold=dispatch.DIJKSTRA_PAIR, notes=PAIRED)
def dijkstra_path_length(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Any:
    run = run_of(G, [source], weight, target=target)
    if source == target:
        return 0
    if run.distance() is None:
        raise nx.NetworkXNoPath(f"Node {target} not reachable from {source}")
    return run.distance()


@serves(threshold=dispatch.TWO_SIDED_PAIR, notes=dispatch.ALONG + ' Runs with `backend="hopwave"` only.')
def bidirectional_dijkstra(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> tuple[Any, list[Any]]:
    check_ends(G, source, target)
    if source == target:
        return 0, [source]
    found = from_both_ends(G, weight)(G.number[source], G.number[target], OPEN)
    if found is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    path, length = found
    return G.lengths[weight].numbers(np.array([length]))[0], G.names(path)


# ------------------------------------------------------------------ simple paths, shortest first

Find = Callable[[int, int, Closed], tuple[Any, list[int]] | None]  # (length, ids) of a shortest path, or None


@serves(
    threshold=unless_weighted(dispatch.PAIR_PATHS),
    notes="In hops, or along an edge attribute; equally long paths in NetworkX's order.",
)
def shortest_simple_paths(G: NetworkXGraph, source: Any, target: Any, weight: Any) -> Iterator[list[Any]]:
    if weight is None:

        def find(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
            path = pair(G.out_rows, G.in_rows, start, end, closed)
            return None if path is None else (len(path) - 1, path)

        return _named(G, source, target, find, lambda path: [1] * (len(path) - 1))
    # These may raise NotImplementedError, which NetworkX must see before the iterator starts.
    if G.is_view:
        G.weighted(weight)
    between, lengths, (indptr, indices) = from_both_ends(G, weight), G.lengths[weight], G.out_rows

    def nearest(start: int, end: int, closed: Closed) -> tuple[Any, list[int]] | None:
        found = ([start], 0) if start == end else between(start, end, closed)
        return None if found is None else (found[1], found[0])

    def along(path: list[int]) -> list[Any]:
        rows = ((slice(int(indptr[u]), int(indptr[u + 1])), v) for u, v in pairwise(path))
        return [float(lengths.values[row][indices[row] == v][0]) for row, v in rows]

    return _named(G, source, target, nearest, along)


def _named(
    G: NetworkXGraph, source: Any, target: Any, find: Find, along: Callable[[list[int]], list[Any]]
) -> Iterator[list[Any]]:
    for end, name in ((source, "source"), (target, "target")):
        if end not in G:
            raise nx.NodeNotFound(f"{name} node {end} not in graph")
    first = find(G.number[source], G.number[target], OPEN)
    if first is None:
        raise nx.NetworkXNoPath(f"No path between {source} and {target}.")
    yield from map(G.names, yen(len(G), first, find, along))


def yen(
    n: int, first: tuple[Any, list[int]], find: Find, along: Callable[[list[int]], list[Any]]
) -> Iterator[list[int]]:
    """The paths as ids, shortest first; ties in the order found. `along` lists the lengths of a path's arcs."""
    barred, head = compiled().BARRED, compiled().HEAD
    waiting, known, found = [(first[0], 0, first[1])], {tuple(first[1])}, 1
    left: dict[tuple[int, ...], list[int]] = {}  # root → heads of the arcs already taken from its end
    closed = np.zeros(n, np.uint8)
    while waiting:
        _, _, path = heapq.heappop(waiting)
        yield path
        known.discard(tuple(path))
        lengths = along(path)
        for i in range(len(path) - 1):
            root = tuple(path[: i + 1])
            heads = left.setdefault(root, [])
            heads.append(path[i + 1])
            closed[heads] = head
            spur = find(path[i], path[-1], closed)
            closed[heads] = 0
            closed[path[i]] = barred
            if spur is None:
                continue
            new = (*root[:-1], *spur[1])
            if new not in known:
                heapq.heappush(waiting, (sum(lengths[:i]) + spur[0], found, list(new)))
                known.add(new)
                found += 1
        closed[path] = 0
