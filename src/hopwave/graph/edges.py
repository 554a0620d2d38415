"""The edges of a graph: as columns, by vertex, and as graphs of other libraries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import ignoring, module_of
from hopwave.checks.keywords import offers
from hopwave.errors import GraphError
from hopwave.graph.arrays import GraphArrays, vertex_names
from hopwave.graph.columns import library_columns
from hopwave.graph.csr import arc_tails
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import networkx as nx
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph as columns `source`, `target` (ids) and `weights`, each built when first read.

    Iteration gives pairs of labels (ids without labels), or triples with the weight.

    >>> edges = hw.Graph.from_edges([2, 0], [1, 2], weights=[7, 5]).edges()
    >>> edges.source.tolist(), edges.target.tolist(), list(edges)
    ([0, 1], [2, 2], [(0, 2, 5.0), (1, 2, 7.0)])
    """

    graph: GraphArrays

    @cached_property
    def _once(self) -> npt.NDArray[np.bool_] | None:
        """Mask of the stored arcs that represent edges: source ≤ target. None (all arcs) for a directed graph."""
        return None if self.graph.directed else self._all_sources <= self.graph.indices

    @cached_property
    def _all_sources(self) -> npt.NDArray[np.int32]:
        return arc_tails(self.graph)

    @cached_property
    def source(self) -> npt.NDArray[np.int32]:
        """Id of the first endpoint of each edge."""
        return self._all_sources if self._once is None else self._all_sources[self._once]

    @cached_property
    def target(self) -> npt.NDArray[np.int32]:
        """Id of the second endpoint of each edge."""
        return self.graph.indices.copy() if self._once is None else self.graph.indices[self._once]

    @cached_property
    def weights(self) -> npt.NDArray[Any] | None:
        """Weight of each edge; None for an unweighted graph."""
        weights = self.graph.weights
        if weights is None:
            return None
        return weights.copy() if self._once is None else weights[self._once]

    def to_pandas(self) -> Any:
        """A DataFrame with the columns source and target (labels, or ids without labels) and, if any, weight.

        >>> hw.Graph.from_edges(["ann"], ["bob"], weights=[3]).edges().to_pandas().columns.tolist()
        ['source', 'target', 'weight']
        """
        return optional("pandas", "to_pandas").DataFrame(self._columns())

    def to_polars(self) -> Any:
        """A polars DataFrame with the columns of `to_pandas`.

        >>> hw.Graph.from_edges(["ann"], ["bob"], weights=[3]).edges().to_polars().rows()
        [('ann', 'bob', 3.0)]
        """
        polars = optional("polars", "to_polars")
        return polars.DataFrame(library_columns(self._columns(), polars.Series, "to_list"))

    def _columns(self) -> dict[str, npt.NDArray[Any]]:
        names = vertex_names(self.graph)
        columns = {"source": names[self.source], "target": names[self.target]}
        return columns if self.weights is None else columns | {"weight": self.weights}

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        names = vertex_names(self.graph)
        columns = [names[self.source].tolist(), names[self.target].tolist()]
        if self.weights is not None:
            columns.append(self.weights.tolist())
        return iter(zip(*columns, strict=True))

    def __repr__(self) -> str:
        return f"Edges({len(self):,} of {self.graph!r})"


