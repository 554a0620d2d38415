"""Questions about betweenness, closeness, distances and ranks."""

import math
from functools import partial
from itertools import combinations, permutations
from typing import Any

import networkx as nx
import numpy as np

import hopwave as hw
import oracle
from hopwave.arrays import on_host
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob
from questions import CPU, WITH_REFERENCE, Row, scores
from questions.cases import Case
from questions.hops import runs

PLANS = [plan for plan in CATALOGUE.values() if plan.task == "betweenness" and plan.lengths == "hops"]


def floats(values: Any) -> list[float]:
    return [float(value) for value in values]


# ---------------------------------------------------------------- betweenness


def subsets(c: Case) -> dict[str, Any]:
    """Sources, targets and a cutoff; a large graph has a few sources."""
    few = c.n > 40
    return {
        "normalized": c.flag(),
        "sources": c.some(3 if few else None) if few or c.flag(0.4) else None,
        "targets": c.some() if c.flag(0.3) else None,
        "cutoff": c.draw.choice((None, None, 0, 1, 2, 3)),
    }


def with_ends(c: Case) -> dict[str, Any]:
    return subsets(c) | {"endpoints": c.flag(0.3)}


def of_vertices(c: Case, **given: Any) -> list[float]:
    return floats(oracle.betweenness(c.plain, **given, exact=c.n <= 40))


def of_edges(c: Case, **given: Any) -> list[float]:
    return floats(oracle.edge_betweenness(c.plain, **given, exact=c.n <= 40).values())


def check_scores(c: Case, b: Any, *, plan: Any, sources: Any, **_: Any) -> None:
    edges = isinstance(b, hw.EdgeBetweennessResult)
    assert b.scores.dtype == np.float64 and b.scores.shape == (c.plain.m if edges else c.n,)
    assert (b.plan.name, b.plan.why, b.engine) == (plan.name, "requested", c.device)
    assert b.sources == (c.n if sources is None else len(sources)) and b.bounds is None
    assert 0 <= b.certificate.error <= 1e-11
    if edges:
        source, target = b.edges
        assert np.array_equal(target, b.graph.indices)
        if not c.directed:  # both arcs of an edge carry its score
            score = dict(zip(zip(source.tolist(), target.tolist(), strict=True), b.scores.tolist(), strict=True))
            assert all(score[v, u] == value for (u, v), value in score.items())


def by_plan(plan: Any, edges: bool) -> Row:
    job = BetweennessJob(np.zeros(1, np.int64), edges=edges)
    call = "hw.edge_betweenness_centrality" if edges else "hw.betweenness_centrality"
    return Row(
        call, of_edges if edges else of_vertices, given=subsets if edges else with_ends, more={"plan": plan},
        read=(lambda b: list(b.to_dict().values())) if edges else scores, check=check_scores,
        devices=partial(runs, plan, job), title=str(plan), large=True,
    )  # fmt: skip


