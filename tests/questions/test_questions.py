"""Every row of the table over traps and random graphs: on the CPU by both ways, on the reference, and on a GPU."""

import random
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

import hopwave as hw
import public_calls
from every_call import plain
from graphs import TRAPS
from hopwave import generate
from hopwave.algorithms import apart, distances, top_scores
from hopwave.engines.cpu import policy
from questions import Difference, Row
from questions.cases import LARGE, LENGTHS, Case
from together import PROFILE

pytestmark = pytest.mark.filterwarnings("ignore")
MODULES = ("hops", "values", "lengths", "structure", "others")
TABLE: dict[str, list[Row]] = {name: import_module(f"questions.{name}").ROWS for name in MODULES}
PARTS = 4
FOUND_ERRORS = (
    "hub-in-triangles",
    "band-of-high-degree",
    "components-of-many-sizes",
)  # traps that are always asked the way of large graphs
# Public functions without a question: they need the network.
WITHOUT = {"datasets.download": "datasets/test_datasets.py", "datasets.fetch": "datasets/test_datasets.py"}


def traps(part: int, device: str = "cpu") -> Iterator[Case]:
    """Some of the traps, with lengths of one kind each."""
    names = list(TRAPS)[part :: PARTS * (8 if PROFILE == "quick" else 1)]
    for number, name in enumerate(names):
        case = Case.of(TRAPS[name](), random.Random(name), device, list(LENGTHS)[(number + part) % len(LENGTHS)])
        case.memory["always"] = ("cpu, large",) if name in FOUND_ERRORS else ()
        yield case


def drawn(seed: str, count: int, device: str = "cpu") -> Iterator[Case]:
    for number in range(count):
        yield Case.drawn(random.Random(f"{seed} {number}"), device)


def as_large(patch: pytest.MonkeyPatch) -> None:
    """Small graphs go the way of large ones: several threads, rounds of searches, parts, bounds that save searches."""
    parts = {"LEAST_SOURCES": 0, "LEAST_SHARE": 0.0, "LEAST_GAIN": 0.0, "LEAST_VERTICES": {"cpu": 8, "cuda": 8}}
    ways: dict[Any, dict[str, Any]] = {
        policy: {"SMALL_JOB": 0, "ARCS_PER_PATH_THREAD": 1, "VERTICES_PER_THREAD": 1},
        distances: {"SMALL": 0},
        top_scores: {"SMALL": 2, "ROUND": 20},
        apart: parts | {"MOST_COMPONENTS": 1},
    }
    for module, values in ways.items():
        for name, value in values.items():
            patch.setattr(module, name, value)


def ask_all(rows: list[Row], cases: Iterator[Case], devices: tuple[str, ...]) -> int:
    """Ask all questions about every case, which draws arguments and asks the oracle once; returns the comparisons.

    The devices take turns from row to row and from case to case; of a large table, each case gets every second row.
    `make complete` asks all.
    """
    asked, half = 0, PROFILE == "whole" and len(rows) > 20
    for number, case in enumerate(cases):
        always = case.memory.get("always", ())
        for place, row in enumerate(rows):
            turn, left_out = divmod(number + place, 2) if half else (number + place, 0)
            if (case.n > LARGE and not row.large) or (left_out and not always):
                continue
            several = "threads" in public_calls.options(row.function)
            ways = [one for one in devices if row.runs_on(one.split(",")[0]) and (several or "large" not in one)]
            chosen = {*ways[turn % max(1, len(ways)) :][:1], *always}
            for device in (one for one in ways if PROFILE != "whole" or one in chosen):
                case.device = device.removesuffix(", large")
                with pytest.MonkeyPatch.context() as patch:
                    if device.endswith("large"):
                        as_large(patch)
                    asked += row.ask(case)
    return asked


ON_CPUS = ("cpu", "cpu, large", "reference")
every_module = pytest.mark.parametrize("module", MODULES)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("module", MODULES[:-1])
def test_traps(module: str, part: int) -> None:
    assert ask_all(TABLE[module], traps(part), ON_CPUS) > 50


