"""What all benchmarks share: graphs by name, sources, weights, the machine, and clocks."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, os.environ.get("HOPWAVE_SOURCE", str(ROOT / "src")))  # another tree's, for benchmarks.against

import hopwave as hw  # noqa: E402
from hopwave import generate  # noqa: E402
from hopwave.arrays import on_host  # noqa: E402

with suppress(ImportError, AttributeError):  # other trees may lack it
    from hopwave.system.compile_notice import First

    First.most_seconds = 0.0  # benchmarks time compiled code, as after `hopwave warmup`

DATA = Path(os.environ.get("HOPWAVE_DATA", ROOT.parent / "shared" / "data"))  # real graphs, as name.mtx.gz
QUICK = os.environ.get("HOPWAVE_BENCH") == "quick"  # `make bench-quick`: small graphs, no real ones
LEFT_OUT = "left out: "  # begins a line about a missing graph; `python -m benchmarks` repeats these lines at its end


def union(count: int) -> hw.Graph:
    """That many graphs of 500 vertices by preferential attachment, as one graph."""
    ends = [generate.barabasi_albert(500, 3, seed=seed).to_edges() for seed in range(1, 101)]
    sides = ([ends[i % 100][side] + 500 * i for i in range(count)] for side in (0, 1))
    return hw.Graph.from_edges(*map(np.concatenate, sides), 500 * count)


GRAPHS: dict[str, Callable[[], hw.Graph]] = {
    **{f"union{count}": partial(union, count) for count in (100, 1000, 10_000)},
    "smallworld": lambda: generate.smallworld(100_000, 10, 0.1, seed=1),
    "smallworld17": lambda: generate.smallworld(1 << 17, 10, 0.1, seed=1),
    "delaunay12": lambda: generate.delaunay(1 << 12, seed=1),
    "delaunay18": lambda: generate.delaunay(1 << 18, seed=1),
    "delaunay20": lambda: generate.delaunay(1 << 20, seed=1),
    "grid64": lambda: generate.grid(64, 64),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=1),
    "mycielskian14": lambda: generate.mycielskian(14),
    "mycielskian15": lambda: generate.mycielskian(15),
    "barabasi5000": lambda: generate.barabasi_albert(5000, 5, seed=1),
    "kron12": lambda: generate.kronecker(12, 16, seed=1),
    "kron14": lambda: generate.kronecker(14, 16, seed=1),
    "kron16": lambda: generate.kronecker(16, 16, seed=1),
    "kron18": lambda: generate.kronecker(18, 16, seed=1),
    "rmat18-directed": lambda: generate.kronecker(18, 16, seed=1, directed=True),
    "kron20": lambda: generate.kronecker(20, 16, seed=1),
    "uniform20": lambda: generate.uniform(1 << 20, 16, seed=1),
    # with Graph500's edge factor doubled or more, as in the papers; a GPU builds them
    "kron18e43": lambda: generate.kronecker(18, 43, seed=1),
    "kron21e44": lambda: generate.kronecker(21, 44, seed=1),
    "rmat22e64": lambda: generate.kronecker(22, 64, seed=1),
    "mycielskian17": lambda: generate.mycielskian(17),
    "kron24": lambda: generate.kronecker(24, 16, seed=1),
    "kron26": lambda: generate.kronecker(26, 16, seed=1),
}
QUICK_GRAPH = "delaunay12"


def graph_named(name: str, **options: Any) -> hw.Graph | None:
    """A generated graph, or a real one from its file; None, with a printed line, if the file is missing.

    A quick run replaces every graph by a small mesh.
    """
    if QUICK:
        return GRAPHS[QUICK_GRAPH]() if name in GRAPHS else None
    return GRAPHS[name]() if name in GRAPHS else real_graphs([name], **options).get(name)


def command_line(
    about: str | None, words: dict[str, list[str]] | None = None, /, **defaults: Any
) -> argparse.Namespace:
    """What the command line says: an option `--name` for every default, of its type, and `words` without a name.

    False is a flag. A list or tuple takes several values. A type stands for None, and a list of one for no values.
    """
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (words or {}).items():
        parser.add_argument(name, nargs="*", default=default)
    for name, default in defaults.items():
        option = f"--{name.replace('_', '-')}"
        if default is False:
            parser.add_argument(option, action="store_true")
        elif callable(default):
            parser.add_argument(option, type=default)
        elif isinstance(default, list | tuple):
            kind = default[0] if default else str
            given = {"type": kind, "default": []} if callable(kind) else {"type": type(kind), "default": default}
            parser.add_argument(option, nargs="*", **given)
        else:
            parser.add_argument(option, type=type(default), default=default)
    return parser.parse_args()


def real_graphs(names: Iterable[str], **options: Any) -> dict[str, hw.Graph]:
    """The named graphs whose files exist; prints a line for each missing one."""
    found = {}
    for name in names:
        file = DATA / f"{name}.mtx.gz"
        if QUICK:
            print(f"{LEFT_OUT}{name}, as every real graph in a quick run", flush=True)
        elif file.exists():
            found[name] = hw.read(file, progress=False, **options)
        else:
            print(f"{LEFT_OUT}{name}; {file} does not exist: 'hopwave fetch {name} {file}' downloads it", flush=True)
    return found


def giant_sources(graph: hw.Graph, count: int, seed: int = 7) -> list[int]:
    """Vertices drawn from those that the vertex of highest degree reaches."""
    device = graph.device or "cpu"
    reached = np.flatnonzero(on_host(hw.bfs(graph, int(np.argmax(graph.degrees)), device=device).distances) >= 0)
    return np.random.default_rng(seed).choice(reached, count).tolist()


WEIGHTS: dict[str, Callable[[Any, int], Any]] = {
    "1 to 255": lambda rng, m: rng.integers(1, 256, m).astype(np.float64),
    "fractions": lambda rng, m: 1e-3 + rng.random(m),
    "sevenths": lambda rng, m: rng.integers(1, 1000, m) / 7,  # whose sums are rounded
}


def with_weights(graph: hw.Graph, kind: str = "1 to 255", seed: int = 5) -> hw.Graph:
    """The graph with a random weight on every edge, the same in every run."""
    source, target = graph.to_edges()
    drawn = WEIGHTS[kind](np.random.default_rng(seed), len(source))
    return hw.Graph.from_edges(source, target, graph.n, graph.directed, weights=drawn)


def machine() -> dict[str, Any]:
    """The machine and the versions of this run."""
    import numba
    import scipy

    return {
        "machine": platform.machine(),
        "cpu": hw.devices()[0].model if hw.devices() else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
        "hopwave": hw.__version__,
    }


def gpu(device: str = "cuda") -> dict[str, Any]:
    """The GPU, its driver and libraries; nothing for another device."""
    if device != "cuda":
        return {}
    import cupy

    about = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.runtime.getDevice())
    return {
        "gpu": about["name"].decode(),
        "multiprocessors": int(about["multiProcessorCount"]),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "cuda": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
    }


def timed(call: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    """Seconds of the best round, and the last result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        began = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - began)
    return best, result


