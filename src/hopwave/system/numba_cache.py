"""A safe version of Numba's cache of machine code on disk; hopwave compiles its functions by the `njit` of this module.

Numba's own cache raises an error if no folder is writable, a file is damaged or the disk is full. In these cases, this
cache only compiles again and logs a line. Numba checks only the function's own file to decide whether machine code is
up to date. This cache checks all files whose functions and constants are compiled into the function, in their state at
import. Numba reuses file names and writes the index first, so that a second process could run the wrong code. In this
cache, a file is named by its source and signature, is written before the index names it, and ends with its SHA-256.
Functions that are not on disk may be in the package (shipped_code.py).
"""

import glob
import hashlib
import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

from hopwave.errors import EngineError
from hopwave.system import shipped_code
from hopwave.system.files import part_of, replacing, why_not_trusted
from hopwave.system.optional import optional
from hopwave.system.threads import aside

if optional("numba", "compiled code").config.DISABLE_JIT:  # without compilation, some functions return other results
    raise EngineError("NUMBA_DISABLE_JIT=1 disables the compiler of device='cpu'; unset it, or use device='reference'")
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from hopwave.system.compile_notice import telling

aside(getattr, cpu_target, "target_context")  # starts LLVM here, because a signal could interrupt it in a first call

log = logging.getLogger("hopwave")

replaced: list[Path] = []  # damaged files that this process has deleted
_said = False  # whether the warning that machine code cannot be cached was logged


class _Shipped:
    """The part of a cache that reads the machine code in the package."""

    _py_func: Any

    def _shipped(self, sig: Any, codegen: Any) -> str | None:
        path = Path(self._py_func.__code__.co_filename).resolve()
        if is_edited(path):
            return None
        key = FunctionCache._index_key(self, sig, codegen)  # type: ignore[arg-type, no-untyped-call]
        return shipped_code.file_of(self._py_func, key, digest_of(path))

    def _load_shipped(self, sig: Any, target_context: Any) -> Any:
        return shipped_code.load(self._shipped(sig, target_context.codegen()), target_context)


class PackageOnly(_Shipped, NullCache):
    """The cache of a function if machine code cannot be cached on disk."""

    def __init__(self, function: Any) -> None:
        self._py_func = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Machine code in the package for that signature; None if the function must be compiled."""
        _name_runtime()
        return self._load_shipped(sig, target_context)


@cache
def _name_runtime() -> None:
    """Register the addresses of Numba's runtime in LLVM; Numba's own cache first loads the full compiler (0.25 s)."""
    from llvmlite import binding  # type: ignore[import-untyped]
    from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class _Files(IndexDataCacheFile):
    """The files of one function: an index, and one file per signature."""

    def save(self, key: Any, data: Any) -> None:
        """Store machine code, and remove files that the index does not name."""
        stem = self._index_name.removesuffix(".nbi")
        name = f"{stem}.{hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]}.nbc"
        names = self._load_index() | {key: name}
        self._save_data(name, data)  # type: ignore[no-untyped-call]
        self._save_index(names)  # type: ignore[no-untyped-call]
        for file in Path(self._cache_path).glob(f"{glob.escape(stem)}.*.nbc"):
            if file.name not in names.values():
                file.unlink(missing_ok=True)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[Any]:
        with replacing(filepath) as file:
            yield file
            file.seek(0)
            file.write(hashlib.sha256(file.read()).digest())

    def _load_index(self) -> dict[Any, str]:
        _check_digest(Path(self._index_path))
        return dict(super()._load_index())  # type: ignore[no-untyped-call]

    def _load_data(self, name: str) -> Any:
        _check_digest(Path(self._cache_path, name))
        return super()._load_data(name)  # type: ignore[no-untyped-call]


def _check_digest(path: Path) -> None:
    """Raise ValueError if a file does not end with the digest of its content; Numba does not read the digest."""
    data = path.read_bytes() if path.exists() else b""
    if data and hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("the digest does not match")


class Cache(_Shipped, FunctionCache):
    """Numba's cache of one function. Unreadable files are deleted; write errors are logged."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._check_folder()
        path, file = Path(function.__code__.co_filename).resolve(), self._cache_file
        stamp = file._source_stamp, digest_of(path)
        if is_edited(path):
            log.info("machine code of %s is not cached: its source has changed since import", function.__name__)
            raise Edited
        name = f"{self._impl.filename_base}.checked"  # distinct from the files of Numba's own cache, without digests
        self._cache_file = _Files(self._cache_path, name, stamp)  # type: ignore[no-untyped-call]

    def _check_folder(self) -> None:
        """Raise RuntimeError if other users can write to the folder: Numba would run the code in their files."""
        with suppress(OSError):  # a missing folder will be created by this user
            if reason := why_not_trusted(Path(self.cache_path), shared=True):
                _warn_once(f"machine code is not cached: {reason}, or set NUMBA_CACHE_DIR to a folder of your own")
                raise RuntimeError(reason)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for that signature; None if the function must be compiled."""
        found = None
        try:
            _name_runtime()
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # unpickling a damaged file may raise any error
            self._throw_away(error)
        return self._load_shipped(sig, target_context) if found is None else found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store machine code; an error is logged, not raised."""
        if (baseline := os.environ.get("HOPWAVE_SHIP")) and self._impl.check_cachable(data):
            shipped_code.save(self._shipped(sig, data.codegen), data, baseline)
        if is_edited(Path(self._py_func.__code__.co_filename).resolve()):
            return
        try:
            folder = Path(self.cache_path)
            folder.mkdir(parents=True, exist_ok=True)
            with part_of(folder / "hopwave", "lock", wait=True):  # one process at a time updates the index
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:  # the disk is full, or the folder has become read-only
            log.info("machine code of %s is not cached: %s", self._py_func.__name__, error)
        except Exception as error:  # another process left a damaged index
            self._throw_away(error)

    def _throw_away(self, error: Exception) -> None:
        index = Path(self._cache_file._index_path)
        log.warning("%s is damaged (%s: %s) and will be rebuilt", index, type(error).__name__, error)
        replaced.append(index)
        with suppress(OSError):  # without the index, Numba does not read the other files
            index.unlink()


