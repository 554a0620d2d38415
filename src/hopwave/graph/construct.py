"""Shared by the constructors of graphs: checks of ids, weights and labels, and the choice of the building device."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import Array, is_on_gpu
from hopwave.checks.numbers import is_real, is_whole, shown
from hopwave.checks.options import one_of
from hopwave.errors import EngineError, GraphError, SparseIdsWarning, warn
from hopwave.graph import columns, csr
from hopwave.graph.arrays import Home

# Without n=, ids are vertex numbers if the largest is below DENSE_IDS or below IDS_PER_END · the number of endpoints.
DENSE_IDS = 1 << 22
IDS_PER_END = 16
# Minimum edges for which a GPU, if there is one, builds a graph from NumPy columns.
MIN_EDGES_FOR_GPU = 1 << 22


MISSING = object()  # marks an attribute that an edge does not have


def networkx_columns(
    g: Any, weight: str | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64] | None, Any, int]:
    """Source, target, weights (None if no edge has the attribute), labels and number of nodes of a NetworkX graph."""
    nodes = list(g)
    n = len(nodes)
    plain = all(type(node) is int and 0 <= node < n for node in nodes)
    number = {node: i for i, node in enumerate(nodes)}
    pairs = (v if plain else number[v] for edge in g.edges() for v in edge[:2])
    ends = np.fromiter(pairs, np.int64, 2 * g.number_of_edges())
    values = [] if weight is None else [value for *_, value in g.edges(data=weight, default=MISSING)]
    weights = None
    if any(value is not MISSING for value in values):
        given = [1.0 if value is MISSING else value for value in values]
        wrong = [value for value in given if not is_real(type(value))]
        if wrong:
            problem = f"edge attribute {weight!r} of some edge is {shown(wrong[0])}, which is not a number"
            raise GraphError(f"{problem}; name another attribute, or omit weights")
        weights = columns.weight_column(given, len(given), f"edge attribute {weight!r}")
    return ends[0::2], ends[1::2], weights, None if plain else columns.object_array(nodes), n


# ---------------------------------------------------------------- checks


def check_combine(combine: str | None, weighted: bool, repeats: str) -> None:
    """Raise a GraphError if `combine` is not one of the four rules, or there are no repeated weights to combine."""
    if combine is None:
        return
    one_of("combine", combine, csr.COMBINE)
    if not weighted:
        raise GraphError(f"combine={combine!r} combines weights, but there are none; omit combine=")
    if repeats == "keep":
        raise GraphError(f"combine={combine!r} merges repeated edges, but repeats='keep' keeps all; omit one of them")


def check_attribute_name(name: Any, combine: Any) -> None:
    """Raise a GraphError unless `name` can be an edge attribute or is None, and `combine` is a rule or None."""
    check_combine(combine, True, "merge")
    if isinstance(name, bool | np.bool_) or not isinstance(name, Hashable):
        raise GraphError(f"weight={name!r} is not the name of an edge attribute; pass a name, or None for no weights")


def check_attribute(name: Any, known: Callable[[], Iterable[Any]]) -> None:
    """Raise a GraphError for an attribute that no edge has, unless it is "weight" or None."""
    if name is None or name == "weight":
        return
    found = ", ".join(sorted(map(repr, known()))) or "none"
    raise GraphError(f"no edge has the attribute {name!r}; pass weight=None, or one of the attributes: {found}")


def check_symmetric(rows: csr.Rows) -> None:
    """Raise a GraphError unless every arc has a reverse arc of the same weight, as in an undirected graph."""
    if csr.is_symmetric(rows):
        return
    if rows.values is not None and csr.is_symmetric(csr.Rows(rows.indptr, rows.indices)):
        problem = "directed=False, but some edge has two different weights, one per direction"
        raise GraphError(f"{problem}; pass directed=True, or make the weights equal")
    raise GraphError("directed=False, but some arc has no reverse; pass directed=True, or add the reverse arcs")


def choose_home(device: str, on_gpu: bool) -> Home:
    """The device of a graph: the device of its columns, or the caller's device."""
    one_of("device", device, ("auto", "cpu", "cuda"))
    return "cuda" if device == "cuda" or (device == "auto" and on_gpu) else "cpu"


def choose_builder(device: str, home: Home, edges: int) -> Home:
    """The device that builds the adjacency lists: the graph's device, or a GPU for many edges on the host."""
    if home == "cuda" or device != "auto" or edges < MIN_EDGES_FOR_GPU:
        return home
    try:
        csr.builders["cuda"]()
    except EngineError:
        return "cpu"
    return "cuda"


