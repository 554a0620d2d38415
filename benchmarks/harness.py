"""The one harness: a case asks hopwave and its peers a question about a graph, and makes one row of a page.

    python -m benchmarks.harness [benchmark …] [--device cpu] [--graphs kron18 …] [--sources 16] [--name OTHER]

benchmarks/cases.py has the cases as data. Answers are compared before anything is timed; a difference ends the run.
Then hopwave and its peers take turns, and the best call of each counts. A turn has several calls if they are short, as
in GAPBS's programs. A time is the wall-clock time of the public call, after the calls that compile and prepare. On a
GPU the call ends when the GPU is idle; *device ms* is the time between two events around the call.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from benchmarks.pages import Record, publish
from benchmarks.setting import (
    LEFT_OUT,
    QUICK,
    agree,
    command_line,
    giant_sources,
    gpu,
    graph_named,
    hw,
    synchronize,
    tell,
    with_weights,
)
from hopwave.arrays import on_host

LONG = 2.0  # seconds of a peer's call from which it is made once
CALLS, ENOUGH = 10, 0.1  # a turn has that many calls, or fewer if they take that many seconds
SPIN = r"""extern "C" __global__ void spin(long long ns) {
  long long begin, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - begin < ns);
}"""


class Setup:
    """The graph of a case and what is derived from it; each is made when it is first needed."""

    def __init__(self, name: str, graph: hw.Graph, device: str = "cpu", count: int | None = None) -> None:
        self.name, self.graph, self.device, self.count = name, graph, device, count
        self.kept: dict[Any, Any] = {}

    def made(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returns, made once."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def there(self, weights: str = "") -> hw.Graph:
        """The graph on the device, with drawn weights if their kind is named."""
        host = self.weighted(weights) if weights else self.graph
        return self.made(("there", weights), lambda: host.to(self.device))

    def weighted(self, kind: str = "1 to 255") -> hw.Graph:
        """The graph with drawn weights."""
        return self.made(("weighted", kind), lambda: with_weights(self.graph, kind))

    def sources(self, count: int) -> list[int]:
        """Different vertices of the giant component; the first ones are the same for every count."""
        many = self.made("sources", lambda: list(dict.fromkeys(giant_sources(self.there(), 4096))))
        return many[: self.count or count]

    def sample(self, count: int) -> Any:
        """Different vertices, drawn from all."""
        return np.random.default_rng(1).choice(self.graph.n, min(count, self.graph.n), replace=False)

    @cached_property
    def hub(self) -> int:
        """The vertex of highest degree."""
        return int(np.argmax(self.graph.degrees))


@dataclass(frozen=True)
class Peer:
    """A prepared call of another program, by how much its time is extrapolated, and the part of ours it answers.

    `said`: the call returns its time in seconds, as a program printed it; it has no answer to compare.
    """

    call: Callable[[], Any]
    scale: float = 1.0
    part: Callable[[Any], Any] = lambda answer: answer
    said: bool = False


Prepare = Callable[[Setup], Peer | None]  # None: the program cannot answer here


def array_of(answer: Any) -> Any:
    """What is compared of an answer: its scores, distances, labels or sums."""
    for name in ("scores", "distances", "labels", "sums", "values"):
        if not isinstance(answer, dict) and getattr(answer, name, None) is not None:
            return on_host(getattr(answer, name))
    return on_host(answer) if hasattr(answer, "__cuda_array_interface__") else answer


@dataclass(frozen=True)
class Case:
    """One row: a benchmark, a graph by name, the question in words, how hopwave is asked, and its peers."""

    benchmark: str
    graph: str
    question: str
    ask: Callable[[Setup], Callable[[], Any]]
    peers: Mapping[str, Prepare] = field(default_factory=dict)
    value: Callable[[Any], Any] = array_of
    per: int = 1  # calls, sources or vertices that the time is divided by; 0: all vertices
    within: float = 1e-9
    rounds: int = 3
    options: Mapping[str, Any] = field(default_factory=dict)  # of hw.read
    change: Callable[[hw.Graph], hw.Graph] = lambda graph: graph
    more: Callable[[Any, Record], Record] = lambda answer, row: {}  # further columns, from the answer and the row


def row_of(case: Case, setup: Setup) -> Record:
    """Compare, then time in turns."""
    what, device = f"{case.graph}, {case.question}", setup.device
    ours = case.ask(setup)
    began = time.perf_counter()
    answer = ours()
    synchronize(device)
    first = time.perf_counter() - began
    peers: dict[str, Peer] = {}
    once: dict[str, float] = {}
    for name, prepare in case.peers.items():
        try:
            peer = prepare(setup)
        except (ImportError, hw.EngineError) as error:
            print(f"{LEFT_OUT}{name}; {error}", flush=True)
            continue
        if peer is not None:
            began = time.perf_counter()
            theirs = peer.call()
            once[name], peers[name] = time.perf_counter() - began, peer
            if not peer.said:
                agree(f"{what}, {name}", case.value(peer.part(answer)), theirs, case.within)
    rounds = 1 if QUICK else case.rounds
    best = {name: seconds * peers[name].scale for name, seconds in once.items() if not peers[name].said}
    mine = []
    for number in range(rounds):
        mine += clocked(ours, device)
        for name, peer in peers.items():
            if number == 0 or once[name] < LONG:
                seconds = float(peer.call()) if peer.said else min(clocked(peer.call, "cpu"))
                best[name] = min(best.get(name, np.inf), seconds * peer.scale)
    per = case.per or setup.graph.n
    row: Record = {"graph": case.graph, "question": case.question, "arcs": setup.graph.m}
    row["hopwave ms"] = 1e3 * min(mine) / per
    if device == "cuda":
        row |= {"device ms": device_ms(ours) / per, "first call ms": 1e3 * first}
    row |= {f"{name} ms": 1e3 * seconds / per for name, seconds in best.items()}
    row |= {f"times {name}": seconds / min(mine) for name, seconds in best.items()}
    slowest = int(np.argmax(mine))
    print(f"slowest call of {what}: number {slowest + 2}, {1e3 * mine[slowest]:.4g} ms", flush=True)
    return tell(row | case.more(answer, row))


def clocked(call: Callable[[], Any], device: str) -> list[float]:
    """Seconds of each call of one turn, until the device is idle."""
    times: list[float] = []
    while len(times) < CALLS and sum(times) < ENOUGH:
        began = time.perf_counter()
        call()
        synchronize(device)
        times.append(time.perf_counter() - began)
    return times


def device_ms(call: Callable[[], Any]) -> float:
    """Milliseconds between two events around a call, the least of five; the GPU is busy until its work is queued."""
    import cupy

    spin, times = cupy.RawKernel(SPIN, "spin"), []
    for _ in range(5):
        events = cupy.cuda.Event(), cupy.cuda.Event()
        spin((1,), (1,), (np.int64(200_000),))
        events[0].record()
        call()
        events[1].record()
        events[1].synchronize()
        times.append(float(cupy.cuda.get_elapsed_time(*events)))
    return min(times)


def measure(cases: list[Case], device: str, count: int | None = None) -> list[Record]:
    """The rows of all cases whose graph exists; cases of one graph share it."""
    rows, setups = [], {}
    for case in cases:
        key = case.graph, case.change, tuple(case.options.items())
        if key not in setups:
            setups.clear()  # one graph at a time
            graph = graph_named(case.graph, **case.options)
            setups[key] = None if graph is None else Setup(case.graph, case.change(graph), device, count)
        if setups[key] is not None:
            rows.append(row_of(case, setups[key]))
    return rows


def main() -> None:
    """Measure the named benchmarks, or all of a device, and publish each."""
    from benchmarks.cases import BENCHMARKS, CASES

    given = command_line(__doc__, {"benchmarks": []}, device="cpu", graphs=[str], sources=int, name="", note="")
    warnings.simplefilter("ignore", hw.IgnoredWeightsWarning)
    names = given.benchmarks or [name for name, about in BENCHMARKS.items() if about.device == given.device]
    for name in names:
        about = BENCHMARKS[name]
        cases = [case for case in CASES if case.benchmark == name and (not given.graphs or case.graph in given.graphs)]
        rows = measure(cases, about.device, given.sources)
        if rows:
            note = f"{about.note} {given.note}".strip()
            publish(given.name or name, about.title, rows, note, gpu(about.device))


if __name__ == "__main__":
    main()