def synchronize(device: str) -> None:
    """Wait until the GPU is idle; nothing on a CPU."""
    if device == "cuda":
        import_module("cupy").cuda.Device().synchronize()


def agree(what: str, ours: Any, theirs: Any, within: float = 1e-9) -> None:
    """End the run if a number differs from a peer's by more than that part of the largest."""
    mine, right = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if mine.shape != right.shape:
        raise SystemExit(f"{what}: hopwave has {mine.shape} numbers, its peer {right.shape}")
    if not np.array_equal(np.isfinite(mine), np.isfinite(right)):
        raise SystemExit(f"{what}: hopwave and its peer differ in which numbers are finite")
    mine, right = mine[np.isfinite(mine)], right[np.isfinite(right)]
    difference = np.abs(mine - right).max(initial=0.0) / (np.abs(right).max(initial=0.0) or 1.0)
    if not difference <= within:
        raise SystemExit(f"{what}: hopwave and its peer differ by {difference:g}")


def tell(row: dict[str, Any]) -> dict[str, Any]:
    """Print a row that is done."""
    print(row, flush=True)
    return row


def plotting() -> Any:
    """pyplot, for files; None, with a printed line, if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: no picture")
        return None
    matplotlib.use("Agg")
    return import_module("matplotlib.pyplot")
