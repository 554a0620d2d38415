"""Accessibility: values within a distance, the nearest facilities, isochrones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack

import numpy as np

from hopwave.algorithms import tables as _access
from hopwave.algorithms.shortest_paths import nearest_of as _nearest_of
from hopwave.algorithms.tables import Fade, with_unit_lengths
from hopwave.api.arguments import check_distance, in_direction, listed_vertices, vertex_ids
from hopwave.api.options import Run, Running
from hopwave.api.shortest_paths import sssp
from hopwave.api.weights import own_lengths, per_vertex
from hopwave.arrays import on_host
from hopwave.checks.numbers import is_number, is_real, is_whole, shown
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.naming import by_index
from hopwave.planning.jobs import Floats
from hopwave.planning.many_sources import KINDS, Decay, Valued
from hopwave.results.accessibility import Accessibility, Isochrone, NearestOf, titles_of


def accessibility(
    G: Any,
    values: Any = None,
    limit: float | Iterable[float] | None = None,
    decay: tuple[Any, ...] | Fade | None = None,
    weights: Any = None,
    direction: Literal["out", "in"] = "out",
    *,
    sources: Iterable[Any] | None = None,
    **run: Unpack[Run],
) -> Accessibility:
    """Sum of the values within reach of each vertex: jobs within thirty minutes, schools weighted by distance.

    The result has `sums`, `counts` and `means`, each an array of sources × columns × limits.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    values : array, mapping or table, optional
        Numbers to add up: an array in vertex order, or a mapping or pandas Series by vertex. For several columns, pass
        an array of vertices × columns, a DataFrame indexed by vertex, or a mapping from column names to numbers as
        above. A vertex without an entry, or with NaN, has no value. Default: 1 for every vertex.
    limit : float or list of floats, optional
        Maximum distance, inclusive, or a list of them; the sums have the order of the list. Default: no limit.
    decay : tuple or function, optional
        Factor of a value at distance d: ("exponential", s) is exp(−d / s), ("gaussian", s) is exp(−d² / (2 s²)),
        ("power", p) is max(d, 1)^−p, ("power", p, least) is max(d, least)^−p. A function of an array of distances may
        use NumPy functions or be compiled by `numba.vectorize`. Default: 1 at every distance.
    direction : {"out", "in"}, optional
        "out" adds up the values that a vertex reaches; "in" the values of vertices that reach it.
    sources : list of vertices, optional
        Vertices for which to compute sums; default: all vertices.

    Notes
    -----
    A sum is the exact sum rounded to float64, or an adjacent float64; sums of integers are exact on every device. The
    factors of a decay are rounded; a GPU uses its own exponential function.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "b"], ["b", "c"], weights=[10.0, 25.0])
    >>> jobs = {"b": 100, "c": 40}
    >>> found = hw.accessibility(roads, jobs, limit=[15, 30])
    >>> found.sums[:, 0].tolist()
    [[100.0, 100.0], [100.0, 140.0], [40.0, 140.0]]
    >>> hw.accessibility(roads, jobs, decay=("power", 1, 10.0)).sums[0].round(3).tolist()
    [[11.143]]
    """
    how, (graph, weighted) = Running(**run), own_lengths(G, weights)
    graph = in_direction(graph if weighted else with_unit_lengths(graph), direction)
    names, columns = columns_of(graph, values)
    limits = limits_of("limit", limit)
    titles_of(names, limits)  # raises an error for equal column titles before the searches
    built_in, own = _decay(decay)
    ids = vertex_ids(graph, sources)
    engine = how.engine(True, graph, len(ids))
    summed, of = with_counts(columns)
    valued = Valued(summed, np.sort(limits), built_in)
    found = _access.value_sums(engine, graph, ids, valued, own, how.progress, how.threads)
    c, order = len(names), np.searchsorted(valued.limits, limits)
    parts = (found[:, rows[:, None], order] for rows in (np.arange(c), c + np.array(of, int)))
    sums, counts = map(np.ascontiguousarray, parts)
    return Accessibility(sums, counts, limits, names, ids, graph)


def nearest_of(
    G: Any,
    facilities: Iterable[Any],
    k: int = 1,
    weights: Any = None,
    limit: float | None = None,
    direction: Literal["out", "in"] = "out",
) -> NearestOf:
    """The k nearest facilities of each vertex, and their distances.

    The result has `distances` and `facilities`, arrays of vertices × k, nearest first; ties are ordered by lowest id.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    facilities : list of vertices
        Vertices to find, such as schools, stations or shops. Repeats count once.
    k : int, optional
        Number of facilities to find.
    limit : float, optional
        Maximum distance.
    direction : {"out", "in"}, optional
        "out": paths from each vertex to the facilities; "in": paths from the facilities to each vertex.

    Notes
    -----
    This function runs only on the CPU. Lengths are added from the facility. If sums are rounded, as with 0.1, two
    facilities may be tied by rounding. Such a tie is not ordered by id if k=1, or if a
    sum absorbs a length (1e16 + 1 = 1e16): the facility that was nearer at an earlier vertex of the path comes first.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], weights=[1.0, 2.0, 4.0])
    >>> found = hw.nearest_of(roads, ["a", "d"], k=2)
    >>> found.facilities[1].tolist(), found.distances[1].tolist()
    (['a', 'd'], [1.0, 6.0])
    """
    graph, weighted = own_lengths(G, weights)
    ids = np.unique(listed_vertices(graph, facilities))
    if not len(ids):
        raise GraphError("the list of facilities is empty; pass at least one vertex")
    if not is_whole(k) or k < 1:
        raise GraphError(f"k={k!r} is not a number of facilities; pass an integer of at least 1")
    longest = check_distance("limit", limit, weighted)
    against = in_direction(in_direction(graph, direction), "in")
    d, numbers = _nearest_of(against, weighted, ids, int(k), math.inf if longest is None else longest)
    found = np.where(numbers < 0, -1, ids[numbers]).astype(np.int32)
    return NearestOf(d, found, graph)


def isochrone(
    G: Any,
    source: Any,
    limits: float | Iterable[float],
    weights: Any = None,
    direction: Literal["out", "in"] = "out",
    *,
    device: str = "auto",
) -> Isochrone:
    """Isochrones: the vertices and arcs that a source reaches within each limit, partly reached arcs included.

    The result has `distances` and, for each limit, `vertices(limit)` and `arcs(limit)` with the reached fraction.
    Weights are used; `weights=False` ignores them.

    Parameters
    ----------
    source : vertex or list of vertices
        Vertex where paths start. With several vertices, distances are those from the nearest.
    limits : float or list of floats
        Maximum distances.

    Examples
    --------
    >>> roads = hw.Graph.from_edges(["a", "b"], ["b", "c"], directed=True, weights=[10.0, 20.0])
    >>> found = hw.isochrone(roads, "a", [5, 15])
    >>> found.vertices(15).tolist(), found.arcs(15).fraction.tolist()
    (['a', 'b'], [1.0, 0.25])
    """
    graph, weighted = own_lengths(G, weights)
    graph = in_direction(graph, direction)
    bounds = limits_of("limits", limits, repeats=True)
    if max(bounds) == math.inf:
        raise GraphError(f"limits={shown(limits)} is not finite; pass one or more finite distances")
    found = sssp(graph, source, weights=weighted, limit=max(bounds), device=device)
    lengths = np.asarray(on_host(graph.weights), np.float64) if weighted else np.broadcast_to(1.0, graph.m)
    return Isochrone(np.asarray(on_host(found.distances)), bounds, lengths, graph)


def limits_of(name: str, given: Any, repeats: bool = False) -> tuple[float, ...]:
    """The limits in the caller's order; infinite if None. Unless `repeats`, a repeated limit raises an error."""
    if given is None:
        return (math.inf,)
    several = isinstance(given, Iterable) and not isinstance(given, str) and getattr(given, "ndim", 1) != 0
    found = [check_distance(name, one, True, otherwise="") for one in (given if several else [given])]
    if not found:
        raise GraphError(f"{name}=[] contains no distance; pass at least one distance")
    limits = tuple(float(one) for one in found if one is not None)
    if not repeats and len(set(limits)) < len(limits):
        raise GraphError(f"{name}={shown([*limits])} repeats a distance; pass each distance once")
    return limits


