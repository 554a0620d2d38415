"""`hopwave demo` and `hopwave doctor`: first commands for a new user. The doctor's self-test is also here."""

import importlib.metadata
import importlib.util
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

import hopwave as hw
from hopwave import engines
from hopwave.api.validate import validate
from hopwave.cli import files, terminal
from hopwave.cli.searches import busiest, seconds
from hopwave.errors import amount
from hopwave.graph import Graph
from hopwave.results.scores import BetweennessResult
from hopwave.results.search import BFSResult
from hopwave.system import mpi
from hopwave.system.devices import Device, cuda_extra, devices
from hopwave.system.optional import install
from hopwave.system.progress import Meter

PICTURE = Path("hopwave-demo.png")
NAME = "Les Misérables: who meets whom"
TOP = 10


def installed(library: str) -> bool:
    """Whether an optional library can be imported."""
    return importlib.util.find_spec(library) is not None


# ------------------------------------------------------------------ demo


def demo(*, as_json: bool = False) -> None:
    """Try hopwave: search a generated graph and a real one, and draw a picture."""
    with Meter("searching", None, None) as meter:
        large = hw.generate.kronecker(scale=14, edge_factor=16, seed=1)
        # Two searches: the first may include compiling, the second shows the real time.
        result = [hw.bfs(large, busiest(large), trace=True) for _ in range(2)][1]
        graph = hw.datasets.load("les-miserables")
        small = hw.bfs(graph, graph.label(busiest(graph)))
        scores = hw.betweenness_centrality(graph, weights=False)
        drawn = installed("matplotlib")
        if drawn:
            meter.stage(f"drawing {PICTURE}")
            _draw(result, scores)
    if as_json:
        run = {"plan": result.plan.name, "engine": result.engine, "seconds": seconds(result)}
        top = [{"vertex": vertex, "betweenness": score} for vertex, score in scores.top(TOP)]
        about = {"name": NAME, **_searched(small), "certificate": scores.certificate.error, "top": top}
        more = {"picture": str(PICTURE) if drawn else None, "missing": missing()}
        return terminal.emit({"kronecker": _searched(result) | run, "small": about, **more})
    terminal.line(f"A Kronecker graph, as in Graph500: {terminal.sentence(large)}")
    terminal.show(terminal.level_table(result))
    terminal.line(f"{terminal.reach(result)}, by plan {result.plan} on engine {result.engine}\n")
    terminal.line(f"{NAME}: {terminal.sentence(graph)}")
    terminal.line(terminal.reach(small))
    terminal.line(f"betweenness {scores.certificate}\n")
    if drawn:
        terminal.line(f"Both graphs are drawn in {PICTURE}")
    for reason in missing():
        terminal.line(reason, style="yellow")
    heads = ["vertex", "betweenness", f"hops from {graph.label(small.sources[0])}"]
    rows = [(str(vertex), score, small.distances[graph.index(vertex)]) for vertex, score in scores.top(TOP)]
    terminal.show(terminal.ranking("Highest betweenness", heads, rows))


def _searched(result: BFSResult) -> dict[str, Any]:
    return {**terminal.sizes(result.graph), "reached": result.reached, "depth": result.depth}


def missing() -> list[str]:
    """The parts of the demo that a missing optional library disables, and how to install it."""
    needs = {
        "networkx": ("networkx", "Les Misérables is not drawn"),
        "matplotlib": ("plot", "no picture is drawn"),
    }
    return [
        f"{library} is not installed, so {lack}; run: {install(extra)}"
        for library, (extra, lack) in needs.items()
        if not installed(library)
    ]


def _draw(result: BFSResult, scores: BetweennessResult) -> None:
    """The small graph with betweenness as colours, next to the levels of the large graph."""
    with files.page(PICTURE, 12, 5.6) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        right.set_title("A Kronecker graph, level by level", loc="left", fontweight="bold")
        result.plot(right)
        left.set_axis_off()
        if not installed("networkx"):
            return
        import networkx as nx

        places = nx.kamada_kawai_layout(scores.graph.to_networkx(), weight=None)  # drawn distances are close to hops
        scores.plot(left, xy=places).set_title(NAME, loc="left", fontweight="bold")
        for name, _ in scores.top(5):
            left.annotate(name, places[name], (4, 4), textcoords="offset points", fontsize=8)


