"""A picture: the exact betweenness of every road of a country, docs/luxembourg.png.

    python -m benchmarks.country [--graph luxembourg_osm] [--to FILE]

The file of the graph has no coordinates: vertices are placed by their hops to some pivots (pivot
MDS, Brandes & Pich 2007). It is a drawing of distances, not a map.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.setting import ROOT, command_line, hw, plotting, real_graphs

PIVOTS = 200


def places(graph: hw.Graph) -> Any:
    """x and y of every vertex."""
    pivots = np.random.default_rng(1).choice(graph.n, PIVOTS, replace=False)
    squares = np.asarray(hw.distance_table(graph, pivots), np.float64) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean()
    return -centred.T @ np.linalg.svd(centred @ centred.T)[0][:, :2]


def main() -> None:
    given = command_line(__doc__, graph="luxembourg_osm", to=ROOT / "docs" / "luxembourg.png")
    pyplot = plotting()
    from matplotlib.collections import LineCollection
    from matplotlib.colors import PowerNorm

    for graph in real_graphs([given.graph]).values():
        roads = hw.edge_betweenness_centrality(graph, progress=False)
        tails, heads = (np.asarray(end) for end in roads.edges)
        order = np.argsort(roads.scores)  # the busiest are drawn last
        place, share = places(graph), roads.scores[order] / roads.scores.max()
        lines = place[np.stack([tails, heads], axis=1)[order]]
        figure, axes = pyplot.subplots(figsize=(7, 7), layout="tight")
        drawn = LineCollection(lines, array=share, norm=PowerNorm(0.35), cmap="magma_r", linewidths=0.15 + 3 * share)
        axes.add_collection(drawn)
        axes.autoscale()
        axes.set_aspect("equal")
        axes.set_axis_off()
        figure.colorbar(drawn, shrink=0.5, label="edge betweenness, of the greatest")
        figure.savefig(given.to, dpi=110)
        print(f"{given.to}: {roads}")


if __name__ == "__main__":
    main()