def _decay(given: Any) -> tuple[Decay, Fade | None]:
    """(built-in decay, the caller's function or None)."""
    if given is None:
        return Decay(), None
    if callable(given):
        return Decay(), given
    names = ", ".join(f"({name!r}, …)" for name in KINDS)
    if not isinstance(given, tuple) or not 2 <= len(given) <= 3 or given[0] not in KINDS:
        raise GraphError(f"decay={given!r} is not known; pass one of {names}, or a function of an array of distances")
    name, *numbers = given
    if len(numbers) == 2 and name != "power":
        raise GraphError(f"decay={given!r} has one number too many; pass ({name!r}, {numbers[0]!r})")
    if not all(is_number(x) and 0 < x < math.inf for x in numbers):
        raise GraphError(f"decay={given!r} needs numbers above 0; pass, for example, ({name!r}, 10.0)")
    return Decay(KINDS[name], *(float(x) for x in numbers)), None


def with_counts(columns: Floats) -> tuple[Floats, list[int]]:
    """(rows to add up, index of the count row of each column). The rows are the columns, then 0/1 rows that mark the
    vertices with a value; columns with values at the same vertices share one row."""
    there = ~np.isnan(columns)
    counted: dict[bytes, int] = {}  # (np.unique of rows would turn Ctrl-C into a TypeError)
    of = [counted.setdefault(row.tobytes(), len(counted)) for row in there]
    return np.concatenate([np.where(there, columns, 0.0), there[[of.index(i) for i in range(len(counted))]]]), of


