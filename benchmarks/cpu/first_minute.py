"""What a new process waits for: the import, and its first call, with nothing kept on disk and with everything kept.

    python -m benchmarks.cpu.first_minute [--device cuda] [--wheel FILE] [--runs 3] [--kept-runs 3] [name …]

Each run is a process of its own, which times itself; reported are medians. "nothing kept": with new, empty folders for
machine code. "kept": with the folders that the run before has left. The graph is a grid of 10,000 vertices, or a
Kronecker graph of scale 16 where the name says "hubs", made before the clock starts, and the call includes the import
of what it needs. `--wheel` installs that wheel into an empty folder, without what it depends on, and takes hopwave from
there.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, command_line, gpu, publish

SCRIPT = """
import time
import hopwave as hw
import numpy as np
graph = {graph}
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
    "pagerank, hubs": "hw.pagerank(graph, device='{device}')",
    "triangle_count, hubs": "hw.triangle_count(graph, device='{device}')",
}
MACHINE = platform.machine()
# Seconds to stay below with nothing kept: from a wheel, from source on a GPU, from source on a CPU.
WHEEL, SOURCE_GPU = 0.5, 2.0
SOURCE_CPU = {"bfs": 1.0, "betweenness": 5.0, "pagerank": 1.5, "sssp": 1.2}


def environment(folder: str, package: str) -> dict[str, str]:
    """Folders for machine code of every kind below one folder; hopwave from the folder `package`."""
    names = ("NUMBA_CACHE_DIR", "HOPWAVE_CACHE", "CUPY_CACHE_DIR", "CUDA_CACHE_PATH")
    found = os.environ | {name: str(Path(folder) / name) for name in names}
    return found | {"HOPWAVE_PROGRESS": "0", "PYTHONPATH": package}


def once(code: str, folder: str, package: str) -> float:
    """The seconds that a process prints."""
    words = [sys.executable, "-c", code]
    ran = subprocess.run(words, env=environment(folder, package), stdout=subprocess.PIPE, text=True, check=True)
    return float(ran.stdout)


def version(folder: str, package: str) -> float:
    """Seconds of the whole command `hopwave --version`."""
    began = time.perf_counter()
    words = [sys.executable, "-m", "hopwave", "--version"]
    subprocess.run(words, env=environment(folder, package), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def installed(wheel: Path, folder: Path) -> str:
    """The wheel alone, in an empty folder."""
    words = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True)
    return str(folder)


def measured(given: argparse.Namespace, package: str) -> list[dict[str, Any]]:
    """One row for the import, one for the command, one for each call."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        once(IMPORT, folder, package)  # compiles bytecode
        for name, call in (
            ("import hopwave", lambda: once(IMPORT, folder, package)),
            ("hopwave --version", lambda: version(folder, package)),
        ):
            kept = statistics.median(call() for _ in range(given.runs))
            rows.append({"first": name, "nothing kept, s": None, "aim, s": None, "kept, s": kept})
    for name in given.calls:
        graph = "hw.generate.kronecker(16)" if "hubs" in name else "hw.generate.grid(100, 100)"
        code = SCRIPT.format(device=given.device, graph=graph, call=CALLS[name].format(device=given.device))
        cold, kept = [], []
        for run in range(given.runs):
            with tempfile.TemporaryDirectory() as folder:
                cold.append(once(code, folder, package))
                kept += [once(code, folder, package)] if run < given.kept_runs else []
        aim = WHEEL if given.wheel else SOURCE_GPU if given.device == "cuda" else SOURCE_CPU.get(name)
        median = statistics.median(kept) if kept else None
        rows.append({"first": name, "nothing kept, s": statistics.median(cold), "aim, s": aim, "kept, s": median})
        print(rows[-1], [round(one, 3) for one in cold], flush=True)
    return rows


def main() -> None:
    given = command_line(__doc__, {"calls": list(CALLS)}, device="cpu", wheel=Path, runs=3, kept_runs=3)
    more = {"load": f"{os.getloadavg()[0]:.1f}", "runs": given.runs}
    if given.wheel:
        more |= {"wheel": given.wheel.name, "MB": round(given.wheel.stat().st_size / 1e6, 2)}
        with tempfile.TemporaryDirectory() as folder:
            rows = measured(given, installed(given.wheel, Path(folder) / "hopwave"))
    else:
        rows = measured(given, str(ROOT / "src"))
    publish(
        f"first-minute-{given.device}{'-wheel' if given.wheel else ''}{'' if MACHINE == 'x86_64' else f'-{MACHINE}'}",
        f"The first minute on a {'GPU' if given.device == 'cuda' else 'CPU'}, "
        + ("with the machine code of a wheel" if given.wheel else "from source")
        + ("" if MACHINE == "x86_64" else f", {MACHINE}"),
        rows,
        more=more | gpu(given.device),
    )


if __name__ == "__main__":
    main()
