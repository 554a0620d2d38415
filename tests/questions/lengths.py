"""Questions along weights: shortest paths, tables, facilities, isochrones and ranked paths.

Roads are odder than other cases: lengths of zero, parallel arcs with lengths of their own, names instead of numbers.
"""

from __future__ import annotations

import math
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
from hopwave.arrays import on_host
from questions import CPU, WITH_REFERENCE, Row
from questions.cases import Case
from questions.hops import blocks, near, triples

LIMITS = (0.0, 0.5, 1.0, 3.0, 7.0, 50.0)
safe = attrgetter("safe")
METHODS = ("auto", "delta-stepping", "bellman-ford", "dijkstra")  # Dijkstra's runs on the CPU


# ---------------------------------------------------------------- shortest paths


def search(c: Case) -> dict[str, Any]:
    method = c.draw.choice(METHODS[: 3 if c.device == "cuda" else 4])
    stepping = method == "delta-stepping"
    return {
        "source": c.some(3), "weights": True, "method": method, "limit": c.draw.choice((None, None, *LIMITS)),
        "targets": c.maybe(c.some(), 0.3), "delta": c.maybe(c.draw.choice((1e-9, 0.3, 1e9)), 0.3 * stepping),
        "threads": c.maybe(c.draw.choice((1, 3)), (c.device == "cpu") * stepping),
    }  # fmt: skip


def reached(c: Case, source: Any, limit: Any = None, targets: Any = None, **_: Any) -> Any:
    """Distances from the nearest source, up to the limit and to the farthest target."""
    d = c.far(source, weights=True).min(0)
    d = np.where(d <= (np.inf if limit is None else limit), d, np.inf)
    return d if targets is None else np.where(d <= d[targets].max(), d, np.inf)


def check_tree(c: Case, r: Any, source: Any, **given: Any) -> None:
    d = reached(c, source, **given)
    p = on_host(r.predecessors)
    assert np.array_equal(p >= 0, np.isfinite(d))
    for v in np.flatnonzero(np.isfinite(d)).tolist():
        if v not in source:
            assert d[p[v]] + c.nx[int(p[v])][v]["weight"] == d[v], f"predecessor {p[v]} of {v}"


def table(c: Case, sources: Any, limit: Any = None, direction: str = "out", targets: Any = None, **_: Any) -> Any:
    d = c.far(sources, direction, weights=True)
    d = np.where(d <= (np.inf if limit is None else limit), d, np.inf)
    return d if targets is None else d[:, targets]


def nearest(c: Case, source: int, k: Any, limit: float, weights: bool) -> dict[int, float]:
    d = c.far([source], weights=weights)[0]
    order = [int(v) for v in np.lexsort((np.arange(c.n), d)) if d[v] <= limit]
    return {v: float(d[v]) for v in order[:k]}


def in_order(found: dict[int, float]) -> dict[int, float]:
    assert list(found.values()) == sorted(found.values())
    return found


# ---------------------------------------------------------------- roads


class Roads(Case):
    """A case whose edges may be parallel, have length zero and join names."""

    hops = backwards = False

    @classmethod
    def of_case(cls, c: Case, parallel: bool = True, hops: float = 0.25) -> Roads:
        draw = c.draw
        roads = cls(c.n, list(c.edges), c.directed, draw, c.device, c.kind, list(c.lengths))
        roads.lengths = [0.0 if draw.random() < 0.15 else length for length in c.lengths]
        roads.kept = parallel and draw.random() < 0.4
        if roads.kept:
            roads.edges += draw.sample(c.edges, min(3, len(c.edges)))
            roads.lengths += [float(draw.randint(0, 9)) for _ in roads.edges[len(c.edges) :]]
        roads.names = [f"v{v}" for v in range(c.n)] if draw.random() < 0.4 and c.edges else list(range(c.n))
        roads.count_hops, roads.backwards = draw.random() < hops, draw.random() < 0.4
        roads.graph = hw.Graph.from_edges(
            *roads.ends, n=c.n, directed=c.directed, weights=roads.lengths, repeats="keep" if roads.kept else "merge",
            labels=roads.names if isinstance(roads.names[0], str) else None,
        )  # fmt: skip
        G = nx.MultiDiGraph() if c.directed else nx.MultiGraph()
        G.add_nodes_from(range(c.n))
        weights = [1.0] * len(roads.edges) if roads.count_hops else roads.lengths
        G.add_weighted_edges_from((u, v, w) for (u, v), w in zip(roads.edges, weights, strict=True))
        roads.net = G.reverse() if roads.backwards and c.directed else G
        roads.table = np.full((c.n, c.n), np.inf)
        for s, row in nx.all_pairs_dijkstra_path_length(roads.net):
            roads.table[s, list(row)] = list(row.values())
        return roads

    def options(self) -> dict[str, Any]:
        return {"direction": "in" if self.backwards else "out"} | ({"weights": False} if self.count_hops else {})

    def named(self, some: list[int]) -> list[Any]:
        return [self.names[v] for v in some]

    def limit(self) -> Any:
        return self.draw.choice((0, 1, 2, 5)) if self.count_hops else self.draw.choice(LIMITS)