def columns_of(graph: Graph, given: Any) -> tuple[tuple[Any, ...], Floats]:
    """(names, columns) of the values; NaN for a vertex without a value."""
    if given is None:
        return ("vertices",), np.ones((1, graph.n))
    if hasattr(type(given), "columns") and hasattr(given, "to_numpy"):  # a DataFrame
        given = {name: given[name] for name in given.columns} or np.empty((graph.n, 0))
    if isinstance(given, Mapping) and given and not all(is_real(type(x)) for x in given.values()):
        named: dict[str, Any] = {}
        for name in given:
            if (other := named.setdefault(str(name), name)) is not name:
                raise GraphError(f"columns {other!r} and {name!r} of values= have equal names as text; rename one")
        return tuple(named), np.array([_numbers(graph, given[name], f"values[{name!r}]") for name in given])
    if getattr(given, "ndim", 1) == 2:
        columns = [_numbers(graph, column, f"values[:, {i}]") for i, column in enumerate(np.asarray(given).T)]
        if not columns:
            raise GraphError("values has no columns; pass at least one, or omit values= to count vertices")
        return tuple(f"column {i}" for i in range(len(columns))), np.array(columns)
    return ("values",), _numbers(graph, given, "values")[None]


def _numbers(graph: Graph, given: Any, what: str) -> Floats:
    """One number per vertex; NaN for vertices that a mapping or an index does not contain."""
    given = by_index(graph, given, what)
    if isinstance(given, Mapping):  # a NaN counts as no value, as if the mapping did not contain the vertex
        given = {vertex: x for vertex, x in given.items() if not (is_real(type(x)) and x != x)}
    found = per_vertex(graph, given, what)
    if found is None:
        raise GraphError(f"{what} is None; pass numbers, or omit {what}")
    if isinstance(given, Mapping):
        named = np.zeros(graph.n, bool)
        named[[graph.index(vertex) for vertex in given]] = True
        found[~named] = np.nan
    if np.isinf(found).any():
        raise GraphError(f"{what} contains an infinite number; pass finite numbers, or NaN for no value")
    return found
