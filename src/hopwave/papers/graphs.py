"""Graphs of the papers: read from the folder HOPWAVE_DATA (NAME.mtx.gz), else generated (`MADE`) or downloaded.

Otherwise a stand-in of the same kind, size, direction and depth, with its own seed, is made (`KINDS`): rows say so.
"""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from hopwave import datasets, generate, io
from hopwave.errors import DownloadError, FormatError
from hopwave.graph import Graph
from hopwave.papers.records import Case

FILES = {"kron": "kron_g500-logn{}", "mycielskian": "mycielskian{}", "smallworld": "smallworld"}  # generated graphs
RMAT = (0.45, 0.15, 0.15, 0.25)  # GTgraph's initiator


class Found(NamedTuple):
    """A graph and its origin, or None and the reason."""

    graph: Graph | None
    origin: str


class Limits(NamedTuple):
    """Maximum arcs of a generated graph, of a stand-in on a GPU, of a graph on the host; whether to download."""

    drawn: int
    stand_in: int
    host: int
    download: bool


class Shelf:
    """The graphs of one run, cached for several tables. A missing network connection is tested once."""

    KEPT = 200_000_000  # maximum arcs of a cached graph

    def __init__(self, device: str, limits: Limits) -> None:
        self.device, self.limits = device, limits
        self.offline = "" if limits.download else "nothing is downloaded with --quick"
        self.kept: dict[str, Found] = {}

    def at_hand(self, case: Case) -> bool:
        """Whether a graph is generated or in the folder."""
        return case.made is not None or self._file(case) is not None

    def _file(self, case: Case) -> Path | None:
        family, size, _ = case.made or ("", 0, 0)
        name = FILES.get(family, "").format(size) or case.name.rpartition("/")[2]
        folder = os.environ.get("HOPWAVE_DATA")
        file = Path(folder or "") / f"{name}.mtx.gz"
        return file if name and folder and file.is_file() else None

    def get(self, case: Case) -> Found:
        key = f"{case.made or case.name or case.shown} {case.n} {case.m} {depth_of(case)}"
        if key not in self.kept:
            found = self._real(case) or (self._made(case) if case.made else self._stand_in(case))
            if found.graph is not None and self.device == "cuda":
                found = Found(found.graph.to("cuda"), found.origin)
            if found.graph is not None and found.graph.m > self.KEPT:
                return found
            self.kept[key] = found
        return self.kept[key]

    def _made(self, case: Case) -> Found:
        assert case.made is not None
        (family, size, edges), m = case.made, case.m
        while m > self.limits.drawn and not self.limits.download and size < 100:  # a quick run uses a smaller graph
            m, size = m // (3 if family == "mycielskian" else 2), size - 1
        if m > self.limits.drawn:
            return Found(None, f"{case.m:,} arcs; this run generates up to {self.limits.drawn:,}")
        rule = f"generated: {family} {size}" + (f", {edges} edges per vertex" if edges else "")
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
        xp, seed = module("cuda" if on_gpu else "cpu"), crc32(case.shown.encode())
        graph, what = KINDS[case.kind](n, m, case.directed, depth_of(case), seed, xp)
        return Found(graph, f"stand-in: {what}")


def depth_of(case: Case) -> int:
    """The depth from vertex 0 for the depth that the paper states; 0 if it states none."""
    diameter = int(case.stated.get("diameter", 0))
    if diameter and KINDS[case.kind] is recursive:
        return max(1, diameter - 3)  # the path begins at vertex 0, and random sources are up to 4 arcs from there
    return diameter or int(case.stated.get("d", LEVELS.get(case.kind, 0)))


# ---------------------------------------------------------------- generated graphs


def on_gpu_kronecker(scale: int, edges: int) -> Graph:
    """The graph of generate.kronecker(scale, edges), generated and built on the GPU."""
    from hopwave.engines.cuda.kronecker import edges as drawn

    source, target = drawn(scale, 1, 0, edges << scale, np.int32)
    return Graph.from_edges(source, target, n=1 << scale)


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


