"""`hopwave demo`: what hopwave does, in a few seconds, without any file or download."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hopwave as hw
from hopwave.cli import options, picture, terminal
from hopwave.cli.bfs import busiest
from hopwave.cli.info import sentence, sizes
from hopwave.cli.levels import level_table, reach, rows, title
from hopwave.graph import Graph
from hopwave.results.betweenness import BetweennessResult
from hopwave.results.search import BFSResult
from hopwave.system.optional import install
from hopwave.system.progress import Meter

PICTURE = Path("hopwave-demo.png")
TOP = 10


@dataclass(frozen=True)
class Small:
    """A small graph to draw, a search from its vertex of highest degree, and its betweenness."""

    name: str
    graph: Graph
    result: BFSResult
    betweenness: BetweennessResult

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """The betweenness of every vertex."""
        return self.betweenness.scores

    def top(self) -> list[int]:
        """The vertices of highest betweenness, highest first."""
        return [int(vertex) for vertex in np.argsort(-self.scores, kind="stable")[:TOP]]


def demo(as_json: options.Json = False) -> None:
    """A first look at hopwave: search a generated graph and a real one, and draw a picture."""
    with Meter("searching", None, None) as meter:
        large = hw.generate.kronecker(scale=14, edge_factor=16, seed=1)
        # Two searches: the first may include compiling, the second shows the real time.
        result = [hw.bfs(large, busiest(large), trace=True) for _ in range(2)][1]
        small = characters()
        drawn = installed("matplotlib")
        if drawn:
            meter.stage(f"drawing {PICTURE}")
            _draw(result, small)
    if as_json:
        terminal.emit(_record(result, small, drawn))
        return
    terminal.line(f"A Kronecker graph, as in Graph500: {sentence(large)}")
    terminal.show(level_table(title(large, result), rows(result)))
    terminal.line(f"{reach(large, result)}, by plan {result.plan} on engine {result.engine}")
    terminal.line()
    terminal.line(f"{small.name}: {sentence(small.graph)}")
    terminal.line(reach(small.graph, small.result))
    terminal.line(f"betweenness {small.betweenness.certificate}")
    terminal.line()
    if drawn:
        terminal.line(f"Both graphs are drawn in {PICTURE}")
        if has_viewer():
            webbrowser.open(PICTURE.resolve().as_uri())
    for reason in missing():
        terminal.line(reason, style="yellow")
    terminal.show(_top_table(small))


def installed(library: str) -> bool:
    """Whether an optional library can be imported."""
    return importlib.util.find_spec(library) is not None


def has_viewer() -> bool:
    """Whether somebody sits at this terminal with a display, where the picture can be opened."""
    display = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return sys.stdout.isatty() and bool(display)


def missing() -> list[str]:
    """What the demo does differently because an optional library is not installed, and how to install it."""
    reasons = []
    if not installed("networkx"):
        instead = "a generated small world, drawn as a ring" if installed("matplotlib") else "a generated small world"
        reasons.append(
            "NetworkX is not installed: it has the graph of Les Misérables and computes where to draw its vertices. "
            f"This is {instead} instead; run: {install('networkx')}"
        )
    if not installed("matplotlib"):
        reasons.append(f"matplotlib is not installed, so there is no picture; run: {install('plot')}")
    return reasons


def characters() -> Small:
    """The 77 characters of Les Misérables if NetworkX is installed, else a generated graph of the same size."""
    if installed("networkx"):
        import networkx as nx

        name, graph = "Les Misérables: who meets whom", Graph.from_networkx(nx.les_miserables_graph())
    else:
        name, graph = "A generated small world", hw.generate.smallworld(77, k=6, p=0.1, seed=1)
    result = hw.bfs(graph, graph.label(busiest(graph)))
    return Small(name, graph, result, hw.betweenness_centrality(graph, weights=False))


def _top_table(small: Small) -> Any:
    start = small.graph.label(small.result.sources[0])
    columns = ("", "vertex", "betweenness", "", f"hops from {start}")
    shown = terminal.table("Highest betweenness", *columns, numbers=(0, 2, 4))
    most = float(small.scores.max()) or 1.0
    for place, vertex in enumerate(small.top(), start=1):
        score = float(small.scores[vertex])
        name, hops = str(small.graph.label(vertex)), str(small.result.distances[vertex])
        shown.add_row(str(place), name, f"{score:.4f}", terminal.bar(score / most, 30), hops)
    return shown


def _draw(result: BFSResult, small: Small) -> None:
    most = float(small.scores.max()) or 1.0
    with picture.page(PICTURE, 12, 5.6) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[3, 2])
        start = small.graph.label(small.result.sources[0])
        left.set_title(f"{small.name}: hops from {start}, size by betweenness", loc="left", fontweight="bold")
        picture.network(
            left,
            _places(small.graph),
            zip(*small.graph.to_edges(), strict=True),
            small.result.distances,
            25 + 500 * small.scores / most,
            {vertex: str(small.graph.label(vertex)) for vertex in small.top()},
        )
        right.set_title("A Kronecker graph, level by level", loc="left", fontweight="bold")
        picture.profile(right, rows(result))
        right.set_xlabel("hops from the source")


def _places(graph: Graph) -> npt.NDArray[np.float64]:
    """Where to draw the vertices: with NetworkX, so that drawn distances are close to hops; without it, on a ring."""
    if installed("networkx"):
        import networkx as nx

        layout = nx.kamada_kawai_layout(graph.to_networkx())
        return np.array([layout[graph.label(vertex)] for vertex in range(graph.n)])
    angles = 2 * math.pi * np.arange(graph.n) / graph.n
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _record(result: BFSResult, small: Small, drawn: bool) -> dict[str, Any]:
    return {
        "kronecker": {
            **sizes(result.graph),
            "reached": result.reached,
            "depth": result.depth,
            "plan": result.plan.name,
            "engine": result.engine,
            "seconds": sum(level.seconds for level in result.trace or ()),
        },
        "small": {
            "name": small.name,
            **sizes(small.graph),
            "reached": small.result.reached,
            "depth": small.result.depth,
            "certificate": small.betweenness.certificate.error,
            "top": [{"vertex": small.graph.label(v), "betweenness": float(small.scores[v])} for v in small.top()],
        },
        "picture": str(PICTURE) if drawn else None,
        "missing": missing(),
    }