@cache
def compiled_together(path: Path) -> list[Path]:
    """The files whose functions and constants may be compiled into a function of the file `path`."""
    package = Path(__file__).resolve().parents[1]
    engine = package / "engines" / "cpu"
    if engine in path.parents:
        return [*sorted(engine.rglob("*.py")), package / "planning" / "rules.py", package / "algebra" / "operators.py"]
    return [path]


class Edited(RuntimeError):
    """The source of a function has changed since it was imported."""


BEGAN = time.time_ns()  # time before any module with compiled functions is imported
_imported: dict[Path, tuple[int, int]] = {}  # file → time and size when its first compiled function was defined


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def is_edited(path: Path) -> bool:
    """Whether any file that may be compiled into a function of `path` has changed since it was imported."""
    for file in compiled_together(path):
        try:
            now = _stamp(file)
        except OSError:  # the package was removed
            return True
        if now != _imported[file] if file in _imported else BEGAN < now[0] <= time.time_ns():
            return True
    return False


@cache
def digest_of(path: Path) -> str:
    """A digest of all source code that may be compiled into a function of the file `path`."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in compiled_together(path))).hexdigest()


class _Later:
    """Creates the cache of a function on first use, because creating it tries to write to a folder."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __getattr__(self, name: str) -> Any:
        made: Any = PackageOnly(self.function.py_func)
        try:
            made = Cache(self.function.py_func)
        except Edited:
            pass
        except RuntimeError:
            _warn_once(
                "no folder for machine code is writable, so every process compiles again; set NUMBA_CACHE_DIR to a "
                "writable folder"
            )
        self.function._cache = made
        return getattr(made, name)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Numba's `njit` with these options; with `cache`, machine code is cached on disk if possible."""

    def compiled(function: Any) -> Any:
        made: Any = numba.njit(**options)(function)
        if cache:
            path = Path(function.__code__.co_filename).resolve()
            with suppress(OSError):
                _imported.setdefault(path, _stamp(path))
            made._cache = _Later(made)
            made._compiler.compile = partial(_compile, made, made._compiler.compile)
        made.compile, made._compile_for_args = (
            partial(_whole, step) for step in (made.compile, made._compile_for_args)
        )
        return made

    return compiled


def _compile(made: Any, compile_: Callable[..., Any], *given: Any) -> Any:
    _trim_compiler()
    with telling(made):
        return compile_(*given)


def _whole(step: Callable[..., Any], *given: Any) -> Any:
    """A step of Numba, from reading files to LLVM, protected from signals; nested steps run on the same thread."""
    return step(*given) if global_compiler_lock.is_locked() else aside(step, *given)  # type: ignore[no-untyped-call]


@cache
def _trim_compiler() -> None:
    """Skip the import of SciPy's linear algebra (0.25 s; functions that call it import it when they are compiled), and
    replace a long error text about slices of unequal lengths (2 s to compile) by Numba's short text.
    """
    from numba.np import linalg

    with suppress(AttributeError):  # a version of Numba without this attribute
        asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = asked
    from numba.np import arrayobj

    def raise_error(src_shapes: Any, index_shape: Any) -> None:
        """Compiled to Numba's short error."""

    with suppress(AttributeError):  # older versions of Numba have only the short error
        numba.extending.overload(raise_error)(arrayobj.ol_raise_with_shape_context_generic)
        arrayobj.raise_with_shape_context = raise_error


def _warn_once(message: str) -> None:
    global _said
    if not _said:
        _said = True
        log.warning(message)


def where_kept() -> str | None:
    """The folder where machine code is cached; None if no folder is usable."""
    with suppress(RuntimeError):
        return str(Cache(where_kept).cache_path)
    return None
