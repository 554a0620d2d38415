"""Which kernel instances a process launches: for the table of compute-sanitizer, and as a plugin for pytest.

    HOPWAVE_LAUNCHES=folder python -m pytest -m gpu -p benchmarks.sanitize.launches

writes folder/*.json: every instance that some test launches, and the first test that does. Processes that tests start,
such as the ranks of an MPI job, are not recorded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

launched: dict[str, str] = {}  # "header: instance" → the test or part that launched it first
now = [""]  # the name of the running test or part


class Recorded:
    """A CuPy function that records its launches."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.name, self.ptr = function, name, function.ptr

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        launched.setdefault(self.name, now[0])
        return self.function(*arguments, **more)


def record() -> None:
    """Record every launch of instances that are loaded from now on."""
    from hopwave.engines.cuda import nvrtc
    from hopwave.engines.cuda.prepared_launch import PackedLaunch, PreparedLaunch

    load: Any = nvrtc.loaded.get
    call: Callable[..., Any] = PreparedLaunch.__call__
    packed_call: Callable[..., Any] = PackedLaunch.__call__
    by_handle: dict[int, str] = {}

    def loaded(header: str, name: str, *more: Any) -> Recorded:
        found = Recorded(load(header, name, *more), f"{header}: {name}")
        by_handle[found.ptr] = found.name
        return found

    def prepared(self: Any, **changed: Any) -> None:
        launched.setdefault(by_handle[self.handle], now[0])
        call(self, **changed)

    def packed(self: Any, *arguments: Any) -> None:
        launched.setdefault(by_handle[self.handle], now[0])
        packed_call(self, *arguments)

    nvrtc.loaded.get = loaded
    PreparedLaunch.__call__ = prepared
    PackedLaunch.__call__ = packed


# ---------------------------------------------------------------- the plugin


def pytest_configure() -> None:
    """Start recording, if CuPy is installed."""
    if "HOPWAVE_LAUNCHES" in os.environ:
        record()


def pytest_runtest_setup(item: Any) -> None:
    """Remember the name of the running test."""
    now[0] = item.nodeid


def pytest_sessionfinish() -> None:
    """Write what this process has recorded."""
    if "HOPWAVE_LAUNCHES" in os.environ and launched:
        folder = Path(os.environ["HOPWAVE_LAUNCHES"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(launched, indent=0), encoding="utf-8")
