"""Calls that are rejected: one file of rows per room. tests/rejections/test_rejections.py says how to add a row."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Row = tuple[Callable[..., Any], type[BaseException], str]  # call, class of the error, a word of its message


def each(call: Callable[..., Any], values: Iterable[Any], kind: type[BaseException], word: str) -> list[Row]:
    """One row per value, which is the first argument of the call."""
    return [(partial(call, value), kind, word) for value in values]


def file(folder: Path, name: str, content: str | bytes) -> Path:
    """A file with this content, for readers."""
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder / name


def masked(values: Any) -> Any:
    """An array whose first entry is masked."""
    return np.ma.array(values, mask=[True] + [False] * (len(values) - 1))
