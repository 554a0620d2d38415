"""How long it takes to write and to read a graph in each format, with all cores.

    python -m benchmarks.graphs.files [--scale 21] [--edge-factor 16] [--weighted] [--rounds 2] [format …]

A Kronecker graph. What was read is compared with what was written before any time is reported:
the same graph, bit for bit. Times are wall-clock seconds, the best of some rounds, of hopwave.write and hopwave.read
in a process that has compiled everything; the file stays in the page cache. SciPy's `mmread` reads the Matrix Market
file too; it returns a list of entries, while hopwave also sorts them into rows.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from benchmarks.setting import command_line, hw, publish, tell, timed

EXTENSIONS = {
    "npz": "npz", "csv": "csv", "matrix-market": "mtx", "snap": "txt", "parquet": "parquet", "gapbs": "el",
    "gapbs serialised": "sg", "dimacs": "gr", "metis": "graph",
}  # fmt: skip
WEIGHTED = {"gapbs": "wel", "gapbs serialised": "wsg"}


def main() -> None:
    given = command_line(__doc__, {"formats": list(EXTENSIONS)}, scale=21, edge_factor=16, rounds=2, weighted=False)
    graph = hw.generate.kronecker(given.scale, given.edge_factor, seed=1).remove_self_loops()  # METIS refuses them
    if given.weighted:
        u, v = graph.to_edges()
        graph = hw.Graph.from_edges(u, v, graph.n, weights=np.random.default_rng(1).integers(1, 256, len(u)))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.formats:
            file = Path(folder) / f"graph.{(WEIGHTED if given.weighted else {}).get(name, EXTENSIONS[name])}"
            try:
                written, _ = timed(lambda file=file: hw.write(file, graph), given.rounds)
                read, found = timed(lambda file=file: hw.read(file, progress=False, directed=False), given.rounds)
                assert found == graph, f"{name}: the graph that was read is another one"
            except (AssertionError, hw.HopwaveError) as error:
                print(f"left out: {name}; {error}", flush=True)
                continue
            size = file.stat().st_size / 1e6
            rows.append(tell({"format": name, "MB": size, "write, s": written, "read, s": read}))
            if name == "npz" and "mmap" in hw.read.__doc__:
                mapped, found = timed(lambda file=file: hw.read(file, progress=False, mmap=True), given.rounds)
                assert found == graph
                rows.append(tell({"format": "npz, mapped", "MB": size, "write, s": None, "read, s": mapped}))
            if name == "matrix-market":
                theirs, _ = timed(lambda file=file: scipy.io.mmread(file, spmatrix=False), given.rounds)
                rows.append(tell({"format": "matrix-market, SciPy", "MB": size, "write, s": None, "read, s": theirs}))
            file.unlink()
    kind = "weighted" if given.weighted else "unweighted"
    publish(
        "files" + ("-weighted" if given.weighted else ""),
        f"Writing and reading a file, {graph.m // 2:,} edges, {kind}",
        rows,
    )


if __name__ == "__main__":
    main()
