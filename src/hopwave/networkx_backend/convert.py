"""Convert NetworkX graphs to arrays, and back.

A converted graph stores every vertex's neighbours twice: in NetworkX's order, and in the ascending order of
hopwave's `Graph`. An edge attribute becomes lengths of arcs if hopwave then computes the same distances as NetworkX;
otherwise a NotImplementedError gives the reason, and NetworkX runs the call.
"""

import weakref
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph import Graph
from hopwave.graph.csr import Rows as GraphRows
from hopwave.graph.csr import is_symmetric, offset_type
from hopwave.planning.jobs import Integers

Rows = tuple[npt.NDArray[Any], npt.NDArray[np.int32]]
EXACT = 2.0**53  # float64 represents every integer up to this


@dataclass(frozen=True, eq=False)
class Lengths:
    """One length per arc. `whole`: all lengths are Python ints, and therefore also NetworkX's distances."""

    values: npt.NDArray[np.float64]
    whole: bool

    def numbers(self, distances: npt.NDArray[np.float64]) -> list[Any]:
        """Distances as Python numbers: int if NetworkX returns int."""
        numbers: list[Any] = (distances.astype(np.int64) if self.whole else distances).tolist()
        return numbers


def read_lengths(adjacency: Any, nodes: list[Any], attribute: Any, missing: Any, several: bool) -> Lengths:
    """An attribute of every arc, row by row, as in `convert`; parallel edges have their minimum."""
    data = (one for node in nodes for one in adjacency[node].values())
    try:
        found = [
            min(each.get(attribute, missing) for each in one.values()) if several else one.get(attribute, missing)
            for one in data
        ]
    except TypeError as error:  # min() of values that cannot be compared
        raise NotImplementedError(f"the edge attribute {attribute!r} has a non-numeric value: {error}") from None
    kinds = set(map(type, found))
    for kind in kinds:
        if not issubclass(kind, int | float | np.int64):
            raise NotImplementedError(
                f"the edge attribute {attribute!r} has a value of type {kind.__name__}, not int or float"
            )
    whole = not any(issubclass(kind, float) for kind in kinds)
    if not whole and any(abs(value) > EXACT for value in found if not isinstance(value, float)):
        raise NotImplementedError(f"the edge attribute {attribute!r} has an integer that float64 would round")
    try:
        values = np.array(found, np.float64)
    except OverflowError:
        values = np.full(1, np.inf)
    least, greatest = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    if not (least >= 0 and np.isfinite(greatest * len(nodes) ** 2)):
        raise NotImplementedError(f"the edge attribute {attribute!r} has a value that is negative, NaN or too large")
    if whole and greatest * len(nodes) >= EXACT:
        raise NotImplementedError(f"the edge attribute {attribute!r} has values whose sums float64 would round")
    return Lengths(values, whole)


