"""Rejections by the CPU engine: numbers of threads."""

from __future__ import annotations

import hopwave as hw
from hopwave import EngineError, generate
from rejections import Row, each

GRID, SMALL = generate.grid(40, 40), generate.path(5)
BAD = [0, -2, 2.5, "many", float("nan"), float("inf"), [2]]
WORDS = "is not a number of threads; give a whole number from 1"

ROWS: list[Row] = [
    *each(lambda x: hw.bfs(GRID, 0, threads=x, device="cpu"), BAD, EngineError, WORDS),
    *each(lambda x: hw.betweenness_centrality(GRID, threads=x, device="cpu"), BAD, EngineError, WORDS),
    *each(lambda x: hw.betweenness_centrality(GRID, k=9, plan="hopwave-wide", threads=x), BAD, EngineError, WORDS),
    *each(lambda x: hw.edge_betweenness_centrality(GRID, k=9, threads=x, device="cpu"), BAD, EngineError, WORDS),
    *each(lambda G: hw.bfs(G, 0, threads=2, device="reference"), [GRID], EngineError, "threads=2 is for device='cpu'"),
    *[
        (lambda patch, G=G, x=x, ask=ask: (patch.setenv("HOPWAVE_NUM_THREADS", x), ask(G)), EngineError, "NUM_THREADS")
        for G in (GRID, SMALL)
        for x in ("0", "-1", "two", "1.5")
        for ask in (lambda G: hw.bfs(G, 0, device="cpu"), lambda G: hw.betweenness_centrality(G, device="cpu"))
    ],
]
