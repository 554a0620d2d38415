"""Public names that are imported when they are first used, so that `import hopwave` takes milliseconds.

The imports stand in the package's file under TYPE_CHECKING, where type checkers read them; here they are read from
there (as proposed in SPEC 1 of Scientific Python, which keeps them in a stub).
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hopwave.checks.keywords import offered


@cache
def homes(file: str) -> dict[str, str]:
    """The module of every name that a file imports."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def find(package: str, file: str, name: str) -> Any:
    """What a package offers by that name: something that its file imports, or one of its modules."""
    home = homes(file).get(name, package)
    with without_collecting(stays=True):
        if home != package:
            return offered(getattr(import_module(home), name))
        if not name.startswith("_") and find_spec(f"{package}.{name}") is not None:
            return import_module(f"{package}.{name}")
    raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])


@contextmanager
def without_collecting(*, stays: bool = False) -> Iterator[None]:
    """No garbage collection inside: it takes a tenth of the time of importing and compiling.

    What is made and `stays`, as modules do, counts as old afterwards: the next collection does not look through it.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            if stays and gc.get_freeze_count() == 0:  # a program that freezes objects itself wants them to stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
