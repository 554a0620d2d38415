"""Questions about hops, paths and components."""

from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import connected_components

import hopwave as hw
import oracle
from hopwave import engines
from hopwave.arrays import ScaledCounts, on_host
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import Always, Sizes
from questions import CPU, WITH_REFERENCE, Row, available, directed, partition, undirected
from questions.cases import LARGE, Case

# A user's own plan: it counts paths by pushes alone, which no published plan does with these kernels.
OWN = Plan("own", "a paper", "1", "an experiment", (Push("merge"),), Always())
SEARCHES = [*(plan for plan in CATALOGUE.values() if plan.task == "search"), OWN]
COUNTING = [plan for plan in SEARCHES if plan.why_not(SearchJob(path_counts=True)) is None]


# ---------------------------------------------------------------- searches


def search(c: Case) -> dict[str, Any]:
    """One to three sources, one of them perhaps twice, a limit (not in large graphs) and a direction."""
    sources = c.some(3)
    return {
        "source": c.draw.choice((sources[0], sources, [*sources, sources[0]])),
        "depth_limit": None if c.n > LARGE else c.draw.choice((None, None, 0, 1, 2, 5)),
        "direction": c.draw.choice(("out", "out", "in")),
    }


def found(c: Case, source: Any, depth_limit: int | None, direction: str) -> tuple[list[int], list[int]]:
    sources = [source] if isinstance(source, int) else source
    given = sources, depth_limit, direction
    return oracle.distances(c.plain, *given), oracle.path_counts(c.plain, *given)


def check_search(c: Case, r: Any, *, source: Any, plan: Any = None, **options: Any) -> None:
    """Distances, counts, a valid tree, and a trace whose levels obey the plan's rule."""
    traced, counted = options.pop("trace", False), options.pop("path_counts", False)
    assert (r.predecessors is not None) == options.pop("predecessors", True) and (r.trace is not None) == traced
    distances, counts = c.memory[search, found][1] if plan else found(c, source, **options)
    assert plan is None or (r.plan == plan.name and r.plan.why == "requested" and r.engine == c.device)
    expect(r, c.plain, [source] if isinstance(source, int) else source, distances, **options)
    if traced:
        expect_trace(r, c.plain, **options)
    assert (r.path_counts is not None) == counted
    if counted:
        expect_counts(r.path_counts, counts)


def expect(r: Any, graph: hw.Graph, sources: list[int], distances: list[int], **options: Any) -> None:
    """The oracle's distances, and predecessors that obey the five rules."""
    assert r.distances.dtype == np.int32 and r.distances.tolist() == distances
    assert (r.reached, r.depth) == (sum(d >= 0 for d in distances), max(distances))
    assert r.sources == tuple(dict.fromkeys(sources))
    assert r.predecessors is None or r.predecessors.dtype == np.int32
    assert hw.validate(graph, sources, r.distances, r.predecessors, **options).failures == ()


def expect_trace(result: Any, graph: hw.Graph, depth_limit: int | None = None, direction: str = "out") -> None:
    """The levels add up, and each took the step that the rule chooses when it is replayed on the recorded sizes."""
    plan, d, trace = result.plan.plan, result.distances, result.trace
    degrees = graph.degrees if direction == "out" else graph.in_degrees
    assert [level.depth for level in trace] == list(range(1, len(trace) + 1))
    assert result.depth <= len(trace) <= (result.depth + 1 if depth_limit is None else depth_limit)
    assert sum(level.found for level in trace) == result.reached - len(result.sources)
    nf0 = mf0 = early = 0
    last = -1
    for level in trace:
        frontier = d == level.depth - 1
        assert level.vertices == np.count_nonzero(frontier) and level.edges == degrees[frontier].sum()
        left = int(degrees[(d < 0) | (d >= level.depth)].sum())
        seen = degrees[d == level.depth].sum() if early else 0  # the level before looked ahead
        assert left - seen <= level.unvisited_edges <= left
        assert level.found == np.count_nonzero(d == level.depth) - early + level.ahead
        sizes = Sizes(graph.n, graph.m, level.vertices, level.edges, level.unvisited_edges, nf0, mf0, last)
        assert level.choice == plan.rule.choose(sizes)
        step = plan.steps[level.choice]
        assert (level.step, level.direction) == (str(step), step.direction)
        assert level.checked >= 0 and level.seconds >= 0
        assert level.ahead == 0 or (isinstance(step, Pull) and step.asynchronous)
        nf0, mf0, last, early = level.vertices, level.edges, level.choice, level.ahead


