"""Checks of options: a flag, one of several words, a number of threads. Other values raise an error."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from hopwave.checks.numbers import is_number, is_whole
from hopwave.errors import EngineError, GraphError, HopwaveError


def flag(name: str, value: Any, error: type[HopwaveError] = GraphError) -> bool:
    """True or False; 1, 0 and NumPy bools are accepted."""
    if isinstance(value, bool | np.bool_) or (is_number(value) and value in (0, 1)):
        return bool(value)
    raise error(f"{name}={value!r} is neither True nor False; pass True or False")


def flag_or_none(name: str, value: Any) -> bool | None:
    """Like `flag`, but None is allowed and means that the function chooses."""
    if value is None:
        return None
    try:
        return flag(name, value)
    except GraphError:
        raise GraphError(f"{name}={value!r} is not a flag; pass True, False or None") from None


def one_of(name: str, value: Any, known: Iterable[str], error: type[HopwaveError] = GraphError) -> None:
    """Raise an error unless the value is one of the known words."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        *most, last = map(repr, words)
        raise error(f"{name}={value!r} is not known; use {', '.join(most)} or {last}")


def check_thread_count(threads: Any) -> None:
    """Raise an EngineError unless `threads` is a positive integer or None."""
    if threads is not None and (not is_whole(threads) or threads < 1):
        raise EngineError(f"threads={threads!r} is not a valid number of threads; pass a positive integer, or None")
