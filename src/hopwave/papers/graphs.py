"""Graphs of the papers: made by rule (`MADE`), else read from the folder HOPWAVE_DATA (NAME.mtx.gz) or downloaded.

If that fails, a graph of the same kind, size and direction stands in (`KINDS`), and its row says so.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hopwave import datasets, generate, io
from hopwave.errors import DownloadError, FormatError
from hopwave.graph import Graph
from hopwave.papers.records import Case

RMAT = (0.45, 0.15, 0.15, 0.25)  # GTgraph's own initiator


class Found(NamedTuple):
    """A graph and where it comes from; or no graph, and why."""

    graph: Graph | None
    origin: str


class Limits(NamedTuple):
    """The most arcs of a graph: made by rule, a stand-in that a GPU draws, made or read by the host; if to download."""

    drawn: int
    stand_in: int
    host: int
    download: bool


class Shelf:
    """The graphs of one run, kept for several tables. A network that is not there is asked once."""

    KEPT = 200_000_000  # most arcs of a graph that is kept

    def __init__(self, device: str, limits: Limits) -> None:
        self.device, self.limits = device, limits
        self.offline = "" if limits.download else "nothing is downloaded with --quick"
        self.kept: dict[str, Found] = {}

    def at_hand(self, case: Case) -> bool:
        """Whether a graph is made by its rule, or read from the folder."""
        return case.made is not None or self._file(case) is not None

    def _file(self, case: Case) -> Path | None:
        name, folder = case.name.rpartition("/")[2], os.environ.get("HOPWAVE_DATA")
        file = Path(folder or "") / f"{name}.mtx.gz"
        return file if name and folder and file.is_file() else None

    def get(self, case: Case) -> Found:
        key = f"{case.made or case.name or case.shown} {case.n} {case.m}"
        if key not in self.kept:
            found = self._made(case) if case.made else self._real(case) or self._stand_in(case)
            if found.graph is not None and self.device == "cuda":
                found = Found(found.graph.to("cuda"), found.origin)
            if found.graph is not None and found.graph.m > self.KEPT:
                return found
            self.kept[key] = found
        return self.kept[key]

    def _made(self, case: Case) -> Found:
        assert case.made is not None
        (family, size, edges), m = case.made, case.m
        while m > self.limits.drawn and not self.limits.download and size < 100:  # a quick run takes a smaller one
            m, size = m // (3 if family == "mycielskian" else 2), size - 1
        if m > self.limits.drawn:
            return Found(None, f"{case.m:,} arcs; this run makes up to {self.limits.drawn:,}")
        rule = f"made: {family} {size}" + (f", {edges} edges per vertex" if edges else "")
        made = MADE | ON_GPU if self.device == "cuda" else MADE
        return Found(made[family](size, edges), rule)

    def _real(self, case: Case) -> Found | None:
        if (file := self._file(case)) is not None:
            return Found(io.read(file, weights=False, progress=False), "the paper's file")
        if "/" not in case.name or self.offline or case.m > self.limits.host:
            return None
        try:
            return Found(datasets.fetch(case.name, weights=False), "the paper's file")
        except FormatError:
            return None
        except DownloadError as error:
            self.offline = str(error)
            return None

    def _stand_in(self, case: Case) -> Found:
        on_gpu = self.device == "cuda" and case.kind not in HOST_ONLY
        most = min(self.limits.stand_in, MOST.get(case.kind, case.m)) if on_gpu else self.limits.host
        share = min(1.0, most / max(case.m, 1))
        n, m = max(64, int(case.n * share)), max(64, int(case.m * share))
        graph, what = KINDS[case.kind](n, m, case.directed, module("cuda" if on_gpu else "cpu"))
        return Found(graph, f"stand-in: {what}")


# ---------------------------------------------------------------- made by rule


def on_gpu_kronecker(scale: int, edges: int, directed: bool = False) -> Graph:
    """The graph of generate.kronecker(scale, edges), drawn and built on the GPU."""
    from hopwave.engines.cuda.kronecker import edges as drawn

    source, target = drawn(scale, 1, 0, edges << scale, np.int32)
    return Graph.from_edges(source, target, n=1 << scale, directed=directed)


def on_gpu_mycielskian(k: int, _: int = 0) -> Graph:
    import cupy

    ends, n = cupy.array([[0], [1]], cupy.int32), 2
    for _ in range(k - 2):
        u, v = ends
        tips = cupy.stack([cupy.arange(n, 2 * n, dtype=cupy.int32), cupy.full(n, 2 * n, cupy.int32)])
        ends = cupy.concatenate([ends, cupy.stack([u + n, v]), cupy.stack([u, v + n]), tips], axis=1)
        n = 2 * n + 1
    return Graph.from_edges(ends[0], ends[1], n=n)


def on_gpu_rmat(scale: int, edges: int) -> Graph:
    import cupy

    random, count = cupy.random.default_rng(1), edges << scale
    source, target = cupy.zeros(count, cupy.int32), cupy.zeros(count, cupy.int32)
    for bit in range(scale):
        low = random.random(count, dtype=cupy.float32) > RMAT[0] + RMAT[1]
        right = random.random(count, dtype=cupy.float32) > cupy.where(low, cupy.float32(0.375), cupy.float32(0.75))
        source += low.astype(cupy.int32) << bit
        target += right.astype(cupy.int32) << bit
    return Graph.from_edges(source, target, n=1 << scale, directed=True)


def on_gpu_random(scale: int, edges: int) -> Graph:
    import cupy

    random = cupy.random.default_rng(1)
    source, target = (random.integers(0, 1 << scale, edges << scale, dtype=cupy.int32) for _ in range(2))
    return Graph.from_edges(source, target, n=1 << scale, directed=True)


Recipe = Callable[[int, int], Graph]
MADE: dict[str, Recipe] = {
    "mycielskian": lambda k, _: generate.mycielskian(k),
    "kron": lambda scale, edges: generate.kronecker(scale, edges),
    "rmat": lambda scale, edges: generate.rmat(scale, edges, initiator=RMAT),
    "random": lambda scale, edges: generate.uniform(1 << scale, edges, directed=True),
    "smallworld": lambda n, k: generate.smallworld(n, k, 0.1),
    "geometric": lambda scale, _: generate.geometric(1 << scale),
}
ON_GPU: dict[str, Recipe] = {
    "mycielskian": on_gpu_mycielskian,
    "kron": on_gpu_kronecker,
    "rmat": on_gpu_rmat,
    "random": on_gpu_random,
}


# ---------------------------------------------------------------- stand-ins

Made = tuple[Graph, str]


def module(device: str) -> Any:
    if device == "cpu":
        return np
    import cupy

    return cupy


def recursive(n: int, m: int, directed: bool, xp: Any = np) -> Made:
    """A Kronecker graph: few levels, hubs."""
    scale = max(6, round(math.log2(n)))
    edges = max(1, round(m / (1 << scale) / (1 if directed else 2) * 1.1))  # some draws repeat
    draw: Any = generate.kronecker if xp is np else on_gpu_kronecker
    return draw(scale, edges, directed=directed), f"Kronecker graph of scale {scale}, {edges} edges per vertex"


def roads(n: int, m: int, directed: bool, xp: Any = np) -> Made:
    """A grid without 30% of its edges: a mean degree of 2.8, deep."""
    side = max(8, math.isqrt(n))
    ids = xp.arange(side * side, dtype=xp.int32).reshape(side, side)
    ends = [xp.stack([one.ravel(), other.ravel()]) for one, other in ((ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:]))]
    u, v = xp.concatenate(ends, axis=1)
    kept = xp.random.default_rng(1).random(len(u), dtype=xp.float32) >= 0.3
    return Graph.from_edges(u[kept], v[kept], n=side * side), f"grid of {side} x {side} without 30% of its edges"


def local(n: int, m: int, directed: bool, xp: Any = np, far: float = 0.0) -> Made:
    """Every vertex has arcs to vertices with ids near its own, and a share `far` of the arcs lead anywhere."""
    each = max(1, round(m / n / (1 if directed else 2)))
    random = xp.random.default_rng(1)
    source = xp.arange(n * each, dtype=xp.int64) // each
    step = random.integers(1, 4 * each + 1, n * each) * (2 * random.integers(0, 2, n * each) - 1)
    target = xp.where(random.random(n * each) < far, random.integers(0, n, n * each), (source + step) % n)
    what = f"{n:,} vertices with {each} arcs to near ids"
    return Graph.from_edges(source, target, n=n, directed=directed), what + (f", {far:.1%} anywhere" if far else "")


def one_hub(n: int, m: int = 0, directed: bool = False, xp: Any = np) -> Made:
    """As in mawi's graphs: one vertex is joined to 88% of all vertices, and the mean degree is 2."""
    random = xp.random.default_rng(1)
    spokes = 1 + xp.flatnonzero(random.random(n - 1) < 0.88)
    u, v = (random.integers(0, n, int(0.15 * n)) for _ in range(2))
    graph = Graph.from_edges(xp.concatenate([xp.zeros_like(spokes), u]), xp.concatenate([spokes, v]), n=n)
    return graph, f"{n:,} vertices, 88% of them joined to one"


def chains(n: int, m: int, directed: bool, xp: Any = np) -> Made:
    """Long paths, joined by few random edges."""
    random = xp.random.default_rng(1)
    u = xp.flatnonzero(random.random(n - 1) > 0.02)
    ends = [random.integers(0, n, n // 25) for _ in range(2)]
    graph = Graph.from_edges(xp.concatenate([u, ends[0]]), xp.concatenate([u + 1, ends[1]]), n=n)
    return graph, f"paths of {n:,} vertices, joined by {n // 25:,} random edges"


KINDS: dict[str, Callable[..., Made]] = {
    "social": recursive, "web": recursive, "road": roads, "matrix": partial(local, far=0.001),
    "goods": partial(local, far=0.02), "hub": one_hub, "chains": chains,
    "mesh": lambda n, *_: (generate.delaunay(n), f"Delaunay triangulation of {n:,} points"),
    "geometric": lambda n, *_: (generate.geometric(n), f"random geometric graph of {n:,} points"),
}  # fmt: skip
HOST_ONLY = {"mesh", "geometric"}  # made by SciPy
MOST = {"hub": 10_000_000, "chains": 50_000_000}  # arcs: where one thread reads a hub's rows, or levels are many
