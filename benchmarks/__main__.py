"""`make bench`: every benchmark that runs on a CPU, one after another. Tables go to benchmarks/results/."""

from __future__ import annotations

import subprocess
import sys

ORDER = [
    "importing",
    "building",
    "reading",
    "cpu_search",
    "cpu_betweenness",
    "cpu_weighted_betweenness",
    "cpu_ranked",
    "cpu_many",
    "cpu_many_weighted",
    "cpu_sssp",
    "cpu_busy",
    "cpu_compile",
    "cpu_scaling",
    "linalg_products",
    "linalg_search",
    "ranks",
    "linalg_algorithms",
]


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    for name in sys.argv[1:] or ORDER:
        print(f"== {name}", flush=True)
        options = ["--threads", "1", "2"] if name == "cpu_scaling" else []
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=True)


if __name__ == "__main__":
    main()
