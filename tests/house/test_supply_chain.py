"""What code runs and where it comes from: no pickle, no evaluated text, no foreign code; bounds of dependencies."""

import ast
import json
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import pytest
from docs import guarantees

from hopwave.algebra import operators
from hopwave.system import numba_cache
from hopwave.system.files import why_not_trusted

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
RUN_WHAT_THEY_READ = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml"}
RUN_TEXT = {"eval", "exec", "compile", "__import__", "system", "popen"}
# hopwave's own kernels are rewritten for one arithmetic and compiled at run time. Machine code of a wheel is a part of
# the package, and trusted as its Python files are.
ALLOWED = {
    ("src/hopwave/system/shipped_code.py", "pickle"),
    ("src/hopwave/engines/cpu/linalg/specialise.py", "exec"),
    ("src/hopwave/engines/cpu/linalg/specialise.py", "compile"),
}


def found_in(text: str) -> Iterator[str]:
    """The names in a source text that would run code that was read."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call):
            called = node.func
            yield called.id if isinstance(called, ast.Name) else ""
            if isinstance(called, ast.Attribute) and ast.unparse(called.value) in ("os", "builtins"):
                yield called.attr
            for word in node.keywords:
                if word.arg in ("allow_pickle", "shell") and not (
                    isinstance(word.value, ast.Constant) and word.value.value is False
                ):
                    yield f"{word.arg}="


@pytest.mark.slow
def test_nothing_is_unpickled_or_evaluated() -> None:
    forbidden = RUN_WHAT_THEY_READ | RUN_TEXT | {"allow_pickle=", "shell="}
    found = {
        (file.relative_to(ROOT).as_posix(), name)
        for file in SOURCES
        for name in found_in(file.read_text(encoding="utf-8"))
        if name in forbidden
    }
    assert found == ALLOWED


def test_each_of_them_would_be_found() -> None:
    text = "import pickle\nfrom marshal import loads\neval('1')\nos.system('ls')\nrun(f, allow_pickle=True, shell=yes)"
    assert {"pickle", "marshal", "eval", "system", "allow_pickle=", "shell="} <= set(found_in(text))
    assert "eval" not in set(found_in("re.compile('eval(x)')"))


def test_an_operator_is_its_text() -> None:
    """Numba compiles the text, Python runs the function: both are the same expression."""
    tree = ast.parse(Path(operators.__file__).read_text(encoding="utf-8"))
    pairs = [
        (call.args[1], call.args[2])
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "_op"
    ]
    assert len(pairs) == 19
    for function, text in pairs:
        assert isinstance(function, ast.Lambda) and isinstance(text, ast.Constant | ast.Name)
        written = text.value if isinstance(text, ast.Constant) else getattr(operators, text.id)
        assert ast.unparse(function.body) == ast.unparse(ast.parse(str(written), mode="eval").body)


# ---------------------------------------------------------------- caches


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_machine_code_of_others_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Numba's files are pickles: anyone who can write to their folder can run code here."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    kept = Path(str(numba_cache.where_kept()))
    assert tmp_path in kept.parents and why_not_trusted(kept, shared=True) is None
    kept.chmod(0o777)
    monkeypatch.setattr(numba_cache, "_said", False)
    assert numba_cache.where_kept() is None
    assert "other users can write to" in caplog.text and "run: chmod o-w" in caplog.text
    kept.chmod(0o775)  # group-writable, as with umask 002
    assert numba_cache.where_kept() == str(kept)
    monkeypatch.setattr(os, "getuid", lambda: kept.stat().st_uid + 1)
    if kept.stat().st_uid:  # files that belong to the administrator are trusted
        assert numba_cache.where_kept() is None


# ---------------------------------------------------------------- dependencies


def requirements() -> list[str]:
    project: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]


def test_every_dependency_has_a_lower_bound() -> None:
    named = [one for one in requirements() if not one.startswith("hopwave[")]
    assert [one for one in named if not re.search(r">=\s*\d|==\s*\d", one)] == ["mpich; sys_platform != 'win32'"]


def test_workflows_pin_actions_ask_for_little_and_test_every_python() -> None:
    workflows = {file.name: file.read_text(encoding="utf-8") for file in (ROOT / ".github/workflows").iterdir()}
    for name, text in workflows.items():
        assert "\npermissions:\n  contents: read\n" in text, f"{name}: give the workflow only `contents: read`"
        for action in re.findall(r"uses: (?!\./)(.+)", text):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", action), f"{name}: pin {action} to a commit"
    pythons = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert re.findall(r'"(3\.\d+)"', re.findall("matrix:\n +python: (.*)", workflows["tests.yml"])[0]) == pythons
    assert re.findall(r"^ +(3\.\d+)$", workflows["wheels.yml"], re.MULTILINE) == pythons


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    recipe = (ROOT / "conda/recipe.yaml").read_text(encoding="utf-8").partition("\n  run:\n")[2].partition("\n\n")[0]
    assert [line.strip("- ").replace(" ", "") for line in recipe.splitlines()][1:] == needed


def test_the_oldest_versions_are_those_of_the_bounds() -> None:
    from oldest import oldest_versions

    given = ["numpy>=1.26", "typer>=0.15.4", "rich>=13", "cuda-toolkit[nvrtc]==12.*", "mpich; sys_platform != 'win32'"]
    assert oldest_versions(given) == ["numpy==1.26.*", "typer==0.15.4", "rich==13.0.*"]


# ---------------------------------------------------------------- promises


def test_every_promise_is_held_by_a_test() -> None:
    parts = guarantees.read()
    assert not (wrong := guarantees.wrong(parts)), "\n".join(wrong)
    nothing = guarantees.Promise("p.", ("house/test_docs.py::test_no_such", "no_such_file.py::test_x"))
    assert len(guarantees.wrong({"": [nothing, guarantees.Promise("q.", (), fuzzer="readers")]})) == 4
    both = guarantees.Promise("r.", nothing.tests[:0], fuzzer="no such fuzzer", unfuzzed="a reason")
    assert len(guarantees.wrong({"": [both]})) == 3


def test_dependencies_can_be_audited() -> None:
    recipe = re.search(r"^audit:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None and "pip-audit --strict" in recipe[1], "else it succeeds if it reaches no database"


def test_counts_of_long_runs_are_shown(tmp_path: Path) -> None:
    rows = [("readers", "2026-01-01", 0), ("options", "2026-01-02", 3), ("options", "2026-01-03", 0)]
    run = {"inputs": 1234567, "minutes": 60.0}
    lines = [json.dumps({**run, "fuzzer": name, "date": date, "wrong": wrong}) for name, date, wrong in rows]
    (tmp_path / "fuzz.jsonl").write_text("\n".join(lines))
    page = guarantees.markdown(tmp_path)
    assert "fuzzer readers: 1,234,567 inputs in 60 minutes, last on 2026-01-01, none wrong since 2026-01-01" in page
    assert "fuzzer options: 2,469,134 inputs in 120 minutes, last on 2026-01-03, last wrong on 2026-01-02" in page
