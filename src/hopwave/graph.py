"""Graph: vertices and arcs in compressed sparse rows (CSR).

A graph is stored as the rows of its adjacency matrix A without values: the out-neighbours of vertex v are
`indices[indptr[v]:indptr[v + 1]]`. The transpose (the in-neighbours) is made once, when it is first needed; an
undirected graph is its own transpose and keeps one copy. Vertex ids are int32. Offsets are int32 until the number of
arcs needs int64.
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
)
from hopwave.errors import GraphError
from hopwave.prepared import DeviceInput, Prepared
from hopwave.statistics import Statistics, measure
from hopwave.whole_numbers import is_whole, whole_numbers

if TYPE_CHECKING:
    import networkx as nx

Order = Literal["ascending", "degree"]


class Graph:
    """An immutable graph, directed or not, of up to 2³¹ − 2 vertices and any number of arcs.

    Self-loops and repeated edges are allowed; neither changes a distance. Repeated edges are merged unless
    `repeats="keep"`: then they are parallel arcs, and each counts as a path of its own. An undirected edge is stored as
    two arcs, a self-loop as one, and `G.m` counts stored arcs.

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
        """Does not check its arguments; users call `from_edges`, `from_csr`, `from_scipy` or `from_networkx`."""
        self.__setstate__(
            {
                "_rows": (indptr, indices),
                "_columns": transpose if directed else (indptr, indices),
                "_directed": directed,
                "_labels": labels,
                "_order": order,
            }
        )

    # ---------------------------------------------------------------- constructors

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
        """A graph from its edges src[i] → dst[i].

        Parameters
        ----------
        src, dst : column
            The two ends of every edge: lists, or columns of NumPy, CuPy, pandas, polars or Arrow. Whole numbers are
            vertex ids from 0. Anything else (strings, objects) is a label; vertices are then numbered in the order in
            which their labels first appear.
        n : int, optional
            The number of vertices; by default one more than the greatest id.
        directed : bool, optional
            Whether an edge leads only from src to dst. By default it leads both ways.
        repeats : {"merge", "keep"}, optional
            What to do with repeated edges: merge them, or keep them as parallel arcs.
        labels : sequence, optional
            The names of the vertices, in the order of their ids.

        Raises
        ------
        GraphError
            An id is negative, not a whole number or not below n; a label is missing or cannot be hashed; the columns
            differ in length.

        Examples
        --------
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
        """A graph from compressed sparse rows. Nothing is copied if the arrays already have the right types.

        Parameters
        ----------
        indptr : array of n + 1 integers
            The out-neighbours of vertex v are `indices[indptr[v]:indptr[v + 1]]`.
        indices : array of m integers
            The out-neighbours, row after row.
        directed : bool, optional
            False if the pattern is symmetric and each edge leads both ways.
        labels : sequence, optional
            The names of the vertices, in the order of their ids.
        check : bool, optional
            False skips the checks for range, order, repeats and, for undirected graphs, symmetry. The neighbours must
            then be int32, ascending and without repeats in each row.

        Raises
        ------
        GraphError
            The arrays are not a CSR pattern, or `directed=False` and some arc has no reverse.

        Examples
        --------
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
        """A graph from a square SciPy sparse matrix. Every stored entry is an arc, explicit zeros too.

        Parameters
        ----------
        A : SciPy sparse matrix or array
            The adjacency matrix; only its pattern is read.
        directed : bool, optional
            By default the graph is undirected if the pattern is symmetric. False adds missing reverse arcs.

        Raises
        ------
        GraphError
            The matrix is not sparse, not square, or holds NaN.

        Examples
        --------
        >>> Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(n=3, m=2, directed)
        """
        if not sp.issparse(A):
            raise GraphError(f"from_scipy takes a SciPy sparse matrix, not {type(A).__name__}; use from_edges")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise GraphError(
                f"an adjacency matrix is square, this one is {A.shape}; give one row and one column per vertex"
            )
        A = A.tocsr()
        if A.data.dtype.kind in "fc" and np.isnan(A.data).any():
            raise GraphError("the matrix holds NaN; hopwave only reads the pattern: drop or replace those entries")
        graph = cls.from_csr(A.indptr.copy(), A.indices.copy(), directed=True)  # A may change later; a Graph does not
        if directed is None:
            directed = not is_symmetric(graph.indptr, graph.indices)
        if directed:
            return graph
        return cls.from_edges(*graph.to_edges(), n=graph.n, directed=False)

    @classmethod
    def from_networkx(cls, g: nx.Graph) -> Graph:
        """A graph from a NetworkX graph of any of its four classes. Attributes are not copied.

        Nodes that are exactly the numbers 0 to n − 1 keep their numbers. Otherwise nodes become labels, in the order of
        the NetworkX graph.

        Parameters
        ----------
        g : networkx.Graph
            A Graph, DiGraph, MultiGraph or MultiDiGraph.

        Examples
        --------
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

    # ---------------------------------------------------------------- properties

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
        """Whether an arc u → v may exist without its reverse."""
        return self._directed

    @property
    def labels(self) -> npt.NDArray[Any] | None:
        """The names of the vertices in vertex order, or None if they only have numbers."""
        return self._labels

    @property
    def order(self) -> Order:
        """How each row's neighbours are ordered: "ascending", or "degree" (see `arranged`)."""
        return self._order

    @property
    def indptr(self) -> npt.NDArray[Any]:
        """Where the out-neighbours of each vertex begin in `indices`: n + 1 offsets."""
        return self._rows[0]

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """The out-neighbours, row after row."""
        return self._rows[1]

    @property
    def in_indptr(self) -> npt.NDArray[Any]:
        """Where the in-neighbours of each vertex begin in `in_indices`: n + 1 offsets."""
        return self._transposed()[0]

    @property
    def in_indices(self) -> npt.NDArray[np.int32]:
        """The in-neighbours, row after row. For an undirected graph, the same array as `indices`."""
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
        """The in-degree of every vertex. For an undirected graph, the same as `degrees`."""
        return _read_only(np.diff(self.in_indptr)) if self._directed else self.degrees

    def stats(self) -> Statistics:
        """Sizes, degrees and the scale-free metric of the graph. Computed once.

        >>> import hopwave as hw
        >>> hw.generate.star(5).stats().max_degree
        4
        """
        return self._statistics

    @cached_property
    def _statistics(self) -> Statistics:
        return measure(self.indptr, self.indices, self.degrees, self.in_degrees, self.directed)

    # ---------------------------------------------------------------- labels and ids

    def index(self, vertex: Any) -> int:
        """The id of a vertex, given by its label, or by its id unless labels are numbers.

        >>> Graph.from_edges(["ann"], ["bob"]).index("bob")
        1
        """
        if self._labels is not None:
            found = self._numbers.get(vertex) if _hashable(vertex) else None
            if found is not None:
                return found
        if not is_whole(vertex) or (self._labels is not None and self._labels_are_numbers):
            raise GraphError(f"{vertex!r} is not a vertex of this graph; {self._valid_names()}")
        if not 0 <= vertex < self.n:
            raise GraphError(f"{int(vertex)} is not a vertex of this graph; {self._valid_names()}")
        return int(vertex)

    def _valid_names(self) -> str:
        """Which names of vertices are valid, for error messages."""
        if self.n == 0:
            return "it has none"
        if self._labels is not None:
            return f"its vertices have labels such as {self.label(0)!r}"
        return f"its vertices are the numbers 0 to {self.n - 1}"

    def label(self, vertex: int) -> Any:
        """The label of a vertex, or its id if the graph has no labels.

        >>> Graph.from_edges(["ann"], ["bob"]).label(0)
        'ann'
        """
        if not is_whole(vertex) or not 0 <= vertex < self.n:
            raise GraphError(f"{vertex!r} is not a vertex id; {self._valid_names()}")
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

    # ---------------------------------------------------------------- the same graph in another form

    def arranged(self) -> Graph:
        """The same graph, with the neighbours in each row in descending order of in-degree (Hiragushi, section 3.4).

        A bottom-up search looks for any visited in-neighbour. Vertices of high degree are visited early, so it pays to
        look at them first.

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
        """The graph with every arc reversed. An undirected graph is its own reverse.

        >>> Graph.from_edges([0], [1], directed=True).reversed().degrees.tolist()
        [0, 1]
        """
        return self._reversed if self._directed else self

    @cached_property
    def _reversed(self) -> Graph:
        if self._order == "degree":  # arranged by the in-degrees of this graph, which differ from those of the reverse
            return self._ascending_again().reversed().arranged()
        other = Graph(*self._transposed(), directed=True, labels=self._labels, transpose=self._rows)
        other.__dict__["_reversed"] = self
        return other

    def _ascending_again(self) -> Graph:
        return Graph.from_csr(self.indptr, self.indices, self._directed, labels=self._labels)

    # ---------------------------------------------------------------- export

    def to_edges(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """The edges as two columns of ids. Each edge of an undirected graph appears once, with src ≤ dst.

        >>> [column.tolist() for column in Graph.from_edges([1, 2], [0, 2]).to_edges()]
        [[0, 2], [1, 2]]
        """
        source = np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)
        if self._directed:
            return source, self.indices.copy()
        once = source <= self.indices
        return source[once], self.indices[once]

    def to_scipy(self, dtype: npt.DTypeLike = np.bool_) -> sp.csr_array:
        """The adjacency matrix as a SciPy CSR array whose stored values are ones.

        >>> Graph.from_edges([0], [1]).to_scipy().toarray().astype(int).tolist()
        [[0, 1], [1, 0]]
        """
        ones = np.ones(self.m, dtype)
        return sp.csr_array((ones, self.indices.copy(), self.indptr.copy()), shape=(self.n, self.n))

    def to_networkx(self) -> nx.Graph:
        """A NetworkX Graph or DiGraph with the same vertices (by label if there are labels) and edges.

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

    # ---------------------------------------------------------------- special methods

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
        raise AttributeError(f"a Graph is immutable, so {name} cannot be set; make a new one with Graph.from_edges")

    def __len__(self) -> int:
        return self.n


