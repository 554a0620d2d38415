"""NumPy and CuPy arrays: their device, checked positions, deferred arrays, and records cached with a graph."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from hopwave.checks.other_names import lacks
from hopwave.errors import EngineError, HopwaveError, LinalgError, amount, explaining

Array = Any  # of NumPy or CuPy
Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Record = TypeVar("Record")


def ignoring(*kinds: str) -> Callable[[Callable[Given, Answer]], Callable[Given, Answer]]:
    """Decorator that silences these kinds of NumPy floating-point warnings inside the function.

    The function runs in its own context, so that a Ctrl-C cannot leave the settings to the caller.
    """
    how: Any = dict.fromkeys(kinds, "ignore")

    def decorate(function: Callable[Given, Answer]) -> Callable[Given, Answer]:
        quiet = np.errstate(**how)(function)  # each call has a new state, so threads may share it
        return wraps(function)(lambda *given, **more: copy_context().run(quiet, *given, **more))

    return decorate


def seeded(seed: Any) -> np.random.Generator:
    """A random generator of NumPy. NumPy ignores overflows while creating it, and a Ctrl-C could leave that setting."""
    return copy_context().run(np.random.default_rng, seed)


def on_gpu(array: Array) -> bool:
    """Whether an array is a CuPy array."""
    # Tested on the type, because reading the attribute of an array would build a dict. A failing hasattr takes 0.5 µs.
    return type(array) is not np.ndarray and hasattr(type(array), "__cuda_array_interface__")


def module_of(array: Array) -> Any:
    """The module of an array: NumPy or CuPy."""
    if on_gpu(array):
        import cupy

        return cupy
    return np


def all_true(size: int, xp: Any = np) -> Array:
    """An array of True. CuPy's `ones` would compile a kernel."""
    if xp is np:
        return np.ones(size, np.bool_)
    found = xp.empty(size, np.bool_)
    found.data.memset_async(1, size)
    return found


def masked_place(values: Any) -> int | None:
    """Index (in the flattened array) of the first masked entry of a NumPy masked array; None if nothing is masked."""
    if not isinstance(values, np.ma.MaskedArray) or not np.ma.is_masked(values):
        return None
    return int(np.flatnonzero(np.ma.getmaskarray(values))[0])


def as_array(values: Any, what: str, error: type[HopwaveError], xp: Any = np) -> Any:
    """The values as an array of NumPy or another module; raises `error` if nested lists differ in length."""
    try:
        return xp.asarray(values)
    except ValueError:
        raise error(f"{what} has nested lists of different lengths; pass lists of equal length") from None


