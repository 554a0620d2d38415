"""A pytest plugin for test_their_suite.py: counts the calls that NetworkX dispatches to hopwave, and prints the sum."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hopwave.networkx_backend.interface import Backend

served: Counter[str] = Counter()
find = Backend.__getattr__


def counted(backend: Backend, name: str) -> Any:
    function = find(backend, name)
    served[name] += 1
    return function


Backend.__getattr__ = counted  # type: ignore[method-assign]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"hopwave served {sum(served.values())} calls of {len(served)} functions")
