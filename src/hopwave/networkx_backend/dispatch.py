"""Which calls hopwave runs: `can_run` and `should_run`. A registered function declares the arguments that it
uses; a call that sets any other argument of NetworkX's function to a non-default value runs in NetworkX."""

import inspect
import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, TypeVar

import networkx as nx

VERSION = tuple(map(int, re.findall(r"\d+", nx.__version__)[:2]))
SINCE_3_7 = VERSION >= (3, 7)
Arguments = dict[str, Any]
WhyNot = Callable[[Arguments], str | None]
Function = TypeVar("Function", bound=Callable[..., Any])
# Additional keywords, by the name of a function's last parameter: `**place: Any` or `**run: Any`.
KEYWORDS = {"place": ("device", "threads"), "run": ("device", "threads", "plan")}


# ------------------------------------------------------------------ thresholds (from benchmarks/results/networkx.md)


@dataclass(frozen=True)
class Threshold:
    """Minimum arcs at which hopwave is faster, including and excluding the conversion of the graph. None: never."""

    converting: int | None
    converted: int | None

    def why_not(self, G: Any) -> str | None:
        """None if hopwave should run the call, else the reason why NetworkX is likely to be faster."""
        adjacency = getattr(G, "_adj", None)
        if adjacency is None or getattr(G, "__networkx_backend__", None) == "hopwave":
            return None  # hopwave's graph, or another backend's, which NetworkX would also have to convert
        cache = getattr(G, "__networkx_cache__", None) or {}  # which may also record that a conversion failed
        kept = cache.get("backends", {}).get("hopwave", {}).values()
        converted = next((one for one in kept if hasattr(one, "out_rows")), None)
        if self.converted is None:
            return "NetworkX is likely to stop after a few steps"
        if converted is not None:
            arcs, enough, what = len(converted.out_rows[1]), self.converted, "is faster with a cached conversion"
        elif self.converting is None:
            return "this call is less work than converting the graph"
        else:
            enough, what = self.converting, "makes up for the conversion"
            if len(adjacency) ** 2 < enough:  # counting arcs takes as long as some calls
                return f"{len(adjacency)} nodes have fewer than the {enough} arcs above which this call {what}"
            arcs = count_arcs(adjacency)
        return None if arcs >= enough else f"{arcs} arcs are fewer than the {enough} above which this call {what}"


COUNTED = 250  # rows sampled to count arcs: some calls take NetworkX only a few µs


def count_arcs(adjacency: Any) -> int:
    """The number of stored arcs of a graph; estimated from a sample if it has many rows."""
    step = 1 + len(adjacency) // COUNTED
    return step * sum(map(len, islice(adjacency.values(), 0, None, step)))


# A search from every vertex. NetworkX's code would dispatch each search separately, which takes longer.
MANY_SEARCHES = Threshold(60, 20)
STRONG = Threshold(400, 100)  # NetworkX searches depth-first in Python, vertex by vertex
ON_STRONG = Threshold(100, 60)  # as STRONG, but NetworkX's code would dispatch each step separately
MEANS = Threshold(450, 200)  # one search, whose hops NetworkX sums from lists of paths or by Dijkstra's algorithm
ONE_SEARCH = Threshold(100_000, 1_500)  # takes NetworkX as long as a conversion; later calls are 4 to 8 × faster
FOUND_BY_SEARCH = Threshold(30_000, 1_500)  # as ONE_SEARCH, but NetworkX passes every edge through a Python generator
ONE_VERTEX = Threshold(100_000, 3_000)  # closeness or eccentricity of one vertex, by functions for many vertices
LAYERS = Threshold(None, 1_500)  # as ONE_SEARCH, but NetworkX's functions call it and stop after a few layers
LISTED_PATHS = Threshold(100_000, 3_000)  # both libraries spend most time on Python lists of paths
LISTED_EDGES = Threshold(100_000, 10_000)  # as LISTED_PATHS, with more lists
PAIR_PATHS = Threshold(None, 10_000)  # one search, few lists; with conversion, 3.6 × NetworkX's time at 180,000 arcs
NEAR = Threshold(None, 3_000)  # the search ends after a few hops
NEAR_GRAPH = Threshold(None, None)  # as NEAR; both libraries spend most time on building a new graph
TWO_SIDES = Threshold(None, None)  # NetworkX stops at the first odd cycle, which is near in most graphs
PAIR = Threshold(None, 100_000)  # a bidirectional search reads a few vertices
DIJKSTRA = Threshold(2_000, 0)  # NetworkX's heap is Python code; also for PageRank
DIJKSTRA_PAIR = Threshold(None, 0)
TWO_SIDED_PAIR = Threshold(None, None)  # NetworkX reads a few weights, hopwave all of them
TRIANGLES = Threshold(4_000, 2_000)
SQUARES = Threshold(150, 60)  # NetworkX intersects sets
POWERS = Threshold(500, 400)  # NetworkX's rounds are Python code; a product takes at least 60 µs here
SINGULAR = Threshold(20_000, 5_000)  # NetworkX calls ARPACK; hopwave saves building a SciPy matrix
DEGREES = Threshold(None, 1_500)  # one pass over the rows is cheaper than a conversion; estimated, not measured
CORES = Threshold(20_000, 20_000)  # one vector product per core number


