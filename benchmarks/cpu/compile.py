"""How long the first search of a process takes: with nothing compiled yet, and with everything on disk.

    python -m benchmarks.cpu.compile [search | "search with path counts" | betweenness | "edge betweenness" …]

Each run is a separate process. The import and the call are timed separately. The cache folder is new for the first run.
Path counts and betweenness are measured in the same way.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Any

from benchmarks.setting import ROOT, publish

SCRIPT = """
import time
began = time.perf_counter()
import hopwave as hw
imported = time.perf_counter() - began
graph, small = hw.generate.grid(100, 100), hw.generate.grid(20, 20)
began = time.perf_counter()
{call}
print(imported, time.perf_counter() - began)
"""
CALLS = {
    "search of a small graph": "hw.bfs(small, 0)",
    "betweenness of a small graph": "hw.betweenness_centrality(small, k=20, progress=False)",
    "search": "hw.bfs(graph, 0)",
    "search with path counts": "hw.bfs(graph, 0, path_counts=True)",
    "betweenness": "hw.betweenness_centrality(graph, k=50, progress=False)",
    "edge betweenness": "hw.edge_betweenness_centrality(graph, k=50, progress=False)",
}


def once(call: str, folder: str) -> tuple[float, float]:
    environment = os.environ | {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", SCRIPT.format(call=call)]
    out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    imported, taken = map(float, out.split())
    return imported, taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calls", nargs="*", default=list(CALLS))
    names = parser.parse_args().calls
    rows: list[dict[str, Any]] = []
    for name in names:
        call = CALLS[name]
        with tempfile.TemporaryDirectory() as folder:
            _, cold = once(call, folder)
            imported, warm = min((once(call, folder) for _ in range(3)), key=lambda pair: pair[1])
        rows.append({"first": name, "cold s": cold, "from cache s": warm, "import hopwave s": imported})
        print(rows[-1], flush=True)
    publish("cpu-compile", "The first call of a process", rows, more={"load": f"{os.getloadavg()[0]:.1f}"})


if __name__ == "__main__":
    main()
