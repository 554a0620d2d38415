"""NetworkX with and without hopwave, in one run: the same calls, including the conversion.

    python -m benchmarks.peers.networkx_backend [--device cpu] [--sample 100]

Every timed call of hopwave starts with an empty cache, so its time includes the conversion (and, on a GPU, the upload),
but not the compilation of kernels. Calls that would take NetworkX hours (one search from every vertex) are timed on a
sample of vertices and scaled to all of them; the table says so. Results are compared before a row is written: with
NetworkX's on the vertices that it was timed on and, on a GPU, with those of the CPU engine on all vertices. With
`--device cuda` betweenness is timed on a sample too. Without the real graphs, a Kronecker graph is used.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import networkx as nx

from benchmarks.setting import agree, command_line, generate, gpu, hw, publish, real_graphs, tell, timed

ROUNDS = 5


def register() -> None:
    """Register hopwave with NetworkX if the package is not installed and has no entry points."""
    known = nx.utils.backends
    if "hopwave" not in known.backends:
        from _hopwave_nx_info import get_info

        known.backends["hopwave"] = EntryPoint("hopwave", "hopwave.networkx_backend:backend", "networkx.backends")
        known.backend_info["hopwave"] = get_info()
        known._dispatchable.__call__ = known._dispatchable._call_if_any_backends_installed


def fresh(G: nx.Graph, call: Callable[[], Any]) -> tuple[float, Any]:
    """The best of several rounds, each on a graph that has not been converted."""
    best, result = float("inf"), None
    for _ in range(ROUNDS):
        G.__networkx_cache__.clear()
        seconds, result = timed(call, 1)
        best = min(best, seconds)
    return best, result


def check(what: str, mine: Any, theirs: Any) -> None:
    """Exit unless the values are equal up to the last bits, on every vertex in theirs."""
    if isinstance(theirs, dict):
        mine, theirs = [mine[v] for v in theirs], list(theirs.values())
    agree(what, mine, theirs)


@dataclass
class Bench:
    """One run: hopwave's device, and the number of vertices on which NetworkX is timed."""

    device: str
    sample: int

    def hopwave(self, function: Any, G: nx.Graph, device: str, **more: Any) -> Any:
        return function(G, backend="hopwave", device=device, **more)

    def row(
        self, function: Any, name: str, G: nx.Graph, theirs: tuple[float, Any, str] | None, **more: Any
    ) -> dict[str, Any]:
        """hopwave's and NetworkX's times (seconds, result, how it was timed); exits if the results disagree."""
        arguments = "".join(f", {key}={value}" for key, value in more.items() if key != "seed")
        call = f"{function.__name__}(G{arguments})"
        mine, result = fresh(G, lambda: self.hopwave(function, G, self.device, **more))
        found: dict[str, Any] = {
            "call": call,
            "graph": f"{name} ({len(G):,} nodes, {G.number_of_edges():,} edges)",
            "hopwave s": mine,
        }
        if self.device != "cpu":
            seconds, right = fresh(G, lambda: self.hopwave(function, G, "cpu", **more))
            check(f"{call} on {name}", result, right)
            found["hopwave on the CPU s"] = seconds
        if theirs is not None:
            seconds, right, how = theirs
            if right is not None:
                check(f"{call} on {name}", result, right)
            found |= {"NetworkX s": seconds, "NetworkX": how, "times faster": seconds / mine}
        return tell(found)

    def betweenness(self, name: str, G: nx.Graph) -> list[dict[str, Any]]:
        """With k=100; no row if this device has no betweenness."""
        try:
            self.hopwave(nx.betweenness_centrality, nx.path_graph(3), self.device)
        except (hw.EngineError, hw.PlanError) as error:
            print(f"betweenness is left out: {error}")
            return []
        k = 100 if self.device == "cpu" else min(100, self.sample)
        seconds, right = timed(lambda: nx.betweenness_centrality(G, k=k, seed=1, backend="networkx"), 1)
        theirs = seconds * 100 / k, right if k == 100 else None, "timed whole" if k == 100 else f"k={k}, scaled to 100"
        return [self.row(nx.betweenness_centrality, name, G, theirs, k=100, seed=1)]

    def scaled(self, G: nx.Graph, call: Callable[[list[Any]], Any]) -> tuple[float, Any, str]:
        """NetworkX's time on a sample of vertices, scaled to all; its result; and how it was timed."""
        some = random.Random(1).sample(list(G), self.sample)
        seconds, result = timed(lambda: call(some), 1)
        return seconds * len(G) / self.sample, result, f"timed on {self.sample} vertices, scaled to all"

    def centralities(self, name: str, G: nx.Graph) -> list[dict[str, Any]]:
        closeness = self.scaled(G, lambda some: {v: nx.closeness_centrality(G, u=v, backend="networkx") for v in some})
        harmonic = self.scaled(G, lambda some: nx.harmonic_centrality(G, nbunch=some, backend="networkx"))
        return [
            self.row(nx.closeness_centrality, name, G, closeness),
            self.row(nx.harmonic_centrality, name, G, harmonic),
            self.row(nx.global_efficiency, name, G, None),
        ]

    def distances(self, name: str, G: nx.Graph) -> list[dict[str, Any]]:
        """Eccentricity, diameter and sums of distances, on a connected graph."""
        far = self.scaled(G, lambda some: nx.eccentricity(G, v=some, backend="networkx"))
        one = lambda v: nx.single_source_shortest_path_length(G, v, backend="networkx")  # noqa: E731
        total = self.scaled(G, lambda some: {v: sum(one(v).values()) for v in some})
        near = self.hopwave(nx.closeness_centrality, G, self.device)
        check(f"distances on {name}", {v: (len(G) - 1) / near[v] for v in total[1]}, total[1])
        rows = [
            self.row(nx.eccentricity, name, G, far),
            self.row(nx.diameter, name, G, (far[0], None, far[2])),
            self.row(nx.average_shortest_path_length, name, G, (total[0], None, total[2])),
            self.row(nx.wiener_index, name, G, (total[0], None, total[2])),
        ]
        if self.device == "cpu":  # takes NetworkX about twenty seconds
            seconds, right = timed(lambda: nx.diameter(G, usebounds=True, backend="networkx"), 1)
            rows.insert(2, self.row(nx.diameter, name, G, (seconds, right, "timed whole"), usebounds=True))
        return rows


def main() -> None:
    """Measure and publish."""
    arguments = command_line(__doc__, device="cpu", sample=100)
    register()
    nx.config.warnings_to_ignore.add("cache")
    bench = Bench(arguments.device, arguments.sample)
    graphs = real_graphs(("cit-HepPh", "email-Enron")) or {"kronecker 11": generate.kronecker(11)}
    rows = []
    for name, graph in graphs.items():
        G = graph.to_networkx()
        rows += bench.betweenness(name, G)
        if name != "cit-HepPh":  # directed, and not strongly connected
            rows += bench.centralities(name, G)
            giant = G.subgraph(max(nx.connected_components(G), key=len)).copy()
            rows += bench.distances(f"{name}, giant component", giant)
    where = gpu(arguments.device)
    name = where["gpu"].split()[-1].lower() if where else arguments.device
    note = "hopwave's times include the conversion of the graph, but not the compilation of kernels on the first call."
    publish(f"networkx-{name}", f"NetworkX {nx.__version__} through hopwave, device={bench.device}", rows, note, where)


if __name__ == "__main__":
    main()