def by_ends(from_one: Threshold, dijkstra: Threshold) -> Callable[[Arguments], Threshold]:
    """The threshold by the number of endpoints passed: both (`dijkstra` if weighted), one (`from_one`) or neither."""

    def chosen(arguments: Arguments) -> Threshold:
        ends = sum(arguments[end] is not None for end in ("source", "target"))
        along_weights = arguments["weight"] is not None
        return ((MANY_SEARCHES, DIJKSTRA, dijkstra) if along_weights else (MANY_SEARCHES, from_one, PAIR))[ends]

    return chosen


def unless_weighted(in_hops: Threshold) -> Callable[[Arguments], Threshold]:
    """The threshold of a function that counts hops (`in_hops`), or runs Dijkstra's algorithm once."""
    return lambda arguments: in_hops if arguments["weight"] is None else DIJKSTRA


def of_one_or_all(keyword: str) -> Callable[[Arguments], Threshold]:
    """The threshold of a function for one vertex if this argument is a vertex, else for many."""

    def chosen(arguments: Arguments) -> Threshold:
        one = arguments[keyword]
        if one is None or not isinstance(one, Hashable) or one not in arguments["G"]:
            return MANY_SEARCHES
        in_hops = arguments.get("weight") is None and arguments.get("distance") is None
        return ONE_VERTEX if in_hops else DIJKSTRA

    return chosen


# ------------------------------------------------------------------ notes for NetworkX's pages (`python -m docs`)

ALONG = "Along an edge attribute, in NetworkX's order."
BOTH = "In hops, or along an edge attribute by Dijkstra's algorithm; in NetworkX's order."
ORDER = "Counted in hops, in NetworkX's order."
CONVERTED_BEFORE = "Runs if a converted graph is cached; otherwise NetworkX is faster."
HOPS = "Counted in hops (64 sources per machine word)."
LENGTHS = "In hops (64 sources per machine word), or along an edge attribute (1 or 32 sources per thread)."
CHECKED = "Path counts never overflow; every run is checked against an identity of exact scores."
CERTIFIED = "In hops, or along an edge attribute. " + CHECKED


# ------------------------------------------------------------------ served functions


