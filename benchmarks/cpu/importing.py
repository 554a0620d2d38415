"""How long `import hopwave` takes in a new interpreter: the median of several runs, as one JSON line.

    python benchmarks/cpu/importing.py

The goal is under 0.5 s.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys

RUNS = 7
CODE = "import time; t = time.perf_counter(); import hopwave; print(time.perf_counter() - t, hopwave.__version__)"


def measure() -> dict[str, object]:
    """The median of the runs; the first run, which may read from a cold disk, is reported separately."""
    seconds = []
    version = ""
    for _ in range(RUNS):
        out = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True).stdout
        time, version = out.split()
        seconds.append(float(time))
    return {
        "benchmark": "import",
        "seconds": round(statistics.median(seconds[1:]), 4),
        "first": round(seconds[0], 4),
        "runs": RUNS,
        "goal": 0.5,
        "version": version,
        "python": platform.python_version(),
        "machine": platform.machine(),
    }


if __name__ == "__main__":
    print(json.dumps(measure()))
