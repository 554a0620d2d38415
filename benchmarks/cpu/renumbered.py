"""Betweenness on the CPU with and without renumbering the vertices by degree first, in one run.

    python -m benchmarks.cpu.renumbered [graph …] [--sources 32]

The scores must agree before anything is timed. Renumbering happens once per graph, in the first run. It is not part of
the time per source; its cost is a separate column.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.setting import GRAPHS, command_line, giant_sources, hw, publish, timed
from hopwave.engines.cpu import policy
from hopwave.engines.cpu.betweenness import by_degree


def measure(name: str, count: int) -> dict[str, Any]:
    graph, worth = GRAPHS[name](), policy.worth_renumbering
    sources = giant_sources(graph, count)

    def run(ranked: bool) -> tuple[Any, float]:
        policy.worth_renumbering = worth if ranked else lambda loaded, job: False
        given = {"sources": sources, "device": "cpu", "progress": False}
        seconds, found = timed(lambda: hw.betweenness_centrality(graph, **given), 1)
        return found.scores, seconds / count

    renumbering, _ = timed(lambda: by_degree.RenumberedGraph(graph), 1)
    plain, ranked = run(False)[0], run(True)[0]
    np.testing.assert_allclose(ranked, plain, rtol=1e-9)
    times = [(run(False)[1], run(True)[1]) for _ in range(3)]
    before, after = (min(column) * 1e3 for column in zip(*times, strict=True))
    row = {"graph": name, "arcs": graph.m, "as given, ms per source": before, "by degree, ms per source": after}
    return row | {"times faster": before / after, "renumbering s": renumbering}


def main() -> None:
    options = command_line(__doc__, {"graphs": ["kron18", "rmat18-directed", "kron20"]}, sources=32)
    hw.betweenness_centrality(hw.generate.star(40_000), k=32, device="cpu", progress=False)  # compile
    rows = [measure(name, options.sources) for name in options.graphs]
    publish("cpu-ranked", "Betweenness on the CPU, vertices renumbered by degree", rows)


if __name__ == "__main__":
    main()
