"""Graphs of the SuiteSparse collection by name: downloaded once, checked, and cached in a folder per group.

The file email-Enron.sha256, next to email-Enron.mtx, contains the checksums of the received archive and of the file.
A later call resumes an interrupted download. The note next to the partial file (`.part.json`) records the address, the
full size, and the server's validator (ETag or date). If the validator has changed, the download starts again.
"""

import hashlib
import json
import os
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hopwave import io
from hopwave.datasets import collection
from hopwave.errors import DownloadError, FormatError, GraphError, HopwaveError, amount
from hopwave.graph import Graph
from hopwave.system.files import Part, Unpacked, cache_folder, expanded, part_of, replacing
from hopwave.system.progress import Meter

ADDRESS = re.compile(r"https?://([^/\s@]+@)?([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?(/[^\s]*)?$")  # URL of a mirror
URL = "https://suitesparse-collection-website.herokuapp.com/MM"
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*", re.ASCII)
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")  # header of a partial response: its first byte, and the full size
BYTES_PER_ARC = 64  # upper bound for a line: two ids of up to 10 digits and a value of up to 25 characters
HEADER = 1 << 20  # maximum bytes of comments
MOST = 1 << 37  # maximum bytes of a graph of unknown size
BLOCK = 1 << 20  # bytes per read
PATIENCE = 30.0  # seconds without data after which the connection counts as lost
LONGEST_HEADER = 1 << 20  # maximum bytes of a header in an archive
RETRIES = 3  # retries per call after a lost connection


def fetch(
    name: str,
    directed: bool | None = None,
    *,
    weights: bool = True,
    url: str | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: bool | None = None,
) -> Graph:
    """A graph of the SuiteSparse Matrix Collection. The first call downloads it, later calls read the cached file.

    Parameters
    ----------
    name : str
        "Group/name" as in the collection. For graphs of the papers (`published`), the group may be omitted; the size
        of these graphs must match the size stated in the papers.
    directed, weights
        See `hopwave.read`. Weights are the values of the matrix, if it has any.
    url : str, optional
        Mirror to download from. Default: the environment variable HOPWAVE_MIRROR if set, else the collection's site.
    cache : path, optional
        Folder for downloaded graphs. Default: `cache_folder()`.
    progress : bool, optional
        Whether to show progress on stderr: True immediately, None after two seconds, False never.

    Raises
    ------
    GraphError
        The name is not a possible name of a graph in the collection.
    DownloadError
        The server does not send the graph.
    FormatError
        The received file is damaged, or is a different graph.

    Examples
    --------
    >>> fetch("SNAP/email-Enron")  # doctest: +SKIP
    Graph(36,692 vertices, 183,831 edges, undirected)
    >>> fetch("email-Enrom")
    Traceback (most recent call last):
    hopwave.errors.GraphError: 'email-Enrom' is not of the form Group/name, as in 'SNAP/email-Enron'; did you mean \
'SNAP/email-Enron'?
    """
    file = download(name, url=url, cache=cache, progress=progress)
    try:
        graph = io.read(file, directed=directed, weights=weights, progress=progress)
    except FormatError:
        try:  # an intact file that only does not fit directed= or weights= stays in the cache
            io.read(file, directed=True, weights=False, progress=False)
        except FormatError:
            _record(file).unlink(missing_ok=True)
        raise
    entry = collection.find(name)
    if entry is not None and directed is None and (wrong := entry.differs(graph.n, graph.m)):
        raise FormatError(f"{wrong} as stated in {entry.papers[0]}; use hw.read to read the file anyway", file)
    return graph


