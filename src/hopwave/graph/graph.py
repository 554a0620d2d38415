"""Graph: who points at whom, and how heavy each arc is.

A graph is kept as the rows of its adjacency matrix: the out-neighbours of vertex v are
`indices[indptr[v]:indptr[v + 1]]`, and `weights`, where there are any, lie beside them. Its transpose (the
in-neighbours) is made once, when first asked for; an undirected graph is its own transpose and keeps one copy. Vertices
are int32; offsets are int32 until the arcs need int64.

The rows are in the host's memory, on the GPU, or in both: each copy is made when it is first asked for.

This file has the ways to make a graph, and to make others of it. Its arrays and the names of its vertices are in
arrays.py; its edges, and conversions to the graphs of other libraries, in edges.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.checks.keywords import check_keywords, offers
from hopwave.checks.numbers import check_bytes
from hopwave.checks.options import flag, flag_or_none, one_of
from hopwave.errors import GraphError, IgnoredColumnWarning, warn
from hopwave.graph import construct, reshape
from hopwave.graph.arrays import Order
from hopwave.graph.columns import constructor_of, is_numeric, label_column, object_array
from hopwave.graph.csr import ASK_FROM, Combine, Rows, builders, compressors, is_ascending
from hopwave.graph.edges import GraphEdges
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import networkx as nx

_EDGE_OPTIONS = ("n", "directed", "combine", "repeats", "labels", "device")
_TABLE_OPTIONS = ("source", "target", "weight", *_EDGE_OPTIONS)


@offers
class Graph(GraphEdges):
    """An immutable graph, directed or not, with weights or without, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are legal: neither changes a distance. Repeats are merged unless `repeats="keep"`;
    those kept are parallel arcs, and each counts as a path of its own. An undirected edge is stored as two arcs, a
    self-loop as one, so `G.m` counts stored arcs, and `G.number_of_edges` edges.

    Weights belong to the graph. Questions about hops (`bfs`, betweenness, closeness, …) ignore them; `sssp`, `pagerank`
    and the centralities beside it use the graph's own weights when it has them.

    >>> import hopwave as hw
    >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.0, 1.0, 5.0])
    >>> G
    Graph(3 vertices, 3 edges, undirected, weighted)
    >>> G.neighbors(0).tolist(), G.weights[G.indptr[0]:G.indptr[1]].tolist()
    ([1, 2], [2.0, 5.0])
    """

    @classmethod
    def _from_parts(cls, parts: construct.GraphParts, directed: bool) -> Graph:
        """The graph of parts that `construct` put together."""
        graph = cls.__new__(cls)
        on_gpu = parts.device == "cuda"
        rows = parts.rows if on_gpu else Rows(*(None if part is None else part.view() for part in parts.rows))
        graph._set(None if on_gpu else rows, rows if on_gpu else None, directed, parts.labels, parts.home)
        return graph

    def _with(self, rows: Rows, *, labels: Any = ..., order: Order = "ascending") -> Graph:
        """A graph like this one, with other rows."""
        return Graph(
            rows.indptr,
            rows.indices,
            weights=rows.values,
            directed=self._directed,
            labels=self._labels if labels is ... else labels,
            order=order,
        )

    # ---------------------------------------------------------------- making one

    @classmethod
    def from_edges(
        cls,
        src: Any,
        dst: Any = None,
        n: int | None = None,
        directed: bool = False,
        *,
        weights: Any = None,
        combine: Combine | None = None,
        repeats: Literal["merge", "keep"] = "merge",
        labels: Sequence[Any] | npt.NDArray[Any] | None = None,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> Graph:
        """The graph of the edges src[i] → dst[i], from columns of lists, NumPy, CuPy, cuDF, pandas, polars or Arrow.

        Parameters
        ----------
        src, dst
            The ends of each edge. Whole numbers are vertex ids, 0 ≤ id < n. Anything else (strings, objects) becomes a
            label, and vertices are numbered in the order of first appearance. Without `n`, ids of which only a small
            share is used become labels too, and a `SparseIdsWarning` says so. Without `dst`, src has pairs.
        n
            The number of vertices; by default one more than the greatest id.
        directed
            Whether an edge is one arc. An undirected edge is stored as two.
        weights
            One number per edge, in the order of src and dst; kept as float32 if given so, else as float64.
        combine
            What to do with the weights of repeated edges: keep their "min", "max" or "sum", or the "first". Without
            it, repeated edges with different weights are refused. In an undirected graph u, v repeats v, u.
        repeats
            "merge" keeps one of repeated edges, "keep" keeps all.
        labels
            Names for integer ids, one per vertex.
        device
            Where the graph is built and lives. "auto": on the GPU for columns of a GPU, which are never copied to
            the host; columns of the host may be built on a GPU where that is faster, and live on the host.

        >>> Graph.from_edges(["ann", "bob"], ["bob", "cyd"]).labels.tolist()
        ['ann', 'bob', 'cyd']
        >>> Graph.from_edges([("ann", "bob"), ("bob", "cyd")]).labels.tolist()
        ['ann', 'bob', 'cyd']
        >>> Graph.from_edges([0, 1], [1, 0], weights=[3, 2], combine="min").weights.tolist()
        [2.0, 2.0]
        """
        directed = flag("directed", directed)
        if dst is None:
            src, dst = construct.ends_of_pairs(src)
        parts = construct.from_edges(src, dst, n, directed, weights, combine, repeats, labels, device)
        return cls._from_parts(parts, directed)

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        directed: bool = True,
        *,
        weights: Any = None,
        combine: Combine | None = None,
        labels: Sequence[Any] | npt.NDArray[Any] | None = None,
        check: bool = True,
    ) -> Graph:
        """The graph of a compressed-sparse-row pattern; nothing is copied when the arrays already fit.

        Such arrays must not be changed afterwards: they are checked once, here. `weights` hold one number per stored
        arc, in the order of `indices`. `check=False` skips the tests for range, order, repeats and (undirected)
        symmetry: the arrays must then be int32 neighbours, ascending and unique in each row. Repeated neighbours are
        merged; what becomes of different weights is said by `combine`, as in `from_edges`.

        >>> Graph.from_csr([0, 1, 2], [1, 0], directed=False).m
        2
        """
        directed, check = flag("directed", directed), flag("check", check)
        return cls._from_parts(construct.from_csr(indptr, indices, directed, weights, combine, labels, check), directed)

    @classmethod
    def from_scipy(
        cls, A: Any, directed: bool | None = None, *, weights: bool | None = None, combine: Combine | None = None
    ) -> Graph:
        """The graph of a square SciPy sparse matrix: every stored entry is an arc, explicit zeros too.

        The values are the weights, unless they are bool; `weights=False` leaves them out. `directed=None` makes the
        graph undirected when the matrix is symmetric; `directed=False` adds the reverses, and `combine` says which
        weight is kept where A[u, v] and A[v, u] differ.

        >>> import hopwave as hw
        >>> import scipy.sparse as sp
        >>> hw.Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(3 vertices, 2 edges, directed, weighted)
        """
        directed, weights = flag_or_none("directed", directed), flag_or_none("weights", weights)
        rows, is_directed = construct.from_scipy(A, directed, weights, combine)
        return cls(rows.indptr, rows.indices, weights=rows.values, directed=is_directed)

    @classmethod
    def from_networkx(cls, g: nx.Graph[Any], weight: str | None = "weight", *, combine: Combine | None = None) -> Graph:
        """The graph of a NetworkX graph of any of its four kinds.

        Nodes that are exactly 0 … n−1 keep their numbers; any others become labels, in NetworkX's order. The edge
        attribute `weight` becomes the weights, if any edge has it; an edge without it then weighs 1, as in NetworkX.
        `weight=None` leaves weights out. A name other than "weight" that no edge has is refused. Other attributes are
        left behind. Parallel edges are merged: `combine` says which weight is kept.

        >>> import networkx as nx
        >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"])).labels.tolist()
        ['a', 'b', 'c']
        """
        if not (hasattr(g, "is_directed") and hasattr(g, "edges")):
            raise GraphError(f"from_networkx takes a NetworkX graph, not {type(g).__name__}; use from_edges")
        construct.check_attribute_name(weight, combine)
        source, target, weights, labels, n = construct.networkx_columns(g, weight)
        if weights is None and len(source):
            construct.check_attribute(weight, lambda: {name for *_, data in g.edges(data=True) for name in data})
        return cls.from_edges(
            source, target, n, g.is_directed(), weights=weights, labels=labels,
            combine=combine if weights is not None else None,
        )  # fmt: skip

    @classmethod
    def from_pandas(
        cls,
        df: Any,
        source: Any = "source",
        target: Any = "target",
        weight: Any = None,
        directed: bool = False,
        **options: Any,
    ) -> Graph:
        """The graph of a table with one edge per row: pandas, polars, cuDF, or anything with named columns.

        `source`, `target` and `weight` name the columns; the other options are those of `from_edges`. Without `weight`,
        a column of numbers that is neither end is left out with a warning; `weight=False` leaves it out without one.

        >>> import pandas as pd
        >>> Graph.from_pandas(pd.DataFrame({"a": [0, 1], "b": [1, 2], "km": [3.5, 1.0]}), "a", "b", "km").weights.max()
        np.float64(3.5)
        """
        check_keywords("Graph.from_pandas", options, _TABLE_OPTIONS)
        return cls._from_table(df, list(getattr(df, "columns", ())), source, target, weight, directed, options)

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool = False,
        **options: Any,
    ) -> Graph:
        """The graph of an Arrow stream with one edge per row: of pyarrow, DuckDB, polars, or any with Arrow's protocol.

        An object has the protocol if it has the method `__arrow_c_stream__`; a stream is read to its end. The arguments
        are those of `from_pandas`. Needs pyarrow.

        >>> import pyarrow as pa
        >>> Graph.from_arrow(pa.table({"source": ["ann", "bob"], "target": ["bob", "cyd"]}))
        Graph(3 vertices, 2 edges, undirected, labelled)
        """
        check_keywords("Graph.from_arrow", options, _TABLE_OPTIONS)
        if not hasattr(table, "__arrow_c_stream__"):
            raise GraphError(f"{type(table).__name__} is no stream of Arrow; give {constructor_of(table)}")
        read = optional("pyarrow", "from_arrow").RecordBatchReader.from_stream(table).read_all()
        return cls._from_table(read, read.column_names, source, target, weight, directed, options)

    @classmethod
    def _from_table(
        cls, table: Any, columns: list[Any], source: Any, target: Any, weight: Any, directed: bool, options: Any
    ) -> Graph:
        named = (source, target) if weight is None or weight is False else (source, target, weight)
        for name in named:
            if name not in columns:
                found = ", ".join(map(repr, columns)) or "none"
                raise GraphError(
                    f"the table has no column {name!r}; name the ends of an edge with source= and target=, and its "
                    f"weight with weight=: the columns are {found}"
                )
        left_out = (name for name in columns if weight is None and name not in named and is_numeric(table[name]))
        if (name := next(left_out, None)) is not None:
            warn(
                f"column {name!r} may be weights and was not read, because nothing says that it is; give "
                f"weight={name!r} to read it, or weight=False to leave it out",
                IgnoredColumnWarning,
            )
        weights = table[weight] if len(named) == 3 else None
        return cls.from_edges(table[source], table[target], directed=directed, weights=weights, **options)

    @classmethod
    def from_edge_index(
        cls, edge_index: Any, n: int | None = None, directed: bool = True, *, weights: Any = None, **options: Any
    ) -> Graph:
        """The graph of PyTorch Geometric's `edge_index`, two rows of ids, sources above targets; a tensor or an array.

        `n` is its `num_nodes`, `weights` its `edge_weight`. An undirected graph has both directions of an edge there;
        with `directed=False` they become one. The other options are those of `from_edges`.

        >>> Graph.from_edge_index(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), directed=False)
        Graph(3 vertices, 2 edges, undirected)
        """
        check_keywords("Graph.from_edge_index", options, ("weights", *_EDGE_OPTIONS))
        shape = tuple(getattr(edge_index, "shape", ()))
        if len(shape) != 2 or shape[0] != 2:
            raise GraphError(f"edge_index has the shape {shape}, not (2, edges); give a row of sources, one of targets")
        return cls.from_edges(edge_index[0], edge_index[1], n, directed, weights=weights, **options)

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = "weight", *, combine: Combine | None = None) -> Graph:
        """The graph of an igraph Graph; the vertex attribute "name" becomes the labels, the edge attribute the weights.

        `weight` and `combine` are as in `from_networkx`.

        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
        Graph(3 vertices, 2 edges, undirected)
        """
        if not (hasattr(g, "get_edgelist") and hasattr(g, "vs")):
            raise GraphError(f"from_igraph takes an igraph Graph, not {type(g).__name__}; use from_edges")
        construct.check_attribute_name(weight, combine)
        ends = np.array(g.get_edgelist(), np.int64).reshape(-1, 2)
        weights = g.es[weight] if weight is not None and weight in g.es.attributes() else None
        if weights is None and len(ends):
            construct.check_attribute(weight, g.es.attributes)
        labels = g.vs["name"] if "name" in g.vs.attributes() else None
        return cls.from_edges(
            ends[:, 0], ends[:, 1], g.vcount(), g.is_directed(), weights=weights, labels=labels,
            combine=combine if weights is not None else None,
        )  # fmt: skip

    # ---------------------------------------------------------------- other graphs made of it

    def to(self, device: Literal["cpu", "cuda"], *, compressed: bool = False, memory_limit: int | None = None) -> Graph:
        """The same graph on another device: "cuda" uploads it, and answers are CuPy arrays; "cpu" brings it back.

        compressed: the GPU keeps the rows in fewer bits (see docs/gpu.md). Searches read them so. memory_limit: bytes
        of compressed rows in the GPU's memory; the others stay in the host's, and the GPU reads them across the bus.

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
        graph = Graph.__new__(Graph)
        host = self._host if device == "cuda" and not compressed else self._rows
        transpose = self._columns if self._directed else None
        if device == "cuda" and (gpu is None or compressed):
            builder = builders["cuda"]()
            graph._set(host, None, self._directed, self._labels, device, self._order, transpose)
            if compressed:
                compressors["cuda"]().compress(graph, memory_limit)
            if compressed or (self._m >= ASK_FROM and compressors["cuda"]().compress_if_needed(graph)):
                return graph
            gpu = Rows(*(None if part is None else builder.column(part, "rows") for part in self._rows))
        graph._set(host, gpu, self._directed, self._labels, device, self._order, transpose)
        return graph

    def without_weights(self) -> Graph:
        """The same graph, its weights left out.

        >>> Graph.from_edges([0], [1], weights=[2.5]).without_weights().is_weighted
        False
        """
        if not self.is_weighted:
            return self
        bare = [None if rows is None else rows._replace(values=None) for rows in (self._host, self._gpu, self._columns)]
        graph = Graph.__new__(Graph)
        graph._set(bare[0], bare[1], self._directed, self._labels, self._device, self._order, bare[2])
        return graph

    def with_weights(self, weights: Any) -> Graph:
        """The same graph with these weights: one number per stored arc, in the order of `indices`.

        >>> Graph.from_edges([0, 1], [1, 2], directed=True).with_weights([2, 3]).weights.tolist()
        [2.0, 3.0]
        """
        values = construct.arc_weights(weights, self.m).copy()  # the caller may change theirs
        rows = self._rows._replace(values=values)
        if not self._directed:
            construct.check_symmetric(rows if self._order == "ascending" else reshape.by_number(rows))
        return self._with(rows, order=self._order)

    def subgraph(self, vertices: Iterable[Any]) -> Graph:
        """The vertices given (by labels, or ids without labels; in this graph's order) and the edges between them.

        Vertices of a graph without labels keep their old ids as labels, unless these are 0, 1, 2, … anyway.

        >>> import hopwave as hw
        >>> H = hw.generate.path(5).subgraph([1, 2, 4])
        >>> H.labels.tolist(), list(H.edges())
        ([1, 2, 4], [(1, 2)])
        """
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
        return np.unique(np.fromiter((self.index(vertex) for vertex in vertices), np.int64))

    def _induced(self, ids: npt.NDArray[np.int64]) -> Graph:
        plain = self._labels is None and np.array_equal(ids, np.arange(len(ids)))
        labels = None if plain else ids if self._labels is None else self._labels[ids]
        if self._device == "cuda" and self._gpu is not None and self._order == "ascending":
            graph = Graph.__new__(Graph)
            graph._set(None, builders["cuda"]().induced(self._gpu, ids), self._directed, labels, "cuda")
            return graph
        return self._with(reshape.induced(self._ascending()._rows, ids), labels=labels)

    def largest_component(self) -> Graph:
        """The subgraph of the largest component, weakly connected where the graph is directed.

        >>> Graph.from_edges([0, 1, 4], [1, 2, 5]).largest_component().n
        3
        """
        return self._induced(reshape.largest_component(self._rows, self._directed))

    def remove_self_loops(self) -> Graph:
        """The same graph without edges from a vertex to itself.

        >>> Graph.from_edges([0, 1], [0, 2]).remove_self_loops().m
        2
        """
        return self._with(reshape.without_loops(self._ascending()._rows))

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
            rows = reshape.without_directions(self._rows) if self._order == "ascending" else None
            if rows is not None:
                return Graph(rows.indptr, rows.indices, directed=False, labels=self._labels)
            edges = self.edges()
            source, target, weights = edges.source, edges.target, edges.weights
        return Graph.from_edges(source, target, self.n, weights=weights, combine=combine, labels=self._labels)

    def relabel(self, labels: Mapping[Any, Any] | Sequence[Any] | npt.NDArray[Any] | None) -> Graph:
        """The same graph with other names: one per vertex, a mapping from old names to new ones, or None for none.

        >>> Graph.from_edges([0], [1]).relabel({0: "zero"}).labels.tolist()
        ['zero', 1]
        """
        if isinstance(labels, Mapping):
            for vertex in labels:
                self.index(vertex)
            labels = object_array([labels.get(name, name) for name in self])
        names = construct.fitting(label_column(labels), self.n)
        return self._with(self._rows, labels=names, order=self._order)

    def arranged(self) -> Graph:
        """The same graph with every row's neighbours in descending order of in-degree (Hiragushi, section 3.4).

        A bottom-up search looks for any visited in-neighbour; those of high degree are visited early: they stand first.

        >>> import hopwave as hw
        >>> G = hw.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4])
        >>> G.arranged().indices[G.indptr[1]:G.indptr[2]].tolist()
        [2, 0]
        """
        return self._arranged

    @cached_property
    def _arranged(self) -> Graph:
        if self._order == "degree":
            return self
        rows = reshape.by_degree(self._rows, self.in_degrees)
        transpose = reshape.by_degree(self._transposed(), self.in_degrees) if self._directed else None
        return Graph(
            *rows[:2], weights=rows.values, directed=self._directed, labels=self._labels, order="degree",
            transpose=transpose,
        )  # fmt: skip

    def reverse(self) -> Graph:
        """The graph with every arc turned round; an undirected graph is its own.

        >>> Graph.from_edges([0], [1], directed=True).reverse().degrees.tolist()
        [0, 1]
        """
        return self._reversed if self._directed else self

    def reversed(self) -> Graph:
        """The same as `reverse`.

        >>> Graph.from_edges([0], [1], directed=True).reversed().degrees.tolist()
        [0, 1]
        """
        return self.reverse()

    @cached_property
    def _reversed(self) -> Graph:
        if self._order == "degree":  # arranged by the in-degrees of this graph, which are not those of the other
            return self._ascending().reverse().arranged()
        columns = self._transposed()
        other = Graph(*columns[:2], weights=columns.values, directed=True, labels=self._labels, transpose=self._rows)
        other.__dict__["_reversed"] = self
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
        return self if self._order == "ascending" else self._with(reshape.by_number(self._rows))
