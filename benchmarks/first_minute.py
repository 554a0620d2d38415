"""What a new process waits for: the import, and its first call, with nothing kept on disk and with everything kept.

    python -m benchmarks.first_minute [--device cuda] [--wheel FILE] [--runs 3] [--kept-runs 3] [name …]

Each run is a process of its own, which times itself; reported are medians. "nothing kept": with new, empty folders for
machine code. "kept": with the folders that the run before has left. The graph is a grid of 10,000 vertices, or a
Kronecker graph of scale 16 where the name says "hubs", made before the clock starts, and the call includes the import
of what it needs. `--baselines [--scale 17] [--threads 1]` compares a wheel's machine code with native code. `--wheel`
installs that wheel into an empty folder, without what it depends on, and takes hopwave from
there.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import publish
from benchmarks.setting import ROOT, command_line, gpu, hw, timed
from hopwave.system.shipped_code import BASELINES

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


# ---------------------------------------------------------------- a wheel's machine code and native code


def measure(scale: int, repetitions: int) -> dict[str, Any]:
    """Seconds of each call, and a digest of its answer."""
    graph = hw.generate.kronecker(scale, 16, seed=1)
    ends = graph.to_edges()
    roads = hw.Graph.from_edges(*ends, graph.n, weights=np.random.default_rng(1).integers(1, 256, len(ends[0])))
    sources = np.argsort(graph.degrees)[-256:].tolist()
    calls: dict[str, Any] = {
        "bfs, 16 sources": lambda: [hw.bfs(graph, s, device="cpu").distances for s in sources[:16]],
        "betweenness, k=64": lambda: (
            hw.betweenness_centrality(graph, k=64, seed=1, device="cpu", progress=False).scores
        ),
        "closeness, k=256": lambda: hw.closeness_centrality(graph, k=256, seed=1, device="cpu", progress=False).scores,
        "sssp, 4 sources": lambda: [hw.sssp(roads, s, device="cpu").distances for s in sources[:4]],
        "pagerank": lambda: hw.pagerank(graph, device="cpu").scores,
        "triangle_count": lambda: hw.triangle_count(graph, device="cpu"),
    }
    found = {}
    for name, call in calls.items():
        call()
        seconds, answer = timed(call, repetitions)
        rounded = np.round(np.asarray(answer, np.float64), 9)  # sums of float64 may be rounded in another order
        found[name] = seconds, hashlib.sha256(rounded.tobytes()).hexdigest()
    return found


def start(settings: dict[str, str], folder: Path, scale: int, repetitions: int) -> subprocess.Popen[str]:
    environment = os.environ | settings | {"NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    words = [sys.executable, "-m", "benchmarks.first_minute", "--measure", str(repetitions), "--scale", str(scale)]
    return subprocess.Popen(words, env=environment | {"HOPWAVE_PROGRESS": "0"}, stdout=subprocess.PIPE, text=True)


def baselines(given: argparse.Namespace) -> None:
    """A wheel's machine code compared with native code, in processes that take turns; answers are compared first."""
    variants: dict[str, dict[str, str]] = {"native": {}}
    for one in BASELINES.get(MACHINE, ()):
        variants[one.cpu] = {name: value for name, value in one.settings().items() if name != "HOPWAVE_SHIP"}
    os.environ["HOPWAVE_NUM_THREADS"] = given.threads
    best: dict[str, dict[str, float]] = {name: {} for name in variants}
    with tempfile.TemporaryDirectory() as folder:
        for process in [start(variants[name], Path(folder) / name, given.scale, 1) for name in variants]:
            process.communicate()
        answers: dict[str, str] = {}
        for _ in range(given.runs):
            for name, settings in variants.items():
                output, _ = start(settings, Path(folder) / name, given.scale, 5).communicate()
                for call, (seconds, answer) in json.loads(output).items():
                    assert answers.setdefault(call, answer) == answer, f"{call}: {name} has another answer"
                    best[name][call] = min(best[name].get(call, seconds), seconds)
    rows: list[dict[str, Any]] = []
    for call, native in best["native"].items():
        rows.append({"call": call, "native, ms": 1e3 * native})
        for name in list(variants)[1:]:
            rows[-1] |= {f"{name}, ms": 1e3 * best[name][call], f"{name} / native": best[name][call] / native}
    publish(
        f"first-baseline-{MACHINE}",
        f"A wheel's machine code compared with native code, kron {given.scale}, {MACHINE}",
        rows,
        more={"threads": given.threads, "rounds": given.runs},
    )


def main() -> None:
    given = command_line(
        __doc__, {"calls": list(CALLS)}, device="cpu", wheel=Path, runs=3, kept_runs=3, baselines=False, scale=17,
        threads="1", measure=int,
    )  # fmt: skip
    if given.measure:
        print(json.dumps(measure(given.scale, given.measure)))
        return
    if given.baselines:
        baselines(given)
        return
    more = {"load": f"{os.getloadavg()[0]:.1f}", "runs": given.runs}
    if given.wheel:
        more |= {"wheel": given.wheel.name, "MB": round(given.wheel.stat().st_size / 1e6, 2)}
        with tempfile.TemporaryDirectory() as folder:
            rows = measured(given, installed(given.wheel, Path(folder) / "hopwave"))
    else:
        rows = measured(given, str(ROOT / "src"))
    publish(
        f"first-{given.device}{'-wheel' if given.wheel else ''}{'' if MACHINE == 'x86_64' else f'-{MACHINE}'}",
        f"The first minute on a {'GPU' if given.device == 'cuda' else 'CPU'}, "
        + ("with the machine code of a wheel" if given.wheel else "from source")
        + ("" if MACHINE == "x86_64" else f", {MACHINE}"),
        rows,
        more=more | gpu(given.device),
    )


if __name__ == "__main__":
    main()