# ------------------------------------------------------------------ doctor

REQUIRED = ("numpy", "scipy", "numba", "typer", "rich")
EXTRAS = (  # module, extra that installs it ("" if the extra depends on the GPU), purpose
    ("networkx", "networkx", "graphs from and to NetworkX, hopwave as its backend"),
    ("pyarrow", "io", "Parquet files"),
    ("pandas", "io", "results as data frames"),
    ("matplotlib", "plot", "pictures"),
    ("igraph", "igraph", "graphs from and to igraph"),
    ("mpi4py", "mpi", "several machines"),
    ("cupy", "", "NVIDIA GPUs"),
)


def doctor(*, as_json: bool = False) -> None:
    """Show hardware, libraries and how to install missing ones, and test every engine."""
    from hopwave.system import numba_cache  # imports Numba

    about: dict[str, Any] = {"hopwave": hw.__version__, "python": platform.python_version()}
    about |= {"system": platform.platform(), "executable": sys.executable}
    versions = {name: _version(name) or "missing" for name in REQUIRED}
    found, libraries, kept, unfit = devices(), optional(), numba_cache.where_kept(), mpi.mismatch()
    usable = any(device.kind == "cuda" and device.available for device in found)
    kernels = _kernels() if usable else None
    outcomes = []
    with Meter("testing", len(engines.NAMES) * len(CHECKS), None) as meter:
        for outcome in self_test():
            outcomes.append(outcome)
            meter.update(len(outcomes))
    failed = [outcome for outcome in outcomes if outcome.passed is False]
    if as_json:
        about |= {"required": versions, "optional": libraries, "mpi": unfit, "ok": not failed}
        about["machine_code"] = {"folder": kept, "damaged": [str(path) for path in numba_cache.replaced]}
        about |= {"kernels": kernels[0]} if kernels else {}
        about |= {"devices": list(map(asdict, found)), "self_test": list(map(asdict, outcomes))}
        terminal.emit(about)
    else:
        about["machine code"] = cached_in(kept, numba_cache.replaced)
        more = {"GPU kernels": kernels and kernels[1], "MPI": unfit}
        about |= {name: fact for name, fact in more.items() if fact} | versions
        tables = _device_table(found), _library_table(libraries), _test_table(outcomes)
        terminal.show(terminal.facts("hopwave", about), *tables)
    if failed:
        reasons = "; ".join(f"{outcome.engine}, {outcome.check}: {outcome.note}" for outcome in failed)
        raise terminal.CheckFailed(f"the self-test failed: {reasons}")
    if not as_json:
        terminal.line("All checks passed.", style="green")


def cached_in(folder: str | None, damaged: list[Path]) -> str:
    """The cache folder of machine code, for the report."""
    if folder is None:
        return "not cached: every process compiles again; set NUMBA_CACHE_DIR to a writable folder"
    return folder + (f" ({len(damaged)} damaged and compiled again)" if damaged else "")


def _kernels() -> tuple[dict[str, Any], str]:
    """The kernels compiled for this GPU: their folder, the reason if it is unused, the cached and the total number."""
    from hopwave.engines.cuda import kernel_files, nvrtc
    from hopwave.engines.cuda.instances import all_instances

    every = [(header, name) for header, names in all_instances().items() for name in names]
    folder, reason = str(kernel_files.folder()), kernel_files.why_not()
    kept = sum(nvrtc.is_kept(header, name) for header, name in every)
    missing = "" if kept == len(every) else "; for the others run: hopwave warmup --device cuda"
    words = f"not cached: {reason}" if reason else f"{kept} of {len(every)} compiled in {folder}{missing}"
    return {"folder": folder, "reason": reason, "kept": kept, "all": len(every)}, words


def optional() -> list[dict[str, Any]]:
    """The optional libraries: version (None if not installed), and the command that installs it."""
    return [
        {
            "name": name,
            "purpose": purpose,
            "version": (_version(name) or "unknown") if installed(name) else None,
            "install": install(extra or cuda_extra()),
        }
        for name, extra, purpose in EXTRAS
    ]


distributions = cache(importlib.metadata.packages_distributions)  # by module


