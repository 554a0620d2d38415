"""Matrix: rows of entries, with or without values; columns are built when first needed."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.algebra.operators import checked_dtype, kept_dtype, one_value, refuse_masked
from hopwave.algebra.vector import Arithmetic
from hopwave.arrays import Array, Prepared, as_array, checked_places, fetched, home_of, module_of, on_gpu, uploaded
from hopwave.checks.keywords import offers
from hopwave.checks.numbers import is_whole
from hopwave.checks.options import flag
from hopwave.errors import GraphError, LinalgError, explaining
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT, Rows, is_ascending, offset_type
from hopwave.graph.row_operations import check_sparse, transposed, unblocked

CONSTRUCTORS = "from_dense, from_scipy, from_graph or from_edges"


class _Store:
    """Data shared by a matrix and its transpose: rows, columns, and records that engines prepared."""

    __slots__ = ("ascending", "columns", "prepared", "rows", "shape", "uploaded")
    shape: tuple[int, int]
    rows: Rows | None
    columns: Rows | None
    ascending: bool | None  # whether every row ascends without repeats; None: not checked yet
    uploaded: _Store | None  # the copy on the GPU, or the only copy if rows and columns are None
    prepared: Prepared

    def __init__(
        self, shape: tuple[int, int], rows: Rows | None, columns: Rows | None, ascending: bool | None = None
    ) -> None:
        self.shape, self.rows, self.columns = shape, rows, columns
        self.ascending, self.uploaded = ascending, None
        self.prepared = Prepared()


@partial(offers, quick=("from_rows", "is_ascending", "checked", "to"))
class Matrix(Arithmetic):
    """An immutable sparse matrix of bool, int32, int64, float32 or float64, or a pattern: positions without values.

    A product by rows (pull) reads `rows`, a product by columns (push) reads `columns`; a missing one is built when
    first needed. `A.T` shares both.

    >>> A = la.Matrix.from_graph(hw.generate.path(3))
    >>> A
    Matrix(3 × 3, nnz=4, pattern)
    >>> la.Matrix.from_dense([[0, 2], [0, 0]]).T.to_dense().tolist()
    [[0, 0], [2, 0]]
    >>> (A @ la.Vector.full(3, 1.0)).to_dense().tolist(), (A @ A).nnz
    ([1.0, 2.0, 1.0], 5)
    """

    __slots__ = ("_store", "_turned")

    def __init__(self, store: _Store, turned: bool = False) -> None:
        """For internal use; users call `from_graph`, `from_scipy`, `from_edges` or `from_dense`."""
        if not isinstance(store, _Store):
            raise LinalgError(f"Matrix({type(store).__name__}) is not supported; use Matrix.{CONSTRUCTORS}")
        self._store, self._turned = store, turned

    # ---------------------------------------------------------------- constructors

    @classmethod
    def from_rows(cls, rows: Rows, shape: tuple[int, int], ascending: bool | None = None) -> Matrix:
        """For engines: arguments are not checked. `ascending`: whether rows are sorted and unique; None if unknown."""
        return cls(_Store(shape, rows, None, ascending))

    @classmethod
    def from_graph(cls, G: Graph, values: Any = None, *, weights: bool = True) -> Matrix:
        """The adjacency matrix, with an entry A(u, v) for every arc u → v. Nothing is copied.

        The values are the graph's weights; without weights, or with `weights=False`, the matrix is a pattern. `values=`
        passes other values, one per stored arc, in the order of `G.indices`. The graph caches the matrix used
        last.

        >>> Matrix.from_graph(Graph.from_edges([0], [1], weights=[2.5])).to_dense().tolist()
        [[0.0, 2.5], [2.5, 0.0]]
        """
        if not isinstance(G, Graph):
            raise LinalgError(f"{type(G).__name__} is not a hopwave.Graph; use Matrix.from_scipy for a sparse matrix")
        weights = flag("weights", weights, LinalgError)
        if G.order != "ascending":
            if values is not None:
                raise LinalgError("this graph is reordered by degree; pass values= with the original graph")
            G = G._ascending()
        if values is None:
            return _matrix_of(G, weights and G.is_weighted)
        refuse_masked(values=values)
        array = np.asarray(values)
        if array.shape != (G.m,):
            raise LinalgError(f"values has shape {array.shape}; pass one value for each of the {G.m} stored arcs")
        rows = Rows(G.indptr, G.indices, array.astype(kept_dtype(array.dtype), copy=False))
        return cls.from_rows(rows, (G.n, G.n))

    @classmethod
    def from_scipy(cls, A: Any, *, check: bool = True) -> Matrix:
        """A SciPy (or CuPy) sparse matrix; CSR and CSC with ascending rows and 32-bit indices are not copied.

        All indices are checked once; `check=False` skips the check. Wrong indices would make
        products read outside their arrays.

        >>> import scipy.sparse as sp
        >>> Matrix.from_scipy(sp.eye_array(3, format="csr")).nnz
        3
        """
        if getattr(A, "ndim", 0) != 2 or not hasattr(A, "tocsr"):
            raise LinalgError(f"from_scipy takes a sparse matrix, not {type(A).__name__}; use from_dense or from_edges")
        if max(A.shape) > LARGEST_VERTEX_COUNT:
            raise LinalgError(f"the shape {A.shape} is too large; 32-bit indices allow up to {LARGEST_VERTEX_COUNT}")
        try:
            if check:
                check_sparse(A)
            if A.dtype != kept_dtype(A.dtype):
                A = A.astype(kept_dtype(A.dtype))  # before repeats are summed
            if A.format not in ("csr", "csc"):
                A = unblocked(A)
                if check:
                    check_sparse(A)
        except GraphError as error:
            raise LinalgError(str(error)) from None
        if not A.has_canonical_format:
            A = A.copy()
            A.sum_duplicates()
        entries = A.nnz  # arrays may be longer
        indices, values = (array if len(array) == entries else array[:entries] for array in (A.indices, A.data))
        part = Rows(A.indptr.astype(offset_type(entries), copy=False), indices.astype(np.int32, copy=False), values)
        shape = (int(A.shape[0]), int(A.shape[1]))
        return cls(_Store(shape, part, None) if A.format == "csr" else _Store(shape, None, part))

    @classmethod
    def from_edges(
        cls, rows: Any, columns: Any, values: Any = None, shape: tuple[int, int] | int | None = None
    ) -> Matrix:
        """Entries at (rows[i], columns[i]); repeats are summed, or merged if there are no values.

        >>> Matrix.from_edges([0, 0], [1, 1], [2, 3], shape=2).to_dense().tolist()
        [[0, 5], [0, 0]]
        """
        refuse_masked(rows=rows, columns=columns, values=values)
        i, j = checked_places(rows, "rows"), checked_places(columns, "columns")
        if shape is None:
            shape = (int(i.max(initial=-1)) + 1, int(j.max(initial=-1)) + 1)
        elif isinstance(shape, int | np.integer):
            shape = (int(shape), int(shape))
        if not (isinstance(shape, tuple | list) and len(shape) == 2 and all(is_whole(size) for size in shape)):
            raise LinalgError(f"shape={shape!r} is not a shape; pass (rows, columns), one number for both, or None")
        if max(shape) > LARGEST_VERTEX_COUNT:
            raise LinalgError(f"the shape {shape} is too large; 32-bit indices allow up to {LARGEST_VERTEX_COUNT}")
        given = None if values is None else as_array(values, "values", LinalgError)
        kind = np.dtype(np.bool_) if given is None else kept_dtype(given.dtype)
        if given is not None and given.shape not in ((), (1,), i.shape):
            raise LinalgError(f"values has shape {given.shape}; pass one number per entry ({len(i)}), or one for all")
        from scipy.sparse import coo_array

        data = np.broadcast_to(np.ones(1, kind) if given is None else given.astype(kind), i.shape)
        try:
            found = cls.from_scipy(coo_array((data, (i, j)), shape=shape), check=False)
        except ValueError as error:
            raise LinalgError(f"the entries do not fit a matrix of shape {shape}: {error}") from None
        return found.pattern() if values is None else found

    @classmethod
    def from_dense(cls, values: Any, present: Any = None) -> Matrix:
        """The entries of a 2-D array that are not 0, or where `present` is True.

        >>> Matrix.from_dense([[0, 1]], present=[[True, True]]).nnz
        2
        """
        refuse_masked(values=values, present=present)
        table = as_array(values, "values", LinalgError)
        if table.ndim != 2:
            raise LinalgError(f"values has {table.ndim} dimensions; pass a 2-D array")
        bits = table != 0 if present is None else as_array(present, "present", LinalgError).astype(np.bool_)
        if bits.shape != table.shape:
            raise LinalgError(f"present has shape {bits.shape}, but values has {table.shape}; the shapes must match")
        i, j = np.nonzero(bits)
        indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(bits, axis=1))]).astype(offset_type(len(i)))
        part = Rows(indptr, j.astype(np.int32), table[bits].astype(kept_dtype(table.dtype)))
        return cls.from_rows(part, (table.shape[0], table.shape[1]))

    # ---------------------------------------------------------------- properties

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        m, n = self._store.shape
        return (n, m) if self._turned else (m, n)

    @property
    def nnz(self) -> int:
        """The number of stored entries."""
        return len(self._known().indices)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values; bool for a pattern."""
        values = self._known().values
        return np.dtype(np.bool_) if values is None else np.dtype(values.dtype)

    @property
    def has_values(self) -> bool:
        """Whether entries have values; False for a pattern."""
        return self._known().values is not None

    @property
    def device(self) -> str:
        """The device of the matrix, "cpu" or "cuda"."""
        found = self._store.rows or self._store.columns
        return "cuda" if found is not None and on_gpu(found.indices) else "cpu"

    @property
    def _prepared(self) -> Prepared:
        """Records that engines cache with this matrix; shared with the transpose, for which `_turned` is True."""
        return self._store.prepared

    @property
    def rows(self) -> Rows:
        """The entries by rows."""
        return self._part(columns=self._turned)

    @property
    def columns(self) -> Rows:
        """The entries by columns, which are the rows of the transpose."""
        return self._part(columns=not self._turned)

    @property
    def T(self) -> Matrix:
        """The transpose; nothing is copied."""
        return Matrix(self._store, not self._turned)

    def _any(self) -> Rows:
        store = self._store
        found = store.rows or store.columns
        if found is None:  # only on the GPU so far
            there = self._known()
            found = there.each(fetched)
            store.columns = found if store.uploaded is not None and store.uploaded.columns is there else None
            store.rows = found
        return found

    def _known(self) -> Rows:
        """Rows or columns, from the GPU if the host has none; only their length and type are read."""
        store = self._store
        found = store.rows or store.columns
        if found is None and store.uploaded is not None:
            found = store.uploaded.rows
        assert found is not None
        return found

    def _part(self, columns: bool) -> Rows:
        store, known = self._store, self._any()
        if columns and store.columns is None:
            store.columns = _transposed(known, store.shape)
        elif not columns and store.rows is None:
            store.rows = _transposed(known, store.shape[::-1])
        found = store.columns if columns else store.rows
        assert found is not None
        return found

    # ---------------------------------------------------------------- conversions

    def pattern(self) -> Matrix:
        """The positions of the entries, without values.

        >>> Matrix.from_dense([[5]]).pattern()
        Matrix(1 × 1, nnz=1, pattern)
        """
        store = self._store
        self._any()
        rows, columns = (None if part is None else part._replace(values=None) for part in (store.rows, store.columns))
        return Matrix(_Store(store.shape, rows, columns), self._turned)

    def astype(self, dtype: npt.DTypeLike) -> Matrix:
        """The matrix with values converted to `dtype`; the values of a pattern become 1."""
        kind = checked_dtype(dtype)
        return Matrix.from_rows(self.rows._replace(values=self.stored_values().astype(kind)), self.shape)

    def stored_values(self) -> Array:
        """One value per entry, by rows; for a pattern, ones."""
        _, indices, values = self.rows
        return module_of(indices).ones(len(indices), np.bool_) if values is None else values

    def to_scipy(self) -> Any:
        """A SciPy CSR array (for a matrix on the GPU, a CuPy CSR matrix) that shares the arrays."""
        indptr, indices, values = self.rows
        values = self.stored_values()
        if on_gpu(indices):
            from cupyx.scipy.sparse import csr_matrix

            if values.dtype.kind == "i":
                raise LinalgError(f"CuPy has no sparse matrices of {values.dtype}; use astype('float64') or to('cpu')")

            return csr_matrix((values, indices, indptr), shape=self.shape)
        from scipy.sparse import csr_array

        return csr_array((values, indices, indptr), shape=self.shape, copy=False)

    def to_dense(self, missing: Any = 0) -> npt.NDArray[Any]:
        """A two-dimensional array, with `missing` at positions without an entry.

        >>> Matrix.from_edges([0], [1], shape=2).to_dense().tolist()
        [[False, True], [False, False]]
        """
        A = self.to("cpu")
        table = np.full(self.shape, one_value("missing", missing, self.dtype), self.dtype)
        table[np.repeat(np.arange(self.shape[0]), np.diff(A.rows.indptr)), A.rows.indices] = A.stored_values()
        return table

    def to(self, device: str) -> Matrix:
        """The matrix on "cpu" or "cuda"; itself if it is already there."""
        home = home_of(device)
        if home == self.device:
            return self
        if home == "cpu":
            return Matrix.from_rows(self.rows.each(fetched), self.shape)
        store = self._store
        if store.uploaded is None:
            rows, columns = (part and part.each(uploaded) for part in (store.rows, store.columns))
            made = _Store(store.shape, rows, rows if store.columns is store.rows else columns)
            store.uploaded = store.uploaded or made  # another thread may have been faster
        return Matrix(store.uploaded, self._turned)

    def is_ascending(self) -> bool:
        """Whether rows are sorted without repeats; checked once."""
        store = self._store
        if store.ascending is None:
            part = self._any()
            store.ascending = _is_ascending(part.indptr, part.indices)
        return store.ascending

    def checked(self) -> Matrix:
        """Return self, or raise an error unless rows are sorted and unique, as products of matrices require.

        Products with vectors count each parallel arc and need no check. A matrix on the GPU is not checked.
        """
        if not (on_gpu(self._any().indices) or self.is_ascending()):
            raise LinalgError("the matrix contains an entry twice; build the graph with repeats='merge'")
        return self

    def __repr__(self) -> str:
        kind = self.dtype if self.has_values else "pattern"
        return f"Matrix({self.shape[0]} × {self.shape[1]}, nnz={self.nnz}, {kind})"


