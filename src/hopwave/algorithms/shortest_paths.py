"""Shortest paths along weighted arcs: the methods, with bitwise identical results, and the choice of a method."""

import math
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from hopwave import engines
from hopwave.algebra.matrix import Matrix
from hopwave.arrays import Array, ignoring, on_host
from hopwave.checks.numbers import is_number
from hopwave.checks.options import check_thread_count
from hopwave.errors import GraphError
from hopwave.graph import Graph
from hopwave.graph.csr import arc_tails
from hopwave.graph.row_operations import kept
from hopwave.linalg import algorithms
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import Floats, Settled, ShortestPathsJob
from hopwave.planning.plan import PlanUsed
from hopwave.planning.trace import BucketTrace
from hopwave.system.threads import each

MethodName = Literal["auto", "dijkstra", "delta-stepping", "near-far", "bellman-ford"]

METHODS: tuple[str, ...] = get_args(MethodName)  # all except "auto" are plans of the catalogue
ON_ONE_CORE = "dijkstra-buckets"  # the plan that Δ-stepping uses if one core is faster than all cores
WITH_BUCKETS = ("delta-stepping", "near-far")  # methods whose buckets have a width
MIN_ARCS_FOR_BUCKETS = 1 << 12  # minimum arcs for buckets: with fewer, a heap is faster
LEAST_PATIENCE = 256  # vertices after which a bidirectional search checks whether it will end soon


@dataclass(frozen=True)
class Way:
    """Options of a search: method and reason, Δ (None: the engine chooses), device, threads, and whether to trace."""

    method: str
    why: str
    delta: float | None
    device: str
    threads: int | None
    trace: bool


def choose(graph: Graph, method: str, delta: float | None, device: str, threads: int | None, trace: bool) -> Way:
    """The options for these arguments; raises a GraphError for invalid combinations."""
    check_thread_count(threads)
    if delta is not None and method not in ("auto", *WITH_BUCKETS):
        raise GraphError("delta= is the bucket width of Δ-stepping; omit it, or use method='delta-stepping'")
    if delta is not None and not (is_number(delta) and 0 < delta < math.inf):
        raise GraphError(f"delta={delta!r} is not a bucket width; pass a number above 0, or omit it")
    delta = None if delta is None else float(delta)
    chosen, why = method, "requested"
    if method == "auto":
        given = "delta" if delta is not None else "threads" if threads is not None else "trace" if trace else None
        chosen = "near-far" if device == "cuda" and threads is None else "delta-stepping"
        why = f"{given}= is set" if given else "the default" if device != "cuda" else "the default on a GPU"
        if device == "cpu" and given is None and graph.m < MIN_ARCS_FOR_BUCKETS:
            chosen, why = "dijkstra", "the graph is small"
    if chosen == "dijkstra" and device != "cpu":
        raise GraphError(f"Dijkstra's algorithm runs only on the CPU, not on {device!r}; use method='near-far'")
    if chosen == "near-far" and device != "cuda":
        raise GraphError(f"near-far needs a GPU, not device={device!r}; use method='delta-stepping', or device='cuda'")
    if trace and (chosen, device) not in (("delta-stepping", "cpu"), ("near-far", "cuda")):
        problem = f"trace=True supports only Δ-stepping on the CPU and near-far on a GPU, not {chosen!r} on {device!r}"
        raise GraphError(f"{problem}; omit trace= or method=")
    if threads is not None and (chosen != "delta-stepping" or device != "cpu"):
        problem = f"threads= supports only Δ-stepping on the CPU, not {chosen!r} on {device!r}"
        raise GraphError(f"{problem}; omit it, or use method='delta-stepping', device='cpu'")
    return Way(chosen, why, delta, device, threads, trace)


class Found(NamedTuple):
    """Distances on the search's device, infinite if unreachable; trace; plan that ran; functions for GPU results."""

    distances: Array
    buckets: BucketTrace | None
    plan: PlanUsed
    predecessors: Callable[[], Array] | None = None
    to_host: Callable[[Array], npt.NDArray[Any]] = on_host


def distances(A: Matrix, search: ShortestPathsJob, way: Way) -> Found:
    """Search with these options. With targets, vertices farther away than all targets are unreached."""
    ran = PlanUsed(CATALOGUE[way.method], way.why)
    if way.method == "dijkstra":
        found = Found(settle(A, search).distances, None, ran)
    elif way.method == "near-far":
        there = engines.algebra("cuda").near_far(A.to("cuda"), search, way.delta, way.trace)
        buckets = BucketTrace(there.buckets) if way.trace else None
        found = Found(there.distances, buckets, ran, there.predecessors, there.to_host)
    elif way.method == "delta-stepping" and way.device == "cpu":
        here = engines.algebra("cpu").delta_stepping(A.to("cpu"), search, way.delta, way.trace, way.threads)
        if here.on_one_core:
            ran = PlanUsed(CATALOGUE[ON_ONE_CORE], "one core that relaxes no arc twice is faster here than Δ-stepping")
        found = Found(here.distances, BucketTrace(here.buckets) if way.trace else None, ran)
    else:
        found = Found(_by_products(A, search, way), None, ran)
    if search.targets:
        d = found.distances
        d[d > d[list(search.targets)].max()] = math.inf  # in place: on a GPU, predecessors are derived from these
    return found


