"""Some inputs of every fuzzer; `make fuzz` tries more. A fuzzer that could not fail would pass everything."""

import logging
import random
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import faults
import interrupts
import long_run
import networkx as nx
import numpy as np
import promises
import pytest
import readers
import served
from numba import njit

import every_call
import hopwave as hw
import public_calls
from hopwave.arrays import ignoring, seeded
from hopwave.datasets import fetching
from hopwave.engines.cpu.betweenness.core_graph import arrays_of
from questions import Difference
from together import PROFILE, started

pytestmark = pytest.mark.filterwarnings("ignore")
LONG = ("memory", "ranks")  # an attempt takes half a minute
HERE = [name for name in long_run.FUZZERS if not name.endswith(("cuda", *LONG))]
ALONE = [name for name in HERE if long_run.FUZZERS[name].alone]  # share two processes, as all share one in `make fuzz`


def marked(*names: str) -> Any:
    return pytest.param(names, marks=[pytest.mark.slow] * long_run.FUZZERS[names[0]].alone, id=" and ".join(names))


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder; what fuzzers change in this process is set back afterwards."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(faults.tempfile, "tempdir", None)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    for module, value in ((interrupts.policy, "VERTICES_PER_THREAD"), (interrupts.policy, "SMALL_JOB")):
        monkeypatch.setattr(module, value, getattr(module, value))
    monkeypatch.setattr(interrupts.checkpoint, "INTERVAL", 0.0)
    yield tmp_path
    logging.getLogger("hopwave").setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    "names", [*(marked(name) for name in HERE if name not in ALONE), marked(*ALONE[::2]), marked(*ALONE[1::2])]
)
def test_inputs(names: tuple[str, ...], own: Path) -> None:
    fuzzer = long_run.FUZZERS[names[0]]
    if names[0] in ("linalg", "linalg on cpu"):
        pytest.importorskip("graphblas")
    if fuzzer.alone:
        command = sys.executable, long_run.__file__, "0", "--only", *names, "--seed", "1"
        code, out, err = started(*command, HOPWAVE_NUM_THREADS="3", HOPWAVE_FUZZ_SECONDS="60")
        assert code == 0, out + err
        for name, line in zip(names, out.splitlines(), strict=True):
            assert line.startswith(f"{name}: ") and line.endswith(" 0 wrong") and ": 0 inputs" not in line
    else:
        draw, attempt = random.Random(names[0]), fuzzer.function()
        assert sum(attempt(draw, own) for _ in range(fuzzer.count(own)))


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("names", [marked(name) for name in long_run.FUZZERS if name.endswith("cuda")])
def test_inputs_on_a_gpu(names: tuple[str, ...], own: Path) -> None:
    test_inputs(names, own)


# ---------------------------------------------------------------- errors that are planted


def anything(flag: "bool" = False) -> None:
    """A function that accepts every value."""


