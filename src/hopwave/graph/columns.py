"""Converts callers' data to columns of ids, labels and weights: exactly, or with an error, but never rounded."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.arrays import ignoring, is_on_gpu, masked_place
from hopwave.checks.numbers import is_real, shown, whole_numbers
from hopwave.errors import GraphError
from hopwave.graph.csr import builders, rows_of
from hopwave.system.threads import parted

_OF_A_TABLE = "Graph.from_pandas(table, source, target, weight) with the names of its columns"
# Expression that converts an object of another library to a Graph, for messages.
CONSTRUCTORS = {
    "igraph": "Graph.from_igraph(g)",
    "pandas": _OF_A_TABLE,
    "polars": _OF_A_TABLE,
    "cudf": _OF_A_TABLE,
    "pyarrow": "Graph.from_arrow(table, source, target, weight) with the names of its columns",
    "duckdb": "Graph.from_arrow(table, source, target, weight) with the names of its columns",
    "scipy": "Graph.from_scipy(A)",
    "networkx": "Graph.from_networkx(g)",
    "torch": "Graph.from_edge_index(edge_index)",
    "torch_geometric": "Graph.from_edge_index(data.edge_index)",
}


def constructor_of(given: Any) -> str:
    """The expression that converts an object to a graph, for messages."""
    library = type(given).__module__.partition(".")[0].removeprefix("_")
    return CONSTRUCTORS.get(library, "Graph.from_edges(src, dst), two columns, or a list of pairs")


def index_of(given: Any) -> Any:
    """The index of a Series or DataFrame of pandas or cuDF; None for other objects."""
    index = getattr(given, "index", None)  # list.index is a method; polars has no index
    is_table = index is not None and not callable(index) and hasattr(given, "items") and hasattr(given, "to_numpy")
    return index if is_table else None


def iterable(given: Any) -> Any:
    """A cuDF Series or DataFrame, which is not iterable, converted to pandas; other objects unchanged."""
    return given.to_pandas() if hasattr(given, "to_pandas") and index_of(given) is not None else given


def check_not_table(given: Any, what: str) -> None:
    """Reject a table if one column is needed: its header would be read instead of its rows. `what`: what is needed."""
    if hasattr(type(given), "columns") or hasattr(type(given), "column_names"):
        rest = "" if index_of(given) is None else ", or its index"
        raise GraphError(f"a {type(given).__name__} is not {what}; pass one of its columns{rest}")


def is_numbered(index: Any, count: int) -> bool:
    """Whether an index is the default index of pandas, 0 to count − 1."""
    return [getattr(index, name, None) for name in ("start", "stop", "step")] == [0, count, 1]


def check_index(given: Any, name: str, order: str, remedy: str = "") -> None:
    """Reject a pandas column with an index other than 0, 1, 2, …, because its rows are read in `order`."""
    index = index_of(given)
    if index is None or is_numbered(index, len(index)) or np.array_equal(index.to_numpy(), np.arange(len(index))):
        return
    problem = f"{name} has a pandas index, which begins with {shown(plain(index[0]))}, but is read {order}"
    raise GraphError(f"{problem}; pass .to_numpy() if it is in that order{remedy}")


NO_COLUMN = "the labels have several types, exceed 64 bits or would be rounded, so they fit into no column"
EXACT_UP_TO = 2**53  # float64 does not represent all integers above this


def as_column(
    values: Any, name: str, of_numbers: Callable[[list[Any], str], npt.NDArray[Any]] | None = None
) -> npt.NDArray[Any]:
    """A list or a column of any library as a NumPy array; `of_numbers` converts a list of numbers (default: to ids)."""
    if isinstance(values, np.ma.MaskedArray):
        if (place := masked_place(values)) is not None:
            raise GraphError(f"{name}[{place}] is masked; drop the masked edges first")
        values = values.data
    if not isinstance(values, np.ndarray):
        check_not_table(values, f"one column ({name})")
        if is_on_gpu(values):
            values = values.get() if hasattr(values, "get") else builders["cuda"]().column(values, name).get()
        elif hasattr(values, "to_pylist"):
            # Arrow: a chunked array has no argument zero_copy_only
            values = values.to_numpy() if hasattr(values, "chunks") else values.to_numpy(zero_copy_only=False)
        elif hasattr(values, "to_numpy"):
            values = values.to_numpy()  # pandas, polars
        elif hasattr(values, "__dlpack__"):
            values = np.from_dlpack(values)
        else:
            values = _array_of(values, name, of_numbers or _ids_of)
    if values.ndim != 1:
        raise GraphError(f"{name} has {values.ndim} dimensions; pass one column")
    return np.asarray(values)


def _array_of(values: Any, name: str, of_numbers: Callable[[list[Any], str], npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """A plain sequence as an array of numbers, or else of objects."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise GraphError(f"{name}={shown(values)} is not a column; pass a list or an array with one entry per edge")
    check_order(values, name)
    values = list(values)
    if not values:
        return np.empty(0, np.int64)
    kinds = set(map(type, values))
    if all(is_real(kind) for kind in kinds):
        return np.array(values) if len(kinds) == 1 and float in kinds else of_numbers(values, name)
    return object_array(values)