@dataclass(frozen=True)
class Served:
    """A function of NetworkX that hopwave implements."""

    name: str
    function: Callable[..., Any]
    why_not: WhyNot | None = None
    threshold: Threshold | Callable[[Arguments], Threshold] = MANY_SEARCHES
    notes: str = ""

    @cached_property
    def own(self) -> tuple[str, ...]:
        """The arguments of NetworkX's function that hopwave's function uses."""
        return tuple(name for name in inspect.signature(self.function).parameters if name not in KEYWORDS)

    @cached_property
    def keywords(self) -> tuple[str, ...]:
        """The keywords that only hopwave's function has."""
        return KEYWORDS.get([*inspect.signature(self.function).parameters][-1], ())

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the installed NetworkX function, with hopwave's keywords."""
        registered = nx.utils.backends._registered_algorithms.get(self.name)
        theirs = inspect.signature(self.function if registered is None else registered.orig_func)
        named = (one for one in theirs.parameters.values() if one.kind is not one.VAR_KEYWORD)
        added = (inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in self.keywords)
        return theirs.replace(parameters=[*named, *added])

    @cached_property
    def _names(self) -> tuple[list[str], Arguments, frozenset[str]]:
        """The names of positional parameters in their order, all defaults, and all names."""
        parameters = self.signature.parameters.values()
        positional = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        defaults = {one.name: one.default for one in parameters if one.default is not one.empty}
        return positional, defaults, frozenset(self.signature.parameters)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of a call by name, with defaults; raises a TypeError if they do not match the signature."""
        positional, defaults, names = self._names
        found = {**defaults, **kwargs}
        found.update(zip(positional, args, strict=False))
        fits = not kwargs or (kwargs.keys() <= names and kwargs.keys().isdisjoint(positional[: len(args)]))
        if fits and len(found) == len(names) and len(args) <= len(positional):
            return found
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.arguments

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a call of NetworkX."""
        arguments = self.arguments(args, kwargs)
        place = {name: kwargs[name] for name in self.keywords if name in kwargs}
        return self.function(**{name: arguments[name] for name in self.own}, **place)

    def reason(self, arguments: Arguments) -> str | None:
        """The reason why hopwave cannot run a call with these arguments; None if it can."""
        defaults = self._names[1]
        for name, value in arguments.items():
            if name not in self.own and name not in self.keywords:
                default = defaults.get(name)
                if value is not default and (default is None or value != default):
                    return f"{name}={value!r:.60} is not supported by hopwave, which needs {name}={default!r}"
            elif name in ("weight", "distance") and callable(value):
                return f"{name} is a Python function, which hopwave's compiled code cannot call"
        return None if self.why_not is None else self.why_not(arguments)


FUNCTIONS: dict[str, Served] = {}  # by dispatch name
LATER: dict[str, Served] = {}  # functions that only newer versions of NetworkX have


def serves(
    name: str | None = None,
    *,
    since: tuple[int, int] = (0, 0),
    why_not: WhyNot | None = None,
    threshold: Threshold | Callable[[Arguments], Threshold] = MANY_SEARCHES,
    notes: str = "",
) -> Callable[[Function], Function]:
    """Register a function for NetworkX's function with this dispatch name, new in version `since`."""

    def register(function: Function) -> Function:
        dispatched = name or function.__name__
        (FUNCTIONS if since <= VERSION else LATER)[dispatched] = Served(dispatched, function, why_not, threshold, notes)
        return function

    return register


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why hopwave cannot run this call."""
    served = FUNCTIONS[name]
    try:
        arguments = served.arguments(args, kwargs)
    except TypeError as error:
        return str(error)
    return other_neighbours(arguments["G"].__class__) or served.reason(arguments) or True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """True, or the reason why NetworkX is likely to be as fast."""
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
    """The reason for falling back if the graph's class overrides its neighbour lookup: hopwave reads `_adj`."""
    base = next((known for known in KINDS if issubclass(kind, known)), kind)
    for name in LOOKUPS:
        if getattr(kind, name, None) is not getattr(base, name, None):
            return f"{kind.__name__} overrides {name}, which hopwave does not call"
    return None


def simple(reason: str) -> WhyNot:
    """The reason for falling back on a multigraph: a converted graph stores neither keys nor sums of parallel edges."""
    return lambda arguments: reason if arguments["G"].is_multigraph() else None


def hops_or_dijkstra(arguments: Arguments) -> str | None:
    """The reason for falling back on Bellman-Ford: hopwave counts hops or runs Dijkstra's algorithm."""
    if arguments["weight"] is not None and arguments["method"] == "bellman-ford":
        return "results of Bellman-Ford have another order than Dijkstra's; hopwave supports only method='dijkstra'"
    return None