def roads(c: Case, parallel: bool = True, hops: float = 0.25) -> Roads:
    """The roads of a case; each row draws its own."""
    c.memory["roads"] = Roads.of_case(c, parallel, hops)
    found: Roads = c.memory["roads"]
    return found


def table_of_roads(c: Case, hops: float) -> dict[str, Any]:
    r = roads(c, hops=hops)
    sources, targets = c.some(), c.some()
    c.memory["asked"] = sources, targets
    return {
        "G": r.graph, "sources": r.named(sources), "targets": r.named(targets), "limit": c.maybe(r.limit()),
        "sparse": c.flag(0.3), **r.options(),
    }  # fmt: skip


def due_table(c: Case, limit: Any, **_: Any) -> Any:
    sources, targets = c.memory["asked"]
    due = c.memory["roads"].table[np.ix_(sources, targets)]
    return due if limit is None else np.where(due <= limit, due, np.inf)


def dense(found: Any) -> Any:
    """The distances of a table; a sparse one stores only pairs within the limit."""
    if not hasattr(found.values, "indptr"):
        values = np.asarray(found)
        return np.where(values < 0, np.inf, values)
    rows = np.repeat(np.arange(found.values.shape[0]), np.diff(found.values.indptr))
    due = np.full(found.values.shape, np.inf)
    due[rows, found.values.indices] = found.values.data
    assert len(rows) == np.isfinite(due).sum()
    return due


def own_decay(d: Any) -> Any:
    return 1 / (1 + d)


SHARES: dict[Any, Any] = {
    None: lambda d: np.ones(d.shape),
    own_decay: own_decay,
    ("exponential", 2.0): lambda d: np.exp(-d / 2.0),
    ("gaussian", 3.0): lambda d: np.exp(-(d**2) / 18.0),
    ("power", 1.5): lambda d: np.maximum(d, 1) ** -1.5,
    ("power", 1, 0.5): lambda d: 1 / np.maximum(d, 0.5),
}


def reach(c: Case) -> dict[str, Any]:
    r = roads(c)
    values = np.array([c.draw.choice((0.0, 1.0, 2.0, -3.0, 0.25, math.nan)) for _ in range(c.n)])
    sources = c.maybe(c.some())
    c.memory["asked"] = sources, values
    forms = values, np.stack([values, np.ones(c.n)], 1), dict(zip(r.names, values.tolist(), strict=True))
    return {
        "G": r.graph, "values": c.draw.choice(forms),
        "limit": c.draw.sample(LIMITS, c.draw.randint(1, 3)), "decay": c.draw.choice((None, *SHARES)),
        "sources": None if sources is None else r.named(sources), **r.options(),
    }  # fmt: skip


def within_reach(c: Case, limit: Any, decay: Any, **_: Any) -> Any:
    sources, values = c.memory["asked"]
    far = c.memory["roads"].table[slice(None) if sources is None else sources]
    share = np.where(np.isfinite(far), SHARES[decay](np.where(np.isfinite(far), far, 0)), 0.0)
    there = ~np.isnan(values)
    near = [share * (far <= one) for one in limit]
    sums, counts = [n[:, there] @ values[there] for n in near], [n[:, there].sum(1) for n in near]
    return np.stack(sums, 1), np.stack(counts, 1)


def facilities(c: Case) -> dict[str, Any]:
    r = roads(c)
    places = c.some()
    c.memory["asked"] = places
    given = {"facilities": r.named(places), "k": c.draw.randint(1, 4), "limit": c.maybe(r.limit())}
    return {"G": r.graph, **given, **r.options()}


def nearest_places(c: Case, k: int, limit: Any, **_: Any) -> Any:
    places = sorted(c.memory["asked"])
    far = c.memory["roads"].table[:, places]
    far = far if limit is None else np.where(far <= limit, far, np.inf)
    order = np.argsort(far, axis=1, kind="stable")[:, :k]
    wide = ((0, 0), (0, k - order.shape[1]))
    due = np.pad(np.take_along_axis(far, order, 1), wide, constant_values=np.inf)
    ids = np.pad(np.array(places)[order], wide, constant_values=-1)
    return due, np.where(np.isfinite(due), ids, -1)


def around(c: Case) -> dict[str, Any]:
    r = roads(c)
    sources = c.some(2)
    c.memory["asked"] = sources
    return {"G": r.graph, "source": r.named(sources), "limits": sorted(c.draw.sample(LIMITS, 2)), **r.options()}


