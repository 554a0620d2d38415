"""From columns of edges, CSR arrays, matrices and other libraries' graphs to the rows of a graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Array, is_on_gpu
from hopwave.checks.numbers import is_real, is_whole, shown, whole_numbers
from hopwave.checks.options import one_of
from hopwave.errors import EngineError, GraphError, SparseIdsWarning, warn
from hopwave.graph import columns, csr
from hopwave.graph.arrays import Home
from hopwave.graph.row_operations import check_sparse, sources, unblocked

# Without n=, ids are vertex numbers if the greatest is below DENSE_IDS, or below IDS_PER_END times the ends of edges.
DENSE_IDS = 1 << 22
IDS_PER_END = 16
# Edges from which a graph of NumPy columns is built on the GPU, where there is one.
MIN_EDGES_FOR_GPU = 1 << 22


@dataclass(frozen=True)
class GraphParts:
    """The parts of a graph, its rows on the host or on the GPU."""

    rows: csr.Rows
    labels: npt.NDArray[Any] | None
    device: Home  # where the rows are
    home: Home  # where the caller expects answers: "cuda" for columns of a GPU, or where device="cuda" asked for it


def from_edges(
    src: Any,
    dst: Any,
    n: int | None,
    directed: bool,
    weights: Any,
    combine: str | None,
    repeats: str,
    labels: Any,
    names: bool,
    device: str,
) -> GraphParts:
    """What `Graph.from_edges` makes a graph of."""
    one_of("repeats", repeats, ("merge", "keep"))
    if names and (n is not None or labels is not None):
        given = "labels=" if n is None else f"n={n!r}"
        raise GraphError(f"names=True makes labels of the ends, and {given} is for ids from 0; give one of the two")
    check_combine(combine, weights is not None, repeats)
    check_same_rows(src=src, dst=dst, weights=weights)
    given_on_gpu = is_on_gpu(src) and is_on_gpu(dst)
    home = choose_home(device, given_on_gpu)
    if not given_on_gpu:
        src, dst = columns.as_column(src, "src"), columns.as_column(dst, "dst")
        if len(src) != len(dst):
            raise GraphError(f"src has {len(src)} entries and dst {len(dst)}; an edge needs one of each")
        if len(src) and (src.dtype.kind in "OSUmM" or dst.dtype.kind in "OSUmM"):
            if labels is not None:
                raise GraphError("labels= names integer ids, but these edges are labels already; drop labels=")
            src, dst, labels = columns.factorize(src, dst, names)
            if n is not None and n != len(labels):
                raise GraphError(f"n={n!r} does not fit the {len(labels)} different labels in the edges; leave n out")
        src, dst = whole_numbers(src, "src"), whole_numbers(dst, "dst")
    place = choose_builder(device, home, len(src))
    builder = csr.builders[place]()
    source, target = builder.column(src, "src"), builder.column(dst, "dst")
    if len(source) != len(target):
        raise GraphError(f"src has {len(source)} entries and dst {len(target)}; an edge needs one of each")
    kept = given_weights(builder, place, weights, len(source))
    known = columns.label_column(labels)
    count = len(known) if n is None and known is not None else n
    least, greatest = builder.extent(source, target)
    if count is None and (names or (least >= 0 and is_sparse(greatest, len(source)))):
        source, target, known = compacted(builder, source, target, greatest, names)
        count = len(known)
        least, greatest = 0, count - 1
    if n is None and known is not None and greatest >= len(known):
        fitting(known, greatest + 1)  # says how many are missing
    count = vertex_count(count, least, greatest)
    labels_kept = fitting(known, count)
    try:
        rows = builder.rows_of(
            source, target, count, symmetric=not directed, merge=repeats == "merge", weights=kept, combine=combine
        )
    except csr.Conflict as conflict:
        raise explained(conflict, labels_kept) from None
    return GraphParts(rows, labels_kept, place, home)


def from_csr(
    indptr: Any, indices: Any, directed: bool, weights: Any, combine: str | None, labels: Any, check: bool
) -> GraphParts:
    """What `Graph.from_csr` makes a graph of; arrays that fit are taken as they are."""
    check_combine(combine, weights is not None, "merge")
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
    values = None if weights is None else arc_weights(weights, len(neighbours))
    offsets = np.ascontiguousarray(offsets, csr.offset_type(len(neighbours)))
    neighbours = np.ascontiguousarray(neighbours, np.int32)
    names = fitting(columns.label_column(labels), n)
    rows = csr.Rows(offsets, neighbours, values)
    fits = not check or csr.is_ascending(offsets, neighbours)
    if not fits:
        source = sources(rows)
        try:
            rows = csr.builders["cpu"]().rows_of(
                source, neighbours, n, symmetric=False, merge=True, weights=values, combine=combine
            )
        except csr.Conflict as conflict:
            raise explained(conflict, names) from None
    if check and not directed:
        check_symmetric(rows)
    if home == "cuda":
        usable = fits and indices.dtype == np.int32 and indptr.dtype in (offsets.dtype, np.dtype(np.int64))
        usable = usable and (weights is None or (is_on_gpu(weights) and weights.dtype == values.dtype))  # type: ignore[union-attr]
        if usable:
            return GraphParts(csr.Rows(indptr, indices, weights), names, "cuda", home)
    return GraphParts(rows, names, "cpu", home)


def from_scipy(A: Any, directed: bool | None, weights: bool | None, combine: str | None) -> tuple[csr.Rows, bool]:
    """The rows of a square sparse matrix, and whether the graph is directed."""
    import scipy.sparse as sp

    if not sp.issparse(A):
        remedy = "scipy.sparse.csr_array(A)" if getattr(A, "ndim", 0) == 2 else columns.constructor_of(A)
        raise GraphError(f"from_scipy takes a SciPy sparse matrix, not {type(A).__name__}; give {remedy}")
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise GraphError(f"an adjacency matrix is square, this one is {A.shape}; give one row and column per vertex")
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
    repeated = combine if combine or not weights else "max" if A.dtype.kind == "b" else "sum"  # as SciPy reads a matrix
    if A.format == "coo":
        made = from_edges(A.row, A.col, A.shape[0], True, values, repeated, "merge", None, False, "cpu")
    else:
        made = from_csr(A.indptr.copy(), A.indices[: A.nnz].copy(), True, values, repeated, None, True)
    if directed is None:
        directed = not csr.is_symmetric(made.rows)
    if directed or csr.is_symmetric(made.rows):
        return made.rows, directed
    n = len(made.rows.indptr) - 1
    edges = from_edges(
        sources(made.rows), made.rows.indices, n, False, made.rows.values, combine, "merge", None, False, "cpu"
    )
    return edges.rows, False


MISSING = object()  # an attribute that an edge does not have


def networkx_columns(
    g: Any, weight: str | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64] | None, Any, int]:
    """Source, target, weights (None if no edge has the attribute), labels and number of nodes of a NetworkX graph."""
    nodes = list(g)
    n = len(nodes)
    plain = all(type(node) is int and 0 <= node < n for node in nodes)
    number = None if plain else {node: i for i, node in enumerate(nodes)}
    count = g.number_of_edges()
    values: list[Any] | None = None
    if weight is not None:
        values = [value for *_, value in g.edges(data=weight, default=MISSING)]
        if all(value is MISSING for value in values):
            values = None
    ends = np.fromiter(
        (v if number is None else number[v] for edge in g.edges() for v in edge[:2]), dtype=np.int64, count=2 * count
    )
    weights = None
    if values is not None:
        given = [1.0 if value is MISSING else value for value in values]
        wrong = [value for value in given if not is_real(type(value))]
        if wrong:
            raise GraphError(
                f"edge attribute {weight!r} is {shown(wrong[0])} somewhere, which is not a number; "
                f"name another attribute, or leave the weights out"
            )
        weights = columns.weight_column(given, len(given), f"edge attribute {weight!r}")
    return ends[0::2], ends[1::2], weights, None if plain else columns.object_array(nodes), n


# ---------------------------------------------------------------- checks


def check_combine(combine: str | None, weighted: bool, repeats: str) -> None:
    """A rule for repeated edges is one of four, and there are weights to apply it to."""
    if combine is None:
        return
    one_of("combine", combine, csr.COMBINE)
    if not weighted:
        raise GraphError(f"combine={combine!r} says what to do with weights, and there are none; leave it out")
    if repeats == "keep":
        raise GraphError(f"combine={combine!r} merges repeated edges, repeats='keep' keeps them; give one of the two")


def check_attribute_name(name: Any, combine: Any) -> None:
    """A name that edge attributes can have, or None; and a rule for repeated edges, should they have it."""
    check_combine(combine, True, "merge")
    if isinstance(name, bool | np.bool_) or not isinstance(name, Hashable):
        raise GraphError(f"weight={name!r} is not the name of an edge attribute; give a name, or None for no weights")


def check_attribute(name: Any, known: Callable[[], Iterable[Any]]) -> None:
    """Raise a GraphError about an attribute that no edge has, unless it is the usual one or None."""
    if name is None or name == "weight":
        return
    found = ", ".join(sorted(map(repr, known()))) or "none"
    raise GraphError(f"no edge has the attribute {name!r}; theirs are {found}: name one of them, or give weight=None")


def check_symmetric(rows: csr.Rows) -> None:
    """Raise a GraphError unless every arc has its reverse, of the same weight, as in an undirected graph."""
    if csr.is_symmetric(rows):
        return
    if rows.values is not None and csr.is_symmetric(csr.Rows(rows.indptr, rows.indices)):
        raise GraphError(
            "directed=False, but some edge has two different weights, one per direction; pass directed=True, "
            "or make them equal"
        )
    raise GraphError("directed=False, but some arc has no reverse; pass directed=True, or add the reverses")


def choose_home(device: str, on_gpu: bool) -> Home:
    """Where a graph lives: "cuda" where its columns are, or where the caller wants it."""
    one_of("device", device, ("auto", "cpu", "cuda"))
    return "cuda" if device == "cuda" or (device == "auto" and on_gpu) else "cpu"


def choose_builder(device: str, home: Home, edges: int) -> Home:
    """Where the rows are made: at home, except that a GPU, if there is one, builds many edges of the host."""
    if home == "cuda" or device != "auto" or edges < MIN_EDGES_FOR_GPU:
        return home
    try:
        csr.builders["cuda"]()
    except EngineError:
        return "cpu"
    return "cuda"


def given_weights(builder: Any, place: Home, weights: Any, edges: int) -> Array | None:
    """The weights of edges as a column beside the edges, checked."""
    if weights is None:
        return None
    if not is_on_gpu(weights):
        weights = columns.weight_column(weights, edges)
        return builder.column(weights, "weights") if place == "cuda" else weights
    column = builder.column(weights, "weights")
    if place == "cpu" or column.dtype not in (np.float32, np.float64):
        # Other types are checked on the host: complex numbers are refused, and whole numbers that float64 cannot hold.
        checked = columns.weight_column(column, edges)
        return builder.column(checked, "weights") if place == "cuda" else checked
    columns.check_length(column, edges, "weights")
    columns.check_numbers(builder.first_nan(column), "weights")
    return column


def arc_weights(weights: Any, arcs: int) -> npt.NDArray[Any]:
    """Weights of stored arcs, in their order."""
    columns.check_index(weights, "weights", "in the order of the stored arcs")
    column = columns.as_column(weights, "weights")
    if len(column) != arcs:
        raise GraphError(
            f"weights has {len(column)} entries for {arcs} stored arcs; give one per arc, in the order of indices"
        )
    return columns.weight_column(column, arcs)


def check_same_rows(**given: Any) -> None:
    """Columns of pandas that are given together have the same index: their rows would be read in another order."""
    found = {name: index for name, column in given.items() if (index := columns.index_of(column)) is not None}
    first = next(iter(found), "")
    for name, index in found.items():
        if not index.equals(found[first]):
            raise GraphError(
                f"the columns {first} and {name} have different indexes of pandas, so their rows may not belong "
                "together; take them from one table, or give .to_numpy() of each if their rows are in the same order"
            )


def ends_of_pairs(pairs: Any) -> tuple[Any, Any]:
    """The two columns of a list of pairs, or of an array of two columns."""
    if len(getattr(pairs, "shape", ())) == 2 and pairs.shape[1] == 2 and hasattr(pairs, "dtype"):
        return pairs[:, 0], pairs[:, 1]
    alone = isinstance(pairs, str | bytes | Mapping) or getattr(pairs, "ndim", 1) == 0
    if isinstance(pairs, Iterable) and not alone:
        listed = list(pairs)
        if all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in listed):
            return [u for u, _ in listed], [v for _, v in listed]
    raise GraphError(
        f"from_edges({type(pairs).__name__}) has one argument, which is no list of pairs such as [(0, 1), (1, 2)]; "
        f"give {columns.constructor_of(pairs)}; weights belong in weights="
    )


def is_sparse(greatest: int, edges: int) -> bool:
    """Whether so few of the ids 0 … greatest are used that numbering them all would waste memory."""
    return greatest >= csr.LARGEST_VERTEX_COUNT or greatest >= max(DENSE_IDS, 2 * IDS_PER_END * edges)


def compacted(builder: Any, source: Array, target: Array, greatest: int, named: bool) -> tuple[Array, Array, Array]:
    """The ids renumbered 0 … n − 1 in ascending order; they become labels, and a warning says so unless `named`."""
    u, v = builder.to_host(source).astype(np.int64), builder.to_host(target).astype(np.int64)
    labels = np.unique(np.concatenate([u, v]))
    if not named:
        warn(
            f"vertex ids reach {greatest:,} but only {len(labels):,} differ, so they became labels of the vertices "
            f"0 to {len(labels) - 1:,}; give names=True if they are names, or n= to number all ids from 0 instead",
            SparseIdsWarning,
        )
    ends = (np.searchsorted(labels, column).astype(np.int32) for column in (u, v))
    u, v = (builder.column(column, "ids") for column in ends)
    return u, v, labels


def vertex_count(n: int | None, least: int, greatest: int) -> int:
    """n, checked against the ids that were given, or one more than the greatest of them."""
    if least < 0:
        raise GraphError(f"vertex id {least} is negative; ids start at 0, unless names=True makes labels of them")
    if n is None:
        n = greatest + 1
    elif not is_whole(n) or n < 0:
        raise GraphError(f"n={n!r} is not a number of vertices; give a whole number, or leave it out")
    elif greatest >= n:
        raise GraphError(f"vertex id {greatest} is too large for n={n}; ids run from 0 to n - 1")
    if n > csr.LARGEST_VERTEX_COUNT:
        raise GraphError(
            f"{n} vertices are more than the {csr.LARGEST_VERTEX_COUNT} that int32 ids can name; "
            "renumber sparse ids first"
        )
    return int(n)


def fitting(labels: npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any] | None:
    """The labels, if there is one per vertex."""
    if labels is not None and len(labels) != n:
        raise GraphError(f"{len(labels)} labels do not name {n} vertices; give exactly one per vertex")
    return labels


def explained(conflict: csr.Conflict, labels: npt.NDArray[Any] | None) -> GraphError:
    """A conflict of weights in words."""
    ends = (conflict.source, conflict.target)
    u, v = ends if labels is None else (columns.plain(labels[end]) for end in ends)
    return GraphError(
        f"the edge {u!r} to {v!r} appears more than once, with different weights; say which to keep with "
        f"combine='min', 'max', 'sum' or 'first', or keep all with Graph.from_edges(…, repeats='keep')"
    )