def check_order(values: Any, name: str, remedy: str = "") -> None:
    """Reject a set or a dictionary: its order is arbitrary, and only the keys of a dictionary would be read."""
    if isinstance(values, Mapping | Set):
        kind = type(values).__name__
        problem = f"{name}={shown(values)} is a {kind}, whose order is arbitrary"
        raise GraphError(f"{problem}; pass a list or an array{remedy}")


def _ids_of(values: list[Any], name: str) -> npt.NDArray[Any]:
    """A list of numbers as ids. If one is a float, NumPy would convert all: 2⁵³ + 1 would become 2⁵³."""
    if set(map(type, values)) != {int}:
        values = list(map(plain, values))  # comparing NumPy integers could overflow
    whole = [value for value in values if not isinstance(value, float | np.floating)]
    greatest = max(whole, key=abs, default=0)
    if abs(greatest) >= 2**63:
        raise GraphError(f"{name} contains {shown(greatest)}, which exceeds 64 bits; pass ids as strings")
    if len(whole) < len(values) and abs(greatest) > EXACT_UP_TO:
        odd = [value for value in values if value != value or abs(value) >= 2.0**63 or value != int(value)]
        if odd:
            raise GraphError(f"{name} contains {odd[0]}, which is not an integer; vertices are numbered 0, 1, 2, …")
        return np.array([int(value) for value in values], np.int64)
    return np.array(values)