@offers
class GraphEdges(GraphArrays):
    """Methods that read the edges of a graph."""

    def neighbors(self, vertex: Any) -> npt.NDArray[Any]:
        """The out-neighbours of a vertex: labels, or ids if the graph has no labels.

        >>> hw.Graph.from_edges(["ann", "ann"], ["bob", "cyd"]).neighbors("ann").tolist()
        ['bob', 'cyd']
        """
        v = self.index(vertex)
        found = self.indices[self.indptr[v] : self.indptr[v + 1]]
        return found if self._labels is None else self._labels[found]

    def degree(self, vertex: Any) -> int:
        """The out-degree of a vertex, in stored arcs.

        >>> hw.Graph.from_edges([0, 0], [1, 2]).degree(0)
        2
        """
        return int(self.degrees[self.index(vertex)])

    def edges(self) -> Edges:
        """The edges: every arc of a directed graph, every edge of an undirected graph once.

        >>> list(hw.Graph.from_edges(["ann", "bob"], ["bob", "cyd"]).edges())
        [('ann', 'bob'), ('bob', 'cyd')]
        """
        return Edges(self)

    def to_edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The edges as two columns of ids: every arc of a directed graph, or every undirected edge once, src ≤ dst.

        `edges().weights` are the weights in the same order.

        >>> [column.tolist() for column in hw.Graph.from_edges([1, 2], [0, 2]).to_edges()]
        [[0, 2], [1, 2]]
        """
        edges = self.edges()
        return edges.source, edges.target

    # ---------------------------------------------------------------- for other libraries

    def to_edge_index(self) -> npt.NDArray[np.int64]:
        """All stored arcs as PyTorch Geometric's `edge_index`: a row of sources and a row of targets, as ids.

        `G.weights` is the `edge_weight`. Both directions of an undirected edge are included.
        `torch.from_dlpack(G.to_edge_index())` is the tensor, without a copy, on the graph's device.

        >>> hw.Graph.from_edges([0, 1], [1, 2]).to_edge_index().tolist()
        [[0, 1, 1, 2], [1, 0, 2, 1]]
        """
        rows = self._gpu if self._device == "cuda" and self._gpu is not None else self._rows
        xp = module_of(rows.indices)
        found: npt.NDArray[np.int64] = xp.empty((2, self.m), np.int64)
        found[0], found[1] = arc_tails(rows), rows.indices
        return found

    def to_scipy(self, dtype: npt.DTypeLike | None = None) -> csr_array:
        """The adjacency matrix as a SciPy CSR array of the weights, or of ones (default: bool) without weights.

        An integer dtype must represent every weight exactly.

        >>> hw.Graph.from_edges([0], [1]).to_scipy().toarray().astype(int).tolist()
        [[0, 1], [1, 0]]
        """
        try:
            np.dtype(dtype)
        except (TypeError, ValueError):
            raise GraphError(f"dtype={dtype!r} is not a NumPy dtype; pass a dtype, or None") from None
        if self.weights is None:
            values: npt.NDArray[Any] = np.ones(self.m, np.bool_ if dtype is None else dtype)
        else:
            cast = ignoring("invalid")(self.weights.astype)  # no warning for infinity
            values = cast(self.weights.dtype if dtype is None else dtype)
            if values.dtype.kind in "iu":
                above = float(np.iinfo(values.dtype).max) + 1  # Arm converts 2⁶³ to 2⁶³ − 1, which is equal as float64
                wrong = self.weights[(values != self.weights) | (self.weights >= above)]
                if len(wrong):
                    raise GraphError(f"weight {wrong[0]!s} is not exact in {values.dtype}; pass a floating-point dtype")
        from scipy.sparse import csr_array

        return csr_array((values, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def to_networkx(self) -> nx.Graph[Any]:
        """A NetworkX Graph or DiGraph with the same vertices (labels, or ids without labels), edges and weights.

        If the graph has parallel edges, the result is a MultiGraph or MultiDiGraph.

        >>> hw.Graph.from_edges(["a"], ["b"]).to_networkx().edges()
        EdgeView([('a', 'b')])
        """
        networkx = optional("networkx", "to_networkx")
        edges = self.edges()

        def made(g: Any) -> Any:
            g.add_nodes_from(self)
            (g.add_weighted_edges_from if self.is_weighted else g.add_edges_from)(edges)
            return g

        simple = made(networkx.DiGraph() if self._directed else networkx.Graph())
        if simple.number_of_edges() == len(edges):
            return simple
        return made(networkx.MultiDiGraph() if self._directed else networkx.MultiGraph())

    def to_igraph(self) -> Any:
        """An igraph Graph with the same vertices, edges and weights; labels become the vertex attribute "name".

        >>> hw.Graph.from_edges([0, 1], [1, 2]).to_igraph().ecount()
        2
        """
        igraph = optional("igraph", "to_igraph")
        edges = self.edges()
        pairs = np.column_stack([edges.source, edges.target]).tolist()
        g = igraph.Graph(n=self.n, edges=pairs, directed=self._directed)
        if self._labels is not None:
            g.vs["name"] = self._labels.tolist()
        if edges.weights is not None:
            g.es["weight"] = edges.weights.tolist()
        return g