def given_weights(builder: Any, place: Home, weights: Any, edges: int) -> Array | None:
    """The checked weights of the edges as a column, parallel to the edges."""
    if weights is None:
        return None
    if not is_on_gpu(weights):
        weights = columns.weight_column(weights, edges)
        return builder.column(weights, "weights") if place == "cuda" else weights
    column = builder.column(weights, "weights")
    if place == "cpu" or column.dtype not in (np.float32, np.float64):
        # Other types are checked on the host, which rejects complex numbers and integers that are not exact in float64.
        checked = columns.weight_column(column, edges)
        return builder.column(checked, "weights") if place == "cuda" else checked
    columns.check_length(column, edges, "weights")
    columns.check_numbers(builder.first_nan(column), "weights")
    return column


def arc_weights(weights: Any, arcs: int) -> npt.NDArray[Any]:
    """Checked weights of the stored arcs, in the order of the arcs."""
    columns.check_index(weights, "weights", "in the order of the stored arcs")
    column = columns.as_column(weights, "weights")
    if len(column) != arcs:
        problem = f"weights has {len(column)} entries for {arcs} stored arcs"
        raise GraphError(f"{problem}; pass one per arc, in the order of indices")
    return columns.weight_column(column, arcs)


def check_same_rows(**given: Any) -> None:
    """Raise a GraphError if pandas columns have different indexes: their rows would not belong together."""
    found = {name: index for name, column in given.items() if (index := columns.index_of(column)) is not None}
    first = next(iter(found), "")
    for name, index in found.items():
        if not index.equals(found[first]):
            raise GraphError(
                f"the columns {first} and {name} have different pandas indexes, so their rows may not belong together; "
                "pass columns of one table, or .to_numpy() of each if their rows are in the same order"
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
    problem = f"the {type(pairs).__name__} in from_edges(…) is not a list of pairs such as [(0, 1), (1, 2)]"
    raise GraphError(f"{problem}; use {columns.constructor_of(pairs)}, and pass weights as weights=")


def is_sparse(greatest: int, edges: int) -> bool:
    """Whether so few of the ids 0 … greatest are used that one vertex per id would waste memory."""
    return greatest >= csr.LARGEST_VERTEX_COUNT or greatest >= max(DENSE_IDS, 2 * IDS_PER_END * edges)


def compacted(builder: Any, source: Array, target: Array, greatest: int, named: bool) -> tuple[Array, Array, Array]:
    """The ids renumbered 0 … n − 1 in ascending order, with the ids as labels. Issues a warning unless `named`."""
    u, v = builder.to_host(source).astype(np.int64), builder.to_host(target).astype(np.int64)
    labels = np.unique(np.concatenate([u, v]))
    if not named:
        warn(
            f"vertex ids reach {greatest:,}, but only {len(labels):,} differ, so they became labels of the vertices "
            f"0 to {len(labels) - 1:,}; pass names=True if they are names, or n= to use them as vertex numbers",
            SparseIdsWarning,
        )
    ends = (np.searchsorted(labels, column).astype(np.int32) for column in (u, v))
    u, v = (builder.column(column, "ids") for column in ends)
    return u, v, labels


def vertex_count(n: int | None, least: int, greatest: int) -> int:
    """n, checked against the ids; by default the largest id plus one."""
    if least < 0:
        raise GraphError(f"vertex id {least} is negative; pass ids of at least 0, or names=True to make them labels")
    if n is None:
        n = greatest + 1
    elif not is_whole(n) or n < 0:
        raise GraphError(f"n={n!r} is not a number of vertices; pass an integer, or omit n=")
    elif greatest >= n:
        raise GraphError(f"vertex id {greatest} is too large for n={n}; ids must be from 0 to n - 1")
    if n > csr.LARGEST_VERTEX_COUNT:
        problem = f"{n} vertices are more than {csr.LARGEST_VERTEX_COUNT}, the limit of int32 ids"
        raise GraphError(f"{problem}; renumber sparse ids first")
    return int(n)


def fitting(labels: npt.NDArray[Any] | None, n: int) -> npt.NDArray[Any] | None:
    """The labels; raises a GraphError unless there is one per vertex."""
    if labels is not None and len(labels) != n:
        raise GraphError(f"{len(labels)} labels do not match {n} vertices; pass exactly one label per vertex")
    return labels


def explained(conflict: csr.Conflict, labels: npt.NDArray[Any] | None) -> GraphError:
    """The error for a conflict of weights."""
    u, v = conflict.args if labels is None else (columns.plain(labels[end]) for end in conflict.args)
    return GraphError(
        f"the edge {u!r} to {v!r} appears more than once, with different weights; pass combine='min', 'max', 'sum' or "
        f"'first', or keep all with Graph.from_edges(…, repeats='keep')"
    )