def object_array(values: Sequence[Any]) -> npt.NDArray[Any]:
    """A column of objects, filled one by one, because NumPy would unpack tuples."""
    array = np.empty(len(values), object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def library_columns(columns: Mapping[str, Any], make: Callable[[Any], Any], back: str) -> dict[str, Any]:
    """Columns that another library makes of arrays, and turns into lists by its method `back`.

    Labels that fit into no column, or would change there, raise a GraphError.
    """
    lists = {name: part.tolist() for name, part in columns.items() if part.dtype == object}
    with suppress(TypeError, ValueError, OverflowError, NotImplementedError):
        found = {name: make(lists.get(name, part)) for name, part in columns.items()}  # types are inferred from lists
        if all(_as_lists(getattr(found[name], back)()) == _as_lists(part) for name, part in lists.items()):
            return found
    raise GraphError(f"{NO_COLUMN}; use to_pandas(), or rename the vertices with G.relabel")


def _as_lists(label: Any) -> Any:
    """A label that is a tuple as a list, which is how other libraries return it."""
    return [_as_lists(part) for part in label] if isinstance(label, list | tuple) else label


# ---------------------------------------------------------------- weights


@ignoring("invalid")
def weight_column(values: Any, count: int, name: str = "weights") -> npt.NDArray[Any]:
    """Weights as float32 (if passed as float32 or float16) or float64, one per edge; all values must be exact."""
    array = as_column(values, name, _weights_of)
    if array.dtype.kind == "O":
        array = _weights_of(array.tolist(), name)
    if array.dtype.kind not in "biuf":
        found = "text" if array.dtype.kind in "US" else str(array.dtype)
        raise GraphError(f"{name} must be numbers, not {found}; pass an array of integers or floats")
    check_length(array, count, name)
    kept = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    held: npt.NDArray[Any] = np.ascontiguousarray(array, kept)
    check_numbers(first_nan(held), name)
    if array.dtype.itemsize >= 8 and array.dtype != np.float64 and len(array):
        beyond = 2.0 ** (63 if array.dtype.kind == "i" else 64)  # first float64 beyond int64 or uint64
        rounded = np.flatnonzero((held.astype(array.dtype) != array) | ((held >= beyond) & (array.dtype.kind != "f")))
        if len(rounded):
            raise _rounded(array[rounded[0]], name)
    return held


def _weights_of(values: list[Any], name: str) -> npt.NDArray[Any]:
    """A list of numbers as float64."""
    found = np.empty(len(values))
    for i, value in enumerate(values):
        if isinstance(value, Decimal):  # from DuckDB or Parquet; converted as the same text would be
            value = int(value) if value.is_finite() and value == int(value) else float(value)
        if not is_real(type(value)):
            raise GraphError(f"{name}[{i}] is {shown(value)}, which is not a number; pass one number per edge")
        value = int(value) if isinstance(value, np.integer) else value  # NumPy would round for the comparison
        try:
            found[i] = held = float(value)
        except OverflowError:
            raise _rounded(value, name) from None
        if held != value and value == value:
            raise _rounded(value, name)
    return found


def _rounded(value: Any, name: str) -> GraphError:
    return GraphError(f"{name} contains {shown(value)}, which is not exact in float64; scale the weights down")


def check_length(array: Any, count: int, name: str) -> None:
    """Raise a GraphError unless there is one weight per edge."""
    if len(array) != count:
        raise GraphError(f"{name} has {len(array)} entries for {count} edges; pass one per edge, in the edges' order")


def check_numbers(place: int | None, name: str) -> None:
    """Raise a GraphError if a weight is NaN; `place` is the position of the first NaN, or None."""
    if place is not None:
        raise GraphError(f"{name}[{place}] is NaN; drop that edge, or pass a number")


@ignoring("invalid", "over")
def first_nan(weights: npt.NDArray[Any]) -> int | None:
    """The position of the first NaN, or None."""
    total = weights.sum(dtype=np.float64)  # one pass without a temporary array; NaN if a weight is NaN, or inf − inf
    if total == total:
        return None
    places = np.flatnonzero(np.isnan(weights))
    return int(places[0]) if len(places) else None


# ---------------------------------------------------------------- labels


def label_column(labels: Any) -> npt.NDArray[Any] | None:
    """Names of vertices as a copied column; raises a GraphError unless all names differ."""
    if labels is None:
        return None
    check_not_table(labels, "a list of names")
    labels = iterable(labels)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) == 0:
        raise GraphError(f"labels={shown(labels)} is not a list of names; pass exactly one name per vertex")
    check_order(labels, "labels", ", or G.relabel a dictionary of vertices")
    check_index(labels, "labels", "in the order of the vertices", ", or G.relabel(labels) to read it by vertex")
    if (place := masked_place(labels)) is not None:
        raise GraphError(f"labels[{place}] is masked; pass a name for every vertex")
    if isinstance(labels, np.ndarray) and labels.dtype.kind not in "mMO":
        array = labels.copy()
    else:
        array = object_array(list(map(plain, labels)))
    if array.ndim == 1 and array.dtype.kind in "iu" and bool((array[1:] > array[:-1]).all()):
        array.setflags(write=False)  # ascending numbers always differ
        return array
    try:
        different = len(set(array.tolist()))
    except (TypeError, ValueError) as error:
        raise GraphError(f"a label cannot be hashed ({error}); use strings, numbers or tuples") from None
    if array.ndim != 1 or different != len(array):
        again = next((label for label, count in Counter(array.tolist()).items() if count > 1), None)
        raise GraphError(f"two vertices have the same label, {again!r}; labels must differ")
    if array.dtype.kind in "fcO" and any(map(is_missing, array.tolist())):
        raise GraphError("a label is None or NaN, which is not a name; pass a name for every vertex")
    array.setflags(write=False)
    return array