@ignoring("over")  # the mean length may overflow to infinity
def _by_products(A: Matrix, search: ShortestPathsJob, way: Way) -> Floats:
    if way.method == "bellman-ford":
        vector = algorithms.sssp(A, search.sources, device=way.device)
    else:
        vector = algorithms.delta_stepping(A, search.sources, way.delta, device=way.device)
    d = np.asarray(vector.to("cpu").to_dense())
    return np.where(d > search.limit, math.inf, d)


def settle(A: Matrix, search: ShortestPathsJob) -> Settled:
    """Dijkstra's algorithm on one core of the CPU, with the early exit of `search`."""
    return engines.algebra("cpu").dijkstra(A.to("cpu"), search)


def nearest(A: Matrix, search: ShortestPathsJob) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The ids of the nearest vertices and their distances, nearest first, ties by id; at most `search.most`."""
    found = settle(A, search)
    ids = found.order.astype(np.int64)
    d = found.distances[ids]
    first = np.lexsort((ids, d))[: search.most]
    return ids[first], d[first]


def nearest_of(
    graph: Graph, weighted: bool, facilities: npt.NDArray[np.int64], k: int, limit: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """(distances, facility numbers) along arcs from the facilities: one row of k per vertex, nearest first."""
    from hopwave.engines.cpu import policy
    from hopwave.engines.cpu.crew import thread_count
    from hopwave.engines.cpu.shortest_paths import nearest_of as compiled
    from hopwave.engines.host_memory import check_memory

    check_memory(16 * graph.n * k, f"a table of {k:,} facilities for each vertex", "pass a smaller k")
    k, asked, numbers = min(k, len(facilities)), k, None
    graph = graph if weighted else graph.without_weights()
    if k == 1:  # runs on all cores
        way = choose(graph, "auto", None, "cpu", None, False)
        d = distances(Matrix.from_graph(graph), ShortestPathsJob(tuple(facilities.tolist()), limit), way).distances
        numbers = compiled.nearest_by_distances(_arcs(graph.reversed(), weighted), facilities, d)
        d = d[:, None]
    if numbers is None:
        degrees = graph.m / graph.n, int(graph.degrees.max())
        if workers := policy.round_workers(thread_count(None), graph.m, k, weighted, *degrees):
            d, numbers = compiled.nearest_in_rounds(_arcs(graph, weighted), facilities, k, limit, workers)
        else:
            d, numbers = compiled.nearest_of(_arcs(graph, weighted), facilities, k, limit)
    missing = ((0, 0), (0, asked - k))  # if there are fewer facilities than k
    numbers = np.where(numbers == compiled.NONE, -1, numbers)
    return np.pad(d, missing, constant_values=np.inf), np.pad(numbers, missing, constant_values=-1)


def _arcs(graph: Graph, weighted: bool = True) -> Any:
    """The arcs in the format of CPU kernels; the graph caches float64 lengths."""
    cpu: Any = engines.engine("cpu")  # imported where no signal breaks it off
    from hopwave.engines.cpu.shortest_paths.dijkstra import arcs

    return arcs((graph.indptr, graph.indices), cpu.load(graph, None).lengths if weighted else np.empty(0))


def paths_of_pairs(
    graph: Graph, weighted: bool, pairs: list[tuple[int, int]], threads: int | None
) -> list[tuple[float, list[int] | None]]:
    """The length and the ids of one shortest path of each pair, on the CPU; infinite and None if it has no path.

    A bidirectional search ends soon, or defers its pair to one search for all pairs with the same source.
    """
    cpu: Any = engines.engine("cpu")  # imported where no signal breaks it off
    from hopwave.engines.cpu.crew import thread_count
    from hopwave.engines.cpu.shortest_paths import between

    def side(g: Graph) -> Any:
        return between.side(cpu.load(g, None), _arcs(g, weighted), len(pairs), threads)

    loaded, out = cpu.load(graph, None), side(graph)
    into = side(graph.reversed()) if graph.directed else out
    workers = 1 if len(pairs) == 1 and threads is None else min(thread_count(threads), len(pairs))
    found: list[Any] = [None] * len(pairs)

    def some(numbers: Sequence[int], patience: int) -> None:
        kind = ("paths between", numbers[0] % workers)
        state = loaded.spare(kind) or between.new_state(graph.n, graph.m)
        room = np.empty(graph.n, np.int32)
        for i in numbers:
            found[i] = listed(room, *between.search(out, into, *pairs[i], state, room, patience))
        loaded.leave(kind, state, between.BYTES_PER_VERTEX * graph.n)

    def all_from(source: int, threads: int | None) -> None:
        aims = tuple({pairs[i][1] for i in late[source]})
        job, room = ShortestPathsJob((source,), targets=aims), np.empty(graph.n, np.int32)
        d = engines.algebra("cpu").delta_stepping(A.to("cpu"), job, None, False, threads).distances
        for i in late[source]:
            found[i] = listed(room, *between.walk_back(into.all, d, *pairs[i], room))

    def listed(room: Array, count: int, length: float) -> Any:
        return count >= 0 and (length, room[:count][::-1].tolist() if count else None)

    shares, patience = [range(w, len(pairs), workers) for w in range(workers)], max(LEAST_PATIENCE, graph.n >> 9)
    each(workers, shares, partial(some, patience=patience))
    late: dict[int, list[int]] = {}
    for i in (i for i, path in enumerate(found) if path is False):
        late.setdefault(pairs[i][0], []).append(i)
    if late:
        A = Matrix.from_graph(graph if weighted else graph.without_weights())
        on_one_core = 1 < workers <= len(late)
        each(workers if on_one_core else 1, late, partial(all_from, threads=1 if on_one_core else threads))
        if left := [i for i, path in enumerate(found) if path is False]:
            some(left, sys.maxsize)
    return found


def one_path_on_gpu(A: Matrix, source: int, target: int) -> list[int] | None:
    """The ids of one shortest path, including both endpoints; None if there is no path."""
    job = ShortestPathsJob((source,), targets=(target,), path_only=True)
    return engines.algebra("cuda").near_far(A.to("cuda"), job, None, False).path(target)


def all_paths(A: Matrix, device: str, source: int, target: int) -> Iterator[list[int]] | None:
    """Every shortest path between two vertices, as ids, one at a time; None if there is no path."""
    method = "dijkstra" if A.nnz < MIN_ARCS_FOR_BUCKETS else "delta-stepping"
    way = Way("near-far" if device == "cuda" else method, "", None, device, None, False)
    d = _distances(A, source, way, target)
    return None if math.isinf(d[target]) else paths_back(A.to("cpu").columns, d, source, target)


def paths_back(into: Any, d: Array, source: int, target: int) -> Iterator[list[int]]:
    """All shortest paths: d(u) plus the length of u → v (1 without lengths) equals d(v). `into`: arcs into v."""
    indptr, indices, lengths = into

    def before(v: int) -> Iterator[int]:
        row = slice(int(indptr[v]), int(indptr[v + 1]))
        tails = indices[row]
        nearer = d[tails] == d[v] - 1 if lengths is None else d[tails] + lengths[row] == d[v]
        return iter(sorted(set(tails[nearer].tolist())))  # parallel arcs count as one step of a path

    return simple_paths(before, source, target)


Vertex = TypeVar("Vertex", bound=Hashable)
NO_MORE: Any = object()  # marks the end of an iterator, because None may be a vertex


def simple_paths(
    before: Callable[[Vertex], Iterator[Vertex]], source: Vertex, target: Vertex
) -> Iterator[list[Vertex]]:
    """All simple paths from the source to the target, found backwards; before(v) yields v's possible predecessors."""
    path, on_path = [target], {target}
    choices = [before(target)]
    if source == target:
        yield path
        return
    while choices:
        u = next(choices[-1], NO_MORE)
        if u is NO_MORE:
            choices.pop()
            on_path.discard(path.pop())
        elif u == source:
            yield [u, *reversed(path)]
        elif u not in on_path:
            path.append(u)
            on_path.add(u)
            choices.append(before(u))