def sampled(c: Case) -> dict[str, Any]:
    k = c.draw.choice((None, 1, c.n // 2 + 1, c.n))
    return {"k": k, "seed": c.draw.randrange(1000), "normalized": c.flag(), "endpoints": c.flag(0.3)}


def sampled_edges(c: Case) -> dict[str, Any]:
    given = sampled(c)
    del given["endpoints"]
    return given


def by_networkx(name: str, **more: Any) -> Any:
    """Scores of all vertices, by the function of NetworkX with this name."""

    def due(c: Case, **given: Any) -> list[float]:
        given.pop("weights", None)
        return c.listed(getattr(nx, name)(c.nx, **given, **more))

    return due


def edges_by_networkx(c: Case, weights: bool = False, **given: Any) -> dict[tuple[int, int], float]:
    due = nx.edge_betweenness_centrality(c.nx, **given, weight="weight" if weights else None)
    return {e if c.directed else tuple(sorted(e)): score for e, score in due.items()}  # type: ignore[misc]


def edge_dict(b: Any) -> Any:
    return {e if b.graph.directed else tuple(sorted(e)): score for e, score in b.to_dict().items()}


def positive(c: Case) -> bool:
    return c.kind != "zeros" and c.kind != "tiny beside huge"


def of_subsets(c: Case, sources: Any, targets: Any, normalized: bool, weights: bool) -> list[float]:
    return c.listed(nx.betweenness_centrality_subset(c.nx, sources, targets, normalized, "weight"))


def demand(c: Case) -> dict[str, Any]:
    draws = [[c.draw.choice((0.0, 1.0, 0.5, 3.0)) for _ in range(c.n)] for _ in "ab"]
    return {"source_weights": draws[0], "target_weights": draws[1], "normalized": False}


def pair_by_pair(c: Case, source_weights: Any, target_weights: Any, weights: bool = False, **how: Any) -> Any:
    """Σ a(s) · b(t) · (scores of the one pair), by definition."""
    total: Any = 0.0
    for s in np.flatnonzero(source_weights).tolist():
        for t in np.flatnonzero(target_weights).tolist():
            if weights:
                one = of_subsets(c, [s], [t], False, True)
            elif "endpoints" in how:
                one = floats(oracle.betweenness(c.plain, [s], [t], **how))
            else:
                one = of_edges(c, sources=[s], targets=[t], **how)
            total = total + source_weights[s] * target_weights[t] * np.array(one)
    return total if np.ndim(total) else np.zeros(len(c.edges) if not weights and "endpoints" not in how else c.n)


# ---------------------------------------------------------------- distances


def along(c: Case) -> dict[str, Any]:
    return {"weights": True}


def closeness(c: Case, wf_improved: bool = True, sources: Any = None, weights: Any = None) -> Any:
    found = nx.closeness_centrality(c.nx, distance="weight" if weights else None, wf_improved=wf_improved)
    return [found[v] for v in (range(c.n) if sources is None else sources)]


def harmonic(c: Case, sources: Any = None, among: Any = None, weights: Any = None) -> Any:
    found = nx.harmonic_centrality(c.nx, nbunch=sources, sources=among, distance="weight" if weights else None)
    return [found[v] for v in (range(c.n) if sources is None else sources)]


def near_to(c: Case) -> dict[str, Any]:
    return {"sources": c.maybe(c.some()), "among": c.maybe(c.some())}


def highest(name: str, c: Case, top: int, weights: bool) -> list[float]:
    scores = getattr(nx, name)(c.nx, distance="weight" if weights else None)
    return sorted(scores.values(), reverse=True)[:top]


def top(c: Case) -> dict[str, Any]:
    return {"top": c.draw.randint(1, c.n), "weights": c.flag()}


def sample(c: Case) -> dict[str, Any]:
    """Some sources; a risk so small that every score must be within its bound."""
    return {"k": c.draw.randint(1, c.n), "seed": c.draw.randrange(99), "weights": c.flag(), "delta": 1e-9}


def within_bounds(ask: Any, c: Case, found: Any, k: int, seed: int, delta: float, **how: Any) -> None:
    exact, scores, bounds = ask(c.weighted, **how).scores, *map(on_host, (found.scores, found.bounds))
    assert not np.isnan(scores).any() and np.isfinite(bounds).all()
    assert (np.abs(scores - exact) <= bounds * (1 + 1e-9) + 1e-12 * (1 + exact)).all()


def best_scores(r: Any) -> list[float]:
    """The scores that are known; those beyond the first may be left out."""
    return sorted(r.to_dict().values(), reverse=True)


def connected(c: Case) -> bool:
    return c.connected and c.n > 1


def eccentricities(c: Case, vertices: Any = None, weights: bool = False) -> Any:
    table = c.km if weights else c.hops
    return table.max(1) if vertices is None else table[vertices].max(1)


def extreme(least: bool, vertices: bool, c: Case, weights: bool = False) -> Any:
    far = eccentricities(c, weights=weights)
    best = far.min() if least else far.max()
    return np.flatnonzero(far == best) if vertices else best


def mean(c: Case, weights: bool = False) -> float:
    return float((c.km if weights else c.hops).sum() / (c.n * (c.n - 1)))


def mean_within_bounds(c: Case, found: Any, weights: bool, **_: Any) -> None:
    low, high = found.bounds
    assert low * (1 - 1e-9) <= mean(c, weights) <= high * (1 + 1e-9)


def wiener(c: Case, weights: bool = False) -> float:
    table = c.km if weights else c.hops
    return float(table.sum()) / (1 if c.directed else 2)


def efficiency(c: Case, weights: bool = False) -> float:
    table = c.km if weights else c.hops
    there = np.isfinite(table) & (table > 0)
    return math.fsum(1 / table[there]) / max(1, c.n * (c.n - 1))


def middle(c: Case, weights: bool = False) -> Any:
    sums = [math.fsum(row) for row in (c.km if weights else c.hops)]
    return np.flatnonzero(np.array(sums) == min(sums))


def of_distances(call: str, due: Any, **more: Any) -> list[Row]:
    """A row for hops and one along weights."""
    return [
        Row(call, due, only=connected, **more),
        Row(call, due, "weighted", along, only=lambda c: connected(c), title="along weights", **more),
    ]


# ---------------------------------------------------------------- sums over paths


def group(c: Case) -> dict[str, Any]:
    return {"group": c.some(3)}


def groups(c: Case) -> dict[str, Any]:
    return group(c) | {"endpoints": c.flag(), "normalized": c.flag()}


def through(c: Case, group: list[int], endpoints: bool, normalized: bool) -> float:
    """The share of shortest paths that touch a group, listed one by one."""
    total, order = 0.0, permutations if c.directed else combinations
    for s, t in order(range(c.n), 2):
        if (endpoints or not {s, t} & set(group)) and np.isfinite(c.hops[s, t]):
            paths = list(nx.all_shortest_paths(c.nx, s, t))
            total += sum(bool(set(group) & set(path)) for path in paths) / len(paths)
    others = c.n - (0 if endpoints else len(group))
    return total / max(1, others * (others - 1) / (1 if c.directed else 2)) if normalized else total


def stress(c: Case) -> list[float]:
    """The shortest paths through every vertex: σ(s, v) · σ(v, t) for all pairs with v on a shortest path."""
    neighbours = oracle.adjacency(c.plain)
    sigma = np.array([oracle.search(neighbours, [s])[2] for s in range(c.n)], dtype=object)
    due = []
    for v in range(c.n):
        on = (c.hops[:, [v]] + c.hops[[v], :] == c.hops) & np.isfinite(c.hops)
        on[v], on[:, v] = False, False
        due.append(float((np.outer(sigma[:, v], sigma[v]) * on).sum()) / (1 if c.directed else 2))
    return due


def load(c: Case) -> dict[str, Any]:
    return {"cutoff": c.draw.choice((None, None, 1, 2, 3)), "normalized": c.flag()}


def small(c: Case) -> bool:
    return 2 < c.n <= 12


def states(c: Case) -> dict[str, Any]:
    """At least two are above 0: otherwise NetworkX divides by zero."""
    return {"states": [0.5, 0.25, *(c.draw.choice((0.0, 0.5, 1.0, 0.25)) for _ in range(c.n - 2))]}


def percolation(c: Case, states: list[float], weights: bool = False) -> Any:
    name = "weight" if weights else None
    return c.listed(nx.percolation_centrality(c.nx, states=dict(enumerate(states)), weight=name))


# ---------------------------------------------------------------- ranks


def pagerank(c: Case) -> dict[str, Any]:
    names = [name for name in ("personalization", "dangling", "nstart") if c.flag()]
    shares = {name: {0: 1.0} | {v: c.draw.choice((0.0, 1.0, 2.5)) for v in range(1, c.n)} for name in names}
    return {"alpha": c.draw.choice((0.3, 0.5, 0.85)), "tol": 1e-13, "max_iter": 500, "weights": c.flag(), **shares}


def ranked(c: Case, weights: bool, **how: Any) -> Any:
    return c.listed(nx.pagerank(c.nx, **how, weight="weight" if weights else None))


def eigenvector(c: Case, weights: bool, **how: Any) -> Any:
    try:
        return c.listed(nx.eigenvector_centrality(c.nx, **how, weight="weight" if weights else None))
    except nx.NetworkXException:
        return None


def strengths(c: Case, weights: bool) -> Any:
    """A(u, v): the weight of the arc, or 1."""
    found = np.zeros((c.n, c.n))
    found[tuple(np.array(sorted(c.arcs), int).reshape(-1, 2).T)] = 1.0
    return c.dense if weights else found


def katz(c: Case) -> dict[str, Any]:
    weights, own = c.flag(), c.draw.choice((1.0, 0.5, dict.fromkeys(c.some(), 2.0)))
    factor = 0.5 / max(1e-9, strengths(c, weights).sum(0).max(), strengths(c, weights).sum(1).max())
    start = c.maybe({v: c.draw.randint(1, 4) for v in range(c.n)})
    given = {"beta": own, "normalized": c.flag(), "nstart": start, "weights": weights}
    return {"alpha": min(factor, 1.0), "tol": 2e-14, **given}


def walks(c: Case, alpha: float, beta: Any, normalized: bool, weights: bool, **_: Any) -> Any:
    """x = α xA + b, solved."""
    b = np.array([beta.get(v, 0.0) for v in range(c.n)] if isinstance(beta, dict) else [beta] * c.n)
    x = np.linalg.solve(np.eye(c.n) - alpha * strengths(c, weights).T, b)
    return x / np.linalg.norm(x) if normalized else x


def check_hits(c: Case, found: Any, normalized: bool, weights: bool, **_: Any) -> None:
    """h ∝ A a and a ∝ Aᵀ h, for the greatest singular value; without scaling, h = A a and Σ a² = 1."""
    A = strengths(c, weights)
    h, a = (np.asarray(part.scores) for part in (found.hubs, found.authorities))
    if not A.any():
        assert not h.any() and not a.any()
        return
    if normalized:
        assert abs(h.sum() - 1) < 1e-9 and abs(a.sum() - 1) < 1e-9
    else:
        assert abs(a @ a - 1) < 1e-9 and np.allclose(A @ a, h, atol=1e-9 * A.max())
    greatest = np.linalg.svd(A, compute_uv=False)[0]
    np.testing.assert_allclose(A @ (A.T @ h), greatest**2 * h, atol=1e-5 * greatest**2 * h.max())
    np.testing.assert_allclose(A.T @ h / (A.T @ h).sum(), a / a.sum(), atol=1e-5)


ROWS = [
    *(by_plan(plan, False) for plan in PLANS),
    *(by_plan(plan, True) for plan in PLANS),
    Row("hw.betweenness_centrality", by_networkx("betweenness_centrality"), given=sampled, read=scores,
        devices=WITH_REFERENCE, title="as NetworkX"),
    Row("hw.edge_betweenness_centrality", edges_by_networkx, given=sampled_edges, read=edge_dict,
        devices=WITH_REFERENCE, title="as NetworkX"),
    Row("hw.betweenness_centrality", by_networkx("betweenness_centrality", weight="weight"), "weighted",
        lambda c: sampled(c) | {"weights": True}, scores, only=positive, devices=WITH_REFERENCE, title="along weights"),
    Row("hw.betweenness_centrality", of_subsets, "weighted",
        lambda c: {"sources": c.some(), "targets": c.some(), "normalized": c.flag(), "weights": True}, scores,
        only=positive, devices=WITH_REFERENCE, title="subsets along weights"),
    Row("hw.edge_betweenness_centrality", edges_by_networkx, "weighted",
        lambda c: sampled_edges(c) | {"weights": True}, edge_dict, only=positive, devices=WITH_REFERENCE,
        title="along weights"),
    Row("hw.betweenness_centrality",
        lambda c, cutoff, **_: c.igraph.betweenness(directed=c.directed, weights=c.lengths, cutoff=cutoff), "weighted",
        lambda c: {"cutoff": c.maybe(4), "normalized": False, "weights": True}, scores,
        only=lambda c: c.n > 2 and c.kind == "whole" and len(c.edges) > 0, devices=CPU,
        title="as igraph, along weights"),
    Row("hw.betweenness_centrality", pair_by_pair, read=scores, only=small, devices=WITH_REFERENCE, title="demand",
        given=lambda c: demand(c) | {"endpoints": c.flag(), "cutoff": c.maybe(2)}),
    Row("hw.betweenness_centrality", pair_by_pair, "weighted", lambda c: demand(c) | {"weights": True}, scores,
        only=lambda c: small(c) and positive(c), devices=WITH_REFERENCE, title="demand along weights"),
    Row("hw.edge_betweenness_centrality", pair_by_pair, given=demand, read=lambda b: list(b.to_dict().values()),
        only=lambda c: small(c) and len(c.edges) > 0, devices=WITH_REFERENCE, title="demand"),
    Row("hw.closeness_centrality", closeness, given=lambda c: {"wf_improved": c.flag(), "sources": c.maybe(c.some())},
        read=scores),
    Row("hw.closeness_centrality", closeness, "weighted", lambda c: {"wf_improved": c.flag(), "weights": True}, scores,
        title="along weights"),
    Row("hw.closeness_centrality", partial(highest, "closeness_centrality"), "weighted", top, best_scores,
        title="top"),
    Row("hw.closeness_centrality", None, "weighted", lambda c: sample(c) | {"wf_improved": c.flag()}, None,
        partial(within_bounds, hw.closeness_centrality), only=lambda c: c.connected or not c.directed, title="sampled"),
    Row("hw.harmonic_centrality", harmonic, given=near_to, read=scores),
    Row("hw.harmonic_centrality", harmonic, "weighted", lambda c: near_to(c) | {"weights": True}, scores,
        title="along weights"),
    Row("hw.harmonic_centrality", partial(highest, "harmonic_centrality"), "weighted", top, best_scores,
        title="top"),
    Row("hw.harmonic_centrality", None, "weighted", sample, None, partial(within_bounds, hw.harmonic_centrality),
        title="sampled"),
    *of_distances("hw.eccentricity", eccentricities, read=scores, exact=True),
    Row("hw.eccentricity", eccentricities, given=lambda c: {"vertices": c.some()}, read=scores, only=connected,
        title="of some"),
    *of_distances("hw.diameter", partial(extreme, False, False), exact=True),
    *of_distances("hw.radius", partial(extreme, True, False), exact=True),
    *of_distances("hw.center", partial(extreme, True, True)),
    *of_distances("hw.periphery", partial(extreme, False, True)),
    *of_distances("hw.barycenter", middle),
    *of_distances("hw.average_shortest_path_length", mean),
    Row("hw.average_shortest_path_length", None, "weighted", sample, None, mean_within_bounds, connected,
        title="sampled"),
    Row("hw.wiener_index", wiener),
    Row("hw.wiener_index", wiener, "weighted", along, title="along weights"),
    Row("hw.global_efficiency", efficiency),
    Row("hw.global_efficiency", efficiency, "weighted", along, title="along weights"),
    Row("hw.local_efficiency", lambda c: nx.local_efficiency(c.nx), only=lambda c: not c.directed, devices=CPU),
    Row("hw.group_betweenness_centrality", through, given=groups, only=small, devices=WITH_REFERENCE),
    Row("hw.group_closeness_centrality", lambda c, group: nx.group_closeness_centrality(c.nx, group), given=group),
    Row("hw.stress_centrality", stress, read=scores, only=lambda c: c.n <= 70, devices=("cpu", "reference")),
    Row("hw.load_centrality", by_networkx("load_centrality"), given=load, read=scores, only=lambda c: c.n > 2,
        devices=("cpu", "reference")),
    Row("hw.percolation_centrality", percolation, given=states, read=scores, only=lambda c: c.n > 2),
    Row("hw.percolation_centrality", percolation, "weighted", lambda c: states(c) | {"weights": True}, scores,
        only=lambda c: c.n > 2 and positive(c), title="along weights"),
    Row("hw.pagerank", ranked, "weighted", pagerank, scores),
    Row("hw.eigenvector_centrality", eigenvector, "weighted",
        lambda c: {"max_iter": c.draw.choice((5, 100, 1000)), "weights": c.flag(),
                   "nstart": c.maybe({v: c.draw.randint(1, 4) for v in range(c.n)})}, scores,
        refuses=hw.ConvergenceError),
    Row("hw.katz_centrality", walks, "weighted", katz, scores, only=lambda c: c.n > 1 and c.safe),
    Row("hw.hits", None, "weighted",
        lambda c: {"tol": 1e-12, "max_iter": 10_000, "normalized": c.flag(), "weights": c.flag()}, None, check_hits,
        only=lambda c: c.safe),
    Row("hw.hyperball", lambda c, **_: np.cumsum(np.bincount(c.hops[np.isfinite(c.hops)].astype(int))),
        given=lambda c: {"precision": 14, "seed": 1}, read=None, check=lambda c, ball, **_: check_ball(c, ball),
        only=lambda c: c.n <= 20, devices=CPU),
]  # fmt: skip


def check_ball(c: Case, ball: Any) -> None:
    """With many registers, small balls are counted next to exactly, and nothing is counted that is not reached."""
    N = np.cumsum(np.bincount(c.hops[np.isfinite(c.hops)].astype(int)))
    pairs, _ = ball.neighbourhood
    assert len(pairs) == len(N)
    np.testing.assert_allclose(pairs, N, rtol=0.01)
    np.testing.assert_allclose(ball.harmonic.scores, harmonic(c), rtol=0.05, atol=1e-9)
    assert (ball.harmonic.scores[c.plain.in_degrees == 0] == 0).all()
