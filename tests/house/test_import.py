"""`import hopwave` is light: it loads no library that a search does not need at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ["cupy", "mpi4py", "matplotlib", "networkx", "numba", "pandas", "polars", "pyarrow", "typer", "rich"]


def loaded_after(code: str, root: Path) -> set[str]:
    """The top-level modules that are loaded after running code in a new interpreter."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
    )
    return set(json.loads(run.stdout))


@pytest.fixture(scope="module")
def bare(root: Path) -> set[str]:
    return loaded_after("import hopwave", root)


@pytest.mark.parametrize("name", HEAVY)
def test_importing_hopwave_does_not_import(name: str, bare: set[str]) -> None:
    assert name not in bare


def test_importing_brings_what_it_should(bare: set[str]) -> None:
    """Otherwise the tests above would pass on an import that failed halfway."""
    assert {"hopwave", "numpy", "scipy"} <= bare


def test_a_reference_search_needs_no_compiler(root: Path) -> None:
    code = "import hopwave as hw; hw.bfs(hw.generate.path(5), 0, device='reference')"
    assert not loaded_after(code, root) & set(HEAVY)


def test_describing_plans_needs_nothing_heavy(root: Path) -> None:
    assert not loaded_after("import hopwave as hw; str(hw.plans())", root) & set(HEAVY)