def download(
    name: str, *, url: str | None = None, cache: str | os.PathLike[str] | None = None, progress: bool | None = None
) -> Path:
    """Path of a graph of the collection in Matrix Market format; the file is downloaded if it is not cached.

    A later call resumes an interrupted download. The SHA-256 checksums of the received files are stored next to the
    file; a cached file with another checksum is downloaded again. Concurrent processes download a graph only once.

    Parameters
    ----------
    name, url, cache, progress
        See `fetch`.

    Raises
    ------
    DownloadError
        The file cannot be downloaded: no network, no such graph, or not enough disk space.

    Examples
    --------
    >>> download("SNAP/email-Enron")  # doctest: +SKIP
    PosixPath('/home/ann/.cache/hopwave/SNAP/email-Enron.mtx')
    """
    full = _full_name(name)
    base = os.environ.get("HOPWAVE_MIRROR") or URL if url is None else url
    if not isinstance(base, str) or not ADDRESS.match(base):
        raise GraphError(f"url={base!r} is not a URL; pass an address that begins with https:// or http://")
    group, _, stem = full.partition("/")
    folder = (expanded(cache) if cache is not None else cache_folder()) / group
    file = folder / f"{stem}.mtx"
    try:
        with Meter(f"checking {file.name}", None, progress) as meter:
            if not _is_whole(file):
                for place in (*reversed(folder.parents), folder):
                    if not place.exists():
                        place.mkdir(mode=0o700, exist_ok=True)  # readable and writable only for this user
                with part_of(file.with_name(f"{stem}.tar.gz"), "download", wait=True) as part:
                    if not _is_whole(file):  # another process may have finished the download meanwhile
                        _download(f"{base.rstrip('/')}/{full}.tar.gz", full, file, part, meter)
    except HopwaveError:
        raise
    except (OSError, ValueError) as error:  # a full disk, a folder without permission, an invalid file name
        reason = getattr(error, "strerror", None) or error
        raise DownloadError(
            f"{file}: not downloaded ({reason}); check the address, or set another folder with cache= or HOPWAVE_CACHE"
        ) from None
    return file


def _download(url: str, full: str, file: Path, part: Part, meter: Meter) -> None:
    entry = collection.find(full)
    most = MOST if entry is None or entry.arcs is None else BYTES_PER_ARC * entry.arcs + HEADER
    try:
        if not any(_receive(url, part, most, meter) for _ in range(1 + RETRIES)):
            total = _note(part.path).get("total")
            have = amount(part.path.stat().st_size) + (f" of {amount(total)}" if total else "")
            raise DownloadError(f"{url}: connection lost {1 + RETRIES} times after {have}; call again to resume")
        meter.stage(f"checking {file.name}")
        with (
            unpacked(part.path, f"{file.stem}/{file.name}", file, most, meter) as checksum,
            replacing(_record(file)) as stream,  # before the file gets its name, so that every file has a record
        ):
            stream.write(f"{digest(part.path)}  {file.stem}.tar.gz\n{checksum}  {file.name}\n".encode())
    except (DownloadError, KeyboardInterrupt) as error:
        part.kept = part.path.stat().st_size > 0
        near = [] if entry is not None else collection.nearest(full)
        if getattr(error, "status", None) != 404 or not near:
            raise
        problem = f"{url}: the server has no such file (404)"
        raise DownloadError(f"{problem}; did you mean {' or '.join(map(repr, near))}?", status=404) from None
    finally:
        if not part.kept:
            _note_file(part.path).unlink(missing_ok=True)


