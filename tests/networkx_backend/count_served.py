"""A pytest plugin for test_their_suite.py: counts the calls that NetworkX dispatches to hopwave, and prints the sum.

Only some cases of a test function with very many run: NetworkX has one with 640 similar cases. `make test` runs every
second function, `make complete` runs all.
"""

import os
from collections import Counter
from typing import Any
from zlib import crc32

from hopwave.networkx_backend import Backend

MOST_CASES = 20  # per test function
COMPLETE = os.environ.get("HOPWAVE_TESTS") == "complete"

served: Counter[str] = Counter()
find = Backend.__getattr__


def counted(backend: Backend, name: str) -> Any:
    function = find(backend, name)
    served[name] += 1
    return function


Backend.__getattr__ = counted  # type: ignore[method-assign]


def pytest_collection_modifyitems(items: list[Any]) -> None:
    kept: Counter[str] = Counter()
    chosen = set()
    for item in sorted(items, key=lambda item: crc32(item.nodeid.encode())):  # mixed, and the same in every run
        function = item.nodeid.partition("[")[0]
        kept[function] += 1
        if kept[function] <= MOST_CASES and (COMPLETE or crc32(function.encode()) % 2 == 0):
            chosen.add(item)
    items[:] = [item for item in items if item in chosen]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"hopwave served {sum(served.values())} calls of {len(served)} functions")
