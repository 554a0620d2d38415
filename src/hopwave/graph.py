"""Graph: who points at whom, and how heavy each arc is.

A graph is kept as the rows of its adjacency matrix: the out-neighbours of vertex v are
`indices[indptr[v]:indptr[v + 1]]`, and `weights`, where there are any, lie beside them. Its transpose (the
in-neighbours) is made once, when first asked for; an undirected graph is its own transpose and keeps one copy. Vertices
are int32; offsets are int32 until the arcs need int64.

The rows are in the host's memory, on the GPU, or in both: each copy is made when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hopwave import construct, html, reshape
from hopwave.csr import Combine, Rows, builders, object_array, transposed
from hopwave.errors import GraphError
from hopwave.optional import optional
from hopwave.prepared import Prepared
from hopwave.statistics import Statistics, measure
from hopwave.whole_numbers import is_whole

if TYPE_CHECKING:
    import networkx as nx

Order = Literal["ascending", "degree"]
Home = Literal["cpu", "cuda"]


class Graph:
    """An immutable graph, directed or not, with weights or without, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are legal: neither changes a distance. Repeats are merged unless `repeats="keep"`;
    those kept are parallel arcs, and each counts as a path of its own. An undirected edge is stored as two arcs, a
    self-loop as one, so `G.m` counts stored arcs.

    Weights belong to the graph. Questions about hops (`bfs`, betweenness, closeness, …) ignore them; `sssp` and
    `pagerank` use the graph's own weights when it has them.

    >>> import hopwave as hw
    >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 0], weights=[2.0, 1.0, 5.0])
    >>> G
    Graph(n=3, m=6, undirected, weighted)
    >>> G.neighbors(0).tolist(), G.weights[G.indptr[0]:G.indptr[1]].tolist()
    ([1, 2], [2.0, 5.0])
    """

    _n: int
    _m: int
    _host: Rows | None
    _gpu: Rows | None
    _columns: Rows | None  # of the host; the same as _host for an undirected graph
    _directed: bool
    _labels: npt.NDArray[Any] | None
    _order: Order
    _device: Home
    _prepared: Prepared

    def __init__(
        self,
        indptr: npt.NDArray[Any],
        indices: npt.NDArray[np.int32],
        *,
        directed: bool,
        weights: npt.NDArray[Any] | None = None,
        labels: npt.NDArray[Any] | None = None,
        order: Order = "ascending",
        transpose: Rows | None = None,
    ) -> None:
        """Trusts its arguments; people use `from_edges`, `from_csr`, `from_scipy` or `from_networkx`."""
        self._set(Rows(indptr, indices, weights), None, directed, labels, "cpu", order, transpose)

    def _set(
        self,
        host: Rows | None,
        gpu: Rows | None,
        directed: bool,
        labels: npt.NDArray[Any] | None,
        device: Home,
        order: Order = "ascending",
        transpose: Rows | None = None,
    ) -> None:
        rows = host if host is not None else gpu
        assert rows is not None
        self.__setstate__(
            {
                "_n": len(rows.indptr) - 1,
                "_m": len(rows.indices),
                "_weighted": rows.values is not None,
                "_host": host,
                "_gpu": gpu,
                "_columns": transpose if directed else host,
                "_directed": directed,
                "_labels": labels,
                "_order": order,
                "_device": device,
            }
        )

    @classmethod
    def _made(cls, made: construct.Made, directed: bool) -> Graph:
        """The graph of parts that `construct` put together."""
        graph = cls.__new__(cls)
        on_gpu = made.device == "cuda"
        rows = made.rows if on_gpu else Rows(*(None if part is None else part.view() for part in made.rows))
        graph._set(None if on_gpu else rows, rows if on_gpu else None, directed, made.labels, _home(made.home))
        return graph

    def _with(
        self, rows: Rows, *, directed: bool | None = None, labels: Any = ..., order: Order = "ascending"
    ) -> Graph:
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
        dst: Any,
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
            share is used become labels too, and a `SparseIdsWarning` says so.
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
        >>> Graph.from_edges([0, 1], [1, 0], weights=[3, 2], combine="min").weights.tolist()
        [2.0, 2.0]
        """
        made = construct.from_edges(src, dst, n, directed, weights, combine, repeats, labels, device)
        return cls._made(made, directed)

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

        `weights` hold one number per stored arc, in the order of `indices`. `check=False` skips the tests for range,
        order, repeats and (undirected) symmetry: the arrays must then be int32 neighbours, ascending and unique in each
        row. Repeated neighbours are merged; what becomes of different weights is said by `combine`, as in `from_edges`.

        >>> Graph.from_csr([0, 1, 2], [1, 0], directed=False).m
        2
        """
        return cls._made(construct.from_csr(indptr, indices, directed, weights, combine, labels, check), directed)

    @classmethod
    def from_scipy(
        cls, A: Any, directed: bool | None = None, *, weights: bool | None = None, combine: Combine | None = None
    ) -> Graph:
        """The graph of a square SciPy sparse matrix: every stored entry is an arc, explicit zeros too.

        The values are the weights, unless they are bool; `weights=False` leaves them out. `directed=None` makes the
        graph undirected when the matrix is symmetric; `directed=False` adds the reverses, and `combine` says which
        weight is kept where A[u, v] and A[v, u] differ.

        >>> Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(n=3, m=2, directed, weighted)
        """
        rows, is_directed = construct.from_scipy(A, directed, weights, combine)
        return cls(rows.indptr, rows.indices, weights=rows.values, directed=is_directed)

    @classmethod
    def from_networkx(cls, g: nx.Graph, weight: str | None = "weight", *, combine: Combine | None = None) -> Graph:
        """The graph of a NetworkX graph of any of its four kinds.

        Nodes that are exactly 0 … n−1 keep their numbers; any others become labels, in NetworkX's order. The edge
        attribute `weight` becomes the weights, if any edge has it; an edge without it then weighs 1, as in NetworkX.
        `weight=None` leaves weights out. Other attributes are left behind. Parallel edges are merged: `combine` says
        which weight is kept.

        >>> import networkx as nx
        >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"])).labels.tolist()
        ['a', 'b', 'c']
        """
        if not (hasattr(g, "is_directed") and hasattr(g, "edges")):
            raise GraphError(f"from_networkx takes a NetworkX graph, not {type(g).__name__}; use from_edges")
        source, target, weights, labels, n = construct.networkx_columns(g, weight)
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

        `source`, `target` and `weight` name the columns; the other options are those of `from_edges`.

        >>> import pandas as pd
        >>> Graph.from_pandas(pd.DataFrame({"a": [0, 1], "b": [1, 2], "km": [3.5, 1.0]}), "a", "b", "km").weights.max()
        np.float64(3.5)
        """
        columns = list(getattr(df, "columns", ()))
        for name in (source, target, *(() if weight is None else (weight,))):
            if name not in columns:
                found = ", ".join(map(repr, columns)) or "none"
                raise GraphError(f"the table has no column {name!r}; its columns are {found}")
        weights = None if weight is None else df[weight]
        return cls.from_edges(df[source], df[target], directed=directed, weights=weights, **options)

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = "weight", *, combine: Combine | None = None) -> Graph:
        """The graph of an igraph Graph; the vertex attribute "name" becomes the labels, the edge attribute the weights.

        >>> import igraph
        >>> Graph.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
        Graph(n=3, m=4, undirected)
        """
        if not (hasattr(g, "get_edgelist") and hasattr(g, "vs")):
            raise GraphError(f"from_igraph takes an igraph Graph, not {type(g).__name__}; use from_edges")
        ends = np.array(g.get_edgelist(), np.int64).reshape(-1, 2)
        weights = g.es[weight] if weight is not None and weight in g.es.attributes() else None
        labels = g.vs["name"] if "name" in g.vs.attributes() else None
        return cls.from_edges(
            ends[:, 0], ends[:, 1], g.vcount(), g.is_directed(), weights=weights, labels=labels,
            combine=combine if weights is not None else None,
        )  # fmt: skip

    # ---------------------------------------------------------------- what it is

    @property
    def n(self) -> int:
        """The number of vertices."""
        return self._n

    @property
    def m(self) -> int:
        """The number of stored arcs: an undirected edge counts twice, a self-loop once."""
        return self._m

    @property
    def directed(self) -> bool:
        """Whether an arc u → v may stand without its reverse."""
        return self._directed

    @property
    def is_weighted(self) -> bool:
        """Whether every arc has a weight."""
        return bool(self.__dict__["_weighted"])

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """What the vertices are called, in vertex order, or None where they are only numbered."""
        return self._labels

    @property
    def device(self) -> Home:
        """Where the graph lives and answers go: "cuda" if it was made of a GPU's arrays or by `to("cuda")`."""
        return self._device

    @property
    def order(self) -> Order:
        """How each row's neighbours are ordered: "ascending", or "degree" (see `arranged`)."""
        return self._order

    @property
    def indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's out-neighbours begin in `indices`; n + 1 offsets."""
        indptr: npt.NDArray[Any] = self._rows.indptr
        return indptr

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The out-neighbours, row after row."""
        indices: npt.NDArray[np.int32] = self._rows.indices
        return indices

    @property
    def weights(self) -> npt.NDArray[Any] | None:
        """The weight of every stored arc, beside `indices`: float32 or float64. None where there are none.

        >>> Graph.from_edges([2, 0], [1, 2], directed=True, weights=[7, 5]).weights.tolist()
        [5.0, 7.0]
        """
        return self._rows.values if self.is_weighted else None

    @property
    def in_indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's in-neighbours begin in `in_indices`."""
        indptr: npt.NDArray[Any] = self._transposed().indptr
        return indptr

    @property
    def in_indices(self) -> npt.NDArray[np.int32]:
        """The in-neighbours, row after row; the same array as `indices` for an undirected graph."""
        indices: npt.NDArray[np.int32] = self._transposed().indices
        return indices

    @property
    def in_weights(self) -> npt.NDArray[Any] | None:
        """The weight of every arc, beside `in_indices`."""
        return self._transposed().values if self.is_weighted else None

    @property
    def _rows(self) -> Rows:
        """The rows in the host's memory, copied there when first asked for."""
        if self._host is None:
            assert self._gpu is not None
            to_host = builders["cuda"]().to_host
            rows = Rows(*(None if part is None else _read_only(to_host(part)) for part in self._gpu))
            self.__dict__["_host"] = rows
        assert self._host is not None
        return self._host

    def _transposed(self) -> Rows:
        if not self._directed:
            return self._rows
        if self._columns is None:
            columns = transposed(self._rows)
            for array in columns:
                if array is not None:
                    array.setflags(write=False)
            self.__dict__["_columns"] = columns
        assert self._columns is not None
        return self._columns

    @cached_property
    def degrees(self) -> npt.NDArray[Any]:
        """The out-degree of every vertex, counted in stored arcs (a self-loop counts once)."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def in_degrees(self) -> npt.NDArray[Any]:
        """The in-degree of every vertex; the degrees of an undirected graph."""
        return _read_only(np.diff(self.in_indptr)) if self._directed else self.degrees

    def stats(self) -> Statistics:
        """Sizes, degrees and the scale-free metric, computed once.

        >>> import hopwave as hw
        >>> hw.generate.star(5).stats().max_degree
        4
        """
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return measure(self.indptr, self.indices, self.degrees, self.in_degrees, self._directed)

    # ---------------------------------------------------------------- vertices and edges

    def neighbors(self, vertex: Any) -> npt.NDArray[Any]:
        """The out-neighbours of a vertex: their labels, or their ids where the graph has no labels.

        >>> Graph.from_edges(["ann", "ann"], ["bob", "cyd"]).neighbors("ann").tolist()
        ['bob', 'cyd']
        """
        v = self.index(vertex)
        found = self.indices[self.indptr[v] : self.indptr[v + 1]]
        return found if self._labels is None else self._labels[found]

    def degree(self, vertex: Any) -> int:
        """The number of stored arcs that leave a vertex.

        >>> Graph.from_edges([0, 0], [1, 2]).degree(0)
        2
        """
        return int(self.degrees[self.index(vertex)])

    def edges(self) -> Edges:
        """The edges: each arc of a directed graph; each edge of an undirected one once. Columns are made when read.

        >>> list(Graph.from_edges(["ann", "bob"], ["bob", "cyd"]).edges())
        [('ann', 'bob'), ('bob', 'cyd')]
        """
        return Edges(self)

    def index(self, vertex: Any) -> int:
        """The id of a vertex given by its label, or by its id where labels are not numbers.

        >>> Graph.from_edges(["ann"], ["bob"]).index("bob")
        1
        """
        if self._labels is not None:
            found = self._numbers.get(vertex) if _hashable(vertex) else None
            if found is not None:
                return found
        if not is_whole(vertex) or (self._labels is not None and self._labels_are_numbers):
            raise GraphError(f"{vertex!r} is not a vertex of this graph; {self._reach()}")
        if not 0 <= vertex < self.n:
            raise GraphError(f"{int(vertex)} is not a vertex of this graph; {self._reach()}")
        return int(vertex)

    def _reach(self) -> str:
        """What a vertex may be called, for messages."""
        if self.n == 0:
            return "it has none"
        if self._labels is not None:
            return f"its vertices have labels such as {self.label(0)!r}"
        return f"its vertices are the numbers 0 to {self.n - 1}"

    def label(self, vertex: int) -> Any:
        """What a vertex is called: its label, or its id.

        >>> Graph.from_edges(["ann"], ["bob"]).label(0)
        'ann'
        """
        if not is_whole(vertex) or not 0 <= vertex < self.n:
            raise GraphError(f"{vertex!r} is not a vertex id; {self._reach()}")
        if self._labels is None:
            return int(vertex)
        name = self._labels[vertex]
        return name.item() if isinstance(name, np.generic) else name

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        assert self._labels is not None
        return {label: i for i, label in enumerate(self._labels.tolist())}

    @cached_property
    def _labels_are_numbers(self) -> bool:
        return any(is_whole(label) for label in self._numbers)

    # ---------------------------------------------------------------- other graphs made of it

    def to(self, device: Literal["cpu", "cuda"]) -> Graph:
        """The same graph on another device: "cuda" uploads it, and answers are CuPy arrays; "cpu" brings it back.

        >>> Graph.from_edges([0], [1]).to("cpu").device
        'cpu'
        """
        if device not in ("cpu", "cuda"):
            raise GraphError(f"device={device!r} is not known; use 'cpu' or 'cuda'")
        if device == self._device:
            return self
        gpu = self._gpu
        if device == "cuda" and gpu is None:
            column = builders["cuda"]().column
            gpu = Rows(*(None if part is None else column(part, "rows") for part in self._rows))
        graph = Graph.__new__(Graph)
        host = self._host if device == "cuda" else self._rows
        transpose = self._columns if self._directed else None
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
        made = construct.from_csr(
            self.indptr, self.indices, self._directed, weights, None, self._labels, self._order == "ascending"
        )
        return self._with(made.rows, order=self._order)

    def subgraph(self, vertices: Iterable[Any]) -> Graph:
        """The vertices given (by label or id, in this graph's order) and the edges between them.

        Vertices of a graph without labels keep their old ids as labels, unless these are 0, 1, 2, … anyway.

        >>> import hopwave as hw
        >>> H = hw.generate.path(5).subgraph([1, 2, 4])
        >>> H.labels.tolist(), list(H.edges())
        ([1, 2, 4], [(1, 2)])
        """
        if isinstance(vertices, str | bytes) or not isinstance(vertices, Iterable):
            raise GraphError(f"{vertices!r} is not a list of vertices; for a single one give [{vertices!r}]")
        ids = np.unique(np.fromiter((self.index(vertex) for vertex in vertices), np.int64))
        return self._induced(ids)

    def _induced(self, ids: npt.NDArray[np.int64]) -> Graph:
        plain = self._labels is None and np.array_equal(ids, np.arange(len(ids)))
        labels = None if plain else ids if self._labels is None else self._labels[ids]
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
        edges = self.edges()
        return Graph.from_edges(
            edges.source, edges.target, self.n, weights=edges.weights, combine=combine, labels=self._labels,
        )  # fmt: skip

    def relabel(self, labels: Mapping[Any, Any] | Sequence[Any] | npt.NDArray[Any] | None) -> Graph:
        """The same graph with other names: one per vertex, a mapping from old names to new ones, or None for none.

        >>> Graph.from_edges([0], [1]).relabel({0: "zero"}).labels.tolist()
        ['zero', 1]
        """
        if isinstance(labels, Mapping):
            for vertex in labels:
                self.index(vertex)
            labels = object_array([labels.get(name, name) for name in self])
        names = construct.fitting(construct.check_labels(labels), self.n)
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

    def _ascending(self) -> Graph:
        if self._order == "ascending":
            return self
        return Graph.from_csr(self.indptr, self.indices, self._directed, weights=self.weights, labels=self._labels)

    # ---------------------------------------------------------------- other people's graphs

    def to_edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The edges as two columns of ids: every arc of a directed graph, every edge of another once, src ≤ dst.

        The weights in the same order are `edges().weights`.

        >>> [column.tolist() for column in Graph.from_edges([1, 2], [0, 2]).to_edges()]
        [[0, 2], [1, 2]]
        """
        edges = self.edges()
        return edges.source, edges.target

    def to_scipy(self, dtype: npt.DTypeLike | None = None) -> sp.csr_array:
        """The adjacency matrix as a SciPy CSR array of the weights, or of ones (bool by default) without weights.

        >>> Graph.from_edges([0], [1]).to_scipy().toarray().astype(int).tolist()
        [[0, 1], [1, 0]]
        """
        if self.weights is None:
            values: npt.NDArray[Any] = np.ones(self.m, np.bool_ if dtype is None else dtype)
        else:
            values = self.weights.astype(self.weights.dtype if dtype is None else dtype)
        return sp.csr_array((values, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def to_networkx(self) -> nx.Graph:
        """A NetworkX Graph or DiGraph with the same vertices (labels where there are any), edges and weights.

        >>> Graph.from_edges(["a"], ["b"]).to_networkx().edges()
        EdgeView([('a', 'b')])
        """
        networkx = optional("networkx", "to_networkx")
        g = networkx.DiGraph() if self._directed else networkx.Graph()
        g.add_nodes_from(self)
        if self.is_weighted:
            g.add_weighted_edges_from(self.edges())
        else:
            g.add_edges_from(self.edges())
        return g

    def to_igraph(self) -> Any:
        """An igraph Graph with the same vertices, edges and weights; labels become the vertex attribute "name".

        >>> Graph.from_edges([0, 1], [1, 2]).to_igraph().ecount()
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

    # ---------------------------------------------------------------- special methods

    def __repr__(self) -> str:
        words = ["directed" if self._directed else "undirected"]
        words += ["weighted"] * self.is_weighted + ["labelled"] * (self._labels is not None)
        words += ["on cuda"] * (self._device == "cuda")
        return f"Graph(n={self.n:,}, m={self.m:,}, {', '.join(words)})"

    def _repr_html_(self) -> str:
        weights = self.weights
        rows: list[tuple[str, object]] = [
            ("vertices", f"{self.n:,}"),
            ("stored arcs", f"{self.m:,}"),
            ("directed", "yes" if self._directed else "no"),
        ]
        if weights is not None and len(weights):
            rows.append(("weights", f"{weights.dtype}, {weights.min():g} to {weights.max():g}"))
        if self._labels is not None and self.n:
            rows.append(("labels", f"{self.label(0)!r}, …"))
        return html.table("Graph", [*rows, ("device", self._device)])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        mine, theirs = self._labels, other._labels
        return (
            self._directed == other._directed
            and self.is_weighted == other.is_weighted
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and (self.weights is None or np.array_equal(self.weights, other.weights))  # type: ignore[arg-type]
            and (mine is None) == (theirs is None)
            and (mine is None or theirs is None or mine.tolist() == theirs.tolist())
        )

    __hash__ = None  # type: ignore[assignment]

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Any]:
        return iter(range(self.n) if self._labels is None else self._labels.tolist())

    def __contains__(self, vertex: Any) -> bool:
        try:
            self.index(vertex)
        except GraphError:
            return False
        return True

    def __getstate__(self) -> dict[str, Any]:
        state = {name: self.__dict__[name] for name in _STATE}
        return state | {"_host": self._rows, "_gpu": None, "_device": "cpu"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Engines keep what they prepared for this graph in _prepared (uploaded arrays, hub lists): it goes with it.
        self.__dict__.update(state, _prepared=Prepared())
        for array in (*(self._host or ()), *(self._columns or ()), self._labels):
            if array is not None:
                array.setflags(write=False)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph does not change: {name} cannot be set; make a new one with Graph.from_edges")


_STATE = ("_n", "_m", "_weighted", "_host", "_gpu", "_columns", "_directed", "_labels", "_order", "_device")


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph as columns, made when they are first read: `source`, `target` (ids) and `weights`.

    Iterating gives pairs of labels (ids without labels), or triples with the weight.

    >>> import hopwave as hw
    >>> edges = hw.Graph.from_edges([2, 0], [1, 2], weights=[7, 5]).edges()
    >>> edges.source.tolist(), edges.target.tolist(), list(edges)
    ([0, 1], [2, 2], [(0, 2, 5.0), (1, 2, 7.0)])
    """

    graph: Graph

    @cached_property
    def _once(self) -> npt.NDArray[np.bool_] | None:
        """Which stored arcs stand for an edge: all of a directed graph, those with source ≤ target else."""
        return None if self.graph.directed else self._all_sources <= self.graph.indices

    @cached_property
    def _all_sources(self) -> npt.NDArray[np.int32]:
        return reshape.sources(self.graph._rows)

    @cached_property
    def source(self) -> npt.NDArray[np.int32]:
        """The id of each edge's first end."""
        return self._all_sources if self._once is None else self._all_sources[self._once]

    @cached_property
    def target(self) -> npt.NDArray[np.int32]:
        """The id of each edge's second end."""
        return self.graph.indices.copy() if self._once is None else self.graph.indices[self._once]

    @cached_property
    def weights(self) -> npt.NDArray[Any] | None:
        """The weight of each edge, or None."""
        weights = self.graph.weights
        if weights is None:
            return None
        return weights.copy() if self._once is None else weights[self._once]

    def to_pandas(self) -> Any:
        """A DataFrame with the columns source and target (labels where there are any) and weight.

        >>> Graph.from_edges(["ann"], ["bob"], weights=[3]).edges().to_pandas().columns.tolist()
        ['source', 'target', 'weight']
        """
        pandas = optional("pandas", "to_pandas")
        names = vertex_names(self.graph)
        columns = {"source": names[self.source], "target": names[self.target]}
        return pandas.DataFrame(columns if self.weights is None else columns | {"weight": self.weights})

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


def _home(device: str) -> Home:
    return "cuda" if device == "cuda" else "cpu"


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def vertex_names(graph: Graph) -> Any:
    """The vertices' labels, or their ids."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels
