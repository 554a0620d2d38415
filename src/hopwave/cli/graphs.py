"""`hopwave info`, `convert`, `fetch` and `generate`: graph files and their contents."""

import inspect
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import typer

from hopwave import datasets
from hopwave.api.memory_estimate import estimate_memory
from hopwave.cli import options, terminal
from hopwave.cli.files import STREAM, ReadingLengths, load, parsed, save, target
from hopwave.errors import FormatError, amount
from hopwave.generate import Generator, Parameter, generators
from hopwave.graph import Graph
from hopwave.graph.statistics import IRREGULAR_DEGREE
from hopwave.io import formats
from hopwave.system.progress import Meter

DEVICES = ("cpu", "cuda")
QUESTIONS: list[tuple[str, dict[str, Any]]] = [  # the rows of --memory
    *((name, {}) for name in ("bfs", "weakly_connected_components", "closeness_centrality", "betweenness_centrality")),
    *(("betweenness_centrality", {"k": 1}), ("pagerank", {"weights": False})),
]


def info(file: Path, reading: ReadingLengths, *, memory: bool = False, as_json: bool = False) -> None:
    """Show a graph's statistics, its weights and its degree distribution.

    memory: Show how much memory each function would use, on the CPU and on a GPU.
    """
    graph = load(file, reading)
    bins = degree_bins(graph.degrees)
    needed = {  # function → device → bytes at the peak
        ", ".join([what, *(f"{name}={value}" for name, value in given.items())]): {
            device: int(estimate_memory(graph, what, device=device, **given)) for device in DEVICES
        }
        for what, given in (QUESTIONS if memory else ())
    }
    if as_json:
        about = {"file": str(file), "bytes": file.stat().st_size if file.is_file() else None, **record(graph)}
        about["degrees"] = [{"from": low, "to": high, "vertices": count} for low, high, count in bins]
        terminal.emit(about | ({"memory": needed} if memory else {}))
        return
    terminal.show(terminal.facts(str(file), described(graph)))
    if memory:
        rows = ((name, *map(amount, sizes.values())) for name, sizes in needed.items())
        terminal.show(terminal.table("Peak memory", "function", "CPU", "GPU", rows=rows, numbers=(1, 2)))
    if not graph.n:
        return
    kind = "out-degree" if graph.directed else "degree"
    names = (f"{low:,}" if low == high else f"{low:,}–{high:,}" for low, high, _ in bins)
    terminal.show(terminal.distribution(f"Distribution of the {kind}", kind, names, [count for *_, count in bins]))


def degree_bins(degrees: Any) -> list[tuple[int, int, int]]:
    """(lowest degree, highest degree, vertices) in bins of doubling width: 0, 1, 2–3, 4–7, … to the highest degree."""
    _, place = np.frexp(degrees.astype(np.float64))  # the number of binary digits; 0 for 0
    counts = np.bincount(place).tolist()
    bins = [((1 << i) >> 1, max((1 << i) - 1, 0), count) for i, count in enumerate(counts)]
    return bins if counts and counts[0] else bins[1:]


def described(graph: Graph) -> dict[str, str]:
    """A graph's statistics in words, for a table."""
    stats, weights = graph.stats(), graph.weights
    kind, things = ("directed", "arcs") if graph.directed else ("undirected", "edges")
    group = "regular (a mean degree below" if stats.regular else "irregular (a mean degree of at least"
    times = stats.max_degree / stats.mean_degree if graph.m else 0.0
    stored = sum(part.nbytes for part in (graph.indptr, graph.indices, weights) if part is not None)
    first_alone = graph.labels is None and stats.isolated == 1 and not graph.degrees[0] and not graph.in_degrees[0]
    ends = "none" if weights is None else f"{weights.dtype}"
    if weights is not None and len(weights):
        ends = f"{weights.min():g} to {weights.max():g}, {ends}"
    return {
        "kind": f"{kind}, {'vertices with labels' if graph.labels is not None else 'vertices numbered from 0'}",
        "vertices": f"{graph.n:,}",
        things: f"{graph.number_of_edges:,}",
        "stored arcs": f"{graph.m:,} in {amount(stored)}",
        "weights": ends,
        "degree": f"mean {stats.mean_degree:.2f}, deviation {stats.std_degree:.2f}, maximum {stats.max_degree:,}",
        "shape": f"{stats.shape}: the maximum is {times:.3g} times the mean, and the top 1 % of the vertices have "
        f"{100 * stats.busiest_share:.2g} % of the arcs",
        "isolated vertices": f"{stats.isolated:,}" + (", vertex 0: do ids begin at 1?" if first_alone else ""),
        "self-loops": f"{stats.self_loops:,}",
        "scale-free metric": f"{stats.scf:,.1f}; TurboBC's group: {group} {IRREGULAR_DEGREE:.0f})",
    }


