"""Tables, sums within reach, nearest facilities, isochrones, ranked paths and percolation, against NetworkX.

Roads are odder than other cases: lengths of zero, parallel arcs with lengths of their own, names instead of numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import numpy as np
from cases import Case, equal, same

import hopwave as hw

LIMITS = (0.0, 0.5, 1.0, 3.0, 7.0, 50.0)
HOPS = (0, 1, 2, 5)


@dataclass
class Roads:
    """A case whose edges may be parallel, have length zero and join names."""

    case: Case
    graph: hw.Graph
    names: list[Any]
    edges: list[tuple[int, int, float]]
    hops: bool  # questions leave the lengths out
    backwards: bool

    @classmethod
    def of(cls, case: Case, parallel: bool = True) -> Roads:
        draw = case.draw
        edges = [
            (u, v, 0.0 if draw.random() < 0.15 else length)
            for (u, v), length in zip(case.edges, case.lengths, strict=True)
        ]
        kept = parallel and draw.random() < 0.4
        edges += [(u, v, float(draw.randint(0, 9))) for u, v, _ in draw.sample(edges, min(3, len(edges)))] * kept
        names = [f"v{v}" for v in range(case.n)] if draw.random() < 0.4 and edges else list(range(case.n))
        u, v, w = zip(*edges, strict=True) if edges else ((), (), ())
        graph = hw.Graph.from_edges(
            list(u), list(v), n=case.n, directed=case.directed, weights=list(w), repeats="keep" if kept else "merge",
            labels=names if isinstance(names[0], str) else None,
        )  # fmt: skip
        return cls(case, graph, names, edges, draw.random() < 0.25, draw.random() < 0.4)

    @cached_property
    def nx(self) -> Any:
        """NetworkX's graph, turned around if the question is."""
        G = nx.MultiDiGraph() if self.case.directed else nx.MultiGraph()
        G.add_nodes_from(range(self.case.n))
        G.add_weighted_edges_from((u, v, 1.0 if self.hops else w) for u, v, w in self.edges)
        return G.reverse() if self.backwards and self.case.directed else G

    @cached_property
    def table(self) -> Any:
        """All distances, infinite if there is no path."""
        found = np.full((self.case.n, self.case.n), np.inf)
        for s, row in nx.all_pairs_dijkstra_path_length(self.nx):
            found[s, list(row)] = list(row.values())
        return found

    def asked(self) -> dict[str, Any]:
        return {
            "direction": "in" if self.backwards else "out",
            **({"weights": False} if self.hops else {}),
        }

    def named(self, some: list[int]) -> list[Any]:
        return [self.names[v] for v in some]


def table(case: Case) -> int:
    roads, draw = Roads.of(case), case.draw
    sources, targets = case.some(), case.some()
    limit, sparse = draw.choice((None, None, *(HOPS if roads.hops else LIMITS))), draw.random() < 0.3
    found = hw.distance_table(
        roads.graph, roads.named(sources), roads.named(targets), limit=limit, sparse=sparse, **roads.asked(),
        **case.options(),
    )  # fmt: skip
    due = roads.table[np.ix_(sources, targets)]
    due = due if limit is None else np.where(due <= limit, due, np.inf)
    if sparse:
        rows = np.repeat(np.arange(len(sources)), np.diff(found.values.indptr))
        mine = np.full(due.shape, np.inf)
        mine[rows, found.values.indices] = found.values.data
        equal(len(rows), int(np.isfinite(due).sum()), "entries")
    else:
        values = np.asarray(found)
        mine = np.where(values < 0, np.inf, values)
    same(mine, due, f"{roads} {sources} {targets} {limit}")
    return 1


def within_reach(case: Case) -> int:
    roads, draw = Roads.of(case), case.draw
    values = np.array([draw.choice((0.0, 1.0, 2.0, -3.0, 0.25, math.nan)) for _ in range(case.n)])
    limits = sorted(draw.sample(LIMITS, draw.randint(1, 3)))
    decay = draw.choice((None, None, ("exponential", 2.0), ("gaussian", 3.0), ("power", 1.5), ("power", 1, 0.5)))
    given: Any = values if draw.random() < 0.5 else dict(zip(roads.names, values.tolist(), strict=True))
    sources = case.some() if draw.random() < 0.5 else None
    found = hw.accessibility(
        roads.graph, given, limit=limits, decay=decay, sources=None if sources is None else roads.named(sources),
        **roads.asked(), **case.options(),
    )  # fmt: skip
    far = roads.table if sources is None else roads.table[sources]
    kind, number = decay[:2] if decay else ("", 1.0)
    share = {
        "": lambda: np.ones(far.shape),
        "exponential": lambda: np.exp(-far / number),
        "gaussian": lambda: np.exp(-(far**2) / (2 * number**2)),
        "power": lambda: np.maximum(far, (*(decay or ()), 1.0)[2]) ** -number,
    }[kind]()
    share = np.where(np.isfinite(far), share, 0.0)
    there = ~np.isnan(values)
    for i, limit in enumerate(limits):
        near = share * (far <= limit)
        same(found.sums[:, 0, i], near[:, there] @ values[there], f"sums {roads} {values} {limit} {decay}")
        same(found.counts[:, 0, i], near[:, there].sum(1), f"counts {roads} {values} {limit} {decay}")
    return 2 * len(limits)


