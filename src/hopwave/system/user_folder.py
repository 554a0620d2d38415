"""The cache folder of hopwave, and which folders are safe to run code from."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Where downloaded graphs and compiled GPU kernels are kept.

    That is HOPWAVE_CACHE if it is set, or else `hopwave` in the user's cache folder.

    Returns
    -------
    Path
        The folder; it need not exist yet.

    See Also
    --------
    fetch, download

    Examples
    --------
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


def why_not_trusted(place: Path, *, shared: bool = False) -> str | None:
    """Why code in that folder must not be run, with the remedy: somebody else can write to it. None if it is safe.

    `shared`: the folder may belong to the system's administrator, and its group may write, as for installed packages.

    >>> import tempfile
    >>> why_not_trusted(Path(tempfile.mkdtemp())) is None
    True
    """
    if os.name != "posix":
        return None
    about = place.stat()
    if about.st_uid != os.getuid() and not (shared and about.st_uid == 0):
        return f"{place} belongs to another user"
    if about.st_mode & (stat.S_IWOTH if shared else stat.S_IWGRP | stat.S_IWOTH):
        return f"{place} can be written to by others; run: chmod {'o' if shared else 'go'}-w {place}"
    return None
