"""Libraries that are there only if somebody installed them: imported when first needed, or one sentence says how."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hopwave.errors import EngineError

# Which of hopwave's extras brings a library.
EXTRAS = {
    "igraph": "igraph",
    "matplotlib": "plot",
    "networkx": "networkx",
    "pandas": "io",
    "pyarrow": "io",
}


def optional(name: str, purpose: str) -> Any:
    """The module of that name, or an EngineError that names the extra to install.

    >>> optional("networkx", "to_networkx").__name__
    'networkx'
    """
    try:
        return import_module(name)
    except ImportError:
        library = name.partition(".")[0]
        raise EngineError(
            f"{purpose} needs {library}, which is not installed; pip install {library}, or 'hopwave[{EXTRAS[library]}]'"
        ) from None