def expect_counts(counts: Any, exact: list[int]) -> None:
    """Path counts within 1e-12 of the exact integers, however long those are."""
    assert counts is not None and len(counts) == len(exact)
    if isinstance(counts, ScaledCounts):
        values = [Fraction(m) * Fraction(2) ** int(e) for m, e in zip(counts.mantissa, counts.exponent, strict=True)]
    else:
        assert counts.dtype == np.float64
        values = [Fraction(value) for value in counts.tolist()]
    wrong = [v for v, (a, b) in enumerate(zip(values, exact, strict=True)) if abs(a - b) > Fraction(b, 10**12)]
    assert not wrong, f"{len(wrong)} counts are wrong, the first at vertex {wrong[0]}"


def runs(plan: Any, job: Any, device: str) -> bool:
    """Whether an engine runs a plan; the reference runs all plans alike, so that one of each kind is enough."""
    if device == "reference" and plan.name not in ("hopwave", "hopwave-paths", "hopwave-block"):
        return False
    return available(device) and engines.engine(device).why_not(plan, job) is None


def by_plan(plan: Any, counted: bool) -> Row:
    job = SearchJob(path_counts=counted)
    options = {"plan": plan, "trace": True, **({"path_counts": True} if counted else {})}
    large = plan.name in ("hopwave", "hopwave-paths")
    title = f"{plan}{', counting' * counted}"
    return Row("hw.bfs", found, given=search, more=options, read=None, check=check_search, title=title, large=large,
               devices=partial(runs, plan, job))  # fmt: skip


# ---------------------------------------------------------------- many sources


def rows(c: Case, sources: list[int], depth_limit: int | None = None, direction: str = "out") -> Any:
    d = c.far(sources, direction)
    return np.where(d <= (c.n if depth_limit is None else depth_limit), d, -1).astype(int)


def several(c: Case) -> dict[str, Any]:
    return {"sources": [c.vertex() for _ in range(3)], "depth_limit": c.draw.choice((None, 1, 3))}


def histogram(c: Case, sources: list[int] | None) -> Any:
    d = c.hops if sources is None else c.far(sources)
    return np.bincount(d[np.isfinite(d)].astype(int)), int(np.isinf(d).sum())


def near(c: Case, d: float, sources: list[int] | None = None, weights: bool = False) -> set[tuple[float, ...]]:
    of, far = range(c.n) if sources is None else sources, c.km if weights else c.hops
    return {
        (s, t, float(far[s, t])) for s in of for t in range(c.n)
        if s != t and far[s, t] <= d and (c.directed or sources is not None or s < t)
    }  # fmt: skip


def triples(columns: Any) -> set[tuple[float, ...]]:
    assert len(set(zip(columns[0].tolist(), columns[1].tolist(), strict=True))) == len(columns[0])
    return set(zip(*(column.tolist() for column in columns), strict=True))


def blocks(answer: Any) -> Any:
    found = np.concatenate([np.asarray(on_host(rows), float) for _, rows in answer])
    assert [int(s) for some, _ in answer for s in some] == list(range(len(found)))
    return np.where(found < 0, np.inf, found)


# ---------------------------------------------------------------- paths


def two(c: Case) -> dict[str, Any]:
    return {"source": c.vertex(), "target": c.vertex()}


def check_path(c: Case, path: Any, source: int, target: int, weights: bool = False) -> None:
    d = c.far([source], weights=weights)[0, target]
    if path is None:
        assert np.isinf(d)
        return
    assert (path[0], path[-1]) == (source, target)
    total = 0.0  # from the source on; since Python 3.12, sum() compensates rounding
    for u, v in pairwise(path):
        total += c.nx[u][v]["weight"] if weights else 1
    assert total == d


def is_there(c: Case, source: int, target: int, weights: bool = False) -> Any:
    return None if np.isinf(c.far([source])[0, target]) else True


def every_path(c: Case, source: int, target: int, weights: bool = False) -> Any:
    if np.isinf(c.hops[source, target]):
        return None
    name = "weight" if weights else None
    return {tuple(path) for path in nx.all_shortest_paths(c.nx, source, target, weight=name)}