def factorize(
    source: npt.NDArray[Any],
    target: npt.NDArray[Any],
    named: bool = False,
    titles: tuple[str, str] = ("src", "dst"),
    remedy: str = "pass names=True",
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[Any]]:
    """Numbers for labels in the order of first appearance. Unless `named`, texts for missing values are rejected."""
    ends = np.empty(2 * len(source), object)
    for first, column in enumerate((source, target)):
        ends[first::2] = object_array(list(map(plain, column))) if column.dtype.kind in "mM" else column
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter((number.setdefault(end, len(number)) for end in ends.tolist()), np.int64, len(ends))
    except (TypeError, ValueError) as error:
        raise GraphError(f"a label cannot be hashed ({error}); use strings, numbers or tuples") from None
    texts = {label for label in number if isinstance(label, str)}
    for label in number:
        if is_missing(label) or (not named and isinstance(label, str) and label.strip() in NOTHING):
            row, end = divmod(int((codes == number[label]).argmax()), 2)
            raise GraphError(
                f"{titles[end]}[{row}] is {label!r}, which is not a vertex; drop the rows without an endpoint"
                if is_missing(label)
                else f"{titles[end]}[{row}] is {label!r}, which may be a missing value: drop the rows without an "
                f"endpoint, or {remedy} if it is a name"
            )
        if texts and not isinstance(label, str) and (text := _text(label)) in texts:  # the columns have two types
            kind, remedy = ("a number", "astype(str), or to numbers") if is_real(type(label)) else _BYTES
            problem = f"{plain(label)!r} and {text!r} are both vertices, {kind} and a text"
            raise GraphError(f"{problem}; convert all of them to text with {remedy}")
    return codes[0::2], codes[1::2], object_array(list(number))


_BYTES = "bytes", "label.decode()"


def _text(label: Any) -> str | None:
    """A number or bytes as they appear in a text column; None for other labels, and if there is no such text."""
    try:
        if isinstance(label, bytes):
            return label.decode()
        return str(label).removesuffix(".0") if is_real(type(label)) else None
    except ValueError:  # more digits than Python prints, or invalid UTF-8
        return None


def plain(label: Any) -> Any:
    """A NumPy scalar as the equal Python object, if there is one; other objects unchanged."""
    if not isinstance(label, np.generic) or (found := label.item()) is None:  # None means NaT
        return label
    if isinstance(label, np.datetime64 | np.timedelta64) and isinstance(found, int):
        if np.datetime_data(label.dtype)[0] == "generic":
            return label
        coarse = label.astype(f"{label.dtype.kind}8[us]")  # Python's dates count microseconds
        return coarse.item() if coarse == label and not isinstance(coarse.item(), int) else label
    return found


def is_numeric(column: Any) -> bool:
    """Whether a column of pandas, cuDF, NumPy, polars or Arrow has a numeric type."""
    kind: Any = getattr(column, "dtype", None)
    if hasattr(kind, "is_numeric"):  # polars
        return bool(kind.is_numeric())
    if kind is None:  # Arrow
        return str(getattr(column, "type", "")).startswith(("int", "uint", "float", "double", "halffloat", "decimal"))
    if getattr(kind, "kind", "") == "O":
        some = [value for value in map(plain, iterable(column[:50])) if not is_missing(value)]
        return bool(some) and all(is_real(type(value)) or isinstance(value, Decimal) for value in some)
    return getattr(kind, "kind", "") in tuple("iuf")