@dataclass(eq=False, repr=False)
class NetworkXGraph:
    """A converted NetworkX graph of any of the four kinds, without the keys of parallel edges.

    It stores only the edge attributes that a call uses as lengths.
    """

    __networkx_backend__ = "hopwave"

    nodes: list[Any]
    out_rows: Rows
    in_rows: Rows
    directed: bool
    multiplicity: npt.NDArray[np.int64] | None  # parallel edges per arc of out_rows; None if not a multigraph
    kind: str
    attributes: dict[Any, Any]
    original: Any  # the NetworkX graph, if a function must copy attributes from it
    lengths: dict[Any, Lengths]  # by edge attribute, in the order of out_rows
    attributed: Any = None  # (weak reference to the graph with the attributes, their defaults)
    is_view: bool = False

    def __post_init__(self) -> None:
        self.__networkx_cache__: dict[str, Any] = {}
        for array in (*self.out_rows, *self.in_rows):  # read-only like a Graph's arrays, so that kernels fit both
            array.setflags(write=False)
        self._lengths_into: dict[Any, Lengths] = {}
        self._weighted: dict[Any, Graph] = {}

    # ---------------------------------------------------------------- interface for NetworkX

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multiplicity is not None

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.number
        except TypeError:  # a list, or a tuple that contains one
            return False

    def number_of_nodes(self) -> int:
        return len(self.nodes)

    def number_of_edges(self) -> int:
        indptr, indices = self.out_rows
        count = np.ones(len(indices), np.int64) if self.multiplicity is None else self.multiplicity
        if self.directed:
            return int(count.sum())
        loops = indices == np.repeat(np.arange(len(self), dtype=np.int32), np.diff(indptr))
        return int(count.sum() + count[loops].sum()) // 2

    def __str__(self) -> str:
        name = self.attributes.get("name", "")
        named = f" named {name!r}" if name else ""
        return f"{self.kind}{named} with {len(self)} nodes and {self.number_of_edges()} edges"

    @property
    def _adj(self) -> dict[Any, int]:
        """A mapping whose keys are the nodes: `nx.Graph.nbunch_iter` reads only the keys of an adjacency."""
        return self.number

    # ---------------------------------------------------------------- interface for hopwave

    @cached_property
    def number(self) -> dict[Any, int]:
        """The id of every node."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def plain(self) -> bool:
        """Whether every node equals its id, so that no lookup is needed."""
        return _are_ids(self.nodes)

    @cached_property
    def graph(self) -> Graph:
        """The graph with ascending adjacency lists and without labels, for hopwave's engines."""
        transpose = GraphRows(*_ascending(*self.in_rows)) if self.directed else None
        return Graph(*_ascending(*self.out_rows), directed=self.directed, transpose=transpose)

    def lengths_of(self, attribute: Any, into: bool = False) -> Lengths:
        """The values of an edge attribute as lengths of the arcs of out_rows, or with `into` of in_rows."""
        # Lengths are read at every call: NetworkX caches this graph and does not notice `G[u][v]["weight"] = 3`.
        reference, missing = self.attributed or (lambda: None, {})
        source = self.original if self.original is not None else reference()
        if source is not None:
            found = read_lengths(source._adj, self.nodes, attribute, missing.get(attribute, 1), self.is_multigraph())
            if len(found.values) != len(self.out_rows[1]):
                raise NotImplementedError("the graph was changed without its methods; clear its __networkx_cache__")
            kept = self.lengths.get(attribute)
            if kept is None or found.whole != kept.whole or not np.array_equal(found.values, kept.values):
                self.lengths[attribute] = found
                self._lengths_into.pop(attribute, None)
                self._weighted.pop(attribute, None)
        elif attribute not in self.lengths:
            problem = f"this graph was converted without the edge attribute {attribute!r}"
            raise NotImplementedError(f"{problem}; pass the NetworkX graph")
        if into and self.directed:
            if attribute not in self._lengths_into:
                self._lengths_into[attribute] = self._turned(self.lengths[attribute])
            return self._lengths_into[attribute]
        return self.lengths[attribute]

    def _turned(self, lengths: Lengths) -> Lengths:
        """Reorder lengths from the order of out_rows to the order of in_rows."""
        n, (indptr, heads), (in_indptr, tails) = len(self), self.out_rows, self.in_rows
        arcs = np.repeat(np.arange(n), np.diff(indptr)) * n + heads
        wanted = np.repeat(np.arange(n), np.diff(in_indptr)) + tails.astype(np.int64) * n
        ascending = np.argsort(arcs)
        return Lengths(lengths.values[ascending[np.searchsorted(arcs[ascending], wanted)]], lengths.whole)

    def weighted(self, attribute: Any) -> Graph:
        """`graph` with an edge attribute as its weights; without weights if `attribute` is None."""
        if attribute is None:
            return self.graph
        lengths = self.lengths_of(attribute)
        if attribute not in self._weighted:
            order = np.argsort(_keys(*self.out_rows)[0])  # the order of `graph`
            rows = GraphRows(self.graph.indptr, self.graph.indices, lengths.values[order])
            if self.is_view and not self.directed and not is_symmetric(rows):
                raise NotImplementedError(
                    f"the edge attribute {attribute!r} of this view of a directed graph depends on the direction"
                )
            self._weighted[attribute] = Graph(*rows[:2], weights=rows.values, directed=self.directed)
        return self._weighted[attribute]

    @cached_property
    def both_ways(self) -> Graph:
        """The graph with the reverse of every arc added; `graph` if it is undirected."""
        if not self.directed:
            return self.graph
        return Graph.from_edges(*self.graph.to_edges(), n=len(self), directed=False)

    @property
    def rows_both_ways(self) -> Rows:
        """The rows of `both_ways`; in NetworkX's order if the graph is undirected."""
        return (self.both_ways.indptr, self.both_ways.indices) if self.directed else self.out_rows

    def names(self, ids: npt.NDArray[Any] | list[int]) -> list[Any]:
        """The nodes with these ids."""
        listed: list[int] = ids if isinstance(ids, list) else ids.tolist()
        return listed if self.plain else list(map(self.nodes.__getitem__, listed))

    def by_node(self, values: npt.NDArray[Any]) -> dict[Any, Any]:
        """One value per vertex, as a dict by node."""
        return dict(zip(self.nodes, values.tolist(), strict=True))


