"""Betweenness on the CPU, compared in one run with igraph (16 sources) and rustworkx (exact, all sources).

    python -m benchmarks.cpu.betweenness [graph …] [--sources 16]

Scores are compared before anything is timed.
"""

from __future__ import annotations

from typing import Any

from benchmarks.setting import GRAPHS, LEFT_OUT, agree, command_line, giant_sources, hw, publish, tell, timed
from hopwave import engines
from hopwave.planning.catalogue import CATALOGUE

SAMPLED = ["smallworld", "delaunay18", "mycielskian14", "kron18"]
CHECKED = ["smallworld", "delaunay18", "kron18"]  # graphs for which float64 is enough


def sampled(name: str, count: int) -> dict[str, Any]:
    graph = GRAPHS[name]()
    sources = list(dict.fromkeys(giant_sources(graph, count)))
    g = graph.to_igraph()
    hw.betweenness_centrality(graph, sources=sources[:4], progress=False)
    ours, result = timed(lambda: hw.betweenness_centrality(graph, sources=sources, normalized=False, progress=False), 3)
    theirs, scores = timed(lambda: g.betweenness(sources=sources, targets=None, directed=graph.directed), 1)
    agree(f"{name}, igraph", result.scores, scores)
    return row(f"{name}, {len(sources)} sources", "igraph", ours, theirs, len(sources), result)


def row(what: str, peer: str, ours: float, theirs: float, sources: int, result: Any) -> dict[str, Any]:
    """Milliseconds per source of both."""
    return tell(
        {
            "what": what,
            "hopwave ms per source": ours / sources * 1e3,
            "peer": peer,
            "peer ms per source": theirs / sources * 1e3,
            "times faster": theirs / ours,
            "certificate": result.certificate.error,
        }
    )


def exact(name: str, graph: hw.Graph) -> list[dict[str, Any]]:
    try:
        import rustworkx
    except ImportError:
        print(f"{LEFT_OUT}{name}, exact; rustworkx is not installed", flush=True)
        return []
    g = rustworkx.PyGraph()
    g.add_nodes_from(range(graph.n))
    g.add_edges_from_no_data(list(zip(*(side.tolist() for side in graph.to_edges()), strict=True)))
    ours, result = timed(lambda: hw.betweenness_centrality(graph, progress=False), 3)
    theirs, scores = timed(lambda: rustworkx.betweenness_centrality(g), 2)
    agree(f"{name}, rustworkx", result.scores, [scores[v] for v in range(graph.n)])
    return [row(f"{name}, exact", "rustworkx", ours, theirs, graph.n, result)]


def checking(name: str, count: int) -> dict[str, Any]:
    """The cost of the overflow check when nothing overflows: the same run with and without it."""
    graph = GRAPHS[name]()
    sources = giant_sources(graph, count)
    call = lambda: hw.betweenness_centrality(graph, sources=sources, progress=False)  # noqa: E731
    call()
    loaded = engines.engine("cpu").load(graph, CATALOGUE["hopwave-block"])
    bits = loaded.degree_bits
    on, off = float("inf"), float("inf")
    for _ in range(5):  # in turns
        loaded.degree_bits = bits
        on = min(on, timed(call, 1)[0])
        loaded.degree_bits = 0
        off = min(off, timed(call, 1)[0])
    loaded.degree_bits = bits
    row = {
        "graph": name,
        "checked ms per source": on / count * 1e3,
        "unchecked ms per source": off / count * 1e3,
        "cost": on / off - 1,
    }
    return tell(row)


def main() -> None:
    options = command_line(__doc__, {"graphs": SAMPLED}, sources=16)
    rows = [sampled(name, options.sources) for name in options.graphs]
    rows += exact("Barabási–Albert 5000", hw.generate.barabasi_albert(5000, 5, seed=1))
    rows += exact("Delaunay 2^12", hw.generate.delaunay(1 << 12, seed=1))
    publish("cpu-betweenness", "Betweenness on the CPU", rows)
    if not set(CHECKED) & set(options.graphs):
        return
    checked = [checking(name, options.sources) for name in options.graphs if name in CHECKED]
    publish("cpu-overflow", "What checking path counts for overflow costs where float64 is enough", checked)


if __name__ == "__main__":
    main()
