"""Numba's cache of machine code on disk, made safe; hopwave compiles its functions by the `njit` of this module.

Numba's own cache raises an error if no folder can be written to, if a file is damaged, and if the disk is full. Here
each of these costs only time and a line in the log. Numba decides by the file of a function alone whether its machine
code is up to date. Here all files count whose functions and constants are compiled into it, as they were when they were
imported. Numba reuses file names and writes the index first, so that a second process could run other code than it
asked for. Here a file is named for its content's source and signature, is written before the index names it, and ends
in its SHA-256. What is not on disk yet may be in the package (shipped_code.py).
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

if optional("numba", "compiled code").config.DISABLE_JIT:  # as Python, some functions would return other results
    raise EngineError("NUMBA_DISABLE_JIT=1 turns off the compiler of device='cpu'; unset it, or use device='reference'")
import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from hopwave.system.compile_notice import telling

aside(getattr, cpu_target, "target_context")  # starts LLVM; else the first function would, where a signal may come

log = logging.getLogger("hopwave")

replaced: list[Path] = []  # damaged files that were thrown away in this process
_said = False  # whether a warning that nothing can be kept was logged


class _Shipped:
    """The part of a cache that reads the package's machine code."""

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
    """The cache of a function where nothing can be kept."""

    def __init__(self, function: Any) -> None:
        self._py_func = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The package's machine code for that signature; None if it must be compiled."""
        _name_runtime()
        return self._load_shipped(sig, target_context)


@cache
def _name_runtime() -> None:
    """Tell LLVM where Numba's runtime is; Numba's own cache first loads the whole compiler (0.25 s)."""
    from llvmlite import binding  # type: ignore[import-untyped]
    from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class _Files(IndexDataCacheFile):
    """The files of one function: an index, and one for every signature."""

    def save(self, key: Any, data: Any) -> None:
        """Keep machine code; files that the index does not name are removed."""
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
    """Raise ValueError if a file does not end in the digest of what is before; Numba reads no further than that."""
    data = path.read_bytes() if path.exists() else b""
    if data and hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("its digest is another")


class Cache(_Shipped, FunctionCache):
    """Numba's cache of one function. Files that cannot be read are deleted; errors of writing are logged."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._check_folder()
        path, file = Path(function.__code__.co_filename).resolve(), self._cache_file
        stamp = file._source_stamp, digest_of(path)
        if is_edited(path):
            log.info("machine code of %s is neither kept nor read: its source has changed", function.__name__)
            raise Edited
        name = f"{self._impl.filename_base}.checked"  # files of Numba's own have no digest
        self._cache_file = _Files(self._cache_path, name, stamp)  # type: ignore[no-untyped-call]

    def _check_folder(self) -> None:
        """Raise RuntimeError if other users can write to the folder: Numba would run the code in their files."""
        with suppress(OSError):  # a folder that is not there yet is made by this user
            if reason := why_not_trusted(Path(self.cache_path), shared=True):
                _warn_once(
                    f"machine code is neither kept nor read: {reason}, or set NUMBA_CACHE_DIR to a folder of your own"
                )
                raise RuntimeError(reason)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for that signature; None if it must be compiled."""
        found = None
        try:
            _name_runtime()
            with self._guard_against_spurious_io_errors():
                found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # unpickling a damaged file may raise anything
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
            with part_of(folder / "hopwave", "lock", wait=True):  # two processes would name two files alike
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:  # the disk is full, or the folder has become read-only
            log.info("machine code of %s is not kept: %s", self._py_func.__name__, error)
        except Exception as error:  # another process left a damaged index
            self._throw_away(error)

    def _throw_away(self, error: Exception) -> None:
        index = Path(self._cache_file._index_path)
        log.warning("%s is damaged (%s: %s) and is made again", index, type(error).__name__, error)
        replaced.append(index)
        with suppress(OSError):  # without the index, Numba does not look at the other files
            index.unlink()


@cache
def compiled_together(path: Path) -> list[Path]:
    """The files whose functions and constants may be compiled into a function of that file."""
    package = Path(__file__).resolve().parents[1]
    engine = package / "engines" / "cpu"
    if engine in path.parents:
        return [*sorted(engine.rglob("*.py")), package / "planning" / "rules.py", package / "algebra" / "operators.py"]
    return [path]


class Edited(RuntimeError):
    """The source of a function is not what was imported."""


BEGAN = time.time_ns()  # before a module with compiled functions is imported
_imported: dict[Path, tuple[int, int]] = {}  # file → time and size when its first compiled function was made


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def is_edited(path: Path) -> bool:
    """Whether a file that may be compiled into a function of `path` has changed since it was imported."""
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
    """A digest of all the source that may be compiled into a function of that file."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in compiled_together(path))).hexdigest()


class _Later:
    """Makes the cache of a function when it is first used: that tries to write to a folder."""

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
                "no folder for machine code can be written to, so that every process compiles anew; set "
                "NUMBA_CACHE_DIR to a folder that can be written to"
            )
        self.function._cache = made
        return getattr(made, name)


def njit(*, cache: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Numba's `njit` with these options; with `cache`, machine code is kept on disk if possible."""

    def compiled(function: Any) -> Any:
        made: Any = numba.njit(**options)(function)
        if cache:
            path = Path(function.__code__.co_filename).resolve()
            if path not in _imported:
                with suppress(OSError):
                    _imported[path] = _stamp(path)
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
    """A step of Numba's, from reading files to LLVM, that no signal may break off; here if it is part of another."""
    return step(*given) if global_compiler_lock.is_locked() else aside(step, *given)  # type: ignore[no-untyped-call]


@cache
def _trim_compiler() -> None:
    """Spare Numba the import of SciPy's linear algebra (0.25 s; functions that call it import it when they are
    compiled), and the text of an error about slices of unequal lengths (2 s to compile; there is a shorter one).
    """
    from numba.np import linalg

    with suppress(AttributeError):  # another version of Numba: as it wants
        asked, linalg.ensure_blas = linalg.ensure_blas, lambda: None
        try:
            import_module("numba.np.arraymath")
        finally:
            linalg.ensure_blas = asked
    from numba.np import arrayobj

    def raise_error(src_shapes: Any, index_shape: Any) -> None:
        """Compiled as Numba's short one."""

    with suppress(AttributeError):  # an older version has only that
        numba.extending.overload(raise_error)(arrayobj.ol_raise_with_shape_context_generic)
        arrayobj.raise_with_shape_context = raise_error


def _warn_once(message: str) -> None:
    global _said
    if not _said:
        _said = True
        log.warning(message)


def where_kept() -> str | None:
    """The folder where machine code is kept; None if no folder can be used."""
    try:
        return str(Cache(where_kept).cache_path)
    except RuntimeError:
        return None