def as_set(paths: Any) -> set[tuple[int, ...]]:
    found = [tuple(path) for path in paths]
    assert len(set(found)) == len(found)
    return set(found)


def pairs(c: Case) -> dict[str, Any]:
    return {"pairs": [(c.vertex(), c.vertex()) for _ in range(5)]}


def check_paths(c: Case, paths: Any, pairs: Any, weights: bool = False) -> None:
    for (s, t), path in zip(pairs, paths, strict=True):
        check_path(c, path, s, t, weights)


def lengths(c: Case) -> dict[str, Any]:
    return two(c) | {"weights": True}


# ---------------------------------------------------------------- components


def parts(c: Case, connection: str = "weak") -> list[int]:
    return partition(connected_components(c.plain.to_scipy(float), connection=connection)[1].tolist())


def in_order(answer: Any) -> list[int]:
    """Labels, which are numbered by lowest vertex."""
    labels = answer.labels.tolist()
    first = list(dict.fromkeys(labels))
    assert first == list(range(answer.count)) == list(range(len(answer)))
    assert sorted(map(len, answer.sets())) == sorted(np.bincount(labels).tolist()) if labels else True
    return partition(labels)


def simple_blocks(c: Case) -> Any:
    found = list(nx.biconnected_components(c.simple))
    bridges = {tuple(sorted(edge)) for edge in nx.bridges(c.simple)}
    return sorted(map(sorted, found)), sorted(nx.articulation_points(c.simple)), bridges


def read_blocks(b: Any) -> Any:
    members = [part.tolist() for part in b.members()]
    assert sorted(b.sizes.tolist()) == sorted(map(len, members)) and len(b) == b.count == len(members)
    tails = np.repeat(np.arange(b.graph.n), np.diff(b.graph.indptr)).tolist() if hasattr(b, "graph") else []
    for u, v, block in zip(tails, b.graph.indices.tolist() if tails else [], b.arc_labels.tolist(), strict=False):
        assert block == -1 if u == v else {u, v} <= set(members[block])
    bridges = {tuple(sorted(edge)) for edge in b.bridges.tolist()}
    return sorted(members), b.articulation_points.tolist(), bridges


def check_sides(c: Case, side: Any) -> None:
    side = on_host(side)
    assert all(side[u] != side[v] for u, v in c.edges)
    assert all(side[min(part)] == 0 for part in nx.connected_components(nx.Graph(c.nx)))