PLANTED: dict[str, list[tuple[Any, str, Any]]] = {
    "folders": [(promises, "why_not_trusted", lambda place, shared=False: None)],
    "options": [(public_calls, "functions", lambda: iter([("function", anything)]))],
    "servers": [(fetching, "_receive", lambda *given: True)],
    "networkx functions": [(hw, "degree_centrality", hw.pagerank)],
    "facilities": [
        (hw, "nearest_of", lambda G, *given, to=hw.nearest_of, **how: to(
            G.with_weights(G.weights * (1 + 1e-12)), *given, **how
        ))
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_an_error_is_found(name: str, own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, attribute, wrong in PLANTED[name]:
        monkeypatch.setattr(module, attribute, wrong)
    draw, attempt = random.Random(8), long_run.FUZZERS[name].function()
    with pytest.raises(Difference):
        for _ in range(300):
            attempt(draw, own)


def test_what_a_fault_leaves_behind_is_noticed(known: faults.Faults, monkeypatch: pytest.MonkeyPatch) -> None:
    right = hw.write

    def careless(path: Path, graph: Any) -> None:
        (path.parent / f"stray{graph.n}").write_bytes(b"")
        right(path, graph)

    known.known("write csv")
    monkeypatch.setattr(hw, "write", careless)
    with pytest.raises(Difference, match="stray36 is left"):
        known.attempt("write csv", "disk", 5)
    monkeypatch.setattr(hw, "write", lambda path, graph: path.write_bytes(b"%d" % graph.n))
    with pytest.raises(Difference, match=r"graph\.csv is left or has changed"):
        known.attempt("write csv", "disk", 2)


# ---------------------------------------------------------------- faults at every step of some calls


@pytest.fixture
def known(own: Path) -> faults.Faults:
    return faults.Faults(own)


@pytest.mark.parametrize("name", [f"write {extension}" for extension in every_call.FORMATS] + ["a saved run"])
def test_a_full_disk_leaves_the_old_file(name: str, known: faults.Faults) -> None:
    """At every step of a write; a run that cannot save warns and continues."""
    count = known.count(name, "disk")
    assert count > 3
    assert all(known.attempt(name, "disk", fails) for fails in range(1, count + 1))
    assert not known.attempt(name, "disk", count + 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["write mtx", "read txt.gz", "write txt.gz", "read npz"])
def test_ctrl_c_at_many_steps_of_a_file(name: str, known: faults.Faults) -> None:
    """Python's streams drop some; its zipfile complains of half an archive, and NumPy's fromfile of a damaged file."""
    count, apart = known.count(name, "interrupt"), 1 if PROFILE == "complete" else 3
    for fails in (*range(1, min(count, 260), 2 * apart), *range(max(260, count - 700), count + 1, 4 * apart)):
        known.attempt(name, "interrupt", fails)


@pytest.mark.skipif(np.__version__ < "2", reason="NumPy 1 keeps these settings by thread, where a signal leaves them")
@pytest.mark.parametrize(
    "call", [partial(ignoring("divide")(lambda x: 1 / x), np.zeros(1)), partial(seeded, 1)], ids=["ignoring", "seeded"]
)
def test_ctrl_c_leaves_the_warnings_of_numpy_as_they_were(call: Callable[[], Any]) -> None:
    call()  # imports what it needs
    with faults.Steps("interrupt") as steps:
        call()
    assert steps.count > 5
    before = np.geterr()
    for fails in range(1, steps.count):  # the last step is the end of the block
        with pytest.raises(KeyboardInterrupt), faults.Steps("interrupt", fails):
            call()
        assert np.geterr() == before


def test_ctrl_c_while_a_compiled_function_returns_arrays() -> None:
    @njit
    def take_long(n):
        total = np.zeros(3)
        for i in range(n):
            total[i % 3] += np.sqrt(i)
        return total, total[1:], total[2:]

    take_long(3)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        arrays_of(take_long, 50_000_000)
    signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------- inputs that were found


@pytest.mark.parametrize("blank", ["\v", "\f", "\x1c", "\x85", "\u3000"])
def test_both_scanners_know_the_blanks_between_cells(blank: str) -> None:
    for line in (f"7 12 {blank}12\n", f"1 2 a{blank}b\n", f"1 2 {blank}\n"):
        readers.compare("table b''", line.encode())


TWO_WEIGHTS = nx.DiGraph([(u, v, {"weight": 1 + (u + 2 * v) % 3}) for u in range(4) for v in range(4) if u != v])
FOUND = {
    "single_source_all_shortest_paths": (nx.path_graph(3), {"source": 0, "weight": "weight", "method": "unweighted"}),
    "degree_centrality": (nx.path_graph(1), {}),
    "newman_betweenness_centrality": (nx.path_graph(6), {"cutoff": 2.5}),
    "percolation_centrality": (nx.path_graph(2), {"states": {0: 1}}),
    "all_pairs_dijkstra_path_length": (nx.path_graph(5), {"cutoff": 2.5, "weight": None}),
    "dijkstra_path_length": (nx.path_graph(2), {"source": 0, "target": None}),
    "modularity": (nx.Graph([(0, 0, {"weight": 0.0})]), {"communities": [{0}]}),
    "shortest_simple_paths": (TWO_WEIGHTS.to_undirected(as_view=True), {"source": 0, "target": 3, "weight": "weight"}),
}


@pytest.mark.parametrize("name", FOUND)
def test_calls_that_differed_from_networkx(name: str) -> None:
    G, given = FOUND[name]
    found, right = (
        served.answer(lambda by=by: served.public(name)(G, **given, backend=by)) for by in ("hopwave", "networkx")
    )
    assert served.agree(found, right) or found[:2] == ["raises", "NotImplementedError"]