@every_module
def test_random_graphs(module: str) -> None:
    graphs = settings.default.max_examples * (1 if module == "others" else 2)
    assert ask_all(TABLE[module], drawn(module, graphs), ON_CPUS) > 4 * graphs


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("part", range(PARTS))
@every_module
def test_on_a_gpu(module: str, part: int) -> None:
    assert ask_all(TABLE[module], traps(part, "cuda"), ("cuda", "cuda, large")) > 50
    ask_all(TABLE[module], drawn(f"{module} {part}", 20, "cuda"), ("cuda", "cuda, large"))


@every_module
def test_threads_change_no_bit(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    as_large(monkeypatch)
    rows = [row for row in TABLE[module] if "threads" in public_calls.options(row.function)]
    for graph in (
        generate.kronecker(7, 8, seed=1),
        generate.kronecker(7, 4, seed=1, directed=True),
        generate.grid(9, 9),
        *(() if module == "others" else (TRAPS["components-of-many-sizes-directed"](),)),  # estimates name threads
    ):
        graph = graph if graph.directed else graph.largest_component().relabel(None)
        case = Case.of(graph, random.Random(module), kind="fractions")
        for row in rows:
            if row.runs_on("cpu") and row.only(case):
                given = row.given(case) | row.more
                given |= {"method": "delta-stepping"} if "method" in given else {}
                first = () if row.graph is None else (getattr(case, row.graph),)
                options = ({**given, "threads": threads} for threads in (1, 2, 3))
                one, *others = (plain(row.function(*first, **how)) for how in options)
                assert all(other == one for other in others), f"{row} of {graph} with {given}"


FOLLOW = {"hw.distance_blocks", "hw.pairs_within", "hw.shortest_path", "hw.all_shortest_paths", "hw.shortest_paths"}
KEEP = {"hw.k_core"}  # it has the weights of its edges


def test_questions_about_hops_ignore_weights() -> None:
    for case in drawn("ignored", settings.default.max_examples):
        case.__dict__["plain"] = case.weighted
        for row in (*TABLE["hops"], *TABLE["values"], *TABLE["structure"]):
            if row.graph == "plain" and row.call not in KEEP:
                more = {"weights": False} if row.call in FOLLOW else {}
                replace(row, more=row.more | more, check=None if more else row.check).ask(case)


# ---------------------------------------------------------------- the table itself


def test_every_public_function_has_a_row() -> None:
    asked = {row.call for rows in TABLE.values() for row in rows}
    row = 'Row("{}", oracle, given=lambda case: {{…}})'
    missing = [
        f"{name} has no question; add it to ROWS of a file in tests/questions, such as {row.format(called)}"
        for name, called in public_calls.callables()
        if called not in asked and called not in WITHOUT
    ]
    assert not missing, "\n".join(missing)


def test_a_wrong_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that cannot fail would pass everything."""
    right: Any = hw.bfs_many
    monkeypatch.setattr(hw, "bfs_many", lambda *given, **options: right(*given, **options) + 1)
    case = Case(3, [(0, 1), (1, 2)], False, random.Random(1))
    for row in TABLE["hops"]:
        if row.call == "hw.bfs_many":
            with pytest.raises(Difference, match=r"hw.bfs_many of Case\(n=3.*expected"):
                row.ask(case)
        elif row.call == "hw.k_hop":
            assert row.ask(case) == 1


def test_kept_repeats_are_different_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parallel arcs change no distance, and each is a path of its own. 0 ⇉ 1 → 3 and 0 → 2 → 3: two of three paths."""
    ends = [0, 0, 1, 0, 2], [1, 1, 3, 2, 3]
    for device in ("cpu", "reference"):
        kept = hw.Graph.from_edges(*ends, directed=True, repeats="keep")
        assert hw.bfs(kept, 0, path_counts=True, device=device).path_counts.tolist() == [1, 2, 1, 3]
        scores = hw.betweenness_centrality(kept, normalized=False, device=device).scores
        np.testing.assert_allclose(scores, [0, 2 / 3, 1 / 3, 0], rtol=1e-12)
    as_large(monkeypatch)
    for ask in (hw.closeness_centrality, hw.harmonic_centrality):
        assert ask(kept, top=2).top() == ask(hw.Graph.from_edges(*ends, directed=True), top=2).top()
