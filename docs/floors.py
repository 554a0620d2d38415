"""The floors of the code base, and a reader of its imports. tests/house checks them, docs/picture.py draws them.

A *room* is a folder or a module directly below src/hopwave; in `engines`, each machine's folder is a room of its own.
A *floor* is a row of rooms. A module may import from its own floor and from floors below it, and no chain of imports is
circular. Every import statement counts: at the top of a module, under TYPE_CHECKING, or inside a function. So does a
module name in a string, as in `import_module("…")`. The source is parsed, not run. Two things are not counted: the
packages that Python loads on the way to a module, and the engines, which `engines.engine` loads by name.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = "hopwave"
SOURCE = Path(__file__).resolve().parents[1] / "src" / PACKAGE
LOADERS = {"import_module", "find_spec", "__import__", "found_in", "imported"}  # they take a module's name
MACHINES = {folder.name for folder in (SOURCE / "engines").iterdir() if (folder / "__init__.py").exists()}


@dataclass(frozen=True)
class Floor:
    """A row of rooms; its modules may import from this floor and those below."""

    title: str
    purpose: str
    rooms: tuple[str, ...]


FLOORS = (  # from top to bottom: the only place that assigns rooms to floors
    Floor("Command", "one function per subcommand", ("__main__", "cli")),
    Floor("Programs", "the NetworkX backend, Graph500, the papers", ("networkx_backend", "graph500", "papers")),
    Floor("Many machines", "graphs split over the ranks of an MPI job", ("distributed",)),
    Floor("Public functions", "check arguments, choose a plan and an engine, run", (PACKAGE, "api")),
    Floor("Results", "what comes back", ("results",)),
    Floor("Algorithms", "loops over levels or sources", ("algorithms",)),
    Floor("Blocks and products", "jobs dealt to an executor; masked products", ("executors", "linalg")),
    Floor("Engines", "the same jobs on every machine", ("engines",)),
    Floor("Plans and data sets", "what to compute and how, as records; graphs by name", ("planning", "datasets")),
    Floor("Algebra and files", "operators, matrices and vectors; files and generators", ("algebra", "generate", "io")),
    Floor("Graph", "the arrays that everything runs on", ("graph",)),
    Floor("Display", "tables in HTML, drawings", ("display",)),
    Floor("System", "files, folders, threads, devices, optional libraries", ("system",)),
    Floor("Values", "arrays of NumPy and CuPy; values computed once; checks", ("arrays", "checks")),
    Floor("Errors", "what hopwave raises", ("errors",)),
)


@dataclass(frozen=True, order=True)
class Import:
    """One import of a module of the package by another."""

    importer: str
    imported: str
    line: int


def modules(source: Path = SOURCE) -> dict[str, Path]:
    """The file of every module of the package, by the module's full name."""
    found = {}
    for file in sorted(source.rglob("*.py")):
        parts = (source.name, *file.relative_to(source).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(source: Path = SOURCE) -> list[Import]:
    """Every import between two modules of the package, in alphabetical order."""
    known = modules(source)
    found = set()
    for importer, file in known.items():
        package = importer if file.name == "__init__.py" else importer.rpartition(".")[0]
        for name, line in _named(file.read_text(encoding="utf-8"), package, importer):
            imported = _longest_known(name, known)
            if imported not in (None, importer):
                found.add(Import(importer, imported, line))
    return sorted(found)


@cache  # by text: parsing takes nearly all of the time, and several tests ask
def _named(text: str, package: str, module: str) -> tuple[tuple[str, int], ...]:
    """The full name and the line of everything that a module imports."""
    return tuple(one for node in ast.walk(ast.parse(text)) for one in _imported(node, package, module))


def _imported(node: ast.AST, package: str, module: str) -> Iterator[tuple[str, int]]:
    """The full names that a statement imports; in `from a import b`, b may be a module or a name inside a."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, node.lineno
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, *([base] if base else [])])
        for alias in node.names:
            yield f"{base}.{alias.name}", node.lineno
    elif isinstance(node, ast.Call) and node.args:
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in LOADERS:
            yield _beginning(node.args[0], module), node.lineno


def _beginning(name: ast.expr, module: str) -> str:
    """The name of a module in a string; if only its package is constant, that package, unless it is the importer's."""
    if isinstance(name, ast.Constant):
        return str(name.value)
    text = ""
    for part in name.values if isinstance(name, ast.JoinedStr) else []:
        value = part.value if isinstance(part, ast.Constant | ast.FormattedValue) else None
        if isinstance(value, ast.Name) and value.id == "__name__":
            text += module
        elif isinstance(value, str):
            text += value
        else:
            package = text.rpartition(".")[0]
            return "" if f"{module}.".startswith(f"{package}.") else package
    return text


def _longest_known(name: str, known: Iterable[str]) -> str | None:
    while name:
        if name in known:
            return name
        name = name.rpartition(".")[0]
    return None


def room_of(module: str) -> str:
    """The room of a module: `engines/cpu` for hopwave.engines.cpu.crew, `hopwave` for the package itself."""
    _, *inside = module.split(".")
    if not inside:
        return PACKAGE
    return "/".join(inside[:2]) if inside[0] == "engines" and inside[1:2] and inside[1] in MACHINES else inside[0]


def floor_of(room: str) -> int | None:
    """The number of a room's floor, 0 at the top; None if the table lacks the room."""
    top = room.partition("/")[0]
    return next((number for number, floor in enumerate(FLOORS) if top in floor.rooms), None)


# ---------------------------------------------------------------- errors, one sentence each


def homeless(source: Path = SOURCE) -> list[str]:
    """A sentence for each room without a floor."""
    rooms = sorted({room_of(module) for module in modules(source)})
    return [f"{room} is on no floor; add it to FLOORS in docs/floors.py" for room in rooms if floor_of(room) is None]


def upward(source: Path = SOURCE) -> list[str]:
    """A sentence for each import that leads to a higher floor."""
    wrong = []
    for arrow in imports(source):
        start, end = floor_of(room_of(arrow.importer)), floor_of(room_of(arrow.imported))
        if start is not None and end is not None and end < start:
            wrong.append(
                f"{arrow.importer} → {arrow.imported} (line {arrow.line}) leads up, from the floor "
                f"{FLOORS[start].title!r} to {FLOORS[end].title!r}; move what is needed down, or pass it as an argument"
            )
    return wrong


def circles(source: Path = SOURCE) -> list[str]:
    """A sentence for each circle of imports, between modules or rooms: a shortest one through its first member."""
    between_modules: dict[str, set[str]] = {name: set() for name in modules(source)}
    between_rooms: dict[str, set[str]] = {room_of(name): set() for name in modules(source)}
    for arrow in imports(source):
        between_modules[arrow.importer].add(arrow.imported)
        if (start := room_of(arrow.importer)) != (end := room_of(arrow.imported)):
            between_rooms[start].add(end)
    wrong = []
    for below in (between_modules, between_rooms):
        told: set[str] = set()
        for name in sorted(below):
            if name not in told and (circle := shortest_circle(name, below)):
                told.update(circle)
                wrong.append(f"{' → '.join(circle)} is an import circle; move what they share below them")
    return wrong


def shortest_circle(start: str, below: dict[str, set[str]]) -> list[str]:
    """A shortest cycle of arrows through `start`, or an empty list."""
    came_from: dict[str, str] = {}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in sorted(below[here]):
            if there == start:
                way = [start, here]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return way[::-1]
            if there not in came_from:
                came_from[there] = here
                queue.append(there)
    return []
