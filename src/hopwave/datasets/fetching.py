"""Graphs of the SuiteSparse collection by name: downloaded once, checked, and kept in a folder.

The folder holds one sub-folder per group. Beside SNAP/email-Enron.mtx is email-Enron.sha256, with the checksums of the
archive and of the file as they were received.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hopwave import io
from hopwave.datasets import collection, small
from hopwave.errors import DownloadError, FormatError, GraphError, HopwaveError
from hopwave.graph import Graph
from hopwave.system.files import replacing
from hopwave.system.progress import Meter
from hopwave.system.user_folder import cache_folder

ADDRESS = re.compile(r"https?://([^/\s@]+@)?([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?(/[^\s]*)?$")  # a mirror
URL = "https://suitesparse-collection-website.herokuapp.com/MM"
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*", re.ASCII)
BYTES_PER_ARC = 64  # two ids of up to 10 digits and a value of up to 25 characters: a line is shorter
HEADER = 1 << 20  # bytes of comments at most
MOST = 1 << 37  # bytes of a graph whose size is not known


def fetch(
    name: str,
    directed: bool | None = None,
    *,
    weights: bool = True,
    url: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Graph:
    """A graph of the SuiteSparse Matrix Collection. The first call downloads it, later ones read the cached file.

    Parameters
    ----------
    name : str
        "Group/name" as the collection spells it; the name alone is enough for graphs of the papers (`published`). Those
        must have the size that the papers state.
    directed, weights
        As for `hopwave.read`. Weights are the values of the matrix, if it has any.
    url : str, optional
        Where to download from; None takes the environment variable HOPWAVE_MIRROR, or else the collection's site.
    cache : path, optional
        The folder for downloaded graphs; None takes `cache_folder()`.
    progress : bool, optional
        None shows a bar (lines, if stderr is not a terminal) after two seconds, True at once, False never.

    Raises
    ------
    GraphError
        The name cannot be right.
    DownloadError
        The server does not send the graph.
    FormatError
        What it sent is damaged, or another graph.

    See Also
    --------
    download : the file alone.

    Examples
    --------
    >>> fetch("SNAP/email-Enron")  # doctest: +SKIP
    Graph(36,692 vertices, 183,831 edges, undirected)
    >>> fetch("email-Enrom")
    Traceback (most recent call last):
    hopwave.errors.GraphError: 'email-Enrom' is not Group/name, as in 'SNAP/email-Enron'; the nearest names: \
