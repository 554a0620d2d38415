"""NetworkX with and without hopwave, in one run: the same calls, conversion included.

    python -m benchmarks.networkx_backend [--device cpu] [--sample 100]

Every timed call of hopwave begins with an empty cache, so that it pays for its conversion; the kernels were compiled
before. NetworkX runs betweenness whole; what would take it hours (one search from every vertex) is timed on a sample of
vertices and scaled to all of them, and the table says so. Answers are compared before they are timed.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import networkx as nx

from benchmarks.setting import ROOT, hw, publish

FOLDERS = (ROOT.parent / "shared" / "data",)


def register() -> None:
    """Tell NetworkX of hopwave where the package runs from a bare tree, without its entry points."""
    known = nx.utils.backends
    if "hopwave" not in known.backends:
        from _hopwave_nx_info import get_info

        known.backends["hopwave"] = EntryPoint("hopwave", "hopwave.networkx_backend:backend", "networkx.backends")
        known.backend_info["hopwave"] = get_info()
        known._dispatchable.__call__ = known._dispatchable._call_if_any_backends_installed


def graph(name: str) -> nx.Graph:
    """A real graph as NetworkX would hold it, or an explanation."""
    for folder in FOLDERS:
        path: Path = folder / f"{name}.mtx.gz"
        if path.exists():
            return hw.read(path).to_networkx()
    raise SystemExit(
        f"{name}.mtx.gz is in none of {', '.join(map(str, FOLDERS))}; fetch it from SuiteSparse's collection"
    )


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def fresh(G: nx.Graph, call: Callable[[], Any], rounds: int = 5) -> tuple[float, Any]:
    """The best of some rounds, each with a graph that was never converted."""
    best, result = float("inf"), None
    for _ in range(rounds):
        G.__networkx_cache__.clear()
        seconds, result = timed(call)
        best = min(best, seconds)
    return best, result


def check(name: str, mine: Any, theirs: Any) -> None:
    """Equal up to the last bits."""
    if isinstance(mine, dict):
        wrong = max(abs(mine[v] - theirs[v]) for v in theirs)
    else:
        wrong = abs(mine - theirs)
    if not wrong < 1e-9:
        raise SystemExit(f"{name}: hopwave and NetworkX disagree by {wrong:g}")


def row(call: str, name: str, G: nx.Graph, mine: float, theirs: float, how: str) -> dict[str, Any]:
    found = {
        "call": call,
        "graph": f"{name} ({len(G):,} nodes, {G.number_of_edges():,} edges)",
        "hopwave s": mine,
        "NetworkX s": theirs,
        "NetworkX": how,
        "times faster": theirs / mine,
    }
    print(found, flush=True)
    return found


def betweenness(name: str, G: nx.Graph, options: dict[str, Any]) -> dict[str, Any]:
    theirs, expected = timed(lambda: nx.betweenness_centrality(G, k=100, seed=1, backend="networkx"))
    mine, scores = fresh(G, lambda: nx.betweenness_centrality(G, k=100, seed=1, backend="hopwave", **options))
    check(name, scores, expected)
    return row("betweenness_centrality(G, k=100)", name, G, mine, theirs, "timed whole")


def distances(name: str, G: nx.Graph, sample: int, options: dict[str, Any]) -> list[dict[str, Any]]:
    some = random.Random(1).sample(list(G), sample)
    how = f"timed on {sample} vertices, scaled to all"
    theirs, expected = timed(lambda: {v: nx.closeness_centrality(G, u=v, backend="networkx") for v in some})
    mine, scores = fresh(G, lambda: nx.closeness_centrality(G, backend="hopwave", **options))
    check(name, scores, expected)
    rows = [row("closeness_centrality(G)", name, G, mine, theirs * len(G) / sample, how)]

    giant = G.subgraph(max(nx.connected_components(G), key=len)).copy()
    name = f"{name}, giant component"
    some = random.Random(1).sample(list(giant), sample)
    theirs, _ = timed(lambda: nx.eccentricity(giant, v=some, backend="networkx"))
    bounded, expected = timed(lambda: nx.diameter(giant, usebounds=True, backend="networkx"))
    mine, found = fresh(giant, lambda: nx.diameter(giant, backend="hopwave", **options))
    check(name, found, expected)
    rows.append(row("diameter(G)", name, giant, mine, theirs * len(giant) / sample, how))
    rows.append(row("diameter(G, usebounds=True)", name, giant, mine, bounded, "timed whole"))

    one = lambda v: nx.single_source_shortest_path_length(giant, v, backend="networkx")  # noqa: E731
    theirs, totals = timed(lambda: {v: sum(one(v).values()) for v in some})
    mine, _ = fresh(giant, lambda: nx.average_shortest_path_length(giant, backend="hopwave", **options))
    with nx.config(warnings_to_ignore={"cache"}):
        near = nx.closeness_centrality(giant, backend="hopwave")
    check(name, {v: (len(giant) - 1) / near[v] for v in some}, totals)
    rows.append(row("average_shortest_path_length(G)", name, giant, mine, theirs * len(giant) / sample, how))
    return rows


def main() -> None:
    """Measure and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sample", type=int, default=100)
    arguments = parser.parse_args()
    register()
    options = {"device": arguments.device}
    warm = nx.karate_club_graph()
    with nx.config(warnings_to_ignore={"cache"}):
        for function in (
            nx.betweenness_centrality,
            nx.closeness_centrality,
            nx.diameter,
            nx.average_shortest_path_length,
        ):
            function(warm, backend="hopwave", **options)
            function(warm, backend="hopwave", **options)
    nx.betweenness_centrality(warm.to_directed(), backend="hopwave", **options)

    enron = graph("email-Enron")
    rows = [betweenness(name, G, options) for name, G in (("cit-HepPh", graph("cit-HepPh")), ("email-Enron", enron))]
    rows += distances("email-Enron", enron, arguments.sample, options)
    publish(
        f"networkx-{arguments.device}",
        f"NetworkX {nx.__version__} through hopwave, device={arguments.device}",
        rows,
        "Conversion of the graph is part of every time of hopwave's.",
    )


if __name__ == "__main__":
    main()
