"""Arrays mapped from a file. Other processes get their place in it, not their bytes, so that all share its pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopwave.errors import GraphError
from hopwave.graph.csr import Rows


class Place(NamedTuple):
    """Where an array lies in a file; the file's size and time of change tell whether it is still the same."""

    path: str
    begin: int
    length: int
    dtype: str
    version: tuple[int, int]


def map_array(path: str | os.PathLike[str], begin: int, count: int, dtype: Any) -> npt.NDArray[Any]:
    """A read-only array of a file's bytes from `begin` on. Nothing is read until it is used."""
    found: Any = np.memmap(path, dtype, "r", begin, (count,))
    found.version = _version(path)
    return found  # type: ignore[no-any-return]


def place_of(array: Any) -> Place | None:
    """Where in its file an array lies; None if it is not mapped, or its file was replaced or changed since."""
    root = _mapping(array)
    if root is None:
        return None
    version = getattr(root, "version", None)
    try:
        if version is None or _version(root.filename) != version:
            return None
    except OSError:
        return None
    begin = root.offset + array.ctypes.data - root.ctypes.data
    return Place(str(Path(root.filename).absolute()), begin, array.size, array.dtype.str, version)


def is_mapped(array: Any) -> bool:
    """Whether the array shows a part of a file."""
    return _mapping(array) is not None


def as_places(rows: Rows | None) -> Rows | None:
    """Rows to send to another process: mapped arrays become their places."""
    return None if rows is None else Rows(*(part if (place := place_of(part)) is None else place for part in rows))


def from_places(rows: Rows | None) -> Rows | None:
    """Rows as another process sent them, mapped again."""
    return None if rows is None else Rows(*(_mapped_again(part) if isinstance(part, Place) else part for part in rows))


def _mapped_again(place: Place) -> npt.NDArray[Any]:
    path, begin, length, dtype, version = place
    try:
        same = _version(path) == version
    except OSError as error:
        raise GraphError(
            f"the graph is mapped from {path}, and this process cannot open that ({error.strerror}); "
            "put the file where all processes see it, or read it without mmap=True"
        ) from None
    if not same:
        raise GraphError(f"{path} changed after the graph was mapped from it; read it again")
    return map_array(path, begin, length, dtype)


def _mapping(array: Any) -> Any:
    """The whole mapping that an array is a view of, or None."""
    root = None
    while array is not None:
        root = array if isinstance(array, np.memmap) else root
        array = getattr(array, "base", None)
    return root


def _version(path: Any) -> tuple[int, int]:
    about = Path(path).stat()
    return about.st_size, about.st_mtime_ns
