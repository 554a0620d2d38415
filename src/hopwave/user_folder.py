"""The folder where hopwave keeps what it can get or make again."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Where downloaded graphs and compiled GPU kernels are kept.

    That is HOPWAVE_CACHE if it is set, or else `hopwave` in the user's cache folder.

    >>> cache_folder().name  # doctest: +SKIP
    'hopwave'
    """
    if chosen := os.environ.get("HOPWAVE_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "hopwave" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hopwave"
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".cache") / "hopwave"