_transposed = explaining("transposing a matrix")(transposed)
_is_ascending = explaining("checking a matrix")(is_ascending)


def _matrix_of(G: Graph, weighted: bool) -> Matrix:
    """The matrix of a graph, with or without weights. Only the last one is cached: each has its own copy on a GPU."""
    kept = G._prepared.find(Matrix)
    if kept is not None and kept.has_values == weighted:
        return kept

    rows, columns = None, None
    if G._gpu is None or G._host is not None:  # else arrays are copied to the host when first needed there
        rows = columns = Rows(G.indptr, G.indices, G.weights if weighted else None)
        if G.directed:
            columns = G._columns if weighted or G._columns is None else G._columns._replace(values=None)
    store = _Store((G.n, G.n), rows, columns)
    if G._gpu is not None:  # arrays on the GPU already are not uploaded again
        there = G._gpu if weighted else G._gpu._replace(values=None)
        store.uploaded = _Store((G.n, G.n), there, None if G.directed else there)
    made = Matrix(store)
    G._prepared.pop(Matrix, None)
    kept = G._prepared.keep(made)
    return kept if kept.has_values == weighted else made  # another thread may have cached the other matrix


def as_matrix(A: Any, weights: bool = True) -> Matrix:
    """A Matrix from a Matrix, a Graph (with its weights if `weights`), or a sparse matrix of SciPy or CuPy."""
    if isinstance(A, Matrix):
        return A
    if isinstance(A, Graph):
        return Matrix.from_graph(A, weights=weights)
    return Matrix.from_scipy(A)