# ---------------------------------------------------------------- the k shortest simple paths between two vertices

#     d_s(v), d_t(v)   distances from the source, and to the target
#
# A path through v has length at least d_s(v) + d_t(v), and the paths of the two trees through k different vertices, if
# simple and distinct, bound the k-th length from above. Vertices and arcs beyond this bound are on none of the k
# paths; the rest becomes a separate graph (Feng et al., PeeK, SC '23). In Yen's algorithm (1971), each new path
# deviates from a known path at some vertex. A length is the float64 sum of arcs from the source. Every path is searched
# once (Lawler, 1972): deviations start at or after the vertex at which a path deviated from its parent. Each round
# searches many deviations.


ROUNDING = 2.0**-50  # relative rounding error per vertex of a sum of two distances
AT_ONCE = 2  # a round searches the shorter half of the pending spurs: new paths may be shorter than the rest
TREE_PATHS = (16, 64, 256, 1024)  # vertices inspected per requested path for the bound on lengths


def ranked_paths(
    graph: Graph, weighted: bool, source: int, target: int, k: int, device: str
) -> Iterator[tuple[float, list[int]]]:
    """(length, ids) of the shortest simple paths, shortest first; at most k. `device`: see k_shortest_paths."""
    from hopwave.engines.cpu.shortest_paths.deviations import Deviations

    if source == target:
        yield 0.0, [source]
        return
    graph = graph if weighted else graph.without_weights()
    if k == 1 and device == "cpu":
        yield from ((d, path) for d, path in paths_of_pairs(graph, weighted, [(source, target)], None) if path)
        return
    A, way = Matrix.from_graph(graph), choose(graph, "auto", None, device, None, False)
    to_target, from_source = _distances(A.T, target, way), _distances(A, source, way)
    if to_target[source] == math.inf:
        return
    slack = 1.0 + ROUNDING * graph.n
    part, bound = left_over(graph, from_source, to_target, (source, target), k, slack)
    most, elsewhere = bound * slack, None
    if device == "cuda":
        from hopwave.engines.cuda import shortest_paths

        elsewhere = shortest_paths.Spurs
    search = Deviations(arcs_within(part, most), part.to_target, slack, *part.ends, most, elsewhere)
    for spur in yen(search, k, most, slack):
        yield float(search.lengths[spur]), part.ids[search.path(spur)].tolist()