def record(graph: Graph) -> dict[str, Any]:
    """A graph's statistics, for JSON."""
    stats, weights, about = graph.stats(), graph.weights, None
    if weights is not None:
        ends = (weights.min().item(), weights.max().item()) if len(weights) else (None, None)
        about = {"type": str(weights.dtype), "min": ends[0], "max": ends[1]}
    more = {"regular": stats.regular, "shape": stats.shape, "edges": graph.number_of_edges}
    return {**asdict(stats), **more, "labels": graph.labels is not None, "weights": about}


def convert(
    file: Path,
    target_file: Path,
    reading: ReadingLengths,
    *,
    to_format: str | None = None,
    drop_labels: bool = False,
    write_options: list[str] | None = None,
    as_json: bool = False,
) -> None:
    """Convert a graph to another file format. Labels are dropped only with --drop-labels, weights with --no-weights.

    format --from FORMAT: Format of FILE.
    drop_labels: Write vertices as numbers, without their labels.
    """
    out = target_file
    chosen = target(out, to_format, as_json)
    graph = load(file, reading)
    if parsed(write_options, "--write-option").get("weights") is False:
        graph = graph.without_weights()
    if graph.labels is not None and not drop_labels and not chosen.holds_labels:
        able = ", ".join(known.extensions[0] for known in formats() if known.holds_labels)
        message = f"{chosen.title} cannot store the labels of {file}; use {able}, or drop them with --drop-labels"
        raise FormatError(message, out)
    with Meter(f"writing {out.name}", None, None):
        save(out, graph, to_format, write_options, drop_labels)
    if out == STREAM:
        return
    length, kept = out.stat().st_size, graph.labels is not None and not drop_labels
    if as_json:
        about = {"file": str(file), "out": str(out), "format": chosen.name, **record(graph)}
        terminal.emit(about | {"bytes": length, "labels_written": kept})
        return
    note = "; labels dropped" if graph.labels is not None and drop_labels else ""
    written = f"{chosen.title}, {amount(length)}"
    terminal.line(f"wrote {out} ({written}): {terminal.sentence(graph, not drop_labels)}{note}")


def fetch(
    name: str | None = None,
    out: Path | None = None,
    *,
    to_format: str | None = None,
    url: str | None = None,
    cache: Path | None = None,
    listing: bool = False,
    as_json: bool = False,
) -> None:
    """Download a graph of the SuiteSparse Matrix Collection, and print its path. Later calls use the cached file.

    name NAME: Group/name in the collection, or a small graph such as karate.
    out OUT: Also write the graph to this file; its extension selects the format.
    url: Mirror of the collection. Default: HOPWAVE_MIRROR, else the collection's site.
    cache: Folder of downloads. Default: HOPWAVE_CACHE, else the user's cache folder.
    listing --list: List the small graphs and the graphs of the papers.
    """
    if listing and name is not None:
        raise typer.BadParameter("--list cannot be combined with NAME; omit one of them")
    if listing:
        return _list(as_json)
    if name is None:
        raise typer.BadParameter("NAME is missing; 'hopwave fetch --list' lists the known names")
    if out is None and to_format is not None:
        raise typer.BadParameter(f"--to {to_format} is the format of OUT, which is missing; pass OUT")
    ships = name in datasets.names()
    if out is not None:
        target(out, to_format, as_json)
    elif ships:
        raise typer.BadParameter(f"{name} ships with hopwave and is not downloaded; pass OUT, such as {name}.mtx")
    about: dict[str, Any] = {"name": name}
    if not ships:
        file = datasets.download(name, url=url, cache=cache)
        about |= {"file": str(file), "bytes": file.stat().st_size}
        said = str(file)  # only the path, for hopwave info "$(hopwave fetch NAME)"
    if out is not None:
        graph = datasets.load(name) if ships else datasets.fetch(name, url=url, cache=cache)
        with Meter(f"writing {out.name}", None, None):
            save(out, graph, to_format, None)
        if out == STREAM:
            return
        about |= {"out": str(out), **record(graph)}
        said = f"wrote {out}: {terminal.sentence(graph)}"
    terminal.emit(about) if as_json else terminal.line(said)


