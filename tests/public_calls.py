"""Every public function, with valid values for its required arguments."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import hopwave as hw
from hopwave import Graph, datasets, generate
from hopwave import linalg as la
from hopwave.cli import given

SQUARE = generate.grid(2, 2)
MATRIX = la.Matrix.from_graph(SQUARE)
VECTOR = la.Vector.from_entries([0, 2], [1.0, 2.0], 4)


def options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """All parameters of a function, by name."""
    return dict(inspect.signature(function).parameters)


def required(function: Callable[..., Any]) -> dict[str, Any]:
    """Valid values for the required arguments of a function; a KeyError names one that has none."""
    known = given.GIVEN | {
        "G": SQUARE, "graph": SQUARE, "A": MATRIX, "B": MATRIX, "x": VECTOR, "u": VECTOR, "v": VECTOR, "w": VECTOR,
        "sources": [0], "d": 1, "op": la.unary.negate,
        "value": 1.0, "predicate": "tril", "src": [0, 1], "dst": [1, 2], "indptr": [0, 1, 2], "indices": [1, 0],
        "n": 5, "scale": 3, "rows": 2, "columns": 2, "g": SQUARE, "group": [0], "communities": [[0, 1], [2, 3]],
        "name": "hopwave", "limits": 1,
    }  # fmt: skip
    return given.required(function, known, without="")


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function but read and write, whose arguments are files, with its name."""
    for module in (hw, la, generate):
        for name in module.__all__:
            if inspect.isfunction(function := getattr(module, name)) and name not in ("read", "write"):
                yield f"{module.__name__}.{name}", function
    for name in ("from_edges", "from_csr"):
        yield f"Graph.{name}", getattr(Graph, name)


def callables() -> Iterator[tuple[str, str]]:
    """The full name of every public function, and the words by which tests call it."""
    for words, module in (
        ("hw", hw), ("la", la), ("la.algorithms", la.algorithms), ("generate", generate), ("datasets", datasets),
    ):  # fmt: skip
        for name in module.__all__:
            if inspect.isfunction(getattr(module, name)):
                yield f"{module.__name__}.{name}", f"{words}.{name}"