@ignoring("over")
def float64s(values: Any) -> npt.NDArray[np.float64] | None:
    """The values as a float64 array; None if some are not real numbers, or nested lists differ in length."""
    try:
        array = np.asarray(values)
        return None if array.dtype.kind in "cSUmMV" else np.asarray(array, np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def home_of(device: Any) -> Literal["cpu", "cuda"]:
    """Where arrays for this device are stored: "cpu" or "cuda"."""
    if isinstance(device, str) and device in ("cpu", "reference", "cuda"):
        return "cuda" if device == "cuda" else "cpu"
    raise LinalgError(f"device {device!r} is not known; use 'cpu' or 'cuda'")


def checked_places(given: Any, name: str, xp: Any = np) -> Array:
    """A caller's positions as a one-dimensional array of integers; raises a LinalgError for anything else."""
    if (place := masked_place(given)) is not None:
        raise LinalgError(f"{name}[{place}] is masked; omit masked positions")
    places = as_array(given, name, LinalgError, xp)
    if places.ndim != 1 or (len(places) and places.dtype.kind not in "iu"):
        raise LinalgError(f"{name} has type {places.dtype}, shape {places.shape}; pass a list of integers")
    return places


@explaining("uploading an array")
def uploaded(array: npt.NDArray[Any]) -> Array:
    """A copy of an array on the GPU. Raises an EngineError if the GPU has too little memory."""
    import cupy

    try:
        return cupy.asarray(array) if array.size else cupy.empty(0, array.dtype)  # cupy.empty is faster
    except MemoryError as error:  # CuPy's OutOfMemoryError is a subclass
        problem = f"the GPU ran out of memory for an array of {amount(array.nbytes)} ({error})"
        raise EngineError(f"{problem}; free some of your arrays, or use device='cpu'") from error


@explaining("fetching an array")
def fetched(array: Array) -> npt.NDArray[Any]:
    """A copy of a GPU array in host memory."""
    return array.get()  # type: ignore[no-any-return]


def is_on_gpu(values: Any) -> bool:
    """Whether a column of any library is in GPU memory: CuPy, cuDF, PyTorch, JAX, Numba, or any with DLPack."""
    if hasattr(values, "__cuda_array_interface__"):
        return True
    known = isinstance(values, np.ndarray) or hasattr(values, "to_pylist")  # Arrow's DLPack raises for text columns
    device = (0, 0) if known or not hasattr(values, "__dlpack_device__") else values.__dlpack_device__()
    return int(device[0]) in (2, 13)  # DLPack's numbers for CUDA memory, plain and managed


@dataclass(frozen=True, eq=False)
class ScaledCounts:
    """Path counts beyond float64: count[v] = mantissa[v] · 2^exponent[v]; each mantissa is 0 or in [0.5, 1).

    >>> ScaledCounts(np.array([0.5]), np.array([1101])).log2().tolist()
    [1100.0]
    """

    mantissa: npt.NDArray[np.float64]
    exponent: npt.NDArray[np.int64]

    @ignoring("divide")
    def log2(self) -> npt.NDArray[np.float64]:
        """Binary logarithm of each count; −inf if there is no path."""
        return np.asarray(np.log2(self.mantissa) + self.exponent)

    def __len__(self) -> int:
        return len(self.mantissa)

    @staticmethod
    def plain(
        mantissa: npt.NDArray[np.float64], exponent: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64] | ScaledCounts:
        """A float64 array if float64 can represent every count, else ScaledCounts."""
        if len(exponent) and int(exponent.max()) > 1024:  # a mantissa is below 1
            return ScaledCounts(mantissa, exponent)
        return np.asarray(np.ldexp(mantissa, exponent), np.float64)


class Deferred:
    """An attribute of a result that `fetch()` computes, or copies from the device, when it is first read."""

    def __init__(self, fetch: Callable[[], Any]) -> None:
        self.fetch = fetch


class Deferring:
    """A frozen record whose attributes may be Deferred: each is fetched when it is first read, and then stored."""

    def _set_aside(self) -> None:
        """Move Deferred attributes to `_deferred`, so that reading one calls __getattr__. Called last in __init__."""
        deferred = {name: value for name, value in self.__dict__.items() if type(value) is Deferred}
        for name in deferred:
            del self.__dict__[name]
        self.__dict__["_deferred"] = deferred

    def __getattr__(self, name: str) -> Any:
        waiting = self.__dict__.get("_deferred", {})
        if (deferred := waiting.get(name)) is not None:
            with explaining(f"fetching {name}"):
                self.__dict__[name] = deferred.fetch()
            waiting.pop(name, None)  # after the fetch, because another thread may read the attribute meanwhile
        if name not in self.__dict__:
            raise AttributeError(lacks(f"{type(self).__name__!r} object", name))
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling and copying, after all deferred arrays are fetched."""
        for name in list(self.__dict__.get("_deferred", ())):
            getattr(self, name)
        return {name: value for name, value in self.__dict__.items() if name != "_deferred"}


def on_host(array: Any) -> npt.NDArray[Any]:
    """The array as a NumPy array; a CuPy array is copied to the host."""
    return array.get() if hasattr(array, "get") else array  # type: ignore[no-any-return]


class Prepared(dict[Any, Any]):
    """Cache of records that engines compute once per graph, matrix or product; the key is a class or any other key."""

    def find(self, kind: type[Record]) -> Record | None:
        """The record of that class, or None."""
        return self.get(kind)

    def keep(self, record: Record) -> Record:
        """Store a record, unless another thread stored one first; returns the stored record."""
        return self.setdefault(type(record), record)  # type: ignore[no-any-return]

    def record(self, kind: type[Record]) -> Record:
        """The record of that class; on first use, the class is called without arguments."""
        return self.made(kind, kind)

    def made(self, key: Any, make: Callable[[], Record]) -> Record:
        """The record under a key, for example (class, whether a matrix is transposed); `make()` creates it."""
        found: Record | None = self.get(key)
        return self.setdefault(key, make()) if found is None else found


@dataclass
class Structure:
    """Cached properties of a graph that do not depend on the engine."""

    # Component number of each vertex, numbered by lowest vertex: weak (key False) or strong (key True) components.
    components: dict[bool, npt.NDArray[np.int32]] = field(default_factory=dict)
    depth: int | None = None  # levels of a search from the vertex of highest degree
    loops: npt.NDArray[np.int32] | None = None  # vertices with a self-loop in an undirected graph, once per loop
