"""The class Graph, with methods that derive other graphs: subgraphs, reversals, other weights, labels and devices."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import offers
from hopwave.checks.numbers import check_bytes, shown
from hopwave.checks.options import flag, one_of
from hopwave.checks.other_names import lacks
from hopwave.errors import GraphError, gpu_part
from hopwave.graph import construct, row_operations
from hopwave.graph.arrays import Order
from hopwave.graph.columns import check_not_table, label_column, object_array
from hopwave.graph.constructors import GraphConstructors
from hopwave.graph.csr import ASK_FROM, Combine, Rows, arc_tails, builders, is_ascending
from hopwave.graph.naming import by_index


@offers
class Graph(GraphConstructors):
    """An immutable graph, directed or undirected, weighted or not, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are allowed; they do not change distances. Repeated edges are merged, unless
    `repeats="keep"` stores them as parallel arcs, which count as separate paths. An undirected edge is stored as two
    arcs, a self-loop as one: `G.m` is the number of stored arcs, and `G.number_of_edges` the number of edges.

    Weights belong to the graph. Paths (`sssp`, `shortest_path`, …), `pagerank` and similar centralities use them by
    default; `bfs`, betweenness, closeness and other functions count hops by default.

    >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.0, 1.0, 5.0])
    >>> G
    Graph(3 vertices, 3 edges, undirected, weighted)
    >>> G.neighbors(0).tolist(), G.weights[G.indptr[0]:G.indptr[1]].tolist()
    ([1, 2], [2.0, 5.0])
    """

    if not TYPE_CHECKING:  # otherwise type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(lacks("a Graph", name), name=name, obj=self)

        def __getitem__(self, vertex: Any) -> Any:
            raise TypeError(f"G[{shown(vertex)}] is not supported; use G.neighbors(vertex), or G.edges().weights")

        def __array__(self, *options: Any, **more: Any) -> Any:  # otherwise NumPy would iterate by __getitem__
            return object_array([self]).reshape(())

    def _with(self, rows: Rows, *, labels: Any = ..., order: Order = "ascending") -> Graph:
        """A graph like this one, with other adjacency lists."""
        return Graph._of(rows, None, self._directed, self._labels if labels is ... else labels, "cpu", order)

    def to(self, device: Literal["cpu", "cuda"], *, compressed: bool = False, memory_limit: int | None = None) -> Graph:
        """The same graph on another device: "cuda" uploads it, and results are CuPy arrays; "cpu" copies it back.

        `compressed` stores the adjacency lists in fewer bits (see docs/gpu.md). Searches read them directly; with
        device="auto", unsupported functions fall back to the CPU. Weights stay on the host. `memory_limit` is the
        maximum number of bytes of compressed lists on the GPU; the GPU reads the remaining lists from host memory.

        >>> Graph.from_edges([0], [1]).to("cpu").device
        'cpu'
        """
        one_of("device", device, ("cpu", "cuda"))
        memory_limit = check_bytes("memory_limit", memory_limit, least=0)
        compressed = flag("compressed", compressed) or memory_limit is not None
        if compressed and device != "cuda":
            raise GraphError(f"device={device!r} does not support compression; use device='cuda', or omit compressed=")
        if device == self._device and not compressed:
            return self
        gpu = self._gpu
        host = self._host if device == "cuda" and not compressed else self._rows
        transpose = self._columns if self._directed else None
        if device == "cuda" and (gpu is None or compressed):
            builder = builders["cuda"]()
            graph = Graph._of(host, None, self._directed, self._labels, device, self._order, transpose)
            if compressed:
                gpu_part("compressed").compress(graph, memory_limit)
            if compressed or (self._m >= ASK_FROM and gpu_part("compressed").compress_if_needed(graph)):
                return graph
            gpu = self._rows.each(lambda part: builder.column(part, "rows"))
        return Graph._of(host, gpu, self._directed, self._labels, device, self._order, transpose)

    def without_weights(self) -> Graph:
        """The same graph without weights.

        >>> Graph.from_edges([0], [1], weights=[2.5]).without_weights().is_weighted
        False
        """
        if not self.is_weighted:
            return self
        bare = [None if rows is None else rows._replace(values=None) for rows in (self._host, self._gpu, self._columns)]
        return Graph._of(bare[0], bare[1], self._directed, self._labels, self._device, self._order, bare[2])

    def with_weights(self, weights: Any) -> Graph:
        """The same graph with these weights: one number per stored arc, in the order of `indices`.

        >>> Graph.from_edges([0, 1], [1, 2], directed=True).with_weights([2, 3]).weights.tolist()
        [2.0, 3.0]
        """
        values = construct.arc_weights(weights, self.m).copy()  # the caller may change the original
        rows = self._rows._replace(values=values)
        if not self._directed:
            construct.check_symmetric(rows if self._order == "ascending" else row_operations.by_number(rows))
        return self._with(rows, order=self._order)

    def subgraph(self, vertices: Iterable[Any]) -> Graph:
        """Induced subgraph: these vertices (labels, or ids without labels) in this graph's order, and their edges.

        Without labels, the old ids become labels, unless they are 0, 1, 2, …

        >>> H = hw.generate.path(5).subgraph([1, 2, 4])
        >>> H.labels.tolist(), list(H.edges())
        ([1, 2, 4], [(1, 2)])
        """
        check_not_table(vertices, "a list of vertices")
        if isinstance(vertices, str | bytes) or not isinstance(vertices, Iterable) or getattr(vertices, "ndim", 1) == 0:
            raise GraphError(f"{vertices!r} is not a list of vertices; for a single vertex pass [{vertices!r}]")
        return self._induced(self._ids(vertices))

    def _ids(self, vertices: Iterable[Any]) -> npt.NDArray[np.int64]:
        """The ids of vertices, ascending, each once."""
        if self._labels is None and type(vertices) is np.ndarray and vertices.dtype.kind in "iu":
            outside = (vertices < 0) | (vertices >= self.n)
            if outside.any():
                self.index(vertices[int(np.argmax(outside))])  # raises the error
            chosen = np.zeros(self.n, np.bool_)
            chosen[vertices] = True
            return np.flatnonzero(chosen)
        return np.unique(np.array(self._positions(vertices), np.int64))

    def _induced(self, ids: npt.NDArray[np.int64]) -> Graph:
        plain = self._labels is None and np.array_equal(ids, np.arange(len(ids)))
        labels = None if plain else ids if self._labels is None else self._labels[ids]
        if self._device == "cuda" and self._gpu is not None and self._order == "ascending":
            return Graph._of(None, builders["cuda"]().induced(self._gpu, ids), self._directed, labels, "cuda")
        return self._with(row_operations.induced(self._ascending()._rows, ids), labels=labels)

    def largest_component(self) -> Graph:
        """Subgraph of the largest connected component; of the largest weak component if the graph is directed.

        >>> Graph.from_edges([0, 1, 4], [1, 2, 5]).largest_component().n
        3
        """
        return self._induced(row_operations.largest_component(self._rows, self._directed))

    def remove_self_loops(self) -> Graph:
        """The same graph without self-loops.

        >>> Graph.from_edges([0, 1], [0, 2]).remove_self_loops().m
        2
        """
        return self._with(row_operations.kept(rows := self._ascending()._rows, arc_tails(rows) != rows.indices))

    def to_undirected(self, combine: Combine | None = None) -> Graph:
        """The graph with every arc as an undirected edge; `combine` selects the weight if two directions differ.

        >>> G = Graph.from_edges([0, 1], [1, 0], directed=True, weights=[1, 4])
        >>> G.to_undirected(combine="max").weights.tolist()
        [4.0, 4.0]
        """
        if not self._directed:
            return self
        if self._device == "cuda" and self._gpu is not None:
            source, (_, target, weights) = builders["cuda"]().tails(self._gpu), self._gpu
        else:
            rows = row_operations.without_directions(self._rows) if self._order == "ascending" else None
            if rows is not None:
                return Graph._of(rows, None, False, self._labels, "cpu")
            edges = self.edges()
            source, target, weights = edges.source, edges.target, edges.weights
        return Graph.from_edges(source, target, self.n, weights=weights, combine=combine, labels=self._labels)

    def relabel(self, labels: Mapping[Any, Any] | Sequence[Any] | npt.NDArray[Any] | None) -> Graph:
        """The same graph with other labels: one per vertex, a mapping from old to new names, or None for no labels.

        >>> Graph.from_edges([0], [1]).relabel({0: "zero"}).labels.tolist()
        ['zero', 1]
        """
        check_not_table(labels, "a list of names")
        labels = by_index(self, labels, "labels")
        if isinstance(labels, Mapping):
            for vertex in labels:
                self.index(vertex)
            labels = object_array([labels.get(name, name) for name in self])
        names = construct.fitting(label_column(labels), self.n)
        return self._with(self._rows, labels=names, order=self._order)

    def arranged(self) -> Graph:
        """The same graph with adjacency lists in descending order of in-degree (Hiragushi, section 3.4).

        A bottom-up search stops at the first visited in-neighbour, and vertices of high degree are visited early.

        >>> G = hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4])
        >>> G.arranged().indices[G.indptr[1]:G.indptr[2]].tolist()
        [2, 0]
        """
        return self._arranged

    @cached_property
    def _arranged(self) -> Graph:
        if self._order == "degree":
            return self
        rows = row_operations.by_degree(self._rows, self.in_degrees)
        transpose = row_operations.by_degree(self._transposed(), self.in_degrees) if self._directed else None
        return Graph._of(rows, None, self._directed, self._labels, "cpu", "degree", transpose)

    def reverse(self) -> Graph:
        """The graph with every arc reversed; for an undirected graph, the graph itself.

        >>> Graph.from_edges([0], [1], directed=True).reverse().degrees.tolist()
        [0, 1]
        """
        if not self._directed:
            return self
        other = self._known_reverse()
        if other is None:
            other = self.__dict__["_reversed"] = self._turned()
        return other

    reversed = reverse

    def _known_reverse(self) -> Graph | None:
        """The reversed graph if it is known: cached with this graph, or the graph from which this one was reversed."""
        kept: Graph | weakref.ref[Graph] | None = self.__dict__.get("_reversed")
        return kept() if isinstance(kept, weakref.ref) else kept

    def _turned(self) -> Graph:
        if self._order == "degree":  # the reversed graph has other in-degrees
            return self._ascending().reverse().arranged()
        other = Graph._of(self._transposed(), None, True, self._labels, "cpu", "ascending", self._rows)
        # A cycle of references would delay freeing both graphs. On a GPU, results of the reverse go to the GPU.
        other.__dict__["_reversed"] = self if self._device == "cuda" else weakref.ref(self)
        return other

    @cached_property
    def has_parallel_arcs(self) -> bool:
        """Whether some arc is stored more than once, as `repeats="keep"` allows.

        >>> Graph.from_edges([0, 0], [1, 1], repeats="keep").has_parallel_arcs
        True
        """
        rows = self._ascending()._rows
        return not is_ascending(rows.indptr, rows.indices)

    def _ascending(self) -> Graph:
        return self if self._order == "ascending" else self._with(row_operations.by_number(self._rows))