ROWS = [
    *(by_plan(plan, False) for plan in SEARCHES),
    *(by_plan(plan, True) for plan in COUNTING),
    Row("hw.bfs", given=lambda c: search(c) | {"predecessors": c.flag(), "path_counts": c.flag()}, read=None,
        check=check_search, devices=WITH_REFERENCE, title="no trace", large=True),
    Row("hw.bfs_each", rows, given=several, read=lambda all: [on_host(r.distances) for r in all],
        devices=WITH_REFERENCE, large=True),
    Row(
        "hw.bfs_many", rows,
        given=lambda c: {"sources": c.some(70), "depth_limit": c.maybe(c.draw.randint(0, 4)),
                         "direction": c.draw.choice(("out", "in"))},
        large=True,
    ),
    Row(
        "hw.distance_histogram", histogram,
        given=lambda c: {"sources": c.maybe([c.vertex() for _ in range(5)])},
        read=lambda h: (h.counts, h.unreached),
    ),
    Row(
        "hw.k_hop", lambda c, vertex, k: np.flatnonzero(c.hops[vertex] <= k),
        given=lambda c: {"vertex": c.vertex(), "k": c.draw.randint(0, 4)},
    ),
    Row("hw.pairs_within", near, read=triples,
        given=lambda c: {"d": c.draw.randint(0, 4), "sources": c.maybe(c.some())}),
    Row(
        "hw.distance_blocks", lambda c, **_: c.hops,
        given=lambda c: {"block_bytes": c.draw.choice((1, 64, 1 << 20))}, read=blocks,
    ),
    Row("hw.has_path", lambda c, source, target: bool(np.isfinite(c.far([source])[0, target])), given=two, large=True),
    Row("hw.shortest_path", is_there, given=two, read=lambda p: True, check=check_path, refuses=hw.GraphError,
        large=True),
    Row("hw.shortest_path", is_there, "weighted", lengths, lambda p: True, check_path, refuses=hw.GraphError,
        title="along weights"),
    Row("hw.all_shortest_paths", every_path, given=two, read=as_set, only=lambda c: c.n <= 40, refuses=hw.GraphError),
    Row("hw.all_shortest_paths", every_path, "weighted", lengths, as_set, only=lambda c: c.n <= 25,
        refuses=hw.GraphError, title="along weights"),
    Row("hw.shortest_paths", given=pairs, read=None, check=check_paths),
    Row("hw.shortest_paths", None, "weighted", lambda c: pairs(c) | {"weights": True}, None, check_paths,
        title="along weights"),
    Row("hw.connected_components", parts, read=in_order, only=undirected, large=True),
    Row("hw.weakly_connected_components", parts, read=in_order, large=True),
    Row("hw.strongly_connected_components", partial(parts, connection="strong"), read=in_order, large=True),
    Row("hw.is_connected", lambda c: nx.is_connected(c.nx), only=undirected, large=True),
    Row("hw.is_weakly_connected", lambda c: nx.is_weakly_connected(c.nx), only=directed, large=True),
    Row("hw.is_strongly_connected", lambda c: nx.is_strongly_connected(c.nx), only=directed, large=True),
    Row("hw.biconnected_components", simple_blocks, read=read_blocks, only=undirected, large=True),
    Row("hw.articulation_points", lambda c: simple_blocks(c)[1], only=undirected),
    Row("hw.bridges", lambda c: simple_blocks(c)[2], read=lambda b: {tuple(sorted(e)) for e in b}, only=undirected),
    Row("hw.is_bipartite", lambda c: nx.is_bipartite(c.nx), large=True),
    Row("hw.bipartite_sides", lambda c: nx.is_bipartite(c.nx) or None, read=lambda s: True, check=check_sides,
        refuses=hw.GraphError, large=True),
    Row("hw.condensation", lambda c: condensed(c), read=lambda pair: contracted(*pair), only=directed, devices=CPU),
    Row("hw.validate", lambda c, **_: True, given=lambda c: tree(c), read=bool, devices=CPU),
    Row("hw.validate", lambda c, **_: False, given=lambda c: wrong_tree(c), read=bool, devices=CPU, title="wrong"),
]  # fmt: skip


def condensed(c: Case) -> Any:
    D = nx.condensation(c.nx)
    first = {label: min(D.nodes[label]["members"]) for label in D}
    return [first[D.graph["mapping"][v]] for v in range(c.n)], {(first[u], first[v]) for u, v in D.edges()}


def contracted(C: hw.Graph, components: Any) -> Any:
    labels = components.labels.tolist()
    first = {label: v for v, label in reversed(list(enumerate(labels)))}
    return partition(labels), {(first[u], first[v]) for u, v in C.edges()}


def tree(c: Case) -> dict[str, Any]:
    """Distances and a random choice of predecessors, from the oracle."""
    sources, limit, direction = c.some(3), c.draw.choice((None, 0, 2)), c.draw.choice(("out", "in"))
    _, d, _, P = oracle.search(oracle.adjacency(c.plain, direction), sources, limit)
    p = [v if v in sources else c.draw.choice(P[v] or [-1]) for v in range(c.n)]
    both = {"distances": d, "predecessors": p}
    for name in c.draw.choice(((), ("distances",), ("predecessors",))):
        del both[name]
    return {"sources": sources, "depth_limit": limit, "direction": direction, **both}


def wrong_tree(c: Case) -> dict[str, Any]:
    """The same with one wrong distance, or with a predecessor that is none."""
    right, v = tree(c), c.vertex()
    P = oracle.search(oracle.adjacency(c.plain, right["direction"]), right["sources"], right["depth_limit"])[3]
    if "distances" in right and (c.flag() or "predecessors" not in right):
        right["distances"][v] = c.draw.choice([d for d in range(-2, c.n + 1) if d != right["distances"][v]])
    else:
        allowed = [v] if v in right["sources"] else P[v] or [-1]
        right["predecessors"][v] = c.draw.choice([p for p in range(-2, c.n + 1) if p not in allowed])
    return right