'SNAP/email-Enron'
    """
    file = download(name, url=url, cache=cache, progress=progress)
    try:
        graph = io.read(file, directed=directed, weights=weights, progress=progress)
    except FormatError:
        _distrust(file)
        raise
    entry = collection.find(name)
    if entry is not None and directed is None and (wrong := entry.differs(graph.n, graph.m)):
        raise FormatError(f"{wrong}, as {entry.papers[0]} states; use hw.read to take it as it is", file)
    return graph


def download(
    name: str, *, url: str | None = None, cache: str | os.PathLike[str] | None = None, progress: bool | None = None
) -> Path:
    """The file of a graph of the collection, downloaded if it is not cached yet. The arguments are those of `fetch`.

    A download that was cut is continued by the next call. The SHA-256 checksums of what was received are recorded
    beside the file, and a cached file that no longer has its checksum is downloaded again. Two processes that want the
    same graph download it once.

    Parameters
    ----------
    name, url, cache, progress
        As for `fetch`.

    Returns
    -------
    Path
        The file, in Matrix Market format.

    Raises
    ------
    DownloadError
        If the file cannot be had: no network, no such graph, not enough space.

    See Also
    --------
    fetch : the graph in the file.

    Examples
    --------
    >>> download("SNAP/email-Enron")  # doctest: +SKIP
    PosixPath('/home/ann/.cache/hopwave/SNAP/email-Enron.mtx')
    """
    full = _full_name(name)
    base = os.environ.get("HOPWAVE_MIRROR") or URL if url is None else url
    if not isinstance(base, str) or not ADDRESS.match(base):
        raise GraphError(f"url={base!r} is not an address; give one that begins with https:// or http://")
    base = base.rstrip("/")
    group, _, stem = full.partition("/")
    folder = (Path(cache) if cache is not None else cache_folder()) / group
    file = folder / f"{stem}.mtx"
    try:
        with Meter(f"checking {file.name}", None, progress) as meter:
            if not _is_whole(file):
                _make_private(folder)
                with _alone(folder / f".{stem}.lock"):
                    if not _is_whole(file):  # another process may have finished it meanwhile
                        _download(f"{base}/{full}.tar.gz", full, file, meter)
    except HopwaveError:
        raise
    except (OSError, ValueError) as error:  # a full disk, a folder without permission, a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise DownloadError(
            f"{file}: not downloaded ({reason}); check the address, or name another folder with cache= or HOPWAVE_CACHE"
        ) from None
    return file


def _distrust(file: Path) -> None:
    """Have a file downloaded again by the next call, unless it is a graph, which only cannot be read as was asked."""
    try:
        io.read(file, directed=True, weights=False, progress=False)
    except FormatError:
        _record(file).unlink(missing_ok=True)


def _download(url: str, full: str, file: Path, meter: Meter) -> None:
    from hopwave.datasets import transfer  # it imports urllib, which is slow

    entry = collection.find(full)
    most = MOST if entry is None or entry.arcs is None else BYTES_PER_ARC * entry.arcs + HEADER
    part = file.with_name(f"{file.stem}.tar.gz.part")
    try:
        transfer.download(url, part, most, meter)
    except DownloadError as error:
        near = [] if entry is not None else collection.nearest(full)
        if error.status != 404 or not near:
            raise
        raise DownloadError(
            f"{url}: the server has no such file (404); the nearest names: {', '.join(map(repr, near))}", status=404
        ) from None
    meter.stage(f"checking {file.name}")
    try:
        with transfer.unpacked(part, f"{file.stem}/{file.name}", file, most, meter) as checksum:
            lines = f"{transfer.digest(part)}  {file.stem}.tar.gz\n{checksum}  {file.name}\n"
            with replacing(_record(file)) as stream:  # before the file gets its name: no file is without a record
                stream.write(lines.encode())
    except FormatError:
        transfer.forget(part)
        raise
    transfer.forget(part)


def _full_name(name: str) -> str:
    """Group and name. A name without a group must be one of the papers'."""
    if not isinstance(name, str):
        raise TypeError(f"fetch takes a name such as 'SNAP/email-Enron', not {type(name).__name__}")
    if (entry := collection.find(name)) is not None:
        return entry.name
    if name in small.names():
        raise GraphError(f"{name!r} ships with hopwave; use datasets.load({name!r})")
    if name in collection.ELSEWHERE:
        raise GraphError(f"{name!r} {collection.ELSEWHERE[name]}")
    if NAME.fullmatch(name):
        return name
    near = collection.nearest(name)
    found = (
        f"the nearest names: {', '.join(map(repr, near))}" if near else "datasets.published() lists the papers' graphs"
    )
    raise GraphError(f"{name!r} is not Group/name, as in 'SNAP/email-Enron'; {found}")


def _record(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _is_whole(file: Path) -> bool:
    """Whether the file is there and has the checksum that was recorded."""
    if not (file.is_file() and _record(file).is_file()):
        return False
    from hopwave.datasets.transfer import digest

    return f"{digest(file)}  {file.name}" in _record(file).read_text("utf-8", "replace").splitlines()


def _make_private(folder: Path) -> None:
    """Make the folder; those that are new can be read and written by this user alone."""
    try:
        for place in (*reversed(folder.parents), folder):
            if not place.exists():
                place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise DownloadError(
            f"{folder}: cannot be made ({error.strerror}); name another folder with cache= or HOPWAVE_CACHE"
        ) from None


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """Wait until no other process downloads the same graph. Systems without flock do not wait."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with lock.open("wb") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