def convert_from_nx(
    graph: Any,
    *,
    edge_attrs: Mapping[str, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    **unread: Any,  # node attributes and names, which no call that `can_run` accepts needs
) -> NetworkXGraph:
    """The arrays of a NetworkX graph, in one pass over its adjacency; `edge_attrs` are read as lengths."""
    is_view = getattr(graph, "_graph", None) is not None
    if is_view:
        # A view changes with its graph, but NetworkX then clears only the cache of that graph. None means that
        # conversions of the view are not cached.
        graph.__networkx_cache__ = None
    nodes = list(graph)
    directed, several = graph.is_directed(), graph.is_multigraph()
    position = _positions(nodes)
    out_rows = _rows(graph._adj, nodes, position)
    in_rows = _rows(graph._pred, nodes, position) if directed else out_rows
    multiplicity = None
    if several:
        times = (len(list(keys)) for node in nodes for keys in graph._adj[node].values())
        multiplicity = np.fromiter(times, np.int64, len(out_rows[1]))
    converted = NetworkXGraph(
        nodes,
        out_rows,
        in_rows,
        directed=directed,
        multiplicity=multiplicity,
        kind=type(graph).__name__,
        attributes=dict(graph.graph),
        original=graph if preserve_edge_attrs or preserve_node_attrs else None,
        lengths={
            attribute: read_lengths(graph._adj, nodes, attribute, missing, several)
            for attribute, missing in (edge_attrs or {}).items()
        },
        attributed=(weakref.ref(graph), dict(edge_attrs)) if edge_attrs else None,
        is_view=is_view,
    )
    if isinstance(position, dict):
        converted.__dict__["number"] = position
    return converted


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """The NetworkX graph of a converted graph, with neighbours in their old order; other objects are returned as is.

    Parallel edges all get their minimum length.
    """
    if not isinstance(result, NetworkXGraph):
        return result
    import networkx as nx

    kinds = {(False, False): nx.Graph, (True, False): nx.DiGraph, (False, True): nx.MultiGraph}
    G = kinds.get((result.directed, result.is_multigraph()), nx.MultiDiGraph)(**result.attributes)
    G.add_nodes_from(result.nodes)
    data: dict[tuple[int, int], dict[Any, Any]] = {}

    def shared(u: int, v: int, times: int, lengths: tuple[Any, ...]) -> dict[Any, Any]:
        pair = (u, v) if result.directed or u <= v else (v, u)
        if pair not in data:
            named = dict(zip(result.lengths, lengths, strict=True))
            data[pair] = {key: dict(named) for key in range(times)} if result.is_multigraph() else named
        return data[pair]

    nodes, (indptr, indices) = result.nodes, result.out_rows
    source = np.repeat(np.arange(len(nodes)), np.diff(indptr)).tolist()
    count = [1] * len(source) if result.multiplicity is None else result.multiplicity.tolist()
    columns = [lengths.numbers(lengths.values) for lengths in result.lengths.values()]
    rows = zip(*columns, strict=True) if columns else repeat((), len(source))
    for u, v, times, lengths in zip(source, indices.tolist(), count, rows, strict=True):
        G._adj[nodes[u]][nodes[v]] = shared(u, v, times, lengths)
    if result.directed:
        indptr, indices = result.in_rows
        target = np.repeat(np.arange(len(nodes)), np.diff(indptr)).tolist()
        for v, u in zip(target, indices.tolist(), strict=True):
            G._pred[nodes[v]][nodes[u]] = data[u, v]
    return G


def _positions(nodes: list[Any]) -> dict[Any, int] | npt.NDArray[np.int32] | None:
    """Lookup table of node ids: None if nodes are ids, an array for small integers, else a dict."""
    if _are_ids(nodes):
        return None
    if set(map(type, nodes)) <= {int} and min(nodes) >= 0 and max(nodes) < 8 * len(nodes) + 1024:
        table = np.empty(max(nodes) + 1, np.int32)
        table[nodes] = np.arange(len(nodes), dtype=np.int32)
        return table
    return {node: i for i, node in enumerate(nodes)}


def _rows(adjacency: Any, nodes: list[Any], position: dict[Any, int] | npt.NDArray[np.int32] | None) -> Rows:
    # A view filters when it is read, and its len() may count filtered entries. So read it once and count.
    is_view = type(adjacency) is not dict
    if is_view or list(adjacency) != nodes:
        neighbours = [list(adjacency[node]) if is_view else adjacency[node] for node in nodes]
    else:
        neighbours = list(adjacency.values())
    indptr = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, neighbours), np.int64, len(nodes)), out=indptr[1:])
    m = int(indptr[-1])
    ends: Iterable[Any] = chain.from_iterable(neighbours)
    if isinstance(position, dict):
        indices = np.fromiter(map(position.__getitem__, ends), np.int32, m)
    else:
        indices = np.fromiter(ends, np.int32, m)
        indices = indices if position is None else position[indices]
    return indptr.astype(offset_type(m), copy=False), indices


def _ascending(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]) -> Rows:
    """Sort each row, with one sort of all keys row · n + neighbour."""
    keys, before = _keys(indptr, indices)
    keys.sort()
    keys -= before
    return indptr, keys.astype(np.int32)


def _keys(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]) -> tuple[Integers, Integers]:
    """row · n + neighbour for every entry, and row · n."""
    n = len(indptr) - 1
    before = np.repeat(np.arange(n, dtype=np.int64) * n, indptr[1:] - indptr[:-1])
    return before + indices, before


def _are_ids(nodes: list[Any]) -> bool:
    """Whether the nodes are the integers 0, 1, 2, … (not bools or floats)."""
    return set(map(type, nodes)) <= {int} and nodes == list(range(len(nodes)))