def _full_name(name: str) -> str:
    """The name of a graph in the form Group/name. The group may be omitted for graphs of the papers."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a string such as 'SNAP/email-Enron', not {type(name).__name__}")
    if (entry := collection.find(name)) is not None:
        return entry.name
    if name in collection.names():
        raise GraphError(f"{name!r} ships with hopwave; use datasets.load({name!r})")
    if name in collection.ELSEWHERE:
        raise GraphError(f"{name!r} {collection.ELSEWHERE[name]}")
    if NAME.fullmatch(name):
        return name
    near = " or ".join(map(repr, collection.nearest(name)))
    found = f"did you mean {near}?" if near else "datasets.published() lists the papers' graphs"
    raise GraphError(f"{name!r} is not of the form Group/name, as in 'SNAP/email-Enron'; {found}")


def _record(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _is_whole(file: Path) -> bool:
    """Whether the file exists and matches the recorded checksum."""
    if not (file.is_file() and _record(file).is_file()):
        return False
    return f"{digest(file)}  {file.name}" in _record(file).read_text("utf-8", "replace").splitlines()


# ---------------------------------------------------------------- one file over HTTP


def _note_file(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _note(part: Path) -> dict[str, Any]:
    try:
        note = json.loads(_note_file(part).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def _receive(url: str, part: Part, most: int, meter: Meter) -> bool:
    """Download the missing part over one connection; True if the file is then complete."""
    from http.client import HTTPException  # urllib is slow to import
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    note = _note(part.path)
    have = part.path.stat().st_size if note.get("url") == url and note.get("mark") else 0
    if have and have == note.get("total"):
        return True
    headers = {"User-Agent": "hopwave", "Accept-Encoding": "identity"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": str(note["mark"])}
    try:
        answer = urlopen(Request(url, headers=headers), timeout=PATIENCE)
    except HTTPError as error:
        error.close()
        if error.code == 416 and have:  # the file on the server has become shorter than the partial file
            part.stream.truncate(0)
            return False
        raise DownloadError(
            f"{url}: the server responded {error.code} ({error.reason}); check the name, try later, or set a mirror "
            "with url= or HOPWAVE_MIRROR",
            status=error.code,
        ) from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        problem = f"{url}: no connection ({reason})"
        raise DownloadError(f"{problem}; check the network, or set a mirror with url= or HOPWAVE_MIRROR") from None
    with answer:
        tag, length = answer.headers.get("ETag", "W/"), answer.headers.get("Content-Length", "")
        mark = answer.headers.get("Last-Modified") if not tag or tag.startswith("W/") else tag  # weak tags do not count
        total = int(length) if length.isdecimal() else None
        if answer.status == 206:
            said = RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            first, total = map(int, said.groups()) if said else (-1, -1)
            if not have or (first, total, mark) != (have, note.get("total"), note["mark"]):
                part.stream.truncate(0)
                return False
        else:
            have = 0
        if max(total or 0, have) > most:
            part.stream.truncate(0)
            size = amount(total or have)
            raise DownloadError(f"{url}: {size} exceed the {amount(most)} that this graph may have; check the address")
        if not have:
            part.stream.truncate(0)
            with replacing(_note_file(part.path)) as stream:
                stream.write(json.dumps({"url": url, "mark": mark, "total": total}).encode())
        meter.stage(f"downloading {url.rpartition('/')[2]}", total)
        while True:
            try:
                data = answer.read1(BLOCK)
            except (OSError, HTTPException):
                return False
            if not data:  # without a stated size, the end of the connection is the end of the file
                return total is None or have == total
            part.stream.write(data)
            part.stream.flush()
            have += len(data)
            meter.update(have)
            if have > most:
                part.stream.truncate(0)
                raise DownloadError(f"{url}: more than the {amount(most)} that this graph may have; check the address")


# ---------------------------------------------------------------- archives


class _Entry(tarfile.TarInfo):
    """An entry of an archive. `tarfile` reads headers such as long names in full, so their size is checked first."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # called for every entry, before its content is read
        if self.size > LONGEST_HEADER and not self.isreg():
            raise FormatError(f"a header of {amount(self.size)} exceeds {amount(LONGEST_HEADER)}; check the address")
        return super()._proc_member(archive)  # type: ignore[misc]


def digest(file: Path) -> str:
    """The SHA-256 checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def unpacked(archive: Path, member: str, target: Path, most: int, meter: Meter) -> Iterator[str]:
    """Write one member of a .tar.gz to `target`; yields its checksum, and `target` appears when the block ends.

    Only a regular file with exactly this name is written. The archive is read to its end, so that its own checksum is
    verified. Raises FormatError.
    """
    try:
        with (
            archive.open("rb") as raw,
            tarfile.open(fileobj=(content := Unpacked(raw)), mode="r|", tarinfo=_Entry) as tar,  # type: ignore[call-overload]
            replacing(target) as out,
        ):
            found = next((entry for entry in tar if entry.name == member), None)
            if found is None:
                raise FormatError(f"{member} is not in this archive; check the name and the mirror", archive)
            if not found.isreg():
                raise FormatError(f"{member} is a link or a device in this archive; use another mirror", archive)
            if found.size > most:
                raise FormatError(f"{member} has {amount(found.size)}, over {amount(most)}; check the name", archive)
            meter.stage(f"unpacking {target.name}", found.size)
            total = hashlib.sha256()
            stream = tar.extractfile(found)
            assert stream is not None
            while data := stream.read(BLOCK):
                total.update(data)
                out.write(data)
                meter.update(out.tell())
            rest = 0
            while data := content.read(BLOCK):
                rest += len(data)
                if rest > most:
                    raise FormatError(f"over {amount(most)} of data besides {member}; use another mirror", archive)
            yield total.hexdigest()
    except (EOFError, zlib.error, tarfile.TarError) as error:
        problem = f"the archive is damaged ({error}) and was removed"
        raise FormatError(f"{problem}; call again to download a complete .tar.gz", archive) from None