def _list(as_json: bool) -> None:
    known = datasets.published()
    if as_json:
        rows = [{name: getattr(entry, name) for name in ("name", "vertices", "arcs", "papers")} for entry in known]
        terminal.emit({"small": list(datasets.names()), "published": rows})
        return
    terminal.line(f"Small graphs, without a network: {', '.join(datasets.names())}")
    shown = terminal.table("Graphs of the papers", "name", "vertices", "arcs", "papers", numbers=(1, 2))
    for entry in known:
        sizes = ("–" if size is None else f"{size:,}" for size in (entry.vertices, entry.arcs))
        shown.add_row(entry.name, *sizes, ", ".join(entry.papers))
    terminal.show(shown)


# ------------------------------------------------------------------ generate: one command per generator

KINDS = {"int": int, "float": float, "bool": bool, "numbers": str}


def generate(ctx: typer.Context, *, listing: bool = False, as_json: bool = False) -> None:
    """Generate a graph and write it to a file.

    listing --list: List the kinds of graphs with their options.
    """
    kind = ctx.invoked_subcommand
    if kind is not None and (listing or as_json):
        wrong = f"--json must follow the kind: generate {kind} OUT --json"
        raise typer.BadParameter("--list cannot be combined with a kind; omit one of them" if listing else wrong)
    if kind is not None:
        return
    if not listing:
        raise typer.BadParameter("the kind of graph is missing; 'hopwave generate --list' lists the kinds")
    if as_json:
        kinds = [
            {"name": one.name, "summary": one.summary, "options": [vars(parameter) for parameter in one.parameters]}
            for one in generators().values()
        ]
        return terminal.emit({"generators": kinds})
    caption = (
        "hopwave generate KIND OUT --option value …; options in [ ] are optional, KIND --help shows their defaults"
    )
    rows = ((spelled(one.name), one.summary, " ".join(map(_usage, one.parameters))) for one in generators().values())
    shown = terminal.table("Generators", "kind", "description", "options", rows=rows, caption=caption)
    shown.columns[0].no_wrap, shown.columns[0].style = True, "cyan"
    terminal.show(shown)


def generator(kind: Generator) -> Callable[..., None]:
    """A command with the options of the generator and of writing the file."""

    def command(
        target_file: Path,
        *,
        to_format: str | None = None,
        write_options: list[str] | None = None,
        as_json: bool = False,
        **given: Any,
    ) -> None:
        arguments = {name: value for name, value in given.items() if value is not None}
        target(target_file, to_format, as_json)
        with Meter(f"generating a {spelled(kind.name)} graph", None, None) as meter:
            graph = kind.call(arguments)
            meter.stage(f"writing {target_file.name}")
            save(target_file, graph, to_format, write_options)
        if target_file == STREAM:
            return
        if as_json:
            terminal.emit({"kind": kind.name, "arguments": arguments, "file": str(target_file), **record(graph)})
        else:
            terminal.line(f"wrote {target_file}: {terminal.sentence(graph)}")

    command.__doc__ = "\n".join([kind.summary, "", *map(_line, kind.parameters)])
    own: dict[str, tuple[Any, Any, bool]] = {}
    for one in kind.parameters:  # None: the generator has its own default
        annotation = KINDS[one.kind]
        own[one.name] = (
            (annotation, inspect.Parameter.empty, False) if one.required else (annotation | None, None, False)
        )
    return options.typed(command, own)


def _line(parameter: Parameter) -> str:
    name = spelled(parameter.name)
    flags = f"--{name}/--no-{name}" if parameter.kind == "bool" else f"--{name}"
    what = "Numbers, separated by commas. " if parameter.kind == "numbers" else ""
    text = "" if parameter.required else f"{what}Default: {_shown(parameter.default)}."
    return f"{parameter.name} {flags}: {text}"


def _usage(parameter: Parameter) -> str:
    name = f"--{spelled(parameter.name)}"
    return f"{name} {parameter.kind.upper()}" if parameter.required else f"[{name}]"


def _shown(default: Any) -> str:
    if default is None:
        return "depends on the size"
    return ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else str(default)


def spelled(name: str) -> str:
    return name.replace("_", "-")
