"""What a new process waits for: the import, and its first call, with nothing kept on disk and with everything kept.

    python -m benchmarks.cpu.first_minute [--device cuda] [--python PYTHON] [--runs 3] [name …]

Each run is a process of its own, which times itself; reported are medians. "nothing kept": with new, empty folders for
machine code. "kept": with the folders that the run before has left. The graph is a grid of 10,000 vertices, made before
the clock starts, and the call includes the import of what it needs. `--python` takes the hopwave of that interpreter,
as of an environment into which a wheel was installed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, gpu, publish

SCRIPT = """
import time
import hopwave as hw
import numpy as np
graph = hw.generate.grid(100, 100)
roads = graph.with_weights(np.ones(graph.m))
if "{device}" == "cuda":
    import cupy
    cupy.cuda.runtime.free(0)  # CUDA starts, which takes a second or more whatever comes then
began = time.perf_counter()
{call}
print(time.perf_counter() - began)
"""
IMPORT = """
import time
began = time.perf_counter()
import hopwave
print(time.perf_counter() - began)
"""
CALLS = {
    "bfs": "hw.bfs(graph, 0, device='{device}')",
    "bfs, path counts": "hw.bfs(graph, 0, path_counts=True, device='{device}')",
    "betweenness": "hw.betweenness_centrality(graph, k=50, device='{device}', progress=False)",
    "closeness": "hw.closeness_centrality(graph, device='{device}', progress=False)",
    "pagerank": "hw.pagerank(graph, device='{device}')",
    "sssp": "hw.sssp(roads, 0, device='{device}')",
    "triangle_count": "hw.triangle_count(graph, device='{device}')",
}


def environment(folder: str, installed: bool) -> dict[str, str]:
    """Folders for machine code of every kind below one folder; hopwave from the checkout unless one is installed."""
    names = ("NUMBA_CACHE_DIR", "HOPWAVE_CACHE", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
    found = os.environ | {name: str(Path(folder) / name) for name in names} | {"HOPWAVE_PROGRESS": "0"}
    found["PYTHONPATH"] = "" if installed else str(ROOT / "src")
    return found


def once(python: str, code: str, folder: str, installed: bool) -> float:
    """The seconds that a process prints."""
    command = [python, "-c", code]
    ran = subprocess.run(command, env=environment(folder, installed), capture_output=True, text=True, check=True)
    return float(ran.stdout)


def version(python: str, folder: str, installed: bool) -> float:
    """Seconds of the whole command `hopwave --version`."""
    began = time.perf_counter()
    subprocess.run(
        [python, "-m", "hopwave", "--version"], env=environment(folder, installed), capture_output=True, check=True
    )
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="*", default=list(CALLS))
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cold-runs", type=int)
    given = parser.parse_args()
    installed = given.python != sys.executable
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        once(given.python, IMPORT, folder, installed)  # compiles bytecode
        bare = [once(given.python, IMPORT, folder, installed) for _ in range(given.runs)]
        rows.append({"first": "import hopwave", "nothing kept, s": None, "kept, s": statistics.median(bare)})
        bare = [version(given.python, folder, installed) for _ in range(given.runs)]
        rows.append({"first": "hopwave --version", "nothing kept, s": None, "kept, s": statistics.median(bare)})
    for name in given.calls:
        code = SCRIPT.format(device=given.device, call=CALLS[name].format(device=given.device))
        cold, kept = [], []
        for _ in range(given.cold_runs or given.runs):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(once(given.python, code, folder, installed))
                rest = given.runs // (given.cold_runs or given.runs)
                kept += [once(given.python, code, folder, installed) for _ in range(rest)]
        rows.append({"first": name, "nothing kept, s": statistics.median(cold), "kept, s": statistics.median(kept)})
        print(rows[-1], flush=True)
    origin = "with the machine code of a wheel" if installed else "from source"
    publish(
        f"first-minute-{given.device}{'-wheel' if installed else ''}",
        f"The first minute on a {given.device.upper()}, {origin}",
        rows,
        more={"load": f"{os.getloadavg()[0]:.1f}", "runs": given.runs} | gpu(given.device),
    )


if __name__ == "__main__":
    main()
