"""What all benchmarks share: graphs by name, sources in the giant component, the machine, the folder of results."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import hopwave as hw  # noqa: E402
from hopwave import generate  # noqa: E402
from hopwave.engines.cpu.compile_notice import FirstWork  # noqa: E402
from hopwave.engines.cpu.search.small import FirstSearches  # noqa: E402

FirstSearches.most_seconds = FirstWork.seconds = 0.0  # what is timed is compiled code, as after `hopwave warmup`

RESULTS = Path(os.environ.get("HOPWAVE_RESULTS", ROOT / "benchmarks" / "results"))
DATA = Path(os.environ.get("HOPWAVE_DATA", ROOT.parent / "shared" / "data"))  # the real graphs, as name.mtx.gz
QUICK = os.environ.get("HOPWAVE_BENCH") == "quick"  # `make bench-quick`: no real graphs
MACHINE = ("gpu", "multiprocessors", "driver", "cuda", "cupy", "numpy", "python", "hopwave")  # keys of gpu.search.head
LEFT_OUT = "left out: "  # begins a line about a missing graph; `python -m benchmarks` repeats these lines at its end

GRAPHS: dict[str, Callable[[], hw.Graph]] = {
    "smallworld": lambda: generate.smallworld(100_000, 10, 0.1, seed=1),
    "delaunay18": lambda: generate.delaunay(1 << 18, seed=1),
    "delaunay20": lambda: generate.delaunay(1 << 20, seed=1),
    "grid1000": lambda: generate.grid(1000, 1000, missing=0.03, seed=1),
    "mycielskian14": lambda: generate.mycielskian(14),
    "mycielskian15": lambda: generate.mycielskian(15),
    "kron18": lambda: generate.kronecker(18, 16, seed=1),
    "rmat18-directed": lambda: generate.kronecker(18, 16, seed=1, directed=True),
    "kron20": lambda: generate.kronecker(20, 16, seed=1),
    "uniform20": lambda: generate.uniform(1 << 20, 16, seed=1),
}


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


def files() -> list[str]:
    """The names of all real graphs that are there."""
    return sorted(file.name.removesuffix(".mtx.gz") for file in DATA.glob("*.mtx.gz"))


def real_graphs(names: Iterable[str], **options: Any) -> dict[str, hw.Graph]:
    """The named graphs that are there; prints a line for each missing one."""
    found = {}
    for name in names:
        file = DATA / f"{name}.mtx.gz"
        if QUICK:
            print(f"{LEFT_OUT}{name}, as every real graph in a quick run", flush=True)
        elif file.exists():
            found[name] = hw.read(file, progress=False, **options)
        else:
            print(f"{LEFT_OUT}{name}; {file} is not there: 'hopwave fetch {name} {file}' downloads it", flush=True)
    return found


def giant_sources(graph: hw.Graph, count: int, seed: int = 7) -> list[int]:
    """Vertices drawn from those that the vertex of highest degree reaches."""
    reached = np.flatnonzero(hw.bfs(graph, int(np.argmax(graph.degrees))).distances >= 0)
    return np.random.default_rng(seed).choice(reached, count).tolist()


WEIGHTS: dict[str, Callable[[Any, int], Any]] = {
    "1 to 255": lambda rng, m: rng.integers(1, 256, m).astype(np.float64),
    "fractions": lambda rng, m: 1e-3 + rng.random(m),
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


def timed(call: Callable[[], Any], rounds: int = 3) -> tuple[float, Any]:
    """Seconds of the best round, and the last result."""
    best, result = float("inf"), None
    for _ in range(rounds):
        began = time.perf_counter()
        result = call()
        best = min(best, time.perf_counter() - began)
    return best, result


def agree(what: str, ours: Any, theirs: Any, within: float = 1e-9) -> None:
    """End the run if a number differs from a peer's by more than that part of the largest."""
    right = np.asarray(theirs, np.float64)
    difference = np.abs(np.asarray(ours, np.float64) - right).max() / (np.abs(right).max() or 1.0)
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


def table(rows: Iterable[dict[str, Any]]) -> str:
    """Rows as a Markdown table, columns in the order of the first."""
    rows = list(rows)
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(_cell(row.get(head)) for head in heads) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def remarks(lines: Iterable[dict[str, Any]]) -> list[str]:
    """The remarks in lines about their own measurement, each once, with the graphs that it concerns."""
    about: dict[str, dict[str, None]] = {}
    named = [(line.get("name") or line["graph"], line.get("remark")) for line in lines]
    for name, remark in named:
        if remark:
            about.setdefault(remark, {})[name] = None
    every = {name for name, _ in named}
    return [
        f"{'All graphs' if set(names) == every else ', '.join(names)}: {remark}." for remark, names in about.items()
    ]


def where(lines: list[dict[str, Any]]) -> str:
    """The machine of the last line, as a sentence."""
    last = lines[-1]
    about = last.get("where") or {key: last[key] for key in MACHINE if key in last}
    return ", ".join(f"{key} {value}" for key, value in about.items())


def page(record: dict[str, Any]) -> str:
    """A results page from one line of its .jsonl file: title, machine, table, note."""
    text = f"# {record['title']}\n\n{where([record])}\n\n{table(record['rows'])}\n\n{record['note']}\n"
    return text.rstrip() + "\n"


def publish(
    name: str,
    title: str,
    rows: list[dict[str, Any]],
    note: str = "",
    more: dict[str, Any] | None = None,
    where: dict[str, Any] | None = None,
) -> None:
    """Append one JSON line to results/name.jsonl and write results/name.md from it.

    `where` describes the machine, by default as `machine()` does; `more` adds to that.
    """
    RESULTS.mkdir(exist_ok=True)
    about = (machine() if where is None else where) | (more or {})
    record = {"benchmark": name, "title": title, "where": about, "rows": rows, "note": note}
    line = json.dumps(record)
    with (RESULTS / f"{name}.jsonl").open("a", encoding="utf-8") as lines:
        lines.write(line + "\n")
    text = page(json.loads(line))
    (RESULTS / f"{name}.md").write_text(text, encoding="utf-8")
    print(f"\n{text}")
