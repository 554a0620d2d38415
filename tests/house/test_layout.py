"""The code base has floors: imports lead down, never up or in a circle. docs/floors.py has the table."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from docs import floors
from docs.site import reference

import hopwave

JOBS = {"search", "betweenness", "many", "linalg", "rank", "shortest_paths"}
ENGINES = floors.SOURCE / "engines"
KERNELS = ENGINES / "cuda" / "kernels"


@pytest.mark.parametrize("look", [floors.homeless, floors.circles, floors.upward])
def test_every_module_is_on_a_floor_and_imports_lead_down(look: Any) -> None:
    assert not (wrong := look()), "\n".join(wrong)


def test_every_room_of_the_table_exists() -> None:
    """Otherwise the table, and the picture made from it, would outlive the code."""
    named = {room for floor in floors.FLOORS for room in floor.rooms}
    assert named == {floors.room_of(module).partition("/")[0] for module in floors.modules()}


PUBLIC = {("hopwave", name) for name in hopwave.__all__} | {
    (group.module, name) for group in reference.GROUPS for name in group.names
}


def test_no_module_is_hidden_behind_a_public_name() -> None:
    """`hopwave.plan` was once a function, while `import hopwave.plan` found a module of that name."""
    for package, name in sorted(PUBLIC):
        module = importlib.import_module(package)
        if not isinstance(getattr(module, name), ModuleType) and hasattr(module, "__path__"):
            assert importlib.util.find_spec(f"{package}.{name}") is None, name


ASIDE = {"house", "fuzz", "mpi", "site", "questions", "rejections"}  # folders of tests that belong to no room


def test_folders_of_tests_are_named_like_rooms() -> None:
    assert folders(floors.SOURCE.parents[1] / "tests") - ASIDE <= folders(floors.SOURCE)


# ---------------------------------------------------------------- one folder per machine, one sub-folder per job


def folders(of: Path) -> set[str]:
    """Folders with source files; git leaves empty folders behind when files move."""
    return {entry.name for entry in of.iterdir() if any(entry.rglob("*.py")) or any(entry.rglob("*.cuh"))}


def jobs(machine: str) -> set[str]:
    """The jobs of a machine: folders, or single modules."""
    return {
        name for name in JOBS if (ENGINES / machine / name).is_dir() or (ENGINES / machine / f"{name}.py").is_file()
    }


@pytest.mark.parametrize("machine", sorted(folders(ENGINES)))
def test_folders_of_an_engine_are_named_after_jobs(machine: str) -> None:
    assert folders(ENGINES / machine) - {"kernels"} <= JOBS


@pytest.mark.parametrize("machine", ["cpu", "cuda"])
def test_a_job_has_the_same_name_on_every_machine(machine: str) -> None:
    assert jobs(machine) == JOBS


def test_folders_of_kernels_are_named_after_jobs() -> None:
    """A search has two folders: one launch for all levels, or one launch per step."""
    needed = JOBS - {"search"} | {"one_launch", "steps"}
    assert needed <= folders(KERNELS) <= needed | {"build", "common", "components", "generate"}


# ---------------------------------------------------------------- the reader itself


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A small package with one import of every kind, all of them allowed."""
    source = tmp_path / "hopwave"
    for file, text in {
        "__init__.py": "from hopwave.api import search\n",
        "api/__init__.py": "",
        "api/search.py": "import hopwave.engines.cpu as cpu\nfrom hopwave.errors import HopwaveError\n",
        "engines/__init__.py": "import numpy\n",
        "engines/cpu/__init__.py": "from .. import NAMES\nfrom . import crew\n",
        "engines/cpu/crew.py": "def run():\n    from ...errors import HopwaveError\n",
        "errors.py": "class HopwaveError(Exception): ...\n",
    }.items():
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_text(text)
    return source


def test_imports_of_every_kind_are_read(planted: Path) -> None:
    assert [(found.importer, found.imported, found.line) for found in floors.imports(planted)] == [
        ("hopwave", "hopwave.api.search", 1),
        ("hopwave.api.search", "hopwave.engines.cpu", 1),
        ("hopwave.api.search", "hopwave.errors", 2),
        ("hopwave.engines.cpu", "hopwave.engines", 1),
        ("hopwave.engines.cpu", "hopwave.engines.cpu.crew", 2),
        ("hopwave.engines.cpu.crew", "hopwave.errors", 2),
    ]
    assert floors.homeless(planted) == floors.circles(planted) == floors.upward(planted) == []


WRONG = {  # what is added to a file of the planted package, and what the sentence about it says
    "circle of modules": (
        {"engines/cpu/crew.py": "    from hopwave.engines import cpu\n"},
        "hopwave.engines.cpu → hopwave.engines.cpu.crew → hopwave.engines.cpu is an import circle;",
    ),
    "circle of rooms": (
        {
            "results/search.py": "from hopwave.algorithms.bfs import run\n",
            "results/scores.py": "",
            "algorithms/bfs.py": "from hopwave.results.scores import Scores\n",
        },
        "algorithms → results → algorithms is an import circle;",
    ),
    "upward": (
        {"engines/__init__.py": "if TYPE_CHECKING:\n    from hopwave.api.search import bfs\n"},
        "hopwave.engines → hopwave.api.search (line 3) leads up, from the floor 'Engines' to 'Public functions';",
    ),
    "a string": (
        {"engines/__init__.py": 'import_module("hopwave.api.search")\n'},
        "hopwave.engines → hopwave.api.search (line 2) leads up",
    ),
    "a formatted string": (
        {"engines/__init__.py": 'importlib.import_module(f"hopwave.api.{name}")\n'},
        "hopwave.engines → hopwave.api (line 2) leads up",
    ),
    "a string with __name__": (
        {"engines/__init__.py": 'found_in(f"{__name__}.cpu.crew", "run")\nfrom hopwave.engines import cpu\n'},
        "hopwave.engines → hopwave.engines.cpu → hopwave.engines is an import circle;",
    ),
    "no floor": ({"utils.py": ""}, "utils is on no floor; add it to FLOORS in docs/floors.py"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str, planted: Path) -> None:
    added, said = WRONG[name]
    for file, text in added.items():
        (planted / file).parent.mkdir(exist_ok=True)
        (planted / file).parent.joinpath("__init__.py").touch()
        with (planted / file).open("a") as opened:
            opened.write(text)
    sentences = [*floors.circles(planted), *floors.upward(planted), *floors.homeless(planted)]
    assert [sentence for sentence in sentences if sentence.startswith(said)], sentences


def test_callers_wait_in_one_way() -> None:
    """What a Ctrl-C can break (system/threads.py says why) is used by no other module."""
    breakable = re.compile(
        r"threading\.(Event|Condition|Semaphore|Barrier|Timer|Thread)\b|\nfrom concurrent\.futures import .*ThreadPool"
    )
    files = {path: path.read_text(encoding="utf-8") for path in sorted(floors.SOURCE.rglob("*.py"))}
    assert [path.name for path, text in files.items() if breakable.search(text)] == ["threads.py"]
