"""Searches while another process keeps one core busy, compared with the same searches on a quiet machine.

python -m benchmarks.cpu.busy [graph …]
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from functools import partial
from typing import Any

from benchmarks.setting import GRAPHS, command_line, giant_sources, hw, publish, tell, timed

NAMES = ["smallworld", "delaunay18", "grid1000", "kron18", "kron20"]


def burn() -> None:
    while True:
        pass


def median_ms(graph: hw.Graph, sources: list[int]) -> float:
    return statistics.median(timed(partial(hw.bfs, graph, source), 1)[0] for source in sources) * 1e3


def main() -> None:
    names = command_line(__doc__, {"graphs": NAMES}).graphs
    rows: list[dict[str, Any]] = []
    for name in names:
        graph = GRAPHS[name]()
        sources = giant_sources(graph, 24)
        median_ms(graph, sources)
        quiet = median_ms(graph, sources)
        other = multiprocessing.get_context("spawn").Process(target=burn, daemon=True)
        other.start()
        time.sleep(0.5)
        busy = median_ms(graph, sources)
        other.terminate()
        other.join()
        rows.append(tell({"graph": name, "quiet ms": quiet, "one core busy ms": busy, "slower": busy / quiet}))
    publish("cpu-busy", "Searches with one core kept busy by another process", rows)


if __name__ == "__main__":
    main()
