"""How often the intervals of sampled distances hold, and how wide they are.

    python -m benchmarks.cpu.intervals [--runs 1000]

Five kinds of graphs, closeness, harmonic centrality and the mean distance, guaranteed and normal intervals, each over
`runs` seeds; compared with the exact values of hopwave, from all sources. Writes benchmarks/results/cpu-intervals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import hopwave as hw
from benchmarks.setting import command_line, publish
from hopwave import generate

DELTA = 0.1
SAMPLES = (64, 256)


def graphs() -> Iterator[tuple[str, hw.Graph]]:
    yield "scale-free", generate.barabasi_albert(600, 3, seed=1)
    yield "grid", generate.grid(24, 24)
    yield "small world", generate.smallworld(600, 6, 0.1, seed=1)
    roads = generate.grid(24, 24)
    src, dst = roads.to_edges()
    lengths = np.random.default_rng(1).lognormal(5, 1, len(src))
    yield "grid with lengths", hw.Graph.from_edges(src, dst, weights=lengths)
    web = generate.kronecker(10, 8, seed=1, directed=True)
    label = hw.strongly_connected_components(web).labels
    yield "directed, strongly connected", web.subgraph(np.flatnonzero(label == np.bincount(label).argmax()))


def held(found: Any, exact: Any) -> tuple[bool, float, float]:
    """Whether all exact scores are in their intervals, the share that is, and the mean half-width by the mean score."""
    rounding = 1e-9 * np.abs(exact)
    inside = (found.low <= exact + rounding) & (exact - rounding <= found.high)
    return bool(np.all(inside)), float(np.mean(inside)), float(np.mean((found.high - found.low) / 2) / np.mean(exact))


def measured(name: str, graph: hw.Graph, runs: int) -> Iterator[dict[str, Any]]:
    along = graph.weights is not None
    asks = (hw.closeness_centrality, hw.harmonic_centrality, hw.average_shortest_path_length)
    for ask in asks:
        exact = ask(graph, weights=along, progress=False)
        values = np.asarray(exact if isinstance(exact, float) else exact.scores)  # type: ignore[union-attr]
        for k in SAMPLES:
            for interval in ("guaranteed", "normal"):
                options: Any = {
                    "k": k,
                    "delta": DELTA,
                    "interval": interval,
                    "weights": along,
                    "progress": False,
                    "threads": 1,
                }
                every, share, width = np.mean(
                    [held(ask(graph, seed=s, **options), values) for s in range(runs)], axis=0
                )
                row = {"graph": name, "n": graph.n, "score": ask.__name__, "k": k, "interval": interval, "runs": runs}
                yield row | {"all hold": f"{every:.1%}", "one holds": f"{share:.1%}", "± of the score": f"{width:.1%}"}


def main() -> None:
    runs = command_line(__doc__, runs=1000).runs
    rows = []
    for name, graph in graphs():
        for row in measured(name, graph, runs):
            rows.append(row)
            print(row, flush=True)
    publish(
        "cpu-intervals",
        "Intervals of sampled distances: how often they hold",
        rows,
        f"The promise of a guaranteed interval: in {1 - DELTA:.0%} of runs *all* exact scores of a graph lie in their "
        f"intervals. Of a normal one: *one* score does, in about {1 - DELTA:.0%} of runs. The last column is the mean "
        "half-width, as a share of the mean score. Compared with the exact scores of hopwave, from all sources.",
    )


if __name__ == "__main__":
    main()
