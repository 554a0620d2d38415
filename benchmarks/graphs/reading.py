"""How long `hopwave.io.read` takes for a Matrix Market file of ten million edges, compared with `scipy.io.mmread`.

SciPy returns a list of entries; hopwave also sorts and merges them into a graph. Both results are compared first. The
readers take turns; reported is the median time of each. The first call in a new process, which loads the compiled code
(or compiles it, after an installation), is reported separately.

    python benchmarks/graphs/reading.py [--edges 10000000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy
import scipy.io
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
import hopwave
import hopwave.io

BOUND = 1.5
ONCE = """
import sys, time
sys.path.insert(0, sys.argv[2])
import {module}
start = time.perf_counter()
{module}.{function}(sys.argv[1])
print(time.perf_counter() - start)
"""


def make(path: Path, edges: int, symmetric: bool, seed: int = 1) -> None:
    """A uniform random graph with ten edges per vertex, in random order: the hardest order to sort."""
    rng = np.random.default_rng(seed)
    n = edges // 10
    u, v = rng.integers(0, n, (2, edges), dtype=np.int32)
    if symmetric:
        u, v = np.maximum(u, v), np.minimum(u, v)
    text = io.BytesIO()
    A = sp.coo_array((np.ones(edges, np.int8), (u, v)), shape=(n, n))
    scipy.io.mmwrite(text, A, field="pattern", symmetry="general")
    # mmwrite would detect symmetry itself and drop half of the entries; here only the banner changes.
    path.write_bytes(text.getvalue().replace(b"general", b"symmetric", 1) if symmetric else text.getvalue())


def verify(path: Path) -> hopwave.Graph:
    """The graph, checked to equal the matrix that SciPy reads."""
    graph = hopwave.io.read(path)
    A = scipy.io.mmread(path, spmatrix=False).tocsr()
    A.sum_duplicates()
    assert np.array_equal(A.indptr, graph.indptr), "offsets differ from SciPy's"
    assert np.array_equal(A.indices, graph.indices), "neighbours differ from SciPy's"
    return graph


def seconds(function, path: Path) -> float:
    start = time.perf_counter()
    function(path)
    return time.perf_counter() - start


def first_call(module: str, function: str, path: Path) -> float:
    """The seconds of one call in a separate process, without importing the module."""
    code = ONCE.format(module=module, function=function)
    command = [sys.executable, "-c", code, str(path), str(Path(hopwave.__file__).parents[1])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--edges", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("general", "symmetric"):
            path = Path(folder) / f"{kind}.mtx"
            make(path, arguments.edges, kind == "symmetric")
            graph = verify(path)
            times: dict[str, list[float]] = {"hopwave": [], "mmread": []}
            for _ in range(arguments.repeats):
                times["mmread"].append(seconds(scipy.io.mmread, path))
                times["hopwave"].append(seconds(hopwave.io.read, path))
            ours, theirs = (statistics.median(times[name]) for name in ("hopwave", "mmread"))
            results[kind] = {
                "arcs": graph.m,
                "megabytes": round(path.stat().st_size / 1e6, 1),
                "hopwave_s": round(ours, 3),
                "mmread_s": round(theirs, 3),
                "ratio": round(ours / theirs, 3),
                "hopwave_first_s": round(first_call("hopwave.io", "read", path), 3),
                "mmread_first_s": round(first_call("scipy.io", "mmread", path), 3),
            }
            verdict = "within" if ours <= BOUND * theirs else "OVER"
            print(
                f"{kind:9}  hw.read {ours:.2f} s, mmread {theirs:.2f} s: ratio {ours / theirs:.2f}, {verdict} {BOUND}"
            )
    record = {
        "benchmark": "reading",
        "edges": arguments.edges,
        "results": results,
        "hopwave": hopwave.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
