"""Machine code for the baselines of a wheel beside code for the very CPU it runs on.

    python -m benchmarks.cpu.baseline [--scale 17] [--threads 1] [--rounds 3]

Every variant compiles into a folder of its own, all at the same time. Then their processes take turns, and the best of
all rounds counts. Answers are compared first.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.setting import ROOT, command_line, hw, publish, timed
from hopwave.system.shipped_code import BASELINES


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
    words = [sys.executable, "-m", "benchmarks.cpu.baseline", "--measure", str(repetitions), "--scale", str(scale)]
    return subprocess.Popen(words, env=environment | {"HOPWAVE_PROGRESS": "0"}, stdout=subprocess.PIPE, text=True)


def main() -> None:
    given = command_line(__doc__, scale=17, threads="1", rounds=3, measure=int)
    if given.measure:
        print(json.dumps(measure(given.scale, given.measure)))
        return
    variants: dict[str, dict[str, str]] = {"native": {}}
    for one in BASELINES.get(platform.machine(), ()):
        variants[one.cpu] = {name: value for name, value in one.settings().items() if name != "HOPWAVE_SHIP"}
    os.environ["HOPWAVE_NUM_THREADS"] = given.threads
    best: dict[str, dict[str, float]] = {name: {} for name in variants}
    with tempfile.TemporaryDirectory() as folder:
        for process in [start(variants[name], Path(folder) / name, given.scale, 1) for name in variants]:
            process.communicate()
        answers: dict[str, str] = {}
        for _ in range(given.rounds):
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
        f"cpu-baseline-{platform.machine()}",
        f"A wheel's machine code beside native code, kron {given.scale}, {platform.machine()}",
        rows,
        more={"threads": given.threads, "rounds": given.rounds},
    )


if __name__ == "__main__":
    main()
