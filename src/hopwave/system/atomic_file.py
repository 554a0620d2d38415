"""Files that are written completely or not at all."""

from __future__ import annotations

import errno
import glob
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from hopwave.system.gzip_stream import Packed

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
    target = checked(path)
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield from _packing(stream, packed)
        return
    old = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    _remove_strays(target)
    # Its name is known before it is there, so that an error at any moment removes it.
    temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(4)}.part")
    try:
        with _opened(temporary, 0o666 if old is None else old) as stream:
            yield from _packing(stream, packed)
            stream.flush()
            os.fsync(stream.fileno())
            if old is not None:
                temporary.chmod(old)  # the umask was taken from it
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


def checked(path: str | os.PathLike[str]) -> Path:
    """The file that `replacing` writes; raises what that would raise, so that it can be known before any work is done.

    A file without permission to write is refused, although a rename could replace it.
    """
    target = Path(path).resolve()  # a link stays a link: the file that it points to is replaced
    try:
        there, is_folder, has_folder = target.exists(), target.is_dir(), target.parent.is_dir()
    except PermissionError:  # of a folder above it
        raise _not_writable("folder", target.parent) from None
    if is_folder:
        raise IsADirectoryError(errno.EISDIR, "is a folder; give a file name", str(path))
    if not has_folder:
        raise FileNotFoundError(errno.ENOENT, "no such folder to write to; make it first", str(target.parent))
    if there and not os.access(target, os.W_OK):
        raise _not_writable("file", target)
    if not kind_of_special(target) and not os.access(target.parent, os.W_OK | os.X_OK):
        raise _not_writable("folder", target.parent)
    return target


def _not_writable(what: str, path: Path) -> PermissionError:
    reason = f"the {what} cannot be written to; give another, or change its permissions"
    return PermissionError(errno.EACCES, reason, str(path))


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C caused the error: inside zipfile it turns into a ValueError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _prefix(target: Path) -> str:
    return f".{target.name[:60]}."


def _opened(temporary: Path, mode: int) -> IO[bytes]:
    """A new file, locked while it is open: one without a lock is stray.

    A signal cannot come between the opening and the object that closes the file: both are one call into C.
    """
    while True:
        try:
            stream = open(temporary, "xb", opener=partial(os.open, mode=mode))  # noqa: SIM115
        except PermissionError:  # its message names the temporary file
            raise _not_writable("folder", temporary.parent) from None
        try:
            if fcntl is not None:
                with suppress(OSError):  # a file system without locks, where nothing is removed as stray
                    fcntl.flock(stream, fcntl.LOCK_EX)
            if temporary.exists():  # else another process removed it as stray before it was locked
                return stream
        except BaseException:
            stream.close()
            raise
        stream.close()


def _remove_strays(target: Path) -> None:
    """Remove the temporary files for this target that no process has open."""
    if fcntl is None:
        return
    for stray in target.parent.glob(f"{glob.escape(_prefix(target))}????????.part"):
        with suppress(OSError), stray.open("rb") as stream:  # OSError: it is locked, not ours, or gone
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stray.unlink(missing_ok=True)


def _packing(stream: IO[bytes], packed: bool) -> Iterator[IO[bytes]]:
    if packed:
        archive = Packed(stream)
        yield archive  # type: ignore[misc]
        archive.finish()
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


def _sync_folder(folder: Path) -> None:
    """Flush the new name to the disk, if the system allows to open folders."""
    handles: list[int] = []
    with suppress(OSError):
        try:
            handles.extend(map(os.open, [folder], [os.O_RDONLY]))  # one call into C: no signal can lose the handle
            os.fsync(handles[0])
        finally:
            for handle in handles:
                os.close(handle)