def check_isochrone(c: Case, found: Any, limits: Any, **_: Any) -> None:
    r, far = c.memory["roads"], c.memory["roads"].table[c.memory["asked"]].min(0)
    for limit in limits:
        inside = sorted((v for v in range(c.n) if far[v] <= limit), key=lambda v: (far[v], v))
        assert found.vertices(limit).tolist() == r.named(inside)
        due = []
        for u, v, w in r.net.edges(data="weight"):
            for tail, head in ((u, v),) if c.directed or u == v else ((u, v), (v, u)):
                left = limit - far[tail]
                if far[tail] <= limit and (left > 0 or w == 0):
                    due.append((str(r.names[tail]), str(r.names[head]), 1.0 if left >= w else left / w))
        arcs = found.arcs(limit)
        mine = zip(map(str, arcs.tail.tolist()), map(str, arcs.head.tolist()), arcs.fraction.tolist(), strict=True)
        assert sorted(mine) == sorted(due)


def ranked(c: Case) -> dict[str, Any]:
    r, (s, t) = roads(c, parallel=False), c.draw.sample(range(c.n), 2)
    if r.backwards and c.directed:
        r.net, r.table, r.backwards = r.net.reverse(), r.table.T, False
    c.memory["asked"] = s, t
    given = {"source": r.names[s], "target": r.names[t], "k": c.draw.randint(1, 9)}
    return {"G": r.graph, **given, **({"weights": False} if r.count_hops else {})}


def ranked_lengths(c: Case, k: int, **_: Any) -> Any:
    r, (s, t) = c.memory["roads"], c.memory["asked"]
    if math.isinf(r.table[s, t]):
        return None
    simple = nx.DiGraph(r.net) if c.directed else nx.Graph(r.net)
    paths = islice(nx.shortest_simple_paths(simple, s, t, weight="weight"), k)
    return [float(nx.path_weight(simple, path, "weight")) for path in paths]


def check_ranked(c: Case, found: Any, **_: Any) -> None:
    r, (s, t) = c.memory["roads"], c.memory["asked"]
    simple = nx.DiGraph(r.net) if c.directed else nx.Graph(r.net)
    paths = [tuple(r.names.index(name) for name in path) for _, path in found]
    assert len(set(paths)) == len(paths) and [length for length, _ in found] == sorted(one for one, _ in found)
    for (length, _), path in zip(found, paths, strict=True):
        assert (path[0], path[-1], len(set(path))) == (s, t, len(path))
        assert math.isclose(sum(simple[u][v]["weight"] for u, v in pairwise(path)), length, rel_tol=1e-12)


ROWS = [
    Row("hw.sssp", reached, "weighted", search, lambda r: r.distances, check_tree, exact=True, large=True),
    Row("hw.sssp_each", table, "weighted", lambda c: {"sources": c.some(3), "limit": c.maybe(3.0)},
        lambda all: [on_host(r.distances) for r in all], exact=True),
    Row("hw.sssp_many", table, "weighted",
        lambda c: {"sources": c.some(), "limit": c.maybe(c.draw.choice(LIMITS)), "targets": c.maybe(c.some()),
                   "direction": c.draw.choice(("out", "in")), "weights": True}, exact=True, large=True),
    Row("hw.nearest", nearest, "weighted",
        lambda c: {"source": c.vertex(), "k": c.maybe(c.draw.randint(1, 9)), "limit": c.draw.choice((1.0, 5.0, 1e9)),
                   "weights": c.flag()}, in_order, exact=True, devices=CPU),
    Row("hw.distance_blocks", lambda c, **_: c.km, "weighted", lambda c: {"weights": True, "block_bytes": 64}, blocks,
        exact=True, title="along weights"),
    Row("hw.pairs_within", near, "weighted", lambda c: {"d": c.draw.choice(LIMITS), "weights": True}, triples,
        title="along weights"),
    Row("hw.distance_table", due_table, None, lambda c: table_of_roads(c, 0.0), dense, devices=WITH_REFERENCE),
    Row("hw.distance_table", due_table, None, lambda c: table_of_roads(c, 1.0), dense, title="in hops"),
    Row("hw.accessibility", within_reach, None, reach, lambda a: (a.sums[:, 0], a.counts[:, 0]),
        devices=WITH_REFERENCE),
    Row("hw.nearest_of", nearest_places, None, facilities, lambda r: (r.distances, r.ids), only=safe),
    Row("hw.isochrone", None, None, around, None, check_isochrone, only=safe),
    Row("hw.k_shortest_paths", ranked_lengths, None, ranked, lambda found: [length for length, _ in found],
        check_ranked, lambda c: 1 < c.n <= 12 and c.safe, refuses=hw.GraphError),
]  # fmt: skip
