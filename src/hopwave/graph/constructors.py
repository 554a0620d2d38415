"""Constructors of graphs: from columns of edges, CSR arrays, matrices, tables, and graphs of other libraries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt

from hopwave.arrays import is_on_gpu
from hopwave.checks.keywords import check_keywords, offers
from hopwave.checks.numbers import whole_numbers
from hopwave.checks.options import flag, flag_or_none, one_of
from hopwave.errors import GraphError, IgnoredColumnWarning, SparseIdsWarning, warn
from hopwave.graph import columns, construct, csr
from hopwave.graph.arrays import Home
from hopwave.graph.columns import by_direction, check_order, constructor_of, direction_column, is_numeric
from hopwave.graph.csr import Combine, Rows
from hopwave.graph.edges import GraphEdges
from hopwave.graph.row_operations import check_sparse, unblocked
from hopwave.system.optional import optional

if TYPE_CHECKING:
    import networkx as nx

_EDGE_OPTIONS = ("n", "directed", "combine", "repeats", "labels", "names", "device")
_TABLE_OPTIONS = ("source", "target", "weight", *_EDGE_OPTIONS)


@offers
class GraphConstructors(GraphEdges):
    """The constructors of a Graph; construct.py contains the checks."""

    @classmethod
    def _built(cls, rows: Rows, place: Home, directed: bool, labels: Any = None, home: Home = "cpu") -> Self:
        """The graph with these rows, which are on the device `place`; `home` is the device of its results."""
        if place == "cuda":
            return cls._of(None, rows, directed, labels, home)
        return cls._of(rows.each(lambda part: part.view()), None, directed, labels, home)

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
        names: bool = False,
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> Self:
        """Graph from edges src[i] → dst[i], as lists or columns of NumPy, CuPy, cuDF, pandas, polars or Arrow.

        Parameters
        ----------
        src, dst
            Endpoints of each edge. Integers are vertex ids, 0 ≤ id < n. Other values (strings, objects) become labels,
            and vertices are numbered in the order of first appearance. Without `n`, sparse ids also become labels, with
            a `SparseIdsWarning`; the same warning is issued if ids start above 0. Without `dst`, `src` is a list of
            pairs.
        n
            Number of vertices; default: the largest id plus one.
        directed
            Whether an edge is one arc. An undirected edge is stored as two arcs.
        weights
            One number per edge, in the order of src and dst; stored as float32 if passed as float32, else as float64.
        combine
            Weight of repeated edges: their "min", "max" or "sum", or the "first". By default, repeated edges with
            different weights raise an error. In an undirected graph, (u, v) repeats (v, u).
        repeats
            "merge" stores repeated edges once, "keep" stores all of them.
        labels
            Names for integer ids, one per vertex.
        names
            Whether every endpoint is a name. Integers then become labels, so that ids from 1 create no isolated vertex
            0. Texts such as "", "nan" or "NA" are names; by default they are rejected as missing values.
        device
            Device of the graph. "auto" is the GPU for GPU columns, which are never copied to the host. For other
            columns it is the host, even if a GPU builds the graph because that is faster.

        >>> hw.Graph.from_edges(["ann", "bob"], ["bob", "cyd"]).labels.tolist()
        ['ann', 'bob', 'cyd']
        >>> hw.Graph.from_edges([("ann", "bob"), ("bob", "cyd")]).labels.tolist()
        ['ann', 'bob', 'cyd']
        >>> hw.Graph.from_edges([0, 1], [1, 0], weights=[3, 2], combine="min").weights.tolist()
        [2.0, 2.0]
        """
        directed, names = flag("directed", directed), flag("names", names)
        if dst is None:
            if weights is not None:
                check_order(src, "src")
            src, dst = construct.ends_of_pairs(src)
        one_of("repeats", repeats, ("merge", "keep"))
        if names and (n is not None or labels is not None):
            given = "labels=" if n is None else f"n={n!r}"
            raise GraphError(f"names=True cannot be combined with {given}, which is for integer ids; omit one of them")
        construct.check_combine(combine, weights is not None, repeats)
        construct.check_same_rows(src=src, dst=dst, weights=weights)
        home = construct.choose_home(device, is_on_gpu(src) and is_on_gpu(dst))
        stays = home == "cuda" and is_on_gpu(src) and is_on_gpu(dst)
        convert = csr.builders["cuda"]().column if stays else columns.as_column
        src, dst = convert(src, "src"), convert(dst, "dst")
        if len(src) != len(dst):
            raise GraphError(f"src has {len(src)} entries, but dst has {len(dst)}; pass columns of equal length")
        if not stays:
            if len(src) and (src.dtype.kind in "OSUmM" or dst.dtype.kind in "OSUmM"):
                if labels is not None:
                    raise GraphError("labels= is for integer ids, but these edges already contain labels; omit labels=")
                src, dst, labels = columns.factorize(src, dst, names)
                if n is not None and n != len(labels):
                    raise GraphError(f"n={n!r} does not match the {len(labels)} different labels in the edges; omit n=")
            src, dst = whole_numbers(src, "src"), whole_numbers(dst, "dst")
        place = construct.choose_builder(device, home, len(src))
        builder = csr.builders[place]()
        source, target = builder.column(src, "src"), builder.column(dst, "dst")
        kept = construct.given_weights(builder, place, weights, len(source))
        known = columns.label_column(labels)
        count = len(known) if n is None and known is not None else n
        least, greatest = builder.extent(source, target)
        if count is None and (names or (least >= 0 and construct.is_sparse(greatest, len(source)))):
            source, target, known = construct.compacted(builder, source, target, greatest, names)
            count = len(known)
            least, greatest = 0, count - 1
        elif count is None and least > 0 and len(source):
            remedy = f"pass n={greatest + 1} if that is intended, or names=True to use the ids as labels"
            warn(f"the ids start at {least}, so vertex 0 is isolated; {remedy}", SparseIdsWarning)
        if n is None and known is not None and greatest >= len(known):
            construct.fitting(known, greatest + 1)  # raises an error with the numbers of labels and vertices
        count = construct.vertex_count(count, least, greatest)
        labels_kept = construct.fitting(known, count)
        try:
            rows = builder.rows_of(
                source, target, count, symmetric=not directed, merge=repeats == "merge", weights=kept, combine=combine
            )
        except csr.Conflict as conflict:
            raise construct.explained(conflict, labels_kept) from None
        return cls._built(rows, place, directed, labels_kept, home)

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
    ) -> Self:
        """Graph from compressed sparse rows (CSR). Arrays that already have the right form are not copied.

        Do not change the arrays afterwards: they are checked only once. `weights` has one number per stored arc, in the
        order of `indices`. Repeated neighbours are merged, and `combine` selects the weight, as in `from_edges`.
        `check=False` skips the checks of range, order, repeats and (if undirected) symmetry: neighbours must then be
        int32, ascending and unique in each row.

        >>> hw.Graph.from_csr([0, 1, 2], [1, 0], directed=False).m
        2
        """
        directed, check = flag("directed", directed), flag("check", check)
        construct.check_combine(combine, weights is not None, "merge")
        home: Home = "cuda" if is_on_gpu(indptr) and is_on_gpu(indices) else "cpu"
        offsets = whole_numbers(columns.as_column(indptr, "indptr"), "indptr")
        neighbours = whole_numbers(columns.as_column(indices, "indices"), "indices")
        if len(offsets) == 0:
            raise GraphError("indptr is empty; pass n + 1 offsets, so at least [0]")
        n = len(offsets) - 1
        if n > csr.LARGEST_VERTEX_COUNT:
            problem = f"{n} vertices are more than {csr.LARGEST_VERTEX_COUNT}, the limit of int32 ids"
            raise GraphError(f"{problem}; drop isolated vertices")
        if check:
            csr.check_rows(offsets, neighbours, n)
        values = None if weights is None else construct.arc_weights(weights, len(neighbours))
        offsets = np.ascontiguousarray(offsets, csr.offset_type(len(neighbours)))
        neighbours = np.ascontiguousarray(neighbours, np.int32)
        names = construct.fitting(columns.label_column(labels), n)
        rows = csr.Rows(offsets, neighbours, values)
        fits = not check or csr.is_ascending(offsets, neighbours)
        if not fits:
            try:
                rows = csr.builders["cpu"]().rows_of(
                    csr.arc_tails(rows), neighbours, n, symmetric=False, merge=True, weights=values, combine=combine
                )
            except csr.Conflict as conflict:
                raise construct.explained(conflict, names) from None
        if check and not directed:
            construct.check_symmetric(rows)
        if home == "cuda":
            usable = fits and indices.dtype == np.int32 and indptr.dtype in (offsets.dtype, np.dtype(np.int64))
            usable = usable and (weights is None or (is_on_gpu(weights) and weights.dtype == values.dtype))  # type: ignore[union-attr]
            if usable:
                return cls._built(csr.Rows(indptr, indices, weights), "cuda", directed, names, home)
        return cls._built(rows, "cpu", directed, names, home)

    @classmethod
    def from_scipy(
        cls, A: Any, directed: bool | None = None, *, weights: bool | None = None, combine: Combine | None = None
    ) -> Self:
        """Graph from a square SciPy sparse matrix: every stored entry is an arc, also zeros (except in BSR).

        The values are the weights, unless they are bool; `weights=False` ignores them. By default, the graph is
        undirected if the matrix is symmetric. `directed=False` adds the reverse arcs, and `combine` selects the weight
        if A[u, v] and A[v, u] differ. Entries that are stored several times are added up, as in SciPy, unless `combine`
        selects another rule, such as "min" for parallel roads.

        >>> import scipy.sparse as sp
        >>> hw.Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(3 vertices, 2 edges, directed, weighted)
        """
        directed, weights = flag_or_none("directed", directed), flag_or_none("weights", weights)
        import scipy.sparse as sp

        if not sp.issparse(A):
            remedy = "scipy.sparse.csr_array(A)" if getattr(A, "ndim", 0) == 2 else columns.constructor_of(A)
            raise GraphError(f"from_scipy needs a SciPy sparse matrix, not {type(A).__name__}; use {remedy}")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            problem = f"a matrix of shape {A.shape} is not square"
            raise GraphError(f"{problem}; pass a matrix with one row and one column per vertex")
        if A.dtype.kind == "c":
            raise GraphError("the matrix contains complex numbers, but weights are real; pass A.real or abs(A)")
        if weights is None:
            weights = A.dtype.kind != "b"
        check_sparse(A)
        A = A if A.format == "coo" else unblocked(A)  # SciPy would add repeats of COO in their own type, maybe int8
        if A.dtype.kind == "f" and np.isnan(A.data).any():
            raise GraphError("the matrix contains NaN; drop or replace the NaN entries")
        # Arrays may be longer than the entries. They are copied, because the caller may change the matrix later.
        values = A.data[: A.nnz].copy() if weights else None
        as_scipy: Combine | None = None if not weights else "max" if A.dtype.kind == "b" else "sum"
        options: dict[str, Any] = {"weights": values, "combine": combine or as_scipy}
        if A.format == "coo":
            made = cls.from_edges(A.row, A.col, A.shape[0], True, **options, device="cpu")
        else:
            made = cls.from_csr(A.indptr.copy(), A.indices[: A.nnz].copy(), True, **options)
        symmetric = directed is not True and csr.is_symmetric(made._rows)
        if directed or (directed is None and not symmetric):
            return made
        if symmetric:
            return cls(made.indptr, made.indices, weights=made.weights, directed=False)
        return cls.from_edges(*made.to_edges(), made.n, weights=made.weights, combine=combine, device="cpu")

    @classmethod
    def from_networkx(cls, g: nx.Graph[Any], weight: str | None = "weight", *, combine: Combine | None = None) -> Self:
        """Graph from a NetworkX Graph, DiGraph, MultiGraph or MultiDiGraph.

        If the nodes are exactly 0 … n−1, they keep their numbers; otherwise they become labels, in NetworkX's order. If
        any edge has the attribute `weight`, it becomes the weight; an edge without it has weight 1, as in NetworkX.
        `weight=None` ignores weights. Any other name that no edge has raises an error. Other attributes are ignored.
        Parallel edges are merged, and `combine` selects their weight.

        >>> import networkx as nx
        >>> hw.Graph.from_networkx(nx.path_graph(["a", "b", "c"])).labels.tolist()
        ['a', 'b', 'c']
        """
        if not (hasattr(g, "is_directed") and hasattr(g, "edges")):
            raise GraphError(f"from_networkx needs a NetworkX graph, not {type(g).__name__}; use {constructor_of(g)}")
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
        directed: bool | None = None,
        **options: Any,
    ) -> Self:
        """Graph from a table with one edge per row: of pandas, polars, cuDF, or any library with named columns.

        `source`, `target` and `weight` name the columns; the other options are those of `from_edges`. Without `weight`,
        other columns of numbers are ignored with a warning; `weight=False` ignores them without a warning. Without
        `directed`, a column `oneway` (yes: one arc, no: two, -1: one arc backwards), `directed` or Gephi's `Type`
        decides for every row; the graph is undirected without such a column, or if all edges are two-way. Integers are
        vertex ids: ids that start at 1 create an isolated vertex 0. `names=True` uses the ids as labels, as `hw.read`
        does if ids are missing in a file.

        >>> import pandas as pd
        >>> df = pd.DataFrame({"a": [0, 1], "b": [1, 2], "km": [3.5, 1.0]})
        >>> hw.Graph.from_pandas(df, "a", "b", "km").weights.max()
        np.float64(3.5)
        """
        check_keywords("Graph.from_pandas", options, _TABLE_OPTIONS)
        for way in ("toPandas", "collect", "compute"):  # methods of Spark, polars, Dask
            if hasattr(type(df), way):  # tested on the type, because a column may have that name
                raise GraphError(f"a {type(df).__name__} has no rows yet; pass the result of its {way}()")
        titles = "column_names" if hasattr(type(df), "column_names") else "columns"  # column_names is Arrow's
        columns = getattr(df, titles, None)
        if columns is None:
            raise GraphError(f"{type(df).__name__} is not a table; pass a DataFrame, or use {constructor_of(df)}")
        return cls._from_table(df, list(columns), source, target, weight, directed, options)

    @classmethod
    def from_arrow(
        cls,
        table: Any,
        source: str = "source",
        target: str = "target",
        weight: str | None = None,
        directed: bool | None = None,
        **options: Any,
    ) -> Self:
        """Graph from an Arrow stream with one edge per row: of pyarrow, DuckDB, polars, or any with Arrow's protocol.

        An object supports the protocol if it has the method `__arrow_c_stream__`. A stream is read to its end. The
        arguments are those of `from_pandas`. Needs pyarrow.

        >>> import pyarrow as pa
        >>> hw.Graph.from_arrow(pa.table({"source": ["ann", "bob"], "target": ["bob", "cyd"]}))
        Graph(3 vertices, 2 edges, undirected, labelled)
        """
        check_keywords("Graph.from_arrow", options, _TABLE_OPTIONS)
        if not hasattr(table, "__arrow_c_stream__"):
            raise GraphError(f"{type(table).__name__} is not an Arrow stream; use {constructor_of(table)}")
        read = optional("pyarrow", "from_arrow").RecordBatchReader.from_stream(table).read_all()
        return cls._from_table(read, read.column_names, source, target, weight, directed, options)

    @classmethod
    def _from_table(
        cls, table: Any, columns: list[Any], source: Any, target: Any, weight: Any, directed: bool | None, options: Any
    ) -> Self:
        directed = flag_or_none("directed", directed)
        named = (source, target) if weight is None or weight is False else (source, target, weight)
        if source == target:
            raise GraphError(f"column {source!r} is both source= and target=; pass two different columns")
        for name in named:
            if name not in columns:
                if name in getattr(getattr(table, "index", None), "names", ()):
                    raise GraphError(f"{name!r} is in the table's index, but not a column; pass table.reset_index()")
                found = ", ".join(map(repr, columns)) or "none"
                problem = f"the table has no column {name!r}"
                raise GraphError(f"{problem}; pass source=, target= and, for weights, weight=: the columns are {found}")
        way = direction_column(name for name in columns if directed is None and name not in named)
        others = [name for name in columns if weight is None and name not in (*named, way)]
        left_out = [name for name in others if is_numeric(table[name]) or str(name).strip().lower() == "weight"]
        if left_out:
            warn(
                f"column {' or '.join(map(repr, left_out))} may contain weights, but was not read; pass "
                f"{' or '.join(f'weight={name!r}' for name in left_out)} to read it, or weight=False to silence this "
                "warning",
                IgnoredColumnWarning,
            )
        weights = table[weight] if len(named) == 3 else None
        src, dst = table[source], table[target]
        if way is not None:
            src, dst, weights, directed = by_direction(way, table[way], src, dst, weights)
        return cls.from_edges(src, dst, directed=bool(directed), weights=weights, **options)

    @classmethod
    def from_edge_index(
        cls, edge_index: Any, n: int | None = None, directed: bool = True, *, weights: Any = None, **options: Any
    ) -> Self:
        """Graph from PyTorch Geometric's `edge_index`: a tensor or an array with a row of sources and one of targets.

        `n` is PyTorch Geometric's `num_nodes`, `weights` its `edge_weight`. It stores both directions of an undirected
        edge, which `directed=False` merges. The other options are those of `from_edges`.

        >>> hw.Graph.from_edge_index(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), directed=False)
        Graph(3 vertices, 2 edges, undirected)
        """
        check_keywords("Graph.from_edge_index", options, ("weights", *_EDGE_OPTIONS))
        shape = tuple(getattr(edge_index, "shape", ()))
        if len(shape) != 2 or shape[0] != 2:  # a list of two pairs looks like two rows
            found = f"has the shape {shape}" if hasattr(edge_index, "shape") else f"is a {type(edge_index).__name__}"
            problem = f"edge_index {found}, not an array of shape (2, edges)"
            raise GraphError(f"{problem}; pass a row of sources and a row of targets")
        return cls.from_edges(edge_index[0], edge_index[1], n, directed, weights=weights, **options)

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = "weight", *, combine: Combine | None = None) -> Self:
        """Graph from an igraph Graph. The vertex attribute "name" becomes the labels, the edge attribute the weights.

        See `from_networkx` for `weight` and `combine`.

        >>> import igraph
        >>> hw.Graph.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
        Graph(3 vertices, 2 edges, undirected)
        """
        if not (hasattr(g, "get_edgelist") and hasattr(g, "vs")):
            raise GraphError(f"from_igraph needs an igraph Graph, not {type(g).__name__}; use {constructor_of(g)}")
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
