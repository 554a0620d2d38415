"""Graph: who points at whom, and nothing else.

A graph is kept as the rows of its adjacency matrix A without values: the out-neighbours of vertex v are
`indices[indptr[v]:indptr[v + 1]]`. Its transpose (the in-neighbours) is made once, when first asked for; an undirected
graph is its own transpose and keeps one copy. Vertices are int32; offsets are int32 until the arcs need int64.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hopwave.arrays import on_device
from hopwave.csr import (
    LARGEST_VERTEX_COUNT,
    as_column,
    check_rows,
    factorize,
    is_ascending,
    is_symmetric,
    object_array,
    offset_type,
    rows_of,
    whole_numbers,
)
from hopwave.errors import GraphError
from hopwave.prepared import DeviceInput, Prepared
from hopwave.statistics import Statistics, measure

if TYPE_CHECKING:
    import networkx as nx

Order = Literal["ascending", "degree"]


class Graph:
    """An immutable graph, directed or not, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are legal: neither changes a distance. Repeats are merged unless `repeats="keep"`;
    those kept are parallel arcs, and each counts as a path of its own. An undirected edge is stored as two arcs, a
    self-loop as one, so `G.m` counts stored arcs.

    >>> import hopwave as hw
    >>> G = hw.Graph.from_edges([0, 1, 2], [1, 2, 0])
    >>> G
    Graph(n=3, m=6, undirected)
    >>> G.indices[G.indptr[0]:G.indptr[1]].tolist()
    [1, 2]
    """

    _rows: tuple[npt.NDArray[Any], npt.NDArray[np.int32]]
    _columns: tuple[npt.NDArray[Any], npt.NDArray[np.int32]] | None
    _directed: bool
    _labels: npt.NDArray[Any] | None
    _order: Order
    _prepared: Prepared

    def __init__(
        self,
        indptr: npt.NDArray[Any],
        indices: npt.NDArray[np.int32],
        *,
        directed: bool,
        labels: npt.NDArray[Any] | None = None,
        order: Order = "ascending",
        transpose: tuple[npt.NDArray[Any], npt.NDArray[np.int32]] | None = None,
    ) -> None:
        """Trusts its arguments; people use `from_edges`, `from_csr`, `from_scipy` or `from_networkx`."""
        self.__setstate__(
            {
                "_rows": (indptr, indices),
                "_columns": transpose if directed else (indptr, indices),
                "_directed": directed,
                "_labels": labels,
                "_order": order,
            }
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
        repeats: Literal["merge", "keep"] = "merge",
        labels: Sequence[Any] | npt.NDArray[Any] | None = None,
    ) -> Graph:
        """The graph of the edges src[i] → dst[i], from any two columns: lists, NumPy, CuPy, pandas, polars, Arrow.

        Whole numbers are vertex ids, 0 ≤ id < n. Anything else (strings, objects) becomes a label, and vertices are
        numbered in the order of first appearance.

        >>> Graph.from_edges(["ann", "bob"], ["bob", "cyd"]).labels.tolist()
        ['ann', 'bob', 'cyd']
        """
        if repeats not in ("merge", "keep"):
            raise GraphError(f"repeats={repeats!r} is not known; use 'merge' or 'keep'")
        source, target = as_column(src, "src"), as_column(dst, "dst")
        if len(source) != len(target):
            raise GraphError(f"src has {len(source)} entries and dst {len(target)}; an edge needs one of each")
        if len(source) and (source.dtype.kind in "OSU" or target.dtype.kind in "OSU"):
            if labels is not None:
                raise GraphError("labels= names integer ids, but these edges are labels already; drop labels=")
            source, target, labels = factorize(source, target)
            if n is not None and n != len(labels):
                raise GraphError(f"n={n!r} does not fit the {len(labels)} different labels in the edges; leave n out")
        source, target = whole_numbers(source, "src"), whole_numbers(target, "dst")
        names = _check_labels(labels)
        n = _vertex_count(len(names) if n is None and names is not None else n, source, target)
        indptr, indices = rows_of(source, target, n, symmetric=not directed, merge=repeats == "merge")
        graph = cls(indptr, indices, directed=directed, labels=_fitting(names, n))
        if on_device(src, dst):
            graph._prepared.keep(DeviceInput())  # these arrays were sorted; results are on their device all the same
        return graph

    @classmethod
    def from_csr(
        cls,
        indptr: Any,
        indices: Any,
        directed: bool = True,
        *,
        labels: Sequence[Any] | npt.NDArray[Any] | None = None,
        check: bool = True,
    ) -> Graph:
        """The graph of a compressed-sparse-row pattern; nothing is copied when the arrays already fit.

        `check=False` skips the tests for range, order, repeats and (undirected) symmetry: the arrays must then be int32
        neighbours, ascending and unique in each row.

        >>> Graph.from_csr([0, 1, 2], [1, 0], directed=False).m
        2
        """
        offsets = whole_numbers(as_column(indptr, "indptr"), "indptr")
        neighbours = whole_numbers(as_column(indices, "indices"), "indices")
        if len(offsets) == 0:
            raise GraphError("indptr is empty; it holds n + 1 offsets, so at least [0]")
        n = len(offsets) - 1
        if n > LARGEST_VERTEX_COUNT:
            raise GraphError(f"{n} vertices are more than the {LARGEST_VERTEX_COUNT} that int32 ids can name")
        if check:
            check_rows(offsets, neighbours, n)
        offsets = np.ascontiguousarray(offsets, offset_type(len(neighbours)))
        neighbours = np.ascontiguousarray(neighbours, np.int32)
        sorted_already = not check or is_ascending(offsets, neighbours)
        if not sorted_already:
            source = np.repeat(np.arange(n, dtype=np.int32), np.diff(offsets))
            offsets, neighbours = rows_of(source, neighbours, n, symmetric=False, merge=True)
        # Views, so that marking ours read-only leaves the caller's arrays as they were.
        graph = cls(offsets.view(), neighbours.view(), directed=directed, labels=_fitting(_check_labels(labels), n))
        if on_device(indptr, indices):
            # For the CUDA engine, which uses them as they are where their types fit, and answers with CuPy arrays.
            fits = indices.dtype == np.int32 and indptr.dtype in (offsets.dtype, np.dtype(np.int64))
            graph._prepared.keep(DeviceInput((indptr, indices) if sorted_already and fits else None))
        if check and not directed and not is_symmetric(offsets, neighbours):
            raise GraphError("directed=False, but some arc has no reverse; pass directed=True, or add the reverses")
        return graph

    @classmethod
    def from_scipy(cls, A: Any, directed: bool | None = None) -> Graph:
        """The graph of a square SciPy sparse matrix: every stored entry is an arc, explicit zeros too.

        `directed=None` makes the graph undirected when the pattern is symmetric; `directed=False` adds the reverses.

        >>> Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(n=3, m=2, directed)
        """
        if not sp.issparse(A):
            raise GraphError(f"from_scipy takes a SciPy sparse matrix, not {type(A).__name__}; use from_edges")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise GraphError(f"an adjacency matrix is square, this one is {A.shape}; give one row and column a vertex")
        A = A.tocsr()
        if A.data.dtype.kind in "fc" and np.isnan(A.data).any():
            raise GraphError("the matrix holds NaN; hopwave reads the pattern alone: drop or replace those entries")
        graph = cls.from_csr(A.indptr.copy(), A.indices.copy(), directed=True)  # A may change later; a Graph does not
        if directed is None:
            directed = not is_symmetric(graph.indptr, graph.indices)
        if directed:
            return graph
        return cls.from_edges(*graph.to_edges(), n=graph.n, directed=False)

    @classmethod
    def from_networkx(cls, g: nx.Graph) -> Graph:
        """The graph of a NetworkX graph of any of its four kinds; attributes are left behind.

        Nodes that are exactly 0 … n−1 keep their numbers; any others become labels, in NetworkX's order.

        >>> import networkx as nx
        >>> Graph.from_networkx(nx.path_graph(["a", "b", "c"])).labels.tolist()
        ['a', 'b', 'c']
        """
        if not (hasattr(g, "is_directed") and hasattr(g, "edges")):
            raise GraphError(f"from_networkx takes a NetworkX graph, not {type(g).__name__}; use from_edges")
        nodes = list(g)
        n = len(nodes)
        plain = all(type(node) is int and 0 <= node < n for node in nodes)
        number = None if plain else {node: i for i, node in enumerate(nodes)}
        ends = np.fromiter(
            (v if number is None else number[v] for edge in g.edges() for v in edge[:2]),
            dtype=np.int64,
            count=2 * g.number_of_edges(),
        )
        labels = None if plain else object_array(nodes)
        return cls.from_edges(ends[0::2], ends[1::2], n=n, directed=g.is_directed(), labels=labels)

    # ---------------------------------------------------------------- what it is

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self._rows[0]) - 1

    @property
    def m(self) -> int:
        """The number of stored arcs: an undirected edge counts twice, a self-loop once."""
        return len(self._rows[1])

    @property
    def directed(self) -> bool:
        """Whether an arc u → v may stand without its reverse."""
        return self._directed

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """What the vertices are called, in vertex order, or None where they are only numbered."""
        return self._labels

    @property
    def order(self) -> Order:
        """How each row's neighbours are ordered: "ascending", or "degree" (see `arranged`)."""
        return self._order

    @property
    def indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's out-neighbours begin in `indices`; n + 1 offsets."""
        return self._rows[0]

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The out-neighbours, row after row."""
        return self._rows[1]

    @property
    def in_indptr(self) -> npt.NDArray[Any]:
        """Where each vertex's in-neighbours begin in `in_indices`."""
        return self._transposed()[0]

    @property
    def in_indices(self) -> npt.NDArray[np.int32]:
        """The in-neighbours, row after row; the same array as `indices` for an undirected graph."""
        return self._transposed()[1]

    def _transposed(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        if self._columns is None:
            A = self.to_scipy().tocsc()
            indptr, indices = A.indptr.astype(self.indptr.dtype), A.indices.astype(np.int32)
            for array in (indptr, indices):
                array.setflags(write=False)
            self.__dict__["_columns"] = (indptr, indices)
            return indptr, indices
        return self._columns

    @cached_property
    def degrees(self) -> npt.NDArray[Any]:
        """The out-degree of every vertex, counted in stored arcs (a self-loop counts once)."""
        return _read_only(np.diff(self.indptr))

    @cached_property
    def in_degrees(self) -> npt.NDArray[Any]:
        """The in-degree of every vertex; the degrees of an undirected graph."""
        return _read_only(np.diff(self.in_indptr)) if self._directed else self.degrees

    @cached_property
    def never_found(self) -> npt.NDArray[np.int32]:
        """The vertices without in-arcs: only a search that starts there reaches them (Hiragushi, section 3.4)."""
        return _read_only(np.flatnonzero(self.in_degrees == 0).astype(np.int32))

    def stats(self) -> Statistics:
        """Sizes, degrees and the scale-free metric, computed once.

        >>> import hopwave as hw
        >>> hw.generate.star(5).stats().max_degree
        4
        """
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return measure(self.indptr, self.indices, self.degrees, self.in_degrees, self.directed)

    # ---------------------------------------------------------------- names

    def index(self, vertex: Any) -> int:
        """The id of a vertex given by its label, or by its id where labels are not numbers.

        >>> Graph.from_edges(["ann"], ["bob"]).index("bob")
        1
        """
        if self._labels is not None:
            found = self._numbers.get(vertex) if _hashable(vertex) else None
            if found is not None:
                return found
        if not _is_integer(vertex) or (self._labels is not None and self._labels_are_numbers):
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
        if not _is_integer(vertex) or not 0 <= vertex < self.n:
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
        return any(_is_integer(label) for label in self._numbers)

    # ---------------------------------------------------------------- changing its shape

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
        by_degree = np.argsort(-self.in_degrees.astype(np.int64), kind="stable").astype(np.int32)
        rank = np.empty_like(by_degree)
        rank[by_degree] = np.arange(self.n, dtype=np.int32)

        def arrange(indptr: npt.NDArray[Any], indices: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
            ranked = sp.csr_array((np.ones(self.m, np.bool_), rank[indices], indptr.copy()), shape=(self.n, self.n))
            ranked.sort_indices()
            return np.asarray(by_degree[ranked.indices])

        indices = arrange(*self._rows)
        transpose = (self.in_indptr, arrange(self.in_indptr, self.in_indices)) if self._directed else None
        return Graph(
            self.indptr, indices, directed=self._directed, labels=self._labels, order="degree", transpose=transpose
        )

    def reversed(self) -> Graph:
        """The graph with every arc turned round; an undirected graph is its own.

        >>> Graph.from_edges([0], [1], directed=True).reversed().degrees.tolist()
        [0, 1]
        """
        return self._reversed if self._directed else self

    @cached_property
    def _reversed(self) -> Graph:
        if self._order == "degree":  # arranged by the in-degrees of this graph, which are not those of the other
            return self._ascending_again().reversed().arranged()
        other = Graph(*self._transposed(), directed=True, labels=self._labels, transpose=self._rows)
        other.__dict__["_reversed"] = self
        return other

    def _ascending_again(self) -> Graph:
        return Graph.from_csr(self.indptr, self.indices, self._directed, labels=self._labels)

    # ---------------------------------------------------------------- other people's graphs

    def to_edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The edges as two columns: each arc of a directed graph; each edge of an undirected one once, src ≤ dst.

        >>> [column.tolist() for column in Graph.from_edges([1, 2], [0, 2]).to_edges()]
        [[0, 2], [1, 2]]
        """
        source = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        if self._directed:
            return source, self.indices.copy()
        once = source <= self.indices
        return source[once], self.indices[once]

    def to_scipy(self, dtype: npt.DTypeLike = np.bool_) -> sp.csr_array:
        """The adjacency matrix as a SciPy CSR array of ones.

        >>> Graph.from_edges([0], [1]).to_scipy().toarray().astype(int).tolist()
        [[0, 1], [1, 0]]
        """
        ones = np.ones(self.m, dtype)
        return sp.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def to_networkx(self) -> nx.Graph:
        """A NetworkX Graph or DiGraph with the same vertices (labels where there are any) and edges.

        >>> Graph.from_edges(["a"], ["b"]).to_networkx().edges()
        EdgeView([('a', 'b')])
        """
        import networkx as nx

        g = nx.DiGraph() if self._directed else nx.Graph()
        names = list(range(self.n)) if self._labels is None else self._labels.tolist()
        g.add_nodes_from(names)
        source, target = self.to_edges()
        g.add_edges_from((names[u], names[v]) for u, v in zip(source.tolist(), target.tolist(), strict=True))
        return g

    # ---------------------------------------------------------------- manners

    def __repr__(self) -> str:
        kind = "directed" if self._directed else "undirected"
        return f"Graph(n={self.n:,}, m={self.m:,}, {kind}{', labelled' if self._labels is not None else ''})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        mine, theirs = self._labels, other._labels
        return (
            self._directed == other._directed
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
            and (mine is None) == (theirs is None)
            and (mine is None or theirs is None or mine.tolist() == theirs.tolist())
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("_rows", "_columns", "_directed", "_labels", "_order")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Engines keep what they prepared for this graph in _prepared (uploaded arrays, hub lists): it goes with it.
        self.__dict__.update(state, _prepared=Prepared())
        for array in (*self._rows, *(self._columns or ()), self._labels):
            if array is not None:
                array.setflags(write=False)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Graph does not change: {name} cannot be set; make a new one with Graph.from_edges")

    def __len__(self) -> int:
        return self.n


def _vertex_count(n: int | None, *columns: npt.NDArray[Any]) -> int:
    """n, checked against the ids that were given, or one more than the greatest of them."""
    least = min((int(column.min()) for column in columns if len(column)), default=0)
    greatest = max((int(column.max()) for column in columns if len(column)), default=-1)
    if least < 0:
        raise GraphError(f"vertex id {least} is negative; ids count from 0")
    if n is None:
        n = greatest + 1
    elif not _is_integer(n) or n < 0:
        raise GraphError(f"n={n!r} is not a number of vertices; give a whole number, or leave it out")
    elif greatest >= n:
        raise GraphError(f"vertex id {greatest} is too large for n={n}; ids run from 0 to n - 1")
    if n > LARGEST_VERTEX_COUNT:
        raise GraphError(
            f"{n} vertices are more than the {LARGEST_VERTEX_COUNT} that int32 ids can name; renumber sparse ids first"
        )
    return int(n)


def _check_labels(labels: Any) -> npt.NDArray[Any] | None:
    """Labels as a column of their own: changing the caller's changes nothing here."""
    if labels is None:
        return None
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        raise GraphError(f"labels={labels!r} is no list of names; give exactly one a vertex")
    array = labels.copy() if isinstance(labels, np.ndarray) else object_array(list(labels))
    try:
        different = len(set(array.tolist()))
    except TypeError as error:
        raise GraphError(f"a label cannot be hashed ({error}); use strings, numbers or tuples") from None
    if array.ndim != 1 or different != len(array):
        raise GraphError("two vertices have the same label; labels must differ")
    return _read_only(array)


def _fitting(labels: npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any] | None:
    if labels is not None and len(labels) != n:
        raise GraphError(f"{len(labels)} labels do not name {n} vertices; give exactly one a vertex")
    return labels


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def vertex_names(graph: Graph) -> Any:
    """The vertices' labels, or their ids."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels
