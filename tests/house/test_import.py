"""`import hopwave` imports only its errors and threads; what is used later imports what it needs."""

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


def test_importing_hopwave_imports_only_errors_and_threads(root: Path) -> None:
    beyond_python = loaded_after("import hopwave", root, depth=9) - set(sys.stdlib_module_names)
    found = {name for name in beyond_python if name.partition(".")[0] not in sys.stdlib_module_names}
    assert found == {"hopwave", "hopwave.errors", "hopwave.system", "hopwave.system.threads"}


# A graph of a few edges (SciPy sorts many of them) and a file need only NumPy; everything public is found.
LIGHT = {
    "a graph and a file": """
G = hw.Graph.from_edges([0, 1, 1], [1, 2, 3], weights=[1, 2, 3])
G.in_indices, hw.generate.grid(3, 3)
with tempfile.TemporaryDirectory() as folder:
    hw.write(folder + "/g.mtx", G)
    assert hw.read(folder + "/g.mtx") == G
""",
    "everything public": """
names = {name: getattr(hw, name) for name in hw.__all__}
assert set(hw.__all__) <= set(dir(hw)) and hw.io.read is hw.read
assert all(pickle.loads(pickle.dumps(found)) is found for found in names.values() if callable(found))
from hopwave import *
assert all(globals()[name] is found for name, found in names.items())
""",
    "a reference search": "hw.bfs(hw.generate.path(5), 0, device='reference')",
    "plans": "str(hw.plans())",
}


@pytest.mark.parametrize("name", LIGHT)
def test_what_needs_nothing_heavy(name: str, root: Path) -> None:
    found = loaded_after(f"import hopwave as hw, pickle, tempfile\n{LIGHT[name]}", root)
    assert "hopwave" in found and not found & {*HEAVY, "http"} - ({"scipy"} if name == "a reference search" else set())


@pytest.mark.slow
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


def test_a_wrong_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(AttributeError, match="module 'hopwave' has no attribute 'bsf'") as error:
        hopwave.bsf  # type: ignore[attr-defined] # noqa: B018
    assert (error.value.name, error.value.obj) == ("bsf", hopwave) and not hasattr(hopwave, "_bsf")
