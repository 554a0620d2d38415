"""Betweenness on the CPU, compared in one run with igraph (16 sources) and rustworkx (exact, all sources).

    python -m benchmarks.cpu.betweenness [graph …] [--sources 16]

Scores are compared before anything is timed.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from benchmarks.setting import GRAPHS, LEFT_OUT, giant_sources, hw, publish, timed
from hopwave import engines
from hopwave.planning.catalogue import CATALOGUE

SAMPLED = ["smallworld", "delaunay18", "mycielskian14", "kron18"]
CHECKED = ["smallworld", "delaunay18", "kron18"]  # graphs for which float64 is enough


def sampled(name: str, count: int) -> dict[str, Any]:
    import igraph

    graph = GRAPHS[name]()
    sources = giant_sources(graph, count)
    sources = list(dict.fromkeys(sources))
    g = igraph.Graph(n=graph.n, edges=np.stack(graph.to_edges(), 1), directed=graph.directed)
    hw.betweenness_centrality(graph, sources=sources[:4], progress=False)
    ours, result = timed(lambda: hw.betweenness_centrality(graph, sources=sources, normalized=False, progress=False), 3)
    theirs, scores = timed(lambda: g.betweenness(sources=sources, targets=None, directed=graph.directed), 1)
    difference = np.abs(result.scores - np.array(scores)).max() / max(1.0, np.abs(scores).max())
    if not difference < 1e-9:
        raise SystemExit(f"{name}: hopwave and igraph disagree by {difference:g}")
    row = {
        "what": f"{name}, {len(sources)} sources",
        "hopwave ms per source": ours / len(sources) * 1e3,
        "peer": "igraph",
        "peer ms per source": theirs / len(sources) * 1e3,
        "times faster": theirs / ours,
        "certificate": result.certificate.error,
    }
    print(row, flush=True)
    return row


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
    theirs_scores = np.array([scores[v] for v in range(graph.n)])
    difference = np.abs(result.scores - theirs_scores).max() / theirs_scores.max()
    if not difference < 1e-9:
        raise SystemExit(f"{name}: hopwave and rustworkx disagree by {difference:g}")
    row = {
        "what": f"{name}, exact",
        "hopwave ms per source": ours / graph.n * 1e3,
        "peer": "rustworkx",
        "peer ms per source": theirs / graph.n * 1e3,
        "times faster": theirs / ours,
        "certificate": result.certificate.error,
    }
    print(row, flush=True)
    return [row]


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
    print(row, flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", default=SAMPLED)
    parser.add_argument("--sources", type=int, default=16)
    options = parser.parse_args()
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