def _version(module: str) -> str | None:
    found = distributions().get(module)
    return importlib.metadata.version(found[0]) if found else None


def _device_table(found: tuple[Device, ...]) -> Table:
    shown = terminal.table("Hardware", "device", "model", "cores", "memory", "", numbers=(2, 3))
    for device in found:
        cores = "" if device.cores is None else str(device.cores)
        state = Text("ok", "green") if device.available else Text(device.reason or "not usable", "yellow")
        memory = amount(device.memory_bytes) if device.memory_bytes else "unknown"
        shown.add_row(device.name, Text(device.model), cores, memory, state)
    if len(found) == 1:
        shown.add_row("cuda", "no NVIDIA GPU found", "", "", "searches run on the CPU")
    return shown


def _library_table(libraries: list[dict[str, Any]]) -> Table:
    shown = terminal.table("Extras", "library", "for", "version", "install with")
    shown.columns[3].no_wrap = True
    for one in libraries:
        version = Text("missing", "yellow") if one["version"] is None else Text(one["version"])
        shown.add_row(one["name"], one["purpose"], version, "" if one["version"] else one["install"])
    return shown


# ------------------------------------------------------------------ the self-test: small problems with known results


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check on one engine; `passed` is None if the engine cannot run here; `note` is the reason."""

    engine: str
    check: str
    passed: bool | None
    note: str = ""


def _start(engine: str) -> str:
    engines.engine(engine)
    return ""


def _searches(make: Callable[[], Graph]) -> Callable[[str], str]:
    def check(engine: str) -> str:
        graph = make()
        result = hw.bfs(graph, 0, device=engine)
        return "; ".join(validate(graph, 0, result.distances, result.predecessors).failures)

    return check


def _count_paths(engine: str) -> str:
    """C(2k − 2, k − 1) shortest paths join opposite corners of a k × k grid, and 2^k lead through k diamonds."""
    across = hw.bfs(hw.generate.grid(12, 12), 0, path_counts=True, device=engine).path_counts
    along = hw.bfs(hw.generate.diamonds(40), 0, path_counts=True, device=engine).path_counts
    found, expected = (float(across[-1]), float(along[-1])), (float(comb(22, 11)), 2.0**40)  # type: ignore[index]
    return "" if found == expected else f"counted {found} paths, expected {expected}"


def _betweenness(engine: str) -> str:
    """The vertices of a path of five lie between 0, 3, 4, 3 and 0 pairs."""
    found = hw.betweenness_centrality(hw.generate.path(5), normalized=False, device=engine).scores.tolist()
    expected = [0.0, 3.0, 4.0, 3.0, 0.0]
    return "" if np.allclose(found, expected) else f"found {found}, expected {expected}"


CHECKS: dict[str, Callable[[str], str]] = {  # each returns "" or the error
    "start": _start,
    "search a Kronecker graph": _searches(lambda: hw.generate.kronecker(scale=9, edge_factor=8, seed=1)),
    "search a directed R-MAT graph": _searches(lambda: hw.generate.rmat(scale=8, edge_factor=4, seed=1)),
    "search a grid": _searches(lambda: hw.generate.grid(20, 20)),
    "search two components": _searches(lambda: Graph.from_edges([0, 1, 2, 3, 4, 5, 0], [1, 2, 0, 4, 5, 3, 0], n=7)),
    "count paths": _count_paths,
    "betweenness": _betweenness,
}


def self_test() -> Iterator[Outcome]:
    """Run every check on every engine that starts. An exception counts as a failure."""
    for engine in engines.NAMES:
        for name, check in CHECKS.items():
            try:
                wrong = check(engine)
                yield Outcome(engine, name, not wrong, wrong)
            except Exception as error:
                absent = name == "start" and isinstance(error, hw.EngineError)
                note = str(error) if absent else f"{type(error).__name__}: {error}"
                yield Outcome(engine, name, None if absent else False, note)
                if name == "start":
                    break


def _test_table(outcomes: list[Outcome]) -> Table:
    marks = {True: Text("ok", "green"), None: Text("–", "dim"), False: Text("FAILED", "bold red")}
    rows = ((one.engine, one.check, marks[one.passed], Text(one.note)) for one in outcomes)
    return terminal.table("Self-test", "engine", "check", "", "", rows=rows)
