"""Records which kernels ordinary calls use, on a GPU: `python -m benchmarks.ordinary_kernels [FILE]`.

A wheel carries these kernels for many GPUs (src/hopwave/engines/cuda/ship.py). Run it again, then `make wheels`,
when kernels or the calls change; nothing breaks if it is forgotten, kernels are then compiled where they are used.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from benchmarks.setting import hw
from hopwave.engines.cuda import nvrtc, ship


def calls() -> None:
    """What people do first, on a mesh and on a graph with hubs, small and large enough for every regime."""
    for graph in (hw.generate.grid(100, 100), hw.generate.kronecker(16)):
        roads = graph.with_weights(np.ones(graph.m))
        source = int(np.argmax(graph.degrees))
        for _ in range(2):
            hw.bfs(graph, source, device="cuda")
            hw.bfs(graph, source, path_counts=True, device="cuda")
        hw.sssp(roads, source, device="cuda")
        hw.betweenness_centrality(graph, k=64, device="cuda", progress=False)
        hw.closeness_centrality(graph, k=64, device="cuda", progress=False)
        hw.pagerank(graph, device="cuda")
        hw.triangle_count(graph, device="cuda")
        hw.connected_components(graph, device="cuda")


def main(file: Path) -> None:
    recorded = {}
    made = nvrtc.Building._made

    def noted(header, arch, names, more, text):  # type: ignore[no-untyped-def]
        recorded[header, tuple(names), tuple(more), text] = None
        return made(header, arch, names, more, text)

    nvrtc.Building._made = staticmethod(noted)
    calls()
    rows = sorted([header, list(names), list(more), text] for header, names, more, text in recorded)
    file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} instances")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ship.ORDINARY)
