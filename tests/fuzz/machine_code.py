"""Damaged machine code: bytes changed, cut off, added or mixed, in files that Numba keeps and in those of a wheel.

A function is loaded as a new process would load it, and must give its answer; a crash ends the fuzzer.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import platform
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from difference import Attempt, Difference
from numba.core import caching

from hopwave.system import numba_cache, shipped_code

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


def inputs(draw: random.Random, folder: Path) -> Iterator[Attempt]:
    """One file of machine code damaged, both kinds in turn: see difference.py."""
    logging.getLogger("hopwave").setLevel(logging.CRITICAL)
    module, runs = folder / "adding.py", iter(range(1 << 40))
    module.write_text(MODULE, encoding="utf-8")
    baseline = shipped_code.BASELINES[platform.machine()][0].cpu

    def load() -> Any:
        shipped_code._choose.cache_clear()
        spec = importlib.util.spec_from_file_location("adding", module)
        assert spec is not None and spec.loader is not None
        made = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(made)
        return made.added

    def attempt(kept: bool) -> int:
        place = str(folder / "kept") if kept else str(folder / f"none{next(runs) % 4}")
        shipped = folder / ("no code" if kept else "code")
        with (
            patch.object(caching.config, "CACHE_DIR", place),
            patch.object(shipped_code, "PACKAGE", folder),
            patch.object(shipped_code, "FOLDER", shipped),
            patch.object(shipped_code, "_said", set()),
            patch.dict(os.environ),
        ):
            if not kept:
                for old in Path(place).glob("*/*"):
                    old.unlink()
            if kept or not shipped.exists():
                os.environ.update({} if kept else {"HOPWAVE_SHIP": baseline})
                load()(1, 3)
                os.environ.pop("HOPWAVE_SHIP", None)
            files = [*Path(place).glob("*/*.nb?")] if kept else [*shipped.glob("*/*")]
            file = draw.choice(sorted(files))
            whole = file.read_bytes()
            file.write_bytes(damaged(draw, whole))
            found = load()(1, 3), load()(1, 3)
            if not kept:
                file.write_bytes(whole)
        if found != (4, 4):
            raise Difference(f"{file.name}, damaged: found {found}")
        return 1

    numba_cache._imported.pop(module.resolve(), None)
    while True:
        yield lambda: attempt(True)
        yield lambda: attempt(False)