def _distances(A: Matrix, source: int, way: Way, *targets: int) -> Floats:
    """Distances of all vertices, or of all up to the targets, on the host."""
    found = distances(A, ShortestPathsJob((source,), targets=targets), way)
    return found.to_host(found.distances)


class Part(NamedTuple):
    """A subgraph: its vertices' ids, their distances, and the endpoints of the paths."""

    graph: Graph
    ids: npt.NDArray[np.int64]
    from_source: Floats
    to_target: Floats
    ends: tuple[int, int]


def left_over(
    graph: Graph, from_source: Floats, to_target: Floats, ends: tuple[int, int], k: int, slack: float
) -> tuple[Part, float]:
    """The vertices that may be on the k paths, and an upper bound on the lengths of these paths."""
    from hopwave.engines.cpu.shortest_paths.deviations import tree_paths

    through = from_source + to_target

    def within(most: float) -> Part:
        ids = np.flatnonzero(through <= min(most, sys.float_info.max))
        source, target = np.searchsorted(ids, ends).tolist()
        return Part(graph._induced(ids), ids, from_source[ids], to_target[ids], (source, target))

    for many in TREE_PATHS:
        most = min(graph.n, many * k)
        near = float(np.partition(through, most - 1)[most - 1])
        part = within(near * slack)
        d = part.from_source, part.to_target
        bound = tree_paths(_arcs(part.graph), _arcs(part.graph.reversed()), *d, part.ends, k, most) * slack
        if bound < math.inf or near == math.inf:
            return part, bound
    return within(math.inf), math.inf


def arcs_within(part: Part, bound: float) -> Any:
    """The arcs that may be on a path within the bound."""
    from hopwave.engines.cpu.shortest_paths import dijkstra

    rows = part.graph._rows
    lengths = np.ones(1) if rows.values is None else np.asarray(rows.values, np.float64)
    rows = kept(
        rows._replace(values=np.broadcast_to(lengths, len(rows.indices))),
        part.from_source[arc_tails(rows)] + lengths + part.to_target[rows.indices] <= bound,
    )
    return dijkstra.arcs(rows[:2], rows.values)


def yen(search: Any, k: int, bound: float, slack: float) -> list[int]:
    """The numbers of the k shortest spurs, shortest first. A spur is a set of paths, divided when searched.

    Once k are known, spurs up to `slack` times the k-th length stay: distances to the target are rounded differently.
    """
    ranked = np.arange(len(search.lengths))
    while True:
        waiting = ranked[: k - 1][search.path_of[ranked[: k - 1]] == 0]  # not the k-th: its deviations are no shorter
        if not len(waiting):
            break
        most = bound if len(ranked) < k else min(bound, search.lengths[ranked[-1]] * slack)
        found = search.leave(waiting[: -(-len(waiting) // AT_ONCE)], most)
        ranked = np.concatenate([ranked, found])
        ranked = ranked[np.argsort(search.lengths[ranked], kind="stable")[:k]]
    search.find_paths(ranked[search.path_of[ranked] == 0])
    return ranked.tolist()
