"""Counts the public names whose types a type checker knows: `python -m docs.typed`, with pyright installed.

pyright's own score includes the engines, where Numba and CuPy erase types. This counts the names of the reference
(docs/site/reference.py) and their members.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys

from docs.site import reference


def places() -> set[str]:
    """The full name that pyright gives every public name: the module that defines it.

    >>> "hopwave.api.search.bfs" in places()
    True
    """
    found = set()
    for full in reference.public_names():
        module, _, name = full.rpartition(".")
        member = getattr(importlib.import_module(module), name)
        found.add(f"{member.__module__}.{member.__qualname__}" if hasattr(member, "__qualname__") else full)
    return found


def main() -> int:
    """Run pyright, and print the names whose types it does not know."""
    asked = ["pyright", "--verifytypes", "hopwave", "--ignoreexternal", "--outputjson"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    public, known = places(), 0
    symbols = [
        symbol
        for symbol in json.loads(answer)["typeCompleteness"]["symbols"]
        if any(symbol["name"] == place or symbol["name"].startswith(f"{place}.") for place in public)
    ]
    for symbol in symbols:
        known += symbol["isTypeKnown"]
        if not symbol["isTypeKnown"]:
            print(symbol["name"], *(found["message"] for found in symbol["diagnostics"][:1]))
    print(f"{known} of {len(symbols)} public symbols have known types")
    return 0 if symbols and known == len(symbols) else 1


if __name__ == "__main__":
    sys.exit(main())