# Values of columns that state the direction of each edge, by the lower-case header: Gephi's Type, OpenStreetMap's
# oneway. 1: from source to target, 0: both directions, -1: from target to source.
_YES_OR_NO = {"yes": 1, "true": 1, "1": 1, "no": 0, "false": 0, "0": 0, "-1": -1}
DIRECTIONS = {"type": {"directed": 1, "undirected": 0}, "directed": _YES_OR_NO, "oneway": _YES_OR_NO}


def direction_column(titles: Iterable[Any]) -> Any:
    """The column that states which edges are directed, or None. A column "type" counts only if it is the only one."""
    kinds = {title: str(title).strip().lower() for title in titles}
    told = [title for title, kind in kinds.items() if kind in DIRECTIONS]
    told = [title for title in told if len(told) == 1 or kinds[title] != "type"]
    if len(told) > 1:
        both = f"columns {told[0]!r} and {told[1]!r} both state which edges are directed"
        raise GraphError(f"{both}; drop one of them, or pass directed=True or directed=False")
    return told[0] if told else None


def by_direction(title: Any, cells: Any, source: Any, target: Any, weights: Any) -> tuple[Any, Any, Any, bool]:
    """(sources, targets, weights, directed): arcs in the order of the rows, and whether any edge is directed."""
    cells, kind = iterable(cells), str(title).strip().lower()
    cells = cells.to_pylist() if hasattr(cells, "to_pylist") else cells  # Arrow
    texts = [str(cell).strip().removesuffix(".0") for cell in cells]  # an empty cell turns the numbers into floats
    found = {text: DIRECTIONS[kind].get(text.lower()) for text in texts}
    other = [repr(text) for text, way in found.items() if way is None]
    if not any(found.values()) and (kind == "type" or not other):  # "type" may be unrelated to directions
        return source, target, weights, False
    if other:
        listed = ", ".join(other[:5]) + (", …" if len(other) > 5 else "")
        allowed = "Directed or Undirected" if kind == "type" else "yes (one arc), no (two) or -1 (one arc backwards)"
        raise GraphError(
            f"column {title!r} contains {listed}, which is not {allowed}; replace these values, or pass directed=True "
            "or directed=False to ignore the column"
        )
    ways, u, v = np.array([found[text] for text in texts], np.int8), as_column(source, "src"), as_column(target, "dst")
    numbers = u.dtype.kind in "iuf" and v.dtype.kind in "iuf"
    a, b, names = (whole_numbers(u, "src"), whole_numbers(v, "dst"), None) if numbers else factorize(u, v, named=True)
    row = np.repeat(np.arange(len(ways)), 1 + ((ways == 0) & (a != b)))
    back = ways[row] < 0
    back[1:] |= row[1:] == row[:-1]
    a, b = np.where(back, b[row], a[row]), np.where(back, a[row], b[row])
    weights = None if weights is None else weight_column(weights, len(ways))[row]
    return (a, b, weights, True) if names is None else (names[a], names[b], weights, True)


# Texts that other programs write for missing values. The case matters: NAN is an airport.
NOTHING = {"", "NaN", "nan", "NaT", "null", "NULL", "None", "NA", "N/A", "#N/A", "<NA>"}


def is_missing(label: Any) -> bool:
    """Whether a label is None, NaN (which differs from itself) or pandas' NA (whose comparison has no truth value)."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


# ---------------------------------------------------------------- the builder of the CPU


def _extent(*columns: npt.NDArray[Any]) -> tuple[int, int]:
    """The minimum and maximum id in all columns; (0, -1) if they are empty."""
    some = [part for column in columns if len(column) for part in parted(lambda part: (part.min(), part.max()), column)]
    return min((int(least) for least, _ in some), default=0), max((int(most) for _, most in some), default=-1)


_ON_HOST = SimpleNamespace(column=as_column, extent=_extent, rows_of=rows_of, to_host=lambda array: array)
builders["cpu"] = lambda: _ON_HOST
