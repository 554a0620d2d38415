"""The ways to make a graph: from columns of edges, CSR arrays, matrices, tables, and the graphs of other libraries."""

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
    """Makes graphs; construct.py has the checks."""

    @classmethod
    def _built(cls, rows: Rows, place: Home, directed: bool, labels: Any = None, home: Home = "cpu") -> Self:
        """The graph of rows at `place`; `home` is where its answers are expected."""
        if place == "cuda":
            return cls._of(None, rows, directed, labels, home)
        return cls._of(Rows(*(None if part is None else part.view() for part in rows)), None, directed, labels, home)

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
        """The graph of the edges src[i] → dst[i], from columns of lists, NumPy, CuPy, cuDF, pandas, polars or Arrow.

        Parameters
        ----------
        src, dst
            The ends of each edge. Whole numbers are vertex ids, 0 ≤ id < n. Anything else (strings, objects) becomes a
            label, and vertices are numbered in the order of first appearance. Without `n`, ids of which only a small
            share is used become labels too, and a `SparseIdsWarning` says so; another says that ids begin above 0.
            Without `dst`, src has pairs.
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
        names
            Whether every end is a name. Numbers become labels, too: ids that begin at 1 leave no vertex 0 without
            edges. Texts such as "", "nan" or "NA" are names, where else they are refused as missing ends.
        device
            Where the graph is built and lives. "auto": on the GPU for columns of a GPU, which are never copied to
            the host; columns of the host may be built on a GPU where that is faster, and live on the host.

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
            raise GraphError(f"names=True makes labels of the ends, and {given} is for ids from 0; give one of the two")
        construct.check_combine(combine, weights is not None, repeats)
        construct.check_same_rows(src=src, dst=dst, weights=weights)
        home = construct.choose_home(device, is_on_gpu(src) and is_on_gpu(dst))
        stays = home == "cuda" and is_on_gpu(src) and is_on_gpu(dst)
        convert = csr.builders["cuda"]().column if stays else columns.as_column
        src, dst = convert(src, "src"), convert(dst, "dst")
        if len(src) != len(dst):
            raise GraphError(f"src has {len(src)} entries and dst {len(dst)}; an edge needs one of each")
        if not stays:
            if len(src) and (src.dtype.kind in "OSUmM" or dst.dtype.kind in "OSUmM"):
                if labels is not None:
                    raise GraphError("labels= names integer ids, but these edges are labels already; drop labels=")
                src, dst, labels = columns.factorize(src, dst, names)
                if n is not None and n != len(labels):
                    raise GraphError(
                        f"n={n!r} does not fit the {len(labels)} different labels in the edges; leave n out"
                    )
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
            remedy = f"pass n={greatest + 1} if it is meant, or names=True to make labels of the ids"
            warn(f"the ids begin at {least}, so vertex 0 has no edge; {remedy}", SparseIdsWarning)
        if n is None and known is not None and greatest >= len(known):
            construct.fitting(known, greatest + 1)  # says how many are missing
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
        """The graph of a compressed-sparse-row pattern; nothing is copied when the arrays already fit.

        Such arrays must not be changed afterwards: they are checked once, here. `weights` hold one number per stored
        arc, in the order of `indices`. `check=False` skips the tests for range, order, repeats and (undirected)
        symmetry: the arrays must then be int32 neighbours, ascending and unique in each row. Repeated neighbours are
        merged; what becomes of different weights is said by `combine`, as in `from_edges`.

        >>> hw.Graph.from_csr([0, 1, 2], [1, 0], directed=False).m
        2
        """
        directed, check = flag("directed", directed), flag("check", check)
        construct.check_combine(combine, weights is not None, "merge")
        home: Home = "cuda" if is_on_gpu(indptr) and is_on_gpu(indices) else "cpu"
        offsets = whole_numbers(columns.as_column(indptr, "indptr"), "indptr")
        neighbours = whole_numbers(columns.as_column(indices, "indices"), "indices")
        if len(offsets) == 0:
            raise GraphError("indptr is empty; it holds n + 1 offsets, so at least [0]")
        n = len(offsets) - 1
        if n > csr.LARGEST_VERTEX_COUNT:
            raise GraphError(
                f"{n} vertices are more than the {csr.LARGEST_VERTEX_COUNT} that int32 ids can name; "
                "drop those without arcs"
            )
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
        """The graph of a square SciPy sparse matrix: every stored entry is an arc, also zeros, except those of BSR.

        The values are the weights, unless they are bool; `weights=False` leaves them out. `directed=None` makes the
        graph undirected when the matrix is symmetric; `directed=False` adds the reverses, and `combine` says which
        weight is kept where A[u, v] and A[v, u] differ. An entry that is stored several times counts as SciPy counts
        it, as their sum; `combine` can say otherwise, such as "min" for parallel roads.

        >>> import scipy.sparse as sp
        >>> hw.Graph.from_scipy(sp.eye_array(3, k=1))
        Graph(3 vertices, 2 edges, directed, weighted)
        """
        directed, weights = flag_or_none("directed", directed), flag_or_none("weights", weights)
        import scipy.sparse as sp

        if not sp.issparse(A):
            remedy = "scipy.sparse.csr_array(A)" if getattr(A, "ndim", 0) == 2 else columns.constructor_of(A)
            raise GraphError(f"from_scipy takes a SciPy sparse matrix, not {type(A).__name__}; give {remedy}")
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise GraphError(
                f"an adjacency matrix is square, this one is {A.shape}; give one row and column per vertex"
            )
        if A.dtype.kind == "c":
            raise GraphError("the matrix holds complex numbers; weights are real: take .real, or abs()")
        if weights is None:
            weights = A.dtype.kind != "b"
        check_sparse(A)
        A = A if A.format == "coo" else unblocked(A)  # SciPy would add up the repeats of COO in its own type, int8 too
        if A.dtype.kind == "f" and np.isnan(A.data).any():
            raise GraphError("the matrix holds NaN; drop or replace those entries")
        # Arrays may be longer than the entries. Copies, since the matrix may change later and a graph does not.
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
        """The graph of a NetworkX graph of any of its four kinds.

        Nodes that are exactly 0 … n−1 keep their numbers; any others become labels, in NetworkX's order. The edge
        attribute `weight` becomes the weights, if any edge has it; an edge without it then weighs 1, as in NetworkX.
        `weight=None` leaves weights out. A name other than "weight" that no edge has is refused. Other attributes are
        left behind. Parallel edges are merged: `combine` says which weight is kept.

        >>> import networkx as nx
        >>> hw.Graph.from_networkx(nx.path_graph(["a", "b", "c"])).labels.tolist()
        ['a', 'b', 'c']
        """
        if not (hasattr(g, "is_directed") and hasattr(g, "edges")):
            raise GraphError(f"from_networkx takes a NetworkX graph, not {type(g).__name__}; give {constructor_of(g)}")
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
        """The graph of a table with one edge per row: pandas, polars, cuDF, or anything with named columns.

        `source`, `target` and `weight` name the columns; the other options are those of `from_edges`. Without `weight`,
        a column of numbers that is neither end is left out with a warning; `weight=False` leaves it out without one.
        Without `directed`, a column `oneway` (yes: one arc, no: two, -1: one arc backwards), `directed` or Gephi's
        `Type` decides for every row; the graph is undirected if there is none, or if all rows lead both ways.
        Whole numbers are positions from 0: ids that begin at 1 make a vertex 0 without edges. `names=True` makes labels
        of them, as `hw.read` does where a file leaves some out.

        >>> import pandas as pd
        >>> df = pd.DataFrame({"a": [0, 1], "b": [1, 2], "km": [3.5, 1.0]})
        >>> hw.Graph.from_pandas(df, "a", "b", "km").weights.max()
        np.float64(3.5)
        """
        check_keywords("Graph.from_pandas", options, _TABLE_OPTIONS)
        for way in ("toPandas", "collect", "compute"):  # of Spark, polars, Dask
            if hasattr(type(df), way):  # not a column of that name
                raise GraphError(f"a {type(df).__name__} has no rows yet; give what its {way}() returns")
        titles = "column_names" if hasattr(type(df), "column_names") else "columns"  # the first is Arrow's
        columns = getattr(df, titles, None)
        if columns is None:
            raise GraphError(f"{type(df).__name__} is no table; give a DataFrame, or {constructor_of(df)}")
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
        """The graph of an Arrow stream with one edge per row: of pyarrow, DuckDB, polars, or any with Arrow's protocol.

        An object has the protocol if it has the method `__arrow_c_stream__`; a stream is read to its end. The arguments
        are those of `from_pandas`. Needs pyarrow.

        >>> import pyarrow as pa
        >>> hw.Graph.from_arrow(pa.table({"source": ["ann", "bob"], "target": ["bob", "cyd"]}))
        Graph(3 vertices, 2 edges, undirected, labelled)
        """
        check_keywords("Graph.from_arrow", options, _TABLE_OPTIONS)
        if not hasattr(table, "__arrow_c_stream__"):
            raise GraphError(f"{type(table).__name__} is no stream of Arrow; give {constructor_of(table)}")
        read = optional("pyarrow", "from_arrow").RecordBatchReader.from_stream(table).read_all()
        return cls._from_table(read, read.column_names, source, target, weight, directed, options)

    @classmethod
    def _from_table(
        cls, table: Any, columns: list[Any], source: Any, target: Any, weight: Any, directed: bool | None, options: Any
    ) -> Self:
        directed = flag_or_none("directed", directed)
        named = (source, target) if weight is None or weight is False else (source, target, weight)
        if source == target:
            raise GraphError(f"column {source!r} is given as both ends of an edge; give two columns")
        for name in named:
            if name not in columns:
                if name in getattr(getattr(table, "index", None), "names", ()):
                    raise GraphError(f"{name!r} is in the table's index, and not a column; give table.reset_index()")
                found = ", ".join(map(repr, columns)) or "none"
                raise GraphError(
                    f"the table has no column {name!r}; name the ends of an edge with source= and target=, and its "
                    f"weight with weight=: the columns are {found}"
                )
        way = direction_column(name for name in columns if directed is None and name not in named)
        others = [name for name in columns if weight is None and name not in (*named, way)]
        left_out = [name for name in others if is_numeric(table[name]) or str(name).strip().lower() == "weight"]
        if left_out:
            warn(
                f"column {' or '.join(map(repr, left_out))} may be weights and was not read, because nothing says that "
                f"it is; give {' or '.join(f'weight={name!r}' for name in left_out)} to read it, or weight=False "
                "to leave it out",
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
        """The graph of PyTorch Geometric's `edge_index`, two rows of ids, sources above targets; a tensor or an array.

        `n` is its `num_nodes`, `weights` its `edge_weight`. An undirected graph has both directions of an edge there;
        with `directed=False` they become one. The other options are those of `from_edges`.

        >>> hw.Graph.from_edge_index(np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), directed=False)
        Graph(3 vertices, 2 edges, undirected)
        """
        check_keywords("Graph.from_edge_index", options, ("weights", *_EDGE_OPTIONS))
        shape = tuple(getattr(edge_index, "shape", ()))
        if len(shape) != 2 or shape[0] != 2:  # a list of two pairs looks like two rows
            found = f"has the shape {shape}" if hasattr(edge_index, "shape") else f"is a {type(edge_index).__name__}"
            raise GraphError(
                f"edge_index {found}, not an array of shape (2, edges); give a row of sources, one of targets"
            )
        return cls.from_edges(edge_index[0], edge_index[1], n, directed, weights=weights, **options)

    @classmethod
    def from_igraph(cls, g: Any, weight: str | None = "weight", *, combine: Combine | None = None) -> Self:
        """The graph of an igraph Graph; the vertex attribute "name" becomes the labels, the edge attribute the weights.

        `weight` and `combine` are as in `from_networkx`.

        >>> import igraph
        >>> hw.Graph.from_igraph(igraph.Graph([(0, 1), (1, 2)]))
        Graph(3 vertices, 2 edges, undirected)
        """
        if not (hasattr(g, "get_edgelist") and hasattr(g, "vs")):
            raise GraphError(f"from_igraph takes an igraph Graph, not {type(g).__name__}; give {constructor_of(g)}")
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
