"""What the tests of the command share besides fixtures: a PNG's first bytes, hidden libraries, new processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import Any

import pytest

PNG = b"\x89PNG\r\n\x1a\n"


def hide(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make these libraries look as if they were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *rest: None if name in names else find(name, *rest))


def started(*command: str, **changes: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a new process that can import what this one can; `changes` of its environment."""
    environment: dict[str, Any] = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **changes}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr
