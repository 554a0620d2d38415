"""Values for the arguments that public functions require: for `hopwave warmup`, tests and benchmarks.

This file imports nothing of hopwave, so that benchmarks can use it beside an older source tree.
"""

import inspect
from collections.abc import Callable
from typing import Any

GIVEN: dict[str, Any] = {
    "source": 0, "target": 3, "vertex": 0, "sources": [0, 1], "k": 3, "d": 2, "group": [0, 1], "what": "bfs",
    "communities": [range(8)], "limits": 2, "facilities": [0], "pairs": [(0, 3)],
}  # fmt: skip


def required(function: Callable[..., Any], known: dict[str, Any] = GIVEN, without: str = "G") -> dict[str, Any]:
    """Values for the arguments that a function requires, without the graph."""
    options = inspect.signature(function).parameters.values()
    own = [one for one in options if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) and one.name != without]
    names = [one.name for one in own if one.default is one.empty]
    for name in set(names) - set(known):
        raise KeyError(f"{function.__name__} requires {name}: add a value to GIVEN in src/hopwave/cli/given.py")
    return {name: known[name] for name in names}
