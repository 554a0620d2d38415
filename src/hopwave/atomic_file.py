"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str], *, packed: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream whose content becomes the file if the block ends without an error, and is dropped otherwise.

    The bytes go to a temporary file in the same folder. When they are on the disk, it gets its name in one step; until
    then, an old file of that name stays untouched. Devices and pipes (/dev/stdout) cannot be replaced and are written
    directly. `packed` compresses with gzip.

    >>> with replacing("numbers.txt") as stream:  # doctest: +SKIP
    ...     _ = stream.write(b"1 2 3")
    """
    target = Path(path).resolve()  # a link stays a link: the file that it points to is replaced
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give a file name", str(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield from _packing(stream, packed)
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder to write to; make it first", str(target.parent))
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:60]}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield from _packing(stream, packed)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(_mode(target))
        temporary.replace(target)
    except BaseException:  # Ctrl-C too
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _packing(stream: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if packed:
        # No name and no time inside: equal graphs give equal files. Level 6 takes a third of the time of level 9, for
        # 1% more bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as archive:
            yield archive  # type: ignore[misc]
    else:
        yield stream


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of a new file; mkstemp's are too strict."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    """Flush the new name to the disk, if the system allows to open folders."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
