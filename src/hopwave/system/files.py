"""Files that are written completely or not at all, archives of arrays, gzip, and checks that folders are safe."""

import errno
import glob
import io
import os
import secrets
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from hopwave.errors import FormatError

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None


@contextmanager
def replacing(path: str | os.PathLike[str], *, packed: bool = False) -> Iterator[IO[bytes]]:
    """A binary stream whose content replaces the file if the block ends without an error, and is discarded otherwise.

    Devices and pipes (/dev/stdout) are written directly. `packed` compresses with gzip. Temporary files of killed
    processes for the same `path` are removed.
    """
    target = checked(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as stream:
                yield from _packing(stream, packed)
            return
        _remove_strays(target)
        with part_of(target) as part:
            yield from _packing(part.stream, packed)
            part.finish()
    except BaseException as error:
        if isinstance(error, OSError) and error.errno and error.filename is None:
            error.filename = str(path)  # the error for a full disk does not name the file
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        raise


class Part:
    """An unfinished file next to its target, locked while it is open."""

    stream: Any  # buffered

    def __init__(self, target: Path, key: str) -> None:
        self.target, self.path = target, target.with_name(f"{_prefix(target)}{key}.part")
        self.old = stat.S_IMODE(target.stat().st_mode) if target.exists() else None  # permissions
        self.kept = False  # whether the file is not removed after the block

    def finish(self) -> None:
        """Flush the file to disk, then replace the target atomically; permissions stay those of the target."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        if self.old is not None:
            self.path.chmod(self.old)  # restores bits that the umask removed
        if fcntl is None:
            self.stream.close()  # Windows cannot rename an open file, and has no locks here
        self.path.replace(self.target)  # before unlocking, otherwise another writer would remove the file as stray
        self.kept = True
        _sync_folder(self.target.parent)


@contextmanager
def part_of(target: Path, key: str | None = None, *, wait: bool = False) -> Iterator[Part]:
    """A temporary file next to `target`; it is removed when the block ends, unless `kept` is set.

    With a `key`, the file name contains the key, and a kept file of an earlier block is continued. If another process
    has the file open, raises BlockingIOError, or waits if `wait`.
    """
    part = Part(target, key or secrets.token_hex(4))  # the name is known before the file exists
    try:
        with _opened(part.path, 0o666 if part.old is None else part.old, key is not None, wait) as part.stream:
            try:
                yield part
            finally:
                if fcntl is not None and not part.kept:
                    part.path.unlink(missing_ok=True)  # before unlocking, otherwise another process would continue it
                part.stream.raw.close()  # without the buffer: if the disk is full, close() would fail again
    finally:
        if not part.kept and (key is None or fcntl is None):  # after an error before the block, or without fcntl
            part.path.unlink(missing_ok=True)


def expanded(path: str | os.PathLike[str]) -> Path:
    """The path with a leading `~` replaced by the user's home folder, as in a shell."""
    return Path(os.path.expanduser(os.fsdecode(path)))  # noqa: PTH111 (Path.expanduser fails without a home)


def file_named(given: Any, option: str = "path") -> Path:
    """The caller's path to a file; raises a FormatError if it cannot be a file name."""
    if not isinstance(given, str | os.PathLike):
        problem = f"{option}={repr(given).partition(chr(10))[0]:.60} is not a file name"
        raise FormatError(f"{problem}; pass a string or a path")
    try:
        path = expanded(given)
        path.stat()
        os.fsencode(path)
    except ValueError as error:  # a NUL character, or an unpaired surrogate if file names are UTF-8
        raise FormatError(f"{option}={given!r} is not a valid file name ({error}); pass another name") from None
    except OSError as error:  # usually because the file does not exist yet
        if error.errno == errno.ELOOP:
            raise FormatError("this link leads back to itself; pass the name of a file", path) from None
    return path


def checked(path: str | os.PathLike[str]) -> Path:
    """The file that `replacing` would write; raises the errors of `replacing`, and an error for a read-only file."""
    target = Path(path).resolve()  # a link remains a link: the file behind the link is replaced
    try:
        there, is_folder, has_folder = target.exists(), target.is_dir(), target.parent.is_dir()
    except PermissionError:  # a parent folder cannot be read
        raise _not_writable("folder", target.parent) from None
    if is_folder:
        raise IsADirectoryError(errno.EISDIR, "is a folder; pass a file name", str(path))
    if not has_folder:
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist; create it first", str(target.parent))
    if there and not os.access(target, os.W_OK):
        raise _not_writable("file", target)
    if not kind_of_special(target) and not os.access(target.parent, os.W_OK | os.X_OK):
        raise _not_writable("folder", target.parent)
    return target


def _not_writable(what: str, path: Path) -> PermissionError:
    reason = f"the {what} is not writable; pass another {what}, or change its permissions"
    return PermissionError(errno.EACCES, reason, str(path))


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether a Ctrl-C caused the error: zipfile turns KeyboardInterrupt into a ValueError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _prefix(target: Path) -> str:
    return f".{target.name[:58]}."  # with a key of 16 letters, a file name has at most 255 bytes of UTF-8


def _opened(path: Path, mode: int, continued: bool, wait: bool) -> IO[bytes]:
    """A file that is locked while it is open; unlocked files are stray. Ctrl-C cannot interrupt the opening."""
    while True:
        try:
            stream = open(path, "a+b" if continued else "x+b", opener=partial(os.open, mode=mode))  # noqa: SIM115
        except PermissionError:  # Python's message would name the temporary file
            raise _not_writable("folder", path.parent) from None
        try:
            if fcntl is not None:
                try:
                    fcntl.flock(stream, fcntl.LOCK_EX | (fcntl.LOCK_NB if continued and not wait else 0))
                except OSError as error:  # a file system without locks; no file is removed as stray there
                    if isinstance(error, BlockingIOError):
                        raise
            with suppress(FileNotFoundError):  # another process finished the file or removed it before the lock
                if os.path.samestat(os.fstat(stream.fileno()), path.stat()):
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
        with suppress(OSError), stray.open("rb") as stream:  # OSError: the file is locked, another user's, or removed
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
    """The kind of a path: "folder", "pipe", "socket" or "device"; None for a regular or missing file."""
    kinds = {stat.S_IFREG: None, stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}
    with suppress(OSError, ValueError):
        return kinds.get(stat.S_IFMT(path.stat().st_mode), "device")
    return None


def _sync_folder(folder: Path) -> None:
    """Flush the new name to disk, if the system can open folders."""
    handles: list[int] = []
    with suppress(OSError):
        try:
            handles.extend(map(os.open, [folder], [os.O_RDONLY]))  # one call into C: no signal can lose the handle
            os.fsync(handles[0])
        finally:
            for handle in handles:
                os.close(handle)


LOCAL_HEADER = struct.Struct("<26xHH")  # header of a zip entry: the lengths of its name and of its extra fields
_ALIGNED = 64  # alignment in bytes, the same that NumPy uses after the header of an array
_FILLING = 0xD935  # id of the extra field for padding, as in Android's zipalign
_LARGE_SIZES = 20  # bytes of the field for sizes above 4 GB, which comes last


def write_arrays(stream: Any, arrays: Mapping[str, Any], *, packed: bool) -> None:
    """Write named arrays to an .npz archive; `packed` compresses them. Uncompressed arrays can be memory-mapped."""
    with Archive(stream, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")
            entry.compress_type = archive.compression
            fixed = LOCAL_HEADER.size + len(entry.filename.encode()) + 6 + _LARGE_SIZES
            fill = -(archive.fp.tell() + fixed) % _ALIGNED  # type: ignore[union-attr]
            entry.extra = struct.pack("<HHH", _FILLING, 2 + fill, _ALIGNED) + bytes(fill)
            with archive.open(entry, "w", force_zip64=True) as place:
                _write_array(place, np.asanyarray(array))


def _write_array(place: Any, array: Any) -> None:
    """Write one array without copies; numpy.lib.format.write_array would copy it in small pieces."""
    if array.dtype.hasobject or not array.flags.c_contiguous or not array.size:
        np.lib.format.write_array(place, array, allow_pickle=False)
        return
    about = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(place, about)
    place.write(array.reshape(-1).view(np.uint8).data)


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of two concatenated pieces of data, from their CRCs; `size` is the length of the second in bytes."""
    shift, power, left = 1 << 31, 1 << 30, 8 * size  # x⁰ and x¹: the highest bit is the coefficient of x⁰
    while left:
        if left & 1:
            shift = _product(power, shift)
        power, left = _product(power, power), left >> 1
    return _product(shift, first) ^ second


def _product(a: int, b: int) -> int:
    """The product of two polynomials over GF(2), modulo the polynomial of CRC-32."""
    found = 0
    for bit in range(31, -1, -1):
        if a >> bit & 1:
            found ^= b
        b = b >> 1 ^ (0xEDB88320 if b & 1 else 0)
    return found


class Archive(zipfile.ZipFile):
    """A zip archive without a finaliser: that of zipfile prints an error if Ctrl-C interrupted the constructor."""

    def __del__(self) -> None:
        """Do nothing."""


PIECE = 1 << 18  # compressed bytes per step; signals are handled between steps
GZIP = 31  # zlib's `wbits` for a stream with the header and checksum of gzip


class Unpacked:
    """The content of a gzip file of one or more members. Damaged data raise zlib.error, truncated data EOFError.

    Unlike the streams of the module gzip, it handles Ctrl-C between any two pieces.
    """

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.seek(0)

    def seek(self, place: int) -> None:
        """Go back to the beginning."""
        assert place == 0
        self._raw.seek(0)
        self._unpacker: Any = None  # None between two members
        self._packed = self._ready = b""  # bytes read but not yet decompressed; bytes decompressed but not yet returned
        self._place = 0

    def tell(self) -> int:
        """The number of bytes returned so far."""
        return self._place

    def read(self, size: int) -> bytes:
        """The next `size` bytes; fewer at the end."""
        return self._next(size, b"")

    def readline(self, size: int) -> bytes:
        """The next bytes up to and including a newline, at most `size`."""
        return self._next(size, b"\n")

    def _next(self, missing: int, end: bytes) -> bytes:
        pieces = [b""]
        while (
            missing
            and not (end and pieces[-1].endswith(end))
            and (ready := self._ready or self._unpack(PIECE if end else missing))
        ):
            stop = (ready.find(end, 0, missing) + 1 if end else 0) or missing
            pieces.append(ready[:stop])
            self._ready = ready[stop:]
            missing -= len(pieces[-1])
            self._place += len(pieces[-1])
        return b"".join(pieces)

    def _unpack(self, most: int) -> bytes:
        while data := self._packed or self._raw.read(PIECE):
            if self._unpacker is None:
                self._packed = data.lstrip(b"\0")  # skips padding between members
                self._unpacker = zlib.decompressobj(GZIP) if self._packed else None
                continue
            found: bytes = self._unpacker.decompress(data, most)
            if self._unpacker.eof:
                self._packed, self._unpacker = self._unpacker.unused_data, None
            else:
                self._packed = self._unpacker.unconsumed_tail
            if found:
                return found
        if self._unpacker is not None:
            raise EOFError("the end mark is missing")
        return b""


class Packed(io.BufferedIOBase):
    """A gzip stream without name and time in its header, so that equal contents give equal files."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._packer = zlib.compressobj(6, zlib.DEFLATED, GZIP)  # a third of the time of level 9, with 1% more bytes

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Compress these bytes; returns their number."""
        given = memoryview(data).cast("B")
        for begin in range(0, len(given), PIECE):
            self._raw.write(self._packer.compress(given[begin : begin + PIECE]))
        return len(given)

    def finish(self) -> None:
        """Write the remaining bytes and the end mark."""
        self._raw.write(self._packer.flush())


def cache_folder() -> Path:
    """The folder for downloaded graphs and compiled GPU kernels.

    HOPWAVE_CACHE if that is set, otherwise `hopwave` in the user's cache folder. The folder may not exist yet.

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
    """The reason, with a remedy, if other users can write to a folder, so that its code must not run; else None.

    `shared`: the folder may belong to root, and its group may write to it, as for installed packages.
    """
    if os.name != "posix":
        return None
    about = place.stat()
    if about.st_uid != os.getuid() and not (shared and about.st_uid == 0):
        return f"{place} belongs to another user"
    if about.st_mode & (stat.S_IWOTH if shared else stat.S_IWGRP | stat.S_IWOTH):
        return f"other users can write to {place}; run: chmod {'o' if shared else 'go'}-w {place}"
    return None