def recursive(n: int, m: int, directed: bool, depth: int, seed: int, xp: Any = np) -> Made:
    """A Kronecker graph: few levels, hubs. A path from vertex 0 gives it the depth of the paper's graph."""
    scale, count = math.ceil(math.log2(n)), round(m / (1 if directed else 2) * 1.1)  # some draws repeat
    draw: Any = generate.kronecker_edges
    if xp is not np:
        from hopwave.engines.cuda.kronecker import edges as draw
    drawn = draw(scale, 1 + (count >> scale), seed, 0, count) if xp is np else draw(scale, seed, 0, count, np.int32)
    source, target = ((ids.astype(xp.int64) * n >> scale).astype(ids.dtype) for ids in drawn)  # 2^scale ids become n
    return with_path(source, target, n, directed, depth, seed, f"Kronecker graph of {n:,} vertices", xp)


def with_path(source: Any, target: Any, n: int, directed: bool, depth: int, seed: int, what: str, xp: Any) -> Made:
    """A graph of these edges; with `depth`, also with a path of this depth from vertex 0, joined to other vertices."""
    if depth:
        path = xp.concatenate([xp.zeros(1, xp.int64), xp.arange(n, n + depth - 1)])
        joined = xp.random.default_rng(seed).integers(0, n, 32)
        source = xp.concatenate([source, path[:-1], xp.zeros_like(joined)])
        target = xp.concatenate([target, path[1:], joined])
        n, what = n + depth - 1, f"{what}, and a path of {depth - 1} vertices"
    return Graph.from_edges(source, target, n=n, directed=directed), what


def layered(n: int, m: int, directed: bool, depth: int, seed: int, xp: Any = np) -> Made:
    """A graph with the depth of the paper's graph from vertex 0: arcs lead to near ids of the same and the next levels.

    Every vertex except 0 has an arc from the previous level; the other arcs are random.
    """
    count = max(2, min(depth or 50, n // 8))
    level = np.arange(count)
    sizes = np.minimum(
        max(2.0, m / n) ** np.minimum(level, 60), np.minimum(level + 1, count - level) * 4 * n / count**2
    )
    sizes = np.maximum(1, sizes.astype(np.int64) * n // max(n, int(sizes.sum())))
    sizes[count // 2] += n - sizes.sum()
    size, first = xp.asarray(sizes), xp.asarray(np.cumsum(sizes) - sizes)
    ids, random = xp.arange(n), xp.random.default_rng(seed)
    level = xp.searchsorted(first, ids, side="right") - 1
    slots = n * 51 / (1 if directed else 2)  # 17 near ids in each of three levels; draws repeat
    share = max(0, m // (1 if directed else 2) - n + 1) / slots
    u = random.integers(0, n, int(-slots * math.log1p(-min(share, 0.9))))
    others = xp.clip(level[u] + random.integers(-1, 2, len(u)), 0, count - 1)
    near = (u - first[level[u]]) * size[others] // size[level[u]] + random.integers(-8, 9, len(u))
    parents = first[level[1:] - 1] + (ids[1:] - first[level[1:]]) * size[level[1:] - 1] // size[level[1:]]
    source, target = xp.concatenate([parents, u]), xp.concatenate([ids[1:], first[others] + near % size[others]])
    return Graph.from_edges(source, target, n=n, directed=directed), f"{n:,} vertices in {count:,} levels"


def one_hub(n: int, m: int, directed: bool, depth: int, seed: int, xp: Any = np) -> Made:
    """As in mawi's graphs: one vertex is joined to 88% of all vertices, and the mean degree is 2."""
    random = xp.random.default_rng(seed)
    spokes = 1 + xp.flatnonzero(random.random(n - 1) < 0.88)
    u, v = (random.integers(0, n, int(0.15 * n)) for _ in range(2))
    ends = xp.concatenate([xp.zeros_like(spokes), u]), xp.concatenate([spokes, v])
    return with_path(*ends, n, False, depth, seed, f"{n:,} vertices, 88% adjacent to one hub", xp)


KINDS: dict[str, Callable[..., Made]] = {
    "social": recursive, "web": recursive, "hub": one_hub,
    "mesh": lambda n, *rest: (generate.delaunay(n, rest[3]), f"Delaunay triangulation of {n:,} points"),
    **dict.fromkeys(("matrix", "goods", "road", "chains", "blocks", "geometric"), layered),
}  # fmt: skip
LEVELS = {"blocks": 500, "goods": 20}  # depths that the papers do not state: packing-500x100x100 and cit-Patents
HOST_ONLY = {"mesh"}  # generated with SciPy
MOST = {"hub": 10_000_000, "chains": 50_000_000}  # maximum arcs with one thread per hub row, or with many levels