def _vertex_count(n: int | None, *columns: npt.NDArray[Any]) -> int:
    """n, checked against the given ids, or one more than the greatest of them."""
    least = min((int(column.min()) for column in columns if len(column)), default=0)
    greatest = max((int(column.max()) for column in columns if len(column)), default=-1)
    if least < 0:
        raise GraphError(f"vertex id {least} is negative; ids start at 0")
    if n is None:
        n = greatest + 1
    elif not is_whole(n) or n < 0:
        raise GraphError(f"n={n!r} is not a number of vertices; give a whole number, or leave it out")
    elif greatest >= n:
        raise GraphError(f"vertex id {greatest} is too large for n={n}; ids run from 0 to n - 1")
    if n > LARGEST_VERTEX_COUNT:
        raise GraphError(
            f"{n} vertices are more than the {LARGEST_VERTEX_COUNT} that int32 ids can name; renumber sparse ids first"
        )
    return int(n)


def _check_labels(labels: Any) -> npt.NDArray[Any] | None:
    """The labels as a read-only copy, so that later changes to the caller's array have no effect."""
    if labels is None:
        return None
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        raise GraphError(f"labels={labels!r} is not a list of names; give exactly one per vertex")
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
        raise GraphError(f"{len(labels)} labels do not name {n} vertices; give exactly one per vertex")
    return labels


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
    """The labels of all vertices, or their ids if there are no labels."""
    return np.arange(graph.n, dtype=np.int32) if graph.labels is None else graph.labels
