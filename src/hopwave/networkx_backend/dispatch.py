"""Which functions are served, and when: hopwave's answers to NetworkX's `can_run` and `should_run`.

A served function has NetworkX's signature, plus the keywords that choose a device. Its decorator `serves` gives a check
`can_run`, which gets the call's arguments by name and returns None, or why hopwave cannot answer; the threshold, the
number of arcs from which hopwave is faster; and the notes for NetworkX's page.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypedDict, TypeVar, get_args, get_type_hints

import networkx as nx

from hopwave.networkx_backend.thresholds import MANY_SEARCHES, Arguments, Threshold
from hopwave.planning.plan import Plan

VERSION = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
SINCE_3_7 = VERSION >= (3, 7)
WhyNot = Callable[[Arguments], str | None]
Function = TypeVar("Function", bound=Callable[..., Any])


class Place(TypedDict, total=False):
    """The keywords that say where to compute; functions take them as `**place: Unpack[Place]`."""

    device: str
    threads: int | None


class PlaceAndPlan(Place, total=False):
    """Place, and the plan to run."""

    plan: str | Plan


def no_reason(arguments: Arguments) -> str | None:
    """Returns None: hopwave can answer every call."""
    return None


@dataclass(frozen=True)
class Served:
    """A function of NetworkX that hopwave answers."""

    name: str
    function: Callable[..., Any]
    family: str
    can_run: WhyNot = no_reason
    threshold: Threshold | Callable[[Arguments], Threshold] = MANY_SEARCHES
    notes: str = ""

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """The keywords of `**place`, which NetworkX's function does not have."""
        if not any(one.kind is one.VAR_KEYWORD for one in inspect.signature(self.function).parameters.values()):
            return ()
        (place,) = get_args(get_type_hints(self.function)["place"])
        return tuple(get_type_hints(place))

    @cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, read once; `**place` is written out."""
        signature = inspect.signature(self.function)
        own = (one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD)
        added = (inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in self.keywords)
        return signature.replace(parameters=[*own, *added])

    @cached_property
    def _names(self) -> tuple[list[str], Arguments, frozenset[str]]:
        """The names of positional parameters in their order, all defaults, and all names."""
        parameters = self.signature.parameters.values()
        positional = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        return positional, defaults, frozenset(self.signature.parameters)

    @cached_property
    def newer(self) -> Arguments:
        """Keywords of the installed NetworkX's function that this function does not have, with their defaults."""
        registered = nx.utils.backends._registered_algorithms.get(self.name)
        if registered is None:  # the installed version has another name for it
            return {}
        theirs, mine = inspect.signature(registered.orig_func).parameters.values(), self.signature.parameters
        return {one.name: one.default for one in theirs if one.kind is one.KEYWORD_ONLY and one.name not in mine}

    def known(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a call, without those of a newer NetworkX that have their default value."""
        newer = self.newer
        if not newer:
            return kwargs
        return {name: value for name, value in kwargs.items() if name not in newer or value != newer[name]}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Answer a call of NetworkX, which passes all of its keywords."""
        return self.function(*args, **self.known(kwargs))

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of a call by name, with defaults; raises a TypeError if they do not fit the signature."""
        kwargs = self.known(kwargs)
        positional, defaults, names = self._names
        found = {**defaults, **kwargs}
        found.update(zip(positional, args, strict=False))
        fits = not kwargs or (kwargs.keys() <= names and kwargs.keys().isdisjoint(positional[: len(args)]))
        if fits and len(found) == len(names) and len(args) <= len(positional):
            return found
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments


FUNCTIONS: dict[str, Served] = {}  # by dispatch name
LATER: dict[str, Served] = {}  # functions that the installed NetworkX does not have yet


def serves(
    name: str | None = None,
    *,
    since: tuple[int, int] = (0, 0),
    can_run: WhyNot = no_reason,
    threshold: Threshold | Callable[[Arguments], Threshold] = MANY_SEARCHES,
    notes: str = "",
) -> Callable[[Function], Function]:
    """Registers a function that answers calls of the NetworkX function of the same name (or dispatch name).

    `since`: the first version of NetworkX that has the function. `threshold` may be a function of the arguments.
    """

    def register(function: Function) -> Function:
        dispatched = name or function.__name__
        family = function.__module__.rpartition(".")[2]
        table = FUNCTIONS if since <= VERSION else LATER
        table[dispatched] = Served(dispatched, function, family, can_run, threshold, notes)
        return function

    return register


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why hopwave cannot answer this call."""
    served = FUNCTIONS[name]
    try:
        arguments = served.arguments(args, kwargs)
    except TypeError as error:
        return str(error)
    return other_neighbours(arguments["G"].__class__) or served.can_run(arguments) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why NetworkX is likely to be as fast."""
    served = FUNCTIONS[name]
    threshold = served.threshold
    if isinstance(threshold, Threshold):  # binding arguments would take as long as most small calls in NetworkX
        return threshold.why_not(args[0] if args else kwargs["G"]) or True
    arguments = served.arguments(args, kwargs)
    return threshold(arguments).why_not(arguments["G"]) or True


# ------------------------------------------------------------------ reasons not to run


KINDS = (nx.MultiDiGraph, nx.MultiGraph, nx.DiGraph, nx.Graph)
LOOKUPS = (
    "__iter__", "__len__", "__contains__", "__getitem__", "neighbors", "successors", "predecessors", "adj", "succ",
    "pred", "adjacency", "degree", "in_degree", "out_degree", "edges", "nodes", "nbunch_iter",
)  # fmt: skip


@lru_cache(maxsize=256)
def other_neighbours(kind: Any) -> str | None:
    """Why not, if the graph's class has its own neighbour lookup: hopwave reads `_adj`, which may differ from that."""
    base = next((known for known in KINDS if issubclass(kind, known)), kind)
    for name in LOOKUPS:
        if getattr(kind, name, None) is not getattr(base, name, None):
            return f"{kind.__name__}.{name} is not NetworkX's own, and hopwave does not call it"
    return None


def unweighted(arguments: Arguments) -> str | None:
    """Why not, if the call asks for weighted paths: hopwave counts hops here."""
    for keyword in ("weight", "distance"):
        if arguments.get(keyword) is not None:
            return f"{keyword}={arguments[keyword]!r} asks for weighted paths; hopwave counts hops"
    return None


def named_weights(arguments: Arguments) -> str | None:
    """Why not, if lengths come from a Python function, which compiled searches cannot call."""
    for keyword in ("weight", "distance"):
        if callable(arguments.get(keyword)):
            return f"{keyword} is a Python function, which compiled searches cannot call"
    return None


def unsorted(arguments: Arguments) -> str | None:
    """Why not, if a Python function gives the order of neighbours: compiled searches cannot call it."""
    for keyword in ("sort_neighbors", "neighbors"):
        if arguments.get(keyword) is not None:
            return f"{keyword} is a Python function, which compiled searches cannot call"
    return None