def nearest_facilities(case: Case) -> int:
    roads, draw = Roads.of(case), case.draw
    places, k, limit = case.some(), draw.randint(1, 4), draw.choice((None, None, *(HOPS if roads.hops else LIMITS)))
    found = hw.nearest_of(roads.graph, roads.named(places), k=k, limit=limit, **roads.asked())
    far = roads.table[:, sorted(places)]
    far = far if limit is None else np.where(far <= limit, far, np.inf)
    order = np.argsort(far, axis=1, kind="stable")[:, :k]
    due = np.pad(np.take_along_axis(far, order, 1), ((0, 0), (0, k - order.shape[1])), constant_values=np.inf)
    ids = np.pad(np.array(sorted(places))[order], ((0, 0), (0, k - order.shape[1])), constant_values=-1)
    same(found.distances, due, f"{roads} {places} {k} {limit}")
    equal(found.ids.tolist(), np.where(np.isfinite(due), ids, -1).tolist(), f"{roads} {places} {k} {limit}")
    return 2


def isochrone(case: Case) -> int:
    roads, draw = Roads.of(case), case.draw
    sources, limits = case.some()[:2], sorted(draw.sample(LIMITS, 2))
    found = hw.isochrone(roads.graph, roads.named(sources), limits, device=case.device, **roads.asked())
    far = roads.table[sources].min(0)
    for limit in limits:
        within = sorted((v for v in range(case.n) if far[v] <= limit), key=lambda v: (far[v], v))
        equal(found.vertices(limit).tolist(), roads.named(within), f"{roads} {sources} {limit}")
        due = []
        for u, v, w in roads.nx.edges(data="weight"):
            for tail, head in ((u, v),) if case.directed or u == v else ((u, v), (v, u)):
                left = limit - far[tail]
                if far[tail] <= limit and (left > 0 or w == 0):
                    due.append((str(roads.names[tail]), str(roads.names[head]), 1.0 if left >= w else left / w))
        arcs = found.arcs(limit)
        mine = zip(map(str, arcs.tail.tolist()), map(str, arcs.head.tolist()), arcs.fraction.tolist(), strict=True)
        equal(sorted(mine), sorted(due), f"{roads} {sources} {limit}")
    return 4


def ranked_paths(case: Case) -> int:
    roads, k = Roads.of(case, parallel=False), case.draw.randint(1, 9)
    roads.backwards = False
    s, t = case.vertex(), case.vertex()
    if case.n > 12 or s == t:
        return 0
    asked = {"weights": False} if roads.hops else {}
    simple = nx.DiGraph(roads.nx) if case.directed else nx.Graph(roads.nx)
    try:
        found = hw.k_shortest_paths(roads.graph, roads.names[s], roads.names[t], k, **asked)
    except hw.GraphError:
        equal(math.isinf(roads.table[s, t]), True, f"no path {s} to {t} {roads}")
        return 1
    theirs = islice(nx.shortest_simple_paths(simple, s, t, weight="weight"), k)
    due = [nx.path_weight(simple, path, "weight") for path in theirs]
    same([length for length, _ in found], due, f"{s} to {t} {k} {roads}")
    paths = [tuple(roads.names.index(name) for name in path) for _, path in found]
    equal(len(set(paths)), len(paths), f"paths twice {found}")
    for (length, _), path in zip(found, paths, strict=True):
        equal((path[0], path[-1], len(set(path))), (s, t, len(path)), f"{found}")
        same(sum(simple[u][v]["weight"] for u, v in pairwise(path)), length, f"{path} {roads}")
    return 2


def percolation(case: Case) -> int:
    states = [case.draw.choice((0.0, 0.5, 1.0, 0.25)) for _ in range(case.n)]
    if case.n < 3 or any(sum(states) == state for state in states):
        return 0  # NetworkX divides by zero
    length = case.draw.choice((None, "weight"))
    found = hw.percolation_centrality(
        case.weighted if length else case.plain, states, weights=length is not None, **case.options()
    )
    due = nx.percolation_centrality(case.nx, states=dict(enumerate(states)), weight=length)
    same(found.scores, [due[v] for v in range(case.n)], f"{states} {length}")
    return 1
