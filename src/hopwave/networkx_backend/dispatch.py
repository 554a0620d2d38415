"""Which functions are served, and when: the answers to NetworkX's `can_run` and `should_run`.

A served function has NetworkX's signature, plus the keywords that choose a device. Beside it stand two questions,
asked with the call's arguments by name: `can_run` (None, or why not) and `should_run` (None, or why it does not pay).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import networkx as nx

Asked = dict[str, Any]
Question = Callable[[Asked], str | None]
Function = TypeVar("Function", bound=Callable[..., Any])

# Below so many arcs NetworkX is done sooner (measured, conversion included): with a search from every vertex, and with
# one search, which converts as long as NetworkX searches, and gains from the second call on.
FEW_ARCS = 300
FEW_ARCS_ONE_SEARCH = 2000


def never(asked: Asked) -> str | None:
    """No reason against it."""
    return None


@dataclass(frozen=True)
class Served:
    """A function of NetworkX that hopwave answers."""

    name: str
    function: Callable[..., Any]
    family: str
    can_run: Question
    should_run: Question

    @cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, read once."""
        return inspect.signature(self.function)

    def asked(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked:
        """The arguments of a call by name, defaults filled in."""
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments


FUNCTIONS: dict[str, Served] = {}


def serves(
    name: str | None = None, *, can_run: Question = never, should_run: Question | None = None
) -> Callable[[Function], Function]:
    """Marks a function as an answer to the NetworkX function of the same name (or of the dispatch name given)."""

    def mark(function: Function) -> Function:
        dispatched = name or function.__name__
        family = function.__module__.rpartition(".")[2]
        FUNCTIONS[dispatched] = Served(dispatched, function, family, can_run, should_run or many_searches)
        return function

    return mark


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why hopwave cannot answer this call."""
    served = FUNCTIONS[name]
    try:
        asked = served.asked(args, kwargs)
    except TypeError as error:
        return str(error)
    return other_neighbours(asked["G"].__class__) or served.can_run(asked) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or why NetworkX is likely to be as fast."""
    served = FUNCTIONS[name]
    return served.should_run(served.asked(args, kwargs)) or True


# ------------------------------------------------------------------ reasons not to


KINDS = (nx.MultiDiGraph, nx.MultiGraph, nx.DiGraph, nx.Graph)
LOOKS_UP = (
    "__iter__", "__len__", "__contains__", "__getitem__", "neighbors", "successors", "predecessors", "adj", "succ",
    "pred", "adjacency", "degree", "in_degree", "out_degree", "edges", "nodes", "nbunch_iter",
)  # fmt: skip


@lru_cache(maxsize=256)
def other_neighbours(kind: Any) -> str | None:
    """A subclass that looks up its neighbours in its own way keeps something else in `_adj`, which is what is read."""
    base = next((known for known in KINDS if issubclass(kind, known)), kind)
    for name in LOOKS_UP:
        if getattr(kind, name, None) is not getattr(base, name, None):
            return f"{kind.__name__}.{name} is not NetworkX's own, and hopwave does not call it"
    return None


def unweighted(asked: Asked) -> str | None:
    """hopwave counts hops."""
    for keyword in ("weight", "distance"):
        if asked.get(keyword) is not None:
            return f"{keyword}={asked[keyword]!r} asks for weighted paths; hopwave counts hops"
    return None


def unsorted(asked: Asked) -> str | None:
    """Neighbours are walked in the graph's order, not in that of a Python function."""
    for keyword in ("sort_neighbors", "neighbors"):
        if asked.get(keyword) is not None:
            return f"{keyword} is a Python function, which compiled searches cannot call"
    return None


def many_searches(asked: Asked) -> str | None:
    """Searches from many vertices pay for a conversion early."""
    return _too_small(asked["G"], FEW_ARCS)


def one_search(asked: Asked) -> str | None:
    """A search costs about what a conversion costs: nothing, where that was done before."""
    return _too_small(asked["G"], FEW_ARCS_ONE_SEARCH)


def _too_small(G: Any, enough: int) -> str | None:
    adjacency = getattr(G, "_adj", None)  # another backend's graph may have none
    if is_converted(G) or adjacency is None:
        return None
    arcs = 0
    for neighbours in adjacency.values():  # not G.size(), which walks the whole graph
        arcs += len(neighbours)
        if arcs >= enough:
            return None
    return f"{arcs} arcs are fewer than the {enough} from which conversion pays"


def only_if_converted(asked: Asked) -> str | None:
    """Questions about one pair of vertices often end after a few of them: less work than a conversion."""
    return None if is_converted(asked["G"]) else "one pair of vertices is less work than converting the graph"


def is_converted(G: Any) -> bool:
    """Whether G is a hopwave graph, or keeps one in its cache."""
    if getattr(G, "__networkx_backend__", None) == "hopwave":
        return True
    cache = getattr(G, "__networkx_cache__", None) or {}
    return bool(cache.get("backends", {}).get("hopwave"))
