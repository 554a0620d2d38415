"""`import hopwave` imports only its errors; what is used later imports what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hopwave

EXTRAS = ["cupy", "igraph", "matplotlib", "mpi4py", "networkx", "pandas", "polars", "pyarrow"]
HEAVY = ["cupy", "mpi4py", "matplotlib", "networkx", "numba", "pandas", "polars", "pyarrow", "rich", "scipy", "typer"]


def loaded_after(code: str, root: Path, depth: int = 1) -> set[str]:
    """The modules that are loaded after running code in a new interpreter; those inside of packages up to a depth."""
    report = "import json, sys; print(json.dumps(sorted(set(sys.modules) - before)))"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; before = set(sys.modules)\n{code}\n{report}"],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": str(root / "src")},
    )
    return {".".join(name.split(".")[:depth]) for name in json.loads(run.stdout)}


def test_importing_hopwave_imports_only_its_errors(root: Path) -> None:
    beyond_python = loaded_after("import hopwave", root, depth=9) - set(sys.stdlib_module_names)
    found = {name for name in beyond_python if name.partition(".")[0] not in sys.stdlib_module_names}
    assert found == {"hopwave", "hopwave.errors"}


def test_a_graph_and_a_file_need_only_numpy(root: Path) -> None:
    """A graph of a few edges: SciPy sorts many of them."""
    code = """
import hopwave as hw, tempfile
G = hw.Graph.from_edges([0, 1, 1], [1, 2, 3], weights=[1, 2, 3])
G.in_indices, hw.generate.grid(3, 3)
with tempfile.TemporaryDirectory() as folder:
    hw.write(folder + "/g.mtx", G)
    assert hw.read(folder + "/g.mtx") == G
"""
    found = loaded_after(code, root)
    assert {"hopwave", "numpy"} <= found and not found & {*HEAVY, "http"}


def test_no_extra_is_needed_before_it_is_used(root: Path) -> None:
    """Every module can be imported without them, but for the two rooms that are about one of them."""
    code = f"""
import sys, pkgutil
sys.modules.update(dict.fromkeys({[*EXTRAS]!r}))
import hopwave
rooms = ("hopwave.engines.cuda", "hopwave.networkx_backend", "hopwave.__main__")
for found in pkgutil.walk_packages(hopwave.__path__, "hopwave.", onerror=lambda name: None):
    if not found.name.startswith(rooms):
        __import__(found.name)
"""
    assert "hopwave.papers.xbfs" in loaded_after(code, root, depth=3)


def test_everything_public_is_found_and_none_of_it_is_heavy(root: Path) -> None:
    code = """
import hopwave as hw, pickle
names = {name: getattr(hw, name) for name in hw.__all__}
assert set(hw.__all__) <= set(dir(hw)) and hw.io.read is hw.read
assert all(pickle.loads(pickle.dumps(found)) is found for found in names.values() if callable(found))
from hopwave import *
assert all(globals()[name] is found for name, found in names.items())
"""
    assert not loaded_after(code, root) & set(HEAVY)


def test_a_wrong_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="module 'hopwave' has no attribute 'bsf'") as error:
        hopwave.bsf  # type: ignore[attr-defined] # noqa: B018
    assert (error.value.name, error.value.obj) == ("bsf", hopwave) and not hasattr(hopwave, "_bsf")


def test_a_reference_search_needs_no_compiler(root: Path) -> None:
    code = "import hopwave as hw; hw.bfs(hw.generate.path(5), 0, device='reference')"
    assert not loaded_after(code, root) & (set(HEAVY) - {"scipy"})


def test_describing_plans_needs_nothing_heavy(root: Path) -> None:
    assert not loaded_after("import hopwave as hw; str(hw.plans())", root) & set(HEAVY)
