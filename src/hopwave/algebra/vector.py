"""Vector: values at some positions of 0 … n − 1, stored as a list or as an array with a bitmap."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hopwave.algebra.operators import checked_dtype, kept_dtype, one_value, refuse_masked
from hopwave.arrays import Array, all_true, as_array, checked_places, fetched, home_of, module_of, on_gpu, uploaded
from hopwave.checks.keywords import offers
from hopwave.checks.numbers import is_whole, shown
from hopwave.errors import LinalgError, explaining
from hopwave.graph.csr import LARGEST_VERTEX_COUNT

Format = Literal["sparse", "dense"]
# Methods that every product calls: their names appear in GPU errors, at no cost per call.
QUICK = ("sparse", "dense", "count_if_known", "entries", "listed", "arrays", "replace", "to")


@dataclass(frozen=True)
class Shares:
    """The rule for converting a vector, by the share of its positions with a value (push-pull, section 6.3).

    The vector becomes dense if the share grows above `rising`, and sparse if it shrinks below `falling`.

    >>> Shares(rising=0.01, falling=0.01).dense(n=1000, count=20, before=5, was_dense=False)
    True
    """

    rising: float
    falling: float

    def dense(self, n: int, count: int, before: int, was_dense: bool) -> bool:
        """Whether a vector with `count` entries of n is stored dense; it had `before` entries at the last choice."""
        if was_dense:
            return not (count < before and count < self.falling * n)
        return count > before and count > self.rising * n


CONVERT = Shares(rising=0.01, falling=0.01)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {}  # by operator; hopwave.linalg fills it


class Arithmetic:
    """A @ x is `mxv`, x @ A `vxm`, A @ B `mxm`; x + y is `ewise_add`, x * y `ewise_mult`. Numbers are broadcast."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy's arrays defer to these methods

    def __matmul__(self, other: Any) -> Any:
        return OPERATIONS["@"](self, other)

    def __add__(self, other: Any) -> Any:
        return OPERATIONS["+"](self, other)

    def __mul__(self, other: Any) -> Any:
        return OPERATIONS["*"](self, other)

    __radd__, __rmul__ = __add__, __mul__


