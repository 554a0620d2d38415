"""Calls lead down: the five ways of docs/architecture.md, run with a profiler that sees every call in hopwave."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from docs import floors

import hopwave as hw

GRAPH = hw.generate.kronecker(8, seed=1)
WAYS: dict[str, Callable[[Path], Any]] = {
    "source": lambda folder: hw.bfs(GRAPH, 0, device="cpu", trace=True),
    "k": lambda folder: hw.betweenness_centrality(GRAPH, k=8, seed=1, device="cpu"),
    "epsilon": lambda folder: hw.betweenness_centrality(GRAPH, epsilon=0.1, seed=1, device="cpu"),
    "paths": lambda folder: hw.betweenness_centrality(GRAPH, epsilon=0.1, seed=1, method="paths", device="cpu"),
    "sources": lambda folder: hw.betweenness_centrality(GRAPH, epsilon=0.3, seed=1, method="sources", device="cpu"),
    "path": lambda folder: hw.read(folder / "edges.csv"),
    "edge list": lambda folder: hw.Graph.from_edges(["a", "b"], ["b", "c"], weights=[1.0, 2.0], device="cpu"),
}
HANDED_DOWN = {"poll"}  # engines call it from time to time: it shows progress, and says whether to continue
GIVEN_WORK = {"hopwave.system.threads"}  # calls the function that it is given, as a thread does


def floor_of(frame: FrameType | None) -> int | None:
    """The floor of the function that runs in a frame; None if it is not in hopwave."""
    module = frame.f_globals.get("__name__", "") if frame else ""
    return floors.floor_of(floors.room_of(module)) if module.partition(".")[0] == floors.PACKAGE else None


def caller_of(frame: FrameType) -> FrameType | None:
    """The frame that called it; those of a decorator do not count."""
    back = frame.f_back
    while back is not None and back.f_code.co_qualname.startswith(("ignoring.", "suggesting.")):
        back = back.f_back
    return back


@contextmanager
def calls_upward() -> Iterator[list[str]]:
    """Fills a list with the calls from a function of one floor to a function of a higher floor."""
    found: list[str] = []

    def look(frame: FrameType, event: str, _: Any) -> None:
        back = caller_of(frame)
        here, caller = floor_of(frame), floor_of(back)
        if event != "call" or here is None or caller is None or frame.f_code.co_name in HANDED_DOWN:
            return
        assert back is not None
        if here < caller and back.f_globals["__name__"] not in GIVEN_WORK:
            found.append(f"{back.f_globals['__name__']} → {frame.f_globals['__name__']}.{frame.f_code.co_name}")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.mark.parametrize("way", WAYS)
def test_no_call_leads_up(way: str, tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("source,target,weight\n0,1,2.5\n1,2,1.0\n", encoding="utf-8")
    with calls_upward() as found:
        WAYS[way](tmp_path)
    assert sorted(set(found)) == []


def test_a_call_that_leads_up_is_seen() -> None:
    called: Any = eval("lambda: 1", {"__name__": "hopwave.api.search"})
    with calls_upward() as found:
        eval("called()", {"__name__": "hopwave.graph.csr", "called": called})
    assert found == ["hopwave.graph.csr → hopwave.api.search.<lambda>"]


def unknown_names(way: str, folder: Path) -> list[str]:
    """Names in a way's text that nothing public and none of its files defines: `Searcher`, `csr.rows_of`."""
    files = [folder / file for file in re.findall(r"\]\((\S+\.py)\)", way)]
    code, stems = "\n".join(file.read_text(encoding="utf-8") for file in files), {file.stem for file in files}
    named = [name.split(".") for name in re.findall(r"`([A-Za-z_]\w+(?:\.\w+)?)`", way) if not name.endswith(".py")]
    ours = [parts for parts in named if parts[0] in stems or not parts[0].islower() or "_" in parts[0]]
    defined = r"^\s*(?:class |def )?{}\b\s*[(:=]"
    return [
        ".".join(parts)
        for parts in ours
        if not re.search(defined.format(parts[-1]), code, re.MULTILINE) and parts[0] not in hw.__all__
    ]


def test_the_ways_name_what_their_files_have(root: Path) -> None:
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    ways = page.split("## Five ways")[1].split("\n## ")[0].split("\n### ")[1:]
    assert len(ways) == 5 and not [name for way in ways for name in unknown_names(way, root / "docs")]
    gone = ways[0].replace("`Searcher`", "`Seeker`") + "`search.vanished`"
    assert unknown_names(gone, root / "docs") == ["Seeker", "search.vanished"]
