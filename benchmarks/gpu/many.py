"""Searches from many sources on one GPU, compared with the CPU engine on the same machine.

    python -m benchmarks.gpu.many [--graphs email-Enron,luxembourg_osm]

Measures closeness of every vertex, or of as many sources as the table says, and weak components. Answers are compared
before they are timed: for all sources if the CPU engine takes seconds, else for some. A time is the whole call with the
graph already on the GPU (the best of three). "First call" includes the upload and the arranging of neighbours, and on a
new machine also CuPy's compilation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.setting import DATA, GRAPHS, command_line, gpu, hw, publish, tell, timed
from hopwave.prepared import Structure

# graph: sources for the GPU (None: all), sources for the CPU
REAL = {
    "email-Enron": (None, None),
    "ca-AstroPh": (None, None),
    "cit-HepPh": (None, None),
    "delaunay_n16": (None, 2048),
    "luxembourg_osm": (None, 256),
    "cnr-2000": (4096, 1024),
}
NOTE = (
    "Both give the same bits. Where nothing has been compiled yet, which happens once per machine, the first call "
    "takes seconds longer."
)
MADE: dict[str, tuple[int, int]] = {"kron18": (4096, 1024), "grid1000": (1024, 64)}


def row(name: str, graph: hw.Graph, many: int | None, few: int | None) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    sources = None if many is None else rng.integers(0, graph.n, many)
    some = sources if few is None else rng.integers(0, graph.n, few) if sources is None else sources[:few]

    def closeness(device: str, of: Any) -> Any:
        return hw.closeness_centrality(graph, of, device=device, progress=False).scores

    hw.closeness_centrality(hw.generate.kronecker(9), device="cpu", progress=False)  # compile
    cpu, right = timed(lambda: closeness("cpu", some), 1)
    first, scores = timed(lambda: closeness("cuda", sources), 1)
    seconds, scores = timed(lambda: closeness("cuda", sources), 3 if first < 3 else 1)
    same = scores[some] if sources is None and some is not None else scores[: len(right)]
    if not np.array_equal(same, right):
        raise SystemExit(f"{name}: the GPU's closeness differs from the CPU's")
    graph._prepared.drop(Structure)
    parts, labels = timed(lambda: labelled(graph, "cuda"))
    cpu_parts, cpu_labels = timed(lambda: labelled(graph, "cpu"))
    if not np.array_equal(labels, cpu_labels):
        raise SystemExit(f"{name}: the GPU's components differ from the CPU's")
    each, cpu_each = seconds / len(scores), cpu / len(right)
    found = {
        "graph": f"{name} ({graph.n:,} vertices, {graph.m:,} arcs)",
        "sources": len(scores),
        "first call s": first,
        "GPU s": seconds,
        "GPU µs per source": each * 1e6,
        "CPU µs per source": cpu_each * 1e6,
        "CPU sources": len(right),
        "times faster": cpu_each / each,
        "components GPU ms": parts * 1e3,
        "components CPU ms": cpu_parts * 1e3,
    }
    return tell(found)


def labelled(graph: hw.Graph, device: str) -> Any:
    graph._prepared.drop(Structure)
    return hw.weakly_connected_components(graph, device=device).labels


def main() -> None:
    options = command_line(__doc__, graphs=",".join((*REAL, *MADE)))
    rows = []
    hw.closeness_centrality(hw.generate.kronecker(9), device="cuda", progress=False)  # compile, for few and many
    hw.closeness_centrality(hw.generate.kronecker(9), range(9), device="cuda", progress=False)
    for name in options.graphs.split(","):
        if name in REAL:
            rows.append(row(name, hw.read(DATA / f"{name}.mtx.gz", progress=False), *REAL[name]))
        else:
            rows.append(row(name, GRAPHS[name](), *MADE[name]))
    title = "Closeness from many sources: one GPU compared with the CPU engine on all cores"
    publish("gpu-many", title, rows, NOTE, gpu())


if __name__ == "__main__":
    main()
