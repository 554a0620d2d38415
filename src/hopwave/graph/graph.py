"""Graph: the rows of an adjacency matrix, and the graphs that can be made of one."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import offers
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import flag, one_of
from hopwave.checks.other_names import lacks
from hopwave.errors import GraphError, gpu_part
from hopwave.graph import construct, row_operations
from hopwave.graph.arrays import Order
from hopwave.graph.columns import check_not_table, label_column, object_array
from hopwave.graph.constructors import GraphConstructors
from hopwave.graph.csr import ASK_FROM, Combine, Rows, builders, is_ascending
from hopwave.graph.naming import by_index


@offers
class Graph(GraphConstructors):
    """An immutable graph, directed or not, with weights or without, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are legal: neither changes a distance. Repeats are merged unless `repeats="keep"`;
    those kept are parallel arcs, and each counts as a path of its own. An undirected edge is stored as two arcs, a
    self-loop as one, so `G.m` counts stored arcs, and `G.number_of_edges` edges.

    Weights belong to the graph. Questions about hops (`bfs`, betweenness, closeness, …) ignore them; `sssp`, `pagerank`
    and the centralities beside it use the graph's own weights when it has them.

    >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.0, 1.0, 5.0])
    >>> G
    Graph(3 vertices, 3 edges, undirected, weighted)
    >>> G.neighbors(0).tolist(), G.weights[G.indptr[0]:G.indptr[1]].tolist()
    ([1, 2], [2.0, 5.0])
    """

    if not TYPE_CHECKING:  # or type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(lacks("a Graph", name), name=name, obj=self)

    def _with(self, rows: Rows, *, labels: Any = ..., order: Order = "ascending") -> Graph:
        """A graph like this one, with other rows."""
        return Graph._of(rows, None, self._directed, self._labels if labels is ... else labels, "cpu", order)

    def to(self, device: Literal["cpu", "cuda"], *, compressed: bool = False, memory_limit: int | None = None) -> Graph:
        """The same graph on another device: "cuda" uploads it, and answers are CuPy arrays; "cpu" brings it back.

        compressed: the GPU keeps the rows in fewer bits (see docs/gpu.md). Searches read them so; what cannot computes
        on the CPU if device="auto". Weights stay on the host. memory_limit: bytes of compressed rows in the GPU's
        memory; the others stay in the host's, and the GPU reads them across the bus.

        >>> Graph.from_edges([0], [1]).to("cpu").device
        'cpu'
        """
        one_of("device", device, ("cpu", "cuda"))
        memory_limit = check_bytes("memory_limit", memory_limit, least=0)
        compressed = flag("compressed", compressed) or memory_limit is not None
        if compressed and device != "cuda":
            raise GraphError(f"device={device!r} has no compressed rows; use device='cuda', or leave out compressed=")
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
            gpu = Rows(*(None if part is None else builder.column(part, "rows") for part in self._rows))
        return Graph._of(host, gpu, self._directed, self._labels, device, self._order, transpose)

    def without_weights(self) -> Graph:
        """The same graph, its weights left out.

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
        values = construct.arc_weights(weights, self.m).copy()  # the caller may change theirs
        rows = self._rows._replace(values=values)
        if not self._directed:
            construct.check_symmetric(rows if self._order == "ascending" else row_operations.by_number(rows))
        return self._with(rows, order=self._order)

    def subgraph(self, vertices: Iterable[Any]) -> Graph:
        """The vertices given (by labels, or ids without labels; in this graph's order) and the edges between them.

        Vertices of a graph without labels keep their old ids as labels, unless these are 0, 1, 2, … anyway.

        >>> H = hw.generate.path(5).subgraph([1, 2, 4])
        >>> H.labels.tolist(), list(H.edges())
        ([1, 2, 4], [(1, 2)])
        """
        check_not_table(vertices, "a list of vertices")
        if isinstance(vertices, str | bytes) or not isinstance(vertices, Iterable) or getattr(vertices, "ndim", 1) == 0:
            raise GraphError(f"{vertices!r} is not a list of vertices; for a single one give [{vertices!r}]")
        return self._induced(self._ids(vertices))

    def _ids(self, vertices: Iterable[Any]) -> npt.NDArray[np.int64]:
        """The ids of vertices, ascending, each once."""
        if self._labels is None and type(vertices) is np.ndarray and vertices.dtype.kind in "iu":
            outside = (vertices < 0) | (vertices >= self.n)
            if outside.any():
                self.index(vertices[int(np.argmax(outside))])  # says what is wrong with it
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
        """The subgraph of the largest component, weakly connected where the graph is directed.

        >>> Graph.from_edges([0, 1, 4], [1, 2, 5]).largest_component().n
        3
        """
        return self._induced(row_operations.largest_component(self._rows, self._directed))

    def remove_self_loops(self) -> Graph:
        """The same graph without edges from a vertex to itself.

        >>> Graph.from_edges([0, 1], [0, 2]).remove_self_loops().m
        2
        """
        return self._with(row_operations.without_loops(self._ascending()._rows))

    def to_undirected(self, combine: Combine | None = None) -> Graph:
        """Every arc as an undirected edge; `combine` says which weight is kept where two directions differ.

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
        """The same graph with other names: one per vertex, a mapping from old names to new ones, or None for none.

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
        """The same graph with every row's neighbours in descending order of in-degree (Hiragushi, section 3.4).

        A bottom-up search looks for any visited in-neighbour; those of high degree are visited early: they stand first.

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
        """The graph with every arc turned round; for an undirected graph, the graph itself.

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
        """The reversed graph, if it was made before: kept with this graph, or the graph that this one reverses."""
        kept: Graph | weakref.ref[Graph] | None = self.__dict__.get("_reversed")
        return kept() if isinstance(kept, weakref.ref) else kept

    def _turned(self) -> Graph:
        if self._order == "degree":  # arranged by the in-degrees of this graph, which are not those of the other
            return self._ascending().reverse().arranged()
        other = Graph._of(self._transposed(), None, True, self._labels, "cpu", "ascending", self._rows)
        # A circle would delay freeing both; but answers about the reverse of a graph of a GPU stay there as well.
        other.__dict__["_reversed"] = self if self._device == "cuda" else weakref.ref(self)
        return other

    @cached_property
    def has_parallel_arcs(self) -> bool:
        """Whether some arc appears more than once, as `repeats="keep"` allows.

        >>> Graph.from_edges([0, 0], [1, 1], repeats="keep").has_parallel_arcs
        True
        """
        rows = self._ascending()._rows
        return not is_ascending(rows.indptr, rows.indices)

    def _ascending(self) -> Graph:
        return self if self._order == "ascending" else self._with(row_operations.by_number(self._rows))
