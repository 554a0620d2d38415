"""Damaged machine code: bytes changed, cut off, added or mixed, in files of Numba, of a wheel and of kernels.

A function is loaded as a new process would load it, and must give its answer; a crash ends the fuzzer.
"""

import importlib.util
import logging
import os
import platform
import random
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from numba.core import caching

from hopwave.engines.cuda import kernel_files
from hopwave.system import numba_cache, shipped_code
from questions import Difference

MODULE = """
import numpy as np
from hopwave.system.numba_cache import njit

@njit(cache=True, nogil=True)
def added(x, count):
    total = x
    for i in range(count):
        total += i
    return total
"""


def damaged(draw: random.Random, data: bytes) -> bytes:
    """The same bytes, with one mistake of some kind."""
    at, size = draw.randrange(len(data)), draw.randint(1, 64)
    return draw.choice((
        lambda: data[:at],
        lambda: data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1 :],
        lambda: data[:at] + draw.randbytes(size) + data[at + size :],
        lambda: data[:at] + draw.randbytes(size) + data[at:],
        lambda: data[:at] + data[at + size :],
        lambda: data[:at] + bytes(len(data) - at),
        lambda: data[at:] + data[:at],
    ))()  # fmt: skip


@cache
def module_in(folder: Path) -> Path:
    """The file of a compiled function; damaged files of machine code are not logged."""
    logging.getLogger("hopwave").setLevel(logging.CRITICAL)
    module = folder / "adding.py"
    module.write_text(MODULE, encoding="utf-8")
    numba_cache._imported.pop(module.resolve(), None)
    return module


def load(module: Path, name: str = "added") -> Any:
    """A function of a file, imported as a new process would."""
    shipped_code._choose.cache_clear(), shipped_code._say_once.cache_clear()
    spec = importlib.util.spec_from_file_location(module.stem, module)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return getattr(made, name)


def inputs(draw: random.Random, folder: Path) -> int:
    """A damaged file of each kind: Numba's, a wheel's, a kernel's."""
    return loaded(draw, folder, True) + loaded(draw, folder, False) + kernels(draw, folder)


def loaded(draw: random.Random, folder: Path, kept: bool) -> int:
    """Damage a file that Numba keeps, or one of a wheel; the function is right, loaded twice."""
    place, shipped = folder / ("kept" if kept else "none"), folder / ("no code" if kept else "code")
    module, baseline = module_in(folder), shipped_code.BASELINES[platform.machine()][0].cpu
    with (
        patch.object(caching.config, "CACHE_DIR", str(place)),
        patch.object(shipped_code, "PACKAGE", folder),
        patch.object(shipped_code, "FOLDER", shipped),
        patch.dict(os.environ),
    ):
        if not kept:
            for old in place.glob("*/*"):
                old.unlink()
        if kept or not shipped.exists():
            os.environ.update({} if kept else {"HOPWAVE_SHIP": baseline})
            load(module)(1, 3)
            os.environ.pop("HOPWAVE_SHIP", None)
        file = draw.choice(sorted(place.glob("*/*.nb?") if kept else shipped.glob("*/*")))
        whole = file.read_bytes()
        file.write_bytes(damaged(draw, whole))
        found = load(module)(1, 3), load(module)(1, 3)
        if not kept:
            file.write_bytes(whole)
    if found != (4, 4):
        raise Difference(f"{file.name}, damaged: found {found}")
    return 1


def kernels(draw: random.Random, folder: Path) -> int:
    """Damage or delete a compiled kernel: reading gives what was written, or nothing; other files are untouched."""
    with patch.dict(os.environ, HOPWAVE_CACHE=str(folder)):
        written = {}
        for key in (("a",), ("b",), ("a", "b"), ("ab",)):
            written[key] = draw.randbytes(draw.randint(0, 40)), {f"name {draw.random()}": "symbol"}
            kernel_files.write(key, *written[key])
        key = draw.choice(list(written))
        file = kernel_files.path_of(key)
        data = file.read_bytes()
        changed = b"" if draw.random() < 0.2 else damaged(draw, data)
        file.write_bytes(changed) if changed else file.unlink()
        for other, right in written.items():
            found = kernel_files.read(other)
            if found != right and not (found is None and other == key and changed != data):
                raise Difference(f"{key} was {data!r} and is {changed!r}: {other} is {found}")
    return len(written)