@partial(offers, quick=QUICK)
class Vector(Arithmetic):
    """Sparse vector of length n. A position without a value is missing, not zero.

    It is stored as a list of positions and values ("sparse"), or as an array of n values with a bitmap ("dense"). A
    product converts its vector by `rule`, from the share of positions with a value and whether the share rises or falls
    (push-pull, section 6.3); a sparse vector is then pushed, a dense vector pulled.

    >>> x = la.Vector.from_entries([4, 1], [2.5, 0.5], n=6)
    >>> x
    Vector(n=6, nnz=2, float64, sparse)
    >>> x.indices.tolist(), x.values.tolist(), x[1], x[0]
    ([1, 4], [0.5, 2.5], 0.5, None)
    >>> (x + x).to_dict(), (2 * x * x).to_dict()
    ({1: 1.0, 4: 5.0}, {1: 0.5, 4: 12.5})
    """

    __slots__ = (
        "_ascending", "_before", "_borrowed", "_count", "_indices", "_present", "_values", "_was_dense", "n", "rule",
    )  # fmt: skip
    n: int
    rule: Shares
    _before: int  # number of entries at the rule's last choice
    _was_dense: bool  # whether the last choice was dense

    def __init__(self, n: int, dtype: npt.DTypeLike = np.float64, *, rule: Shares = CONVERT) -> None:
        """An empty vector."""
        self.n = checked_length(n)
        self.rule = rule
        self._before, self._was_dense = 0, False
        self._set_sparse(np.empty(0, np.int32), np.empty(0, checked_dtype(dtype)), ascending=True)

    # ---------------------------------------------------------------- constructors

    @classmethod
    def from_entries(cls, indices: Any, values: Any, n: int, dtype: npt.DTypeLike | None = None) -> Vector:
        """Values at the positions `indices`, each listed at most once; a single number is the value at all of them.

        >>> Vector.from_entries([2], True, n=4).to_dense(False).tolist()
        [False, False, True, False]
        """
        xp = module_of(indices)
        refuse_masked(indices=indices, values=values)
        places = checked_places(indices, "indices", xp)
        n = checked_length(n)
        found = as_array(values, "values", LinalgError, xp)
        found = found.astype(kept_dtype(found.dtype, dtype), copy=False)
        if found.ndim == 0:
            found = xp.full(len(places), found)
        if found.shape != places.shape:
            raise LinalgError(f"{len(places)} indices do not fit values of shape {found.shape}; pass one per index")
        one = len(places) == 1  # the usual source of a search
        low, high = (int(places[0]),) * 2 if one else (int(places.min()), int(places.max())) if len(places) else (0, -1)
        if low < 0 or high >= n:
            outside = low if low < 0 else high
            raise LinalgError(f"index {outside} is outside 0 … {n - 1}; omit it, or pass a larger n")
        places = places.astype(xp.int32, copy=False)
        ascending = one or bool((places[1:] > places[:-1]).all())
        if not ascending:
            order = xp.argsort(places)
            places, found = places[order], found[order]
            if not bool((places[1:] > places[:-1]).all()):
                raise LinalgError("an index occurs twice; pass each at most once")
        return cls.sparse(n, places, found)

    @classmethod
    def from_dense(cls, values: Any, present: Any = None, dtype: npt.DTypeLike | None = None) -> Vector:
        """The array's values, at every position or where `present` is True; nothing is copied if the types fit.

        `assign` and other operations that change the vector copy the arrays first: the caller's arrays never change.

        >>> Vector.from_dense([1, 0, 3], present=[True, False, True]).nnz
        2
        """
        xp = module_of(values)
        refuse_masked(values=values, present=present)
        array = as_array(values, "values", LinalgError, xp)
        if array.ndim != 1:
            raise LinalgError(f"values has {array.ndim} dimensions; pass a 1-D array")
        checked_length(len(array))
        array = array.astype(kept_dtype(array.dtype, dtype), copy=False)
        array = xp.ascontiguousarray(array)
        bits = all_true(len(array), xp)
        if present is not None:
            bits = xp.ascontiguousarray(as_array(present, "present", LinalgError, xp), xp.bool_)
        if bits.shape != array.shape:
            raise LinalgError(f"present has shape {bits.shape}, but values has {array.shape}; the shapes must match")
        found = cls.dense(array, bits, len(array) if present is None else None)
        found._borrowed = True
        return found

    @classmethod
    def full(cls, n: int, value: Any, dtype: npt.DTypeLike | None = None, *, device: str = "cpu") -> Vector:
        """A vector with the same value at every position.

        >>> Vector.full(3, 0.5).values.tolist()
        [0.5, 0.5, 0.5]
        """
        if isinstance(value, list | tuple) or np.ndim(value):
            raise LinalgError(f"value={value!r} is not a single number; use from_dense for different values")
        refuse_masked(value=value)
        kind = kept_dtype(np.asarray(value).dtype, dtype)
        n = checked_length(n)
        return cls.dense(np.full(n, value, kind), np.ones(n, np.bool_), n).to(device)

    @classmethod
    def sparse(cls, n: int, indices: Array, values: Array, *, ascending: bool = True) -> Vector:
        """For engines, unchecked: distinct int32 positions, in any order if `ascending` is False, and their values."""
        self = cls.__new__(cls)
        self.n, self.rule, self._before, self._was_dense = n, CONVERT, 0, False
        self._set_sparse(indices, values, ascending)
        return self

    @classmethod
    def dense(cls, values: Array, present: Array, count: int | Callable[[], int] | None = None) -> Vector:
        """For engines, unchecked: n values, n bools, and the number of True bools.

        The count may be None, or a function that returns it, so that a GPU is not synchronised early.
        """
        self = cls.__new__(cls)
        self.n, self.rule, self._before, self._was_dense = len(values), CONVERT, 0, False
        self._set_dense(values, present, count)
        return self

    _indices: Array
    _values: Array
    _present: Array
    _ascending: bool  # whether `listed` returns positions in ascending order
    _borrowed: bool  # whether the arrays belong to the caller and are read-only
    _count: int | Callable[[], int] | None

    def _set_sparse(self, indices: Array, values: Array, ascending: bool) -> None:
        self._indices, self._values, self._present = indices, values, None
        self._ascending, self._borrowed, self._count = ascending, False, len(indices)

    def _set_dense(self, values: Array, present: Array, count: int | Callable[[], int] | None) -> None:
        self._indices, self._values, self._present = None, values, present
        self._ascending, self._borrowed, self._count = True, False, count

    # ---------------------------------------------------------------- properties

    @property
    def nnz(self) -> int:
        """The number of positions with a value."""
        if not isinstance(self._count, int):
            self._count = self._counted()
        return self._count

    @explaining("counting entries")
    def _counted(self) -> int:
        assert not isinstance(self._count, int)
        return int(module_of(self._present).count_nonzero(self._present)) if self._count is None else self._count()

    def count_if_known(self) -> int | None:
        """`nnz` if it is available without computation or synchronisation, else None."""
        return self._count if isinstance(self._count, int) else None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        kind: np.dtype[Any] = self._values.dtype
        return kind

    @property
    def format(self) -> Format:
        """The current format, "sparse" or "dense"."""
        return "sparse" if self._present is None else "dense"

    @property
    def device(self) -> str:
        """The device of the vector, "cpu" or "cuda"."""
        return "cuda" if on_gpu(self._values) else "cpu"

    @property
    def indices(self) -> Array:
        """The positions with a value, ascending."""
        return self.entries()[0]

    @property
    def values(self) -> Array:
        """The values, in the order of `indices`."""
        return self.entries()[1]

    def entries(self) -> tuple[Array, Array]:
        """Ascending positions and their values; not copied if the vector is sparse."""
        ready = self._present is None and self._ascending
        return (self._indices, self._values) if ready else self._sorted_entries()

    @explaining("listing entries")
    def _sorted_entries(self) -> tuple[Array, Array]:
        if self._present is not None:
            xp = module_of(self._present)
            places = xp.flatnonzero(self._present).astype(xp.int32)
            return places, self._values[places]
        order = module_of(self._indices).argsort(self._indices)
        self._set_sparse(self._indices[order], self._values[order], ascending=True)
        return self._indices, self._values

    def listed(self) -> tuple[Array, Array]:
        """Like `entries`, but in storage order."""
        return (self._indices, self._values) if self._present is None else self.entries()

    def arrays(self) -> tuple[Array, Array]:
        """n values and n bits, not copied if the vector is dense. Values without a bit are arbitrary."""
        return (self._values, self._present) if self._present is not None else self._spread()

    @explaining("spreading entries")
    def _spread(self) -> tuple[Array, Array]:
        xp = module_of(self._values)
        values, present = xp.zeros(self.n, self._values.dtype), xp.zeros(self.n, xp.bool_)
        values[self._indices] = self._values
        present[self._indices] = True
        return values, present

    def to_dense(self, missing: Any = 0) -> Array:
        """An array of n values; positions without a value get `missing`.

        >>> Vector.from_entries([1], [7], n=3).to_dense(-1).tolist()
        [-1, 7, -1]
        """
        values, present = self.arrays()
        return module_of(values).where(present, values, one_value("missing", missing, values.dtype))

    def to_dict(self) -> dict[int, Any]:
        """Positions and values, as Python numbers."""
        places, values = self.entries()
        return dict(zip(places.tolist(), values.tolist(), strict=True))

    @explaining("reading an entry")
    def __getitem__(self, place: int) -> Any:
        if not is_whole(place) or not 0 <= place < self.n:
            raise LinalgError(f"{place!r} is not an index of this vector; pass 0 to {self.n - 1}")
        if self._present is not None:
            return self._values[place].item() if bool(self._present[place]) else None
        found = module_of(self._indices).flatnonzero(self._indices == place)
        return self._values[int(found[0])].item() if len(found) else None

    # ---------------------------------------------------------------- conversions

    def _decide(self) -> Format:
        """The format that the rule chooses for the current entries; their number is stored for the next choice."""
        self._was_dense = self.rule.dense(self.n, self.nnz, self._before, self._was_dense)
        self._before = self.nnz
        return "dense" if self._was_dense else "sparse"

    def convert(self, to: Format | None = None) -> Format:
        """Convert to the given format, or to the format that the rule chooses.

        >>> x = Vector.full(100, 1)
        >>> x.convert(), x.convert("sparse")
        ('dense', 'sparse')
        """
        if to is None:
            to = self._decide()
        if to == "dense" and self._present is None:
            self._set_dense(*self.arrays(), self._count)
        elif to == "sparse" and self._present is not None:
            self._set_sparse(*self.entries(), ascending=True)
        return to

    def _follow(self, other: Vector) -> Vector:
        """Continue the sequence of `other`: copy its rule and the rule's last observation."""
        self.rule, self._before, self._was_dense = other.rule, other._before, other._was_dense
        return self

    def replace(self, other: Vector) -> Vector:
        """Replace the entries by those of another vector. This vector keeps its rule, and the rule's last choice."""
        if other._present is None:
            self._set_sparse(other._indices, other._values, other._ascending)
        else:
            self._set_dense(other._values, other._present, other._count)
        self._borrowed = other._borrowed
        return self

    def _with(self, values: Array, move: Callable[[Array], Array] = lambda array: array.copy()) -> Vector:
        """A vector with other values at the same positions; `move` copies the array of positions or bits."""
        if self._present is None:
            twin = Vector.sparse(self.n, move(self._indices), values, ascending=self._ascending)
        else:
            twin = Vector.dense(values, move(self._present), self._count)
        return twin._follow(self)

    def copy(self) -> Vector:
        """An independent copy."""
        return self._with(self._values.copy())

    def astype(self, dtype: npt.DTypeLike) -> Vector:
        """A copy with values converted to `dtype`.

        >>> u = Vector.from_entries([1], [2], n=3)
        >>> u.astype("float64")[1], u.astype("int64") is u
        (2.0, False)
        """
        kind, values = checked_dtype(dtype), self._values
        if self._present is not None and values.dtype.kind == "f" and kind.kind != "f":
            # Arbitrary values at missing positions may not fit the type.
            values = module_of(values).where(self._present, values, values.dtype.type(0))
        return self._with(values.astype(kind))

    def to(self, device: str) -> Vector:
        """The vector on "cpu" or "cuda"; itself if it is already there."""
        home = home_of(device)
        if home == self.device:
            return self
        move = fetched if home == "cpu" else uploaded
        return self._with(move(self._values), move)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Vector(n={self.n}, nnz={self.nnz}, {self.dtype}, {self.format})"


def checked_length(n: Any) -> int:
    """The length as an int; raises a LinalgError unless indices fit 32 bits."""
    if not is_whole(n) or not 0 <= n <= LARGEST_VERTEX_COUNT:
        more = "; to convert values, use Vector.from_dense" if np.ndim(n) else ""
        raise LinalgError(f"n={shown(n)} is not a length; pass an integer from 0 to {LARGEST_VERTEX_COUNT}{more}")
    return int(n)


def as_vector(x: Any, n: int | None, what: str) -> Vector:
    """x itself if it is a Vector, else the Vector of an array or list of n values; n=None allows any length."""
    if not isinstance(x, Vector):
        if not isinstance(x, np.ndarray | Iterable):
            many = "values" if n is None else f"{n} values"
            raise LinalgError(f"{what} is a {type(x).__name__}; pass a Vector or an array of {many}")
        x = Vector.from_dense(x)
    found: Vector = x
    if n is not None and found.n != n:
        raise LinalgError(f"{what} has length {found.n}; pass a vector of length {n}")
    return found
