"""Graphs of the SuiteSparse collection by name: downloaded once, checked, and cached in a folder per group.

Next to email-Enron.mtx is email-Enron.sha256, with the checksums of the archive and of the file as they were received.
A later call continues a download that was cut. The note next to its part (`.part.json`) records the address, the full
size, and the server's mark of this version (ETag, or the date). If the mark has changed, the download begins again.
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

ADDRESS = re.compile(r"https?://([^/\s@]+@)?([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?(/[^\s]*)?$")  # a mirror
URL = "https://suitesparse-collection-website.herokuapp.com/MM"
NAME = re.compile(r"[A-Za-z0-9][\w.+-]*/[A-Za-z0-9][\w.+-]*", re.ASCII)
RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")  # header of a partial response: its first byte, and the full size
BYTES_PER_ARC = 64  # two ids of up to 10 digits and a value of up to 25 characters: a line is shorter
HEADER = 1 << 20  # maximum bytes of comments
MOST = 1 << 37  # maximum bytes of a graph whose size is not known
BLOCK = 1 << 20  # bytes
PATIENCE = 30.0  # seconds without a byte after which the connection counts as cut
LONGEST_HEADER = 1 << 20  # maximum bytes of a header in an archive
RETRIES = 3  # after a cut connection, in one call


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
        "Group/name" as the collection spells it. For graphs of the papers (`published`) the name is enough; they must
        have the size that the papers state.
    directed, weights
        As for `hopwave.read`. Weights are the values of the matrix, if it has any.
    url : str, optional
        Mirror to download from. Default: the environment variable HOPWAVE_MIRROR, or else the collection's site.
    cache : path, optional
        Folder for downloaded graphs. Default: `cache_folder()`.
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
        try:  # a graph that only cannot be read as was asked stays in the cache
            io.read(file, directed=True, weights=False, progress=False)
        except FormatError:
            _record(file).unlink(missing_ok=True)
        raise
    entry = collection.find(name)
    if entry is not None and directed is None and (wrong := entry.differs(graph.n, graph.m)):
        raise FormatError(f"{wrong}, as {entry.papers[0]} states; use hw.read to take it as it is", file)
    return graph


def download(
    name: str, *, url: str | None = None, cache: str | os.PathLike[str] | None = None, progress: bool | None = None
) -> Path:
    """The file of a graph of the collection, in Matrix Market format, downloaded if it is not cached yet.

    A later call continues a download that was cut. The SHA-256 checksums of what was received are stored next to the
    file; a cached file whose checksum differs is downloaded again. Processes that want the same graph download it once.

    Parameters
    ----------
    name, url, cache, progress
        As for `fetch`.

    Raises
    ------
    DownloadError
        The file cannot be downloaded: no network, no such graph, not enough space.

    Examples
    --------
    >>> download("SNAP/email-Enron")  # doctest: +SKIP
    PosixPath('/home/ann/.cache/hopwave/SNAP/email-Enron.mtx')
    """
    full = _full_name(name)
    base = os.environ.get("HOPWAVE_MIRROR") or URL if url is None else url
    if not isinstance(base, str) or not ADDRESS.match(base):
        raise GraphError(f"url={base!r} is not an address; give one that begins with https:// or http://")
    group, _, stem = full.partition("/")
    folder = (expanded(cache) if cache is not None else cache_folder()) / group
    file = folder / f"{stem}.mtx"
    try:
        with Meter(f"checking {file.name}", None, progress) as meter:
            if not _is_whole(file):
                for place in (*reversed(folder.parents), folder):
                    if not place.exists():
                        place.mkdir(mode=0o700, exist_ok=True)  # only this user reads and writes it
                with part_of(file.with_name(f"{stem}.tar.gz"), "download", wait=True) as part:
                    if not _is_whole(file):  # another process may have finished it meanwhile
                        _download(f"{base.rstrip('/')}/{full}.tar.gz", full, file, part, meter)
    except HopwaveError:
        raise
    except (OSError, ValueError) as error:  # a full disk, a folder without permission, a name that no file can have
        reason = getattr(error, "strerror", None) or error
        raise DownloadError(
            f"{file}: not downloaded ({reason}); check the address, or name another folder with cache= or HOPWAVE_CACHE"
        ) from None
    return file


def _download(url: str, full: str, file: Path, part: Part, meter: Meter) -> None:
    entry = collection.find(full)
    most = MOST if entry is None or entry.arcs is None else BYTES_PER_ARC * entry.arcs + HEADER
    try:
        if not any(_receive(url, part, most, meter) for _ in range(1 + RETRIES)):
            total = _note(part.path).get("total")
            have = amount(part.path.stat().st_size) + (f" of {amount(total)}" if total else "")
            raise DownloadError(
                f"{url}: the connection was cut {1 + RETRIES} times, with {have} here; call again to continue"
            )
        meter.stage(f"checking {file.name}")
        with (
            unpacked(part.path, f"{file.stem}/{file.name}", file, most, meter) as checksum,
            replacing(_record(file)) as stream,  # before the file gets its name: no file is without a record
        ):
            stream.write(f"{digest(part.path)}  {file.stem}.tar.gz\n{checksum}  {file.name}\n".encode())
    except (DownloadError, KeyboardInterrupt) as error:
        part.kept = part.path.stat().st_size > 0
        near = [] if entry is not None else collection.nearest(full)
        if getattr(error, "status", None) != 404 or not near:
            raise
        raise DownloadError(
            f"{url}: the server has no such file (404); the nearest names: {', '.join(map(repr, near))}", status=404
        ) from None
    finally:
        if not part.kept:
            _note_file(part.path).unlink(missing_ok=True)


def _full_name(name: str) -> str:
    """Group and name. A name without a group must be one of the papers'."""
    if not isinstance(name, str):
        raise TypeError(f"fetch takes a name such as 'SNAP/email-Enron', not {type(name).__name__}")
    if (entry := collection.find(name)) is not None:
        return entry.name
    if name in collection.names():
        raise GraphError(f"{name!r} ships with hopwave; use datasets.load({name!r})")
    if name in collection.ELSEWHERE:
        raise GraphError(f"{name!r} {collection.ELSEWHERE[name]}")
    if NAME.fullmatch(name):
        return name
    near = ", ".join(map(repr, collection.nearest(name)))
    found = f"the nearest names: {near}" if near else "datasets.published() lists the papers' graphs"
    raise GraphError(f"{name!r} is not Group/name, as in 'SNAP/email-Enron'; {found}")


