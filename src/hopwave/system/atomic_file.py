"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import glob
import gzip
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


@contextmanager
def replacing(path: str | os.PathLike[str], *, packed: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream whose content becomes the file if the block ends without an error, and is dropped otherwise.

    The bytes go to a temporary file in the same folder. When they are on the disk, the file is renamed in one step;
    until then, an old file at `path` stays untouched. Devices and pipes (/dev/stdout) cannot be replaced and are
    written directly. `packed` compresses with gzip. Temporary files that a killed process left for `path` are removed.

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
    handle, temporary = _temporary(target)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield from _packing(stream, packed)
            stream.flush()
            os.fsync(stream.fileno())
            temporary.chmod(_mode(target))
            if fcntl is not None:
                temporary.replace(target)  # before the lock ends: else another writer would remove it as stray
        if fcntl is None:
            temporary.replace(target)  # Windows cannot rename an open file, and has no locks here
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
    _sync_folder(target.parent)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C caused the error: inside zipfile it turns into a ValueError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _temporary(target: Path) -> tuple[int, Path]:
    """A new temporary file beside the target, locked while it is open: a file without a lock is stray."""
    prefix = f".{target.name[:60]}."
    for stray in target.parent.glob(f"{glob.escape(prefix)}????????.part"):  # mkstemp's eight characters
        _remove_stray(stray)
    while True:
        try:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=prefix, suffix=".part")
        except PermissionError as error:  # its message names the temporary file
            reason = "the folder cannot be written to; give another, or change its permissions"
            raise PermissionError(error.errno, reason, str(target.parent)) from None
        if fcntl is None:
            return handle, Path(name)
        with suppress(OSError):  # a file system without locks, where nothing is removed as stray
            fcntl.flock(handle, fcntl.LOCK_EX)
        if Path(name).exists():  # else another process removed it as stray before it was locked
            return handle, Path(name)
        os.close(handle)


def _remove_stray(path: Path) -> None:
    """Remove a temporary file that no process has open."""
    if fcntl is None:
        return
    with suppress(OSError), path.open("rb") as stream:  # OSError: it is locked, not ours, or gone
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)


def _packing(stream: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if packed:
        # No name and no time inside, so that equal graphs give equal files. Level 6 takes a third of the time of
        # level 9, for 1% more bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=stream, mtime=0) as archive:
            yield archive  # type: ignore[misc]
    else:
        yield stream


def kind_of_special(path: Path) -> str | None:
    """What the path names if it is not a regular file: "folder", "pipe", "socket" or "device"; else None."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return None
    kinds = {"folder": stat.S_ISDIR, "pipe": stat.S_ISFIFO, "socket": stat.S_ISSOCK}
    found = next((kind for kind, is_one in kinds.items() if is_one(mode)), "device")
    return None if stat.S_ISREG(mode) else found


def _mode(target: Path) -> int:
    """The permissions of the file to be replaced, or the default for a new file; mkstemp's are too strict."""
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
