"""Parameters of the generators: checks, and descriptions for the command line."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import formatannotation, getdoc, signature
from numbers import Real
from typing import Any

import numpy as np

from hopwave.checks.numbers import as_float, is_whole
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.system.devices import host_memory

_LEAST_BYTES_PER_EDGE = 16  # source and target as int32, plus the two arcs of the edge


def check_whole(name: str, value: Any, least: int, most: int = LARGEST_VERTEX_COUNT) -> int:
    """The value as an int; raises a GraphError unless it is an integer from least to most."""
    if not is_whole(value):
        raise GraphError(f"{name}={value!r} is not an integer; pass an integer of at least {least}")
    number = int(value)
    if not least <= number <= most:
        raise GraphError(f"{name}={number} is out of range; pass an integer from {least} to {most}")
    return number


def check_real(name: str, value: Any, least: float, most: float) -> float:
    """The value as a float; raises a GraphError unless it is a number from least to most."""
    is_real = isinstance(value, Real) and not isinstance(value, bool | np.timedelta64)
    if not is_real or not math.isfinite(as_float(value)):
        raise GraphError(f"{name}={value!r} is not a finite number; pass a number from {least} to {most}")
    number = float(value)
    if not least <= number <= most:
        raise GraphError(f"{name}={number} is out of range; pass a number from {least} to {most}")
    return number


def check_seed(seed: Any) -> int:
    """The seed as an int; raises a GraphError unless it is a nonnegative integer of at most 64 bits."""
    return check_whole("seed", seed, 0, (1 << 64) - 1)


def check_part(n: int, edge_factor: Any, first: Any, count: Any) -> tuple[int, int]:
    """(first, count) of a part of a list of n · edge_factor edges, checked."""
    draws = n * check_whole("edge_factor", edge_factor, 1, 1 << 20)
    first = check_whole("first", first, 0, draws)
    return first, check_whole("count", draws - first if count is None else count, 0, draws - first)


def check_memory(edges: int) -> None:
    """Raise a GraphError if the list of edges does not fit into the memory of this machine."""
    have, need = host_memory(), edges * _LEAST_BYTES_PER_EDGE
    if have is not None and need > have:
        problem = f"{edges:,} edges need at least {need / 2**30:.0f} GiB, but this machine has {have / 2**30:.0f} GiB"
        raise GraphError(f"{problem}; choose a smaller graph")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a generator: its name, type and default (None if the parameter is `required`).

    >>> from hopwave.generate import generators
    >>> [parameter.name for parameter in generators()["grid"].parameters][:2]
    ['rows', 'columns']
    """

    name: str
    kind: str  # "int", "float", "bool" or "numbers"
    default: Any
    required: bool


@dataclass(frozen=True)
class Generator:
    """One generator: its name, a one-line summary, its parameters, and the function itself.

    >>> from hopwave.generate import generators
    >>> generators()["star"].call({"n": "4"}).m
    6
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    function: Callable[..., Graph]

    def call(self, arguments: Mapping[str, Any]) -> Graph:
        """Generate the graph. Arguments may be text, as on a command line."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in arguments:
            if name not in known:
                raise GraphError(f"{self.name} has no parameter {name!r}; its parameters are {', '.join(known)}")
        for parameter in self.parameters:
            if parameter.required and parameter.name not in arguments:
                raise GraphError(f"{self.name} needs {parameter.name}=; pass, for example, {parameter.name}=10")
        return self.function(**{name: _parse(known[name], value) for name, value in arguments.items()})


_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_READERS: dict[str, tuple[Callable[[str], Any], str]] = {  # kind → function that reads it from text, and description
    "int": (int, "an integer"),
    "float": (float, "a number"),
    "bool": (lambda text: _TRUTH[text.lower()], "true or false"),
    "numbers": (lambda text: tuple(map(float, text.split(","))), "numbers separated by commas"),
}


def describe(function: Callable[..., Graph]) -> Generator:
    """The description of a generator, read from its signature and its docstring."""
    parameters = tuple(
        Parameter(
            name=parameter.name,
            kind=kind if (kind := formatannotation(parameter.annotation).split(" ")[0]) in _READERS else "numbers",
            default=None if parameter.default is parameter.empty else parameter.default,
            required=parameter.default is parameter.empty,
        )
        for parameter in signature(function).parameters.values()
    )
    summary = (getdoc(function) or "").split("\n", 1)[0]
    return Generator(function.__name__, summary, parameters, function)


def _parse(parameter: Parameter, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    read, wanted = _READERS[parameter.kind]
    try:
        return read(value.strip())
    except (KeyError, ValueError) as error:
        raise GraphError(f"{parameter.name}={value!r} cannot be read; pass {wanted}") from error