def _record(file: Path) -> Path:
    return file.with_suffix(".sha256")


def _is_whole(file: Path) -> bool:
    """Whether the file exists and has the checksum that was recorded."""
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
    """Load what is missing over one connection; True if the file is then complete."""
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
        if error.code == 416 and have:  # the file has become shorter than the part
            part.stream.truncate(0)
            return False
        raise DownloadError(
            f"{url}: the server answers {error.code} ({error.reason}); check the name, try later, or name a mirror "
            "with url= or HOPWAVE_MIRROR",
            status=error.code,
        ) from None
    except (OSError, HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise DownloadError(
            f"{url}: no connection ({reason}); check the network, or name a mirror with url= or HOPWAVE_MIRROR"
        ) from None
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
            raise DownloadError(f"{url}: {size}, more than the {amount(most)} such a graph needs; check the address")
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
            if not data:  # a server that states no size ends when it wants
                return total is None or have == total
            part.stream.write(data)
            part.stream.flush()
            have += len(data)
            meter.update(have)
            if have > most:
                part.stream.truncate(0)
                raise DownloadError(f"{url}: over {amount(most)}, more than such a graph needs; check the address")


# ---------------------------------------------------------------- archives


class _Entry(tarfile.TarInfo):
    """An entry of an archive. `tarfile` reads long names and other headers whole, so their size is checked first."""

    def _proc_member(self, archive: tarfile.TarFile) -> Any:  # for every entry, before its content is read
        if self.size > LONGEST_HEADER and not self.isreg():
            raise FormatError(f"has a header of {amount(self.size)}; expected at most {amount(LONGEST_HEADER)}")
        return super()._proc_member(archive)  # type: ignore[misc]


def digest(file: Path) -> str:
    """The SHA-256 checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def unpacked(archive: Path, member: str, target: Path, most: int, meter: Meter) -> Iterator[str]:
    """Write one member of a .tar.gz to `target`; the block gets its checksum, and `target` appears when it ends.

    Only a regular file of exactly this name is written. The archive is read to its end, so that its own checksum is
    compared. Raises FormatError.
    """
    try:
        with (
            archive.open("rb") as raw,
            tarfile.open(fileobj=(content := Unpacked(raw)), mode="r|", tarinfo=_Entry) as tar,  # type: ignore[call-overload]
            replacing(target) as out,
        ):
            found = next((entry for entry in tar if entry.name == member), None)
            if found is None:
                raise FormatError(f"{member} is not in this archive; expected one graph of the collection", archive)
            if not found.isreg():
                raise FormatError(f"{member} is a link or a device in this archive; expected a regular file", archive)
            if found.size > most:
                raise FormatError(f"{member} has {amount(found.size)}; expected at most {amount(most)}", archive)
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
                    raise FormatError(f"over {amount(most)} follow {member}; expected one graph", archive)
            yield total.hexdigest()
    except (EOFError, zlib.error, tarfile.TarError) as error:
        raise FormatError(
            f"damaged ({error}); expected a complete .tar.gz: it was removed, download it again", archive
        ) from None
