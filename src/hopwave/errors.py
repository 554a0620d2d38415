"""The errors of hopwave, grouped by who can fix them.

Every message gives the value, the reason why it cannot be used, and a remedy.
"""

import _imp
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def amount(size: float) -> str:
    """A number of bytes with a unit."""
    size = min(size, 1e30)  # an int beyond float64 cannot be formatted as a float
    for unit, many in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= many:
            return f"{size / many:.2f} {unit}"
    return f"{size:.0f} bytes"


class HopwaveError(Exception):
    """The parent of every error hopwave raises on purpose.

    >>> try:
    ...     hw.Graph.from_edges([0], [-1])
    ... except hw.HopwaveError as error:
    ...     print(type(error).__name__)
    GraphError
    """


class GraphError(HopwaveError, ValueError):
    """An argument cannot be used, for example a graph, a vertex or a number.

    >>> hw.bfs(hw.generate.path(3), 7)
    Traceback (most recent call last):
    hopwave.errors.GraphError: 7 is not a vertex of this graph; its vertices are the numbers 0 to 2
    """


class ConvergenceError(GraphError):
    """An iterative method did not converge within `max_iter` rounds.

    >>> hw.eigenvector_centrality(hw.generate.path(3), max_iter=2)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopwave.errors.ConvergenceError: the centralities did not converge: round 2 ...; pass a larger max_iter or tol
    """

    left: float = float("nan")  # change in the last round


class PlanError(HopwaveError, ValueError):
    """The plan is unknown, or cannot compute what was requested.

    >>> hw.bfs(hw.generate.path(3), 0, plan="xbfs", path_counts=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopwave.errors.PlanError: plan 'xbfs' stops a row at the first parent, so it cannot count paths; ...
    """


class EngineError(HopwaveError, RuntimeError):
    """The hardware, its driver or its memory cannot do what was requested.

    >>> hw.bfs(hw.generate.path(3), 0, device="abacus")
    Traceback (most recent call last):
    hopwave.errors.EngineError: device 'abacus' is not known; use 'auto', 'cuda', 'cpu' or 'reference'
    """


class ExecutorError(EngineError):
    """The workers of an executor were lost, or a block of work failed on several workers.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> pool = ThreadPoolExecutor(2)
    >>> pool.shutdown()
    >>> hw.closeness_centrality(hw.generate.path(3), executor=pool)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hopwave.errors.ExecutorError: the executor cannot continue: RuntimeError: cannot schedule new futures after ...
    """


class LinalgError(HopwaveError, ValueError):
    """Operands, types or options of `hopwave.linalg` do not fit together.

    >>> la.Vector.full(3, 1.0).astype("uint8")
    Traceback (most recent call last):
    hopwave.errors.LinalgError: uint8 is not a type of linalg; use bool, int32, int64, float32, float64
    """


class FormatError(HopwaveError, ValueError):
    """A file cannot be read or written. The message starts with the path and, for a text file, the line number.

    >>> print(FormatError("'x y z' is not an edge; write two numbers", path="web.mtx", line=3))
    web.mtx:3: 'x y z' is not an edge; write two numbers
    """

    def __init__(self, message: str, path: str | os.PathLike[str] | None = None, line: int | None = None) -> None:
        self.path: str | None = None if path is None else os.fspath(path)
        self.line = line
        place = ":".join(str(part) for part in (self.path, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class DownloadError(HopwaveError, OSError):
    """A graph could not be downloaded: there is no network, or the server does not send the file.

    `status` is the HTTP status code, such as 404; None if the server did not respond.

    >>> hw.DownloadError("no connection", status=None).status is None
    True
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class SparseIdsWarning(UserWarning):
    """Vertex ids were so sparse that they became labels, or start above 0; pass n= to keep the ids as vertex numbers.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     G = hw.Graph.from_edges([10**9, 5], [5, 7])
    >>> G.labels.tolist(), caught[0].category.__name__
    ([5, 7, 1000000000], 'SparseIdsWarning')
    """


class IgnoredColumnWarning(UserWarning):
    """A column of a file may hold weights or endpoints, but neither the header nor an option says so; it was not read.

    >>> issubclass(hw.IgnoredColumnWarning, UserWarning)
    True
    """


class LostDirectionWarning(UserWarning):
    """The written format does not record direction, and by default the file is read back as the other kind of graph.

    >>> issubclass(hw.LostDirectionWarning, UserWarning)
    True
    """


class IgnoredWeightsWarning(UserWarning):
    """A function ignored the graph's weights and counted hops, because `weights=` was not passed.

    >>> import warnings
    >>> roads = hw.Graph.from_edges([0, 1], [1, 2], weights=[1.0, 5.0])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    ...     hw.diameter(roads)
    2
    """


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that names the caller's line outside hopwave, once per line."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "hopwave":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def too_large(what: str, needed: float, usable: float, remedy: str, least: str = "") -> EngineError:
    """The error for anything that does not fit into memory. `least` names the part that needs `needed` bytes."""
    part = f" for {least}" if least else ""
    return EngineError(f"{what} needs {amount(needed)}{part} and may use {amount(usable)}; {remedy}")


# A function that returns a module of the GPU engine by name, or raises an EngineError if there is no usable GPU.
gpu_part: Any = None  # set by hopwave/__init__.py, so that packages below the engines need not import the engines


def explain_gpu(error: BaseException, doing: str) -> None:
    """Raise an EngineError with a remedy if the error comes from CUDA or CuPy; otherwise return."""
    sorting = "cupy" in sys.modules and isinstance(error, MemoryError)  # CuPy's sorts raise Python's MemoryError
    if sorting or type(error).__module__.startswith(("cupy", "hopwave.engines.cuda.")):
        cuda = gpu_part("errors")
        if reason := cuda.translated(error, doing, remedy=cuda.OTHERS_LESS):
            raise EngineError(reason) from error


def free_imports() -> None:
    """Release CPython's import lock, which this thread still holds if a signal interrupted an import waiting for it."""
    while _imp.lock_held():
        try:
            _imp.release_lock()
        except RuntimeError:  # another thread holds it
            return


@contextmanager
def explaining(doing: str) -> Iterator[None]:
    """Turn errors of CUDA and CuPy, in a with block or a decorated function, into EngineErrors."""
    try:
        yield
    except Exception as error:
        explain_gpu(error, doing)
        raise
