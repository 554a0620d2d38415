"""One file over HTTP, into a `.part` file that a later call continues, and one member of a tar archive.

Beside the part is a note (`.part.json`): where it comes from, its full size, and the server's mark of this version
(ETag, or the date). The server sends the rest only if its mark is still the same; otherwise the download begins again.
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from hopwave.errors import DownloadError, FormatError, amount
from hopwave.system.files import Unpacked, replacing
from hopwave.system.progress import Meter

BLOCK = 1 << 20  # bytes
PATIENCE = 30.0  # seconds without a byte, then the connection counts as cut
LONGEST_HEADER = 1 << 20  # bytes, of an entry in an archive
RETRIES = 3  # after a cut connection, in one call


def download(url: str, part: Path, most: int, meter: Meter) -> None:
    """Load the file at `url` into `part`, without the bytes that `part` already has.

    most: a larger file is refused; raises DownloadError, also if the server cannot be reached or answers with an error.
    """
    for _ in range(1 + RETRIES):
        if _receive(url, part, most, meter):
            return
    have = part.stat().st_size if part.exists() else 0
    total = _note(part).get("total")
    of = f" of {amount(total)}" if total else ""
    raise DownloadError(
        f"{url}: the connection was cut {1 + RETRIES} times, with {amount(have)}{of} here; call again to continue"
    )


def forget(part: Path) -> None:
    """Remove a part and its note."""
    part.unlink(missing_ok=True)
    _note_file(part).unlink(missing_ok=True)


def _receive(url: str, part: Path, most: int, meter: Meter) -> bool:
    """Load what is missing over one connection; True if the file is then complete."""
    have = part.stat().st_size if part.exists() else 0
    note = _note(part)
    if note.get("url") != url or not note.get("mark"):
        have, note = 0, {}
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
            forget(part)
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
        mark, total = _mark(answer), _length(answer)
        if answer.status == 206:
            first, whole = _range(answer)
            if not have or first != have or mark != note["mark"] or whole != note.get("total"):
                forget(part)
                return False
            total = whole
        else:
            have = 0
        if max(total or 0, have) > most:
            size = amount(total or have)
            raise DownloadError(f"{url}: {size}, more than the {amount(most)} such a graph needs; check the address")
        if not have:
            forget(part)
            with replacing(_note_file(part)) as stream:
                stream.write(json.dumps({"url": url, "mark": mark, "total": total}).encode())
        meter.stage(f"downloading {url.rpartition('/')[2]}", total)
        with part.open("ab" if have else "wb") as target:
            return _copy(answer, target, have, total, most, meter)


def _copy(answer: Any, target: IO[bytes], have: int, total: int | None, most: int, meter: Meter) -> bool:
    """Append what the server sends; True if it is complete. A server that states no size ends when it wants."""
    while True:
        try:
            data = answer.read1(BLOCK)
        except (OSError, HTTPException):
            return False
        if not data:
            return total is None or have == total
        target.write(data)
        have += len(data)
        meter.update(have)
        if have > most:
            raise DownloadError(f"{answer.url}: over {amount(most)}, more than such a graph needs; check the address")


def _mark(answer: Any) -> str | None:
    """What names this version of the file. A weak ETag may stand for other bytes, so it does not count."""
    tag = answer.headers.get("ETag")
    return str(tag) if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")


def _length(answer: Any) -> int | None:
    text = answer.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() else None


def _range(answer: Any) -> tuple[int, int]:
    """The first byte of a partial answer, and the size of the whole; (-1, -1) if the server does not say."""
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
    return (int(found[1]), int(found[2])) if found else (-1, -1)


def _note_file(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def _note(part: Path) -> dict[str, Any]:
    try:
        note = json.loads(_note_file(part).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


# ---------------------------------------------------------------- archives


class _Entry(tarfile.TarInfo):
    """An entry of an archive. `tarfile` reads long names and other headers whole, so their size is checked first."""

    _HEADERS = (
        tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK,
    )  # fmt: skip

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Entry:
        entry = super().frombuf(buf, encoding, errors)
        if entry.type in cls._HEADERS and entry.size > LONGEST_HEADER:
            raise FormatError(f"has a header of {amount(entry.size)}; expected at most {amount(LONGEST_HEADER)}")
        return entry


def digest(file: Path) -> str:
    """The SHA-256 checksum of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def unpacked(archive: Path, member: str, target: Path, most: int, meter: Meter) -> Iterator[str]:
    """Write one member of a .tar.gz to `target`; the block gets its checksum, and `target` appears when it ends.

    Only a regular file of exactly this name is taken, and nothing else is written, whatever the archive holds. The
    archive is read to its end, so that its own checksum is compared. Raises FormatError.
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
