"""What the tests of the command share besides fixtures: their types, hidden libraries, environments of processes."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

Run = Callable[..., str]
Answer = Callable[..., dict[str, Any]]
Fail = Callable[..., tuple[int, str]]

PNG = b"\x89PNG\r\n\x1a\n"


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make these libraries look as if they were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name in names else find(name, *rest))


def environment(**changes: str) -> dict[str, str]:
    """The environment of a new process that can import what this one can."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **changes}
