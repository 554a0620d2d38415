"""The GPU's faults, one at a time: an allocation, a launch or a compilation that fails at one moment of a call.

    python tests/engines/cuda/cuda_faults.py [--public] [--seconds 60] [--share 0/4] [--first 9] [--events 0/8]
        [--record FILE]

lets every event of every question fail once, and adds a row to FILE. --public asks every public function that takes
device=, --share 0/4 takes every fourth question, --first 9 those from number 9 on, --events 0/8 every eighth event. The
tests (test_cuda_faults.py) take some of them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import hopwave as hw
import mixed
import public_calls
from hopwave.arrays import on_host
from mixed import Events
from recorded import record

GRAPH = mixed.graph()
GRAPHS: dict[str, hw.Graph] = {}  # of public functions


def public(share: int, shares: int) -> Iterator[str]:
    """Add public functions that take device= and run on a GPU to the questions: every `shares`-th; returns their names.

    The first calls compile: a process takes its share before them.
    """
    import faults

    calls = [(title, function) for title, function in public_calls.functions() if title.startswith("hopwave.")]
    for title, function in [one for one in calls if "device" in public_calls.options(one[1])][share::shares]:
        if title.count(".") > 1:  # linalg, whose arguments are no graphs
            continue

        def ask(G: hw.Graph, device: str, title: str = title, function: Callable[..., Any] = function) -> Any:
            given = public_calls.required(function) | faults.MORE.get(title, {})
            seed = {"seed": 1} if "seed" in public_calls.options(function) else {}
            return numbers(function(**given | {"G": G}, **seed, device=device))

        G = faults.graph_of(function)
        try:
            ask(G, "cuda")
        except hw.HopwaveError as error:  # a GPU does not offer it
            print(f"{title}: {str(error)[:100]}")
            continue
        GRAPHS[title], mixed.QUESTIONS[title] = G, ask
        yield title


def numbers(found: Any) -> Any:
    """All numbers of an answer, in one array."""
    if isinstance(found, list | tuple) or hasattr(found, "__next__"):
        return np.concatenate([np.zeros(0), *map(numbers, found)])
    for name in ("scores", "distances", "labels", "sums", "counts", "hubs", "indices", "count", "bytes", "closeness"):
        if hasattr(found, name):
            return numbers(on_host(getattr(found, name)))
    return np.ravel(np.asarray(on_host(found), np.float64))


@contextmanager
def allocations() -> Iterator[Events]:
    """Every allocation of CuPy's pool is an event."""
    import cupy

    events = Events(lambda: cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0))
    pool = cupy.get_default_memory_pool()

    def allocate(size: int) -> Any:
        events()
        return pool.malloc(size)

    cupy.cuda.set_allocator(allocate)
    try:
        yield events
    finally:
        cupy.cuda.set_allocator(pool.malloc)


class CountedFunction:
    """A kernel whose launches are counted."""

    def __init__(self, function: Any, events: Events) -> None:
        self.function, self.events, self.ptr = function, events, function.ptr

    def __call__(self, *arguments: Any, **others: Any) -> None:
        self.events()
        self.function(*arguments, **others)


class CountedDriver:
    """CUDA's driver, with its launches counted."""

    def __init__(self, driver: Any, events: Events) -> None:
        self._driver, self._events = driver, events

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._driver, name)
        if name not in ("launchKernel", "launchCooperativeKernel"):
            return found

        def launch(*arguments: Any) -> Any:
            self._events()
            return found(*arguments)

        return launch


@contextmanager
def launches() -> Iterator[Events]:
    """Every launch of one of hopwave's kernels is an event."""
    from cupy_backends.cuda.api import driver

    from hopwave.engines.cuda import launch, nvrtc, prepared_launch

    events = Events(lambda: driver.CUDADriverError(701))  # too many resources requested for launch
    kernel = nvrtc.kernel
    launch.forget()
    with (
        patch.object(nvrtc, "kernel", lambda *given, **more: CountedFunction(kernel(*given, **more), events)),
        patch.object(prepared_launch, "driver", CountedDriver(prepared_launch.driver, events)),
    ):
        yield events
    launch.forget()


@contextmanager
def compilations() -> Iterator[Events]:
    """Every kernel instance that a call needs is an event: loading it from disk counts as compiling it."""
    from hopwave.engines.cuda import launch, nvrtc

    events = Events(lambda: nvrtc.CompilingFailed("steps/push.cuh for sm_90: NVRTC_ERROR_OUT_OF_MEMORY"))
    made = nvrtc.Building._made

    class Counted(nvrtc.Building):
        @staticmethod
        def _made(*given: Any) -> Any:
            events()
            return made(*given)

    def begin(fails: int) -> None:
        events.count, events.fails = 0, fails
        nvrtc.building = Counted()
        launch.forget()

    events.begin = begin  # type: ignore[method-assign]
    with patch.object(nvrtc, "building", nvrtc.building):
        yield events
    launch.forget()


KINDS: dict[str, Callable[[], AbstractContextManager[Events]]] = {
    "allocations": allocations,
    "launches": launches,
    "compilations": compilations,
}


def troubles(
    name: str, events: Events, wanted: Callable[[int], bool], deadline: float = 1e300
) -> tuple[int, list[str]]:
    """Cause a fault at each wanted event of a question: returns how many there were, and what went wrong after them.

    After each fault the call raises one of our errors, or gives the right answer another way; the next call is right.
    """
    G, found, tried = GRAPHS.get(name, GRAPH), [], 0
    right = mixed.answer(name, G, "cuda" if name in GRAPHS else "cpu")
    mixed.answer(name, mixed.fresh(G), "cuda")  # so that all kernels are on the disk
    events.begin(0)
    assert mixed.agree(mixed.answer(name, mixed.fresh(G), "cuda"), right)
    count = events.count
    for fails in filter(wanted, range(1, count + 1)):
        if time.monotonic() > deadline:
            break
        tried += 1
        graph = mixed.fresh(G)
        events.begin(fails)
        try:
            if not mixed.agree(mixed.answer(name, graph, "cuda"), right):
                found.append(f"{fails} of {count}: a wrong answer")
        except hw.HopwaveError as error:
            if "; " not in str(error):
                found.append(f"{fails} of {count}: no remedy in {error}")
        except BaseException as error:
            found.append(f"{fails} of {count}: {error!r}")
        events.begin(0)
        for again in (graph, mixed.fresh(G)):
            try:
                if not mixed.agree(mixed.answer(name, again, "cuda"), right):
                    found.append(f"{fails} of {count}: then a wrong answer")
            except BaseException as error:
                found.append(f"{fails} of {count}: then {error!r}")
    return tried, found


def main() -> int:
    """Try every event of every question, until the time is over."""
    parser = argparse.ArgumentParser(description="Let everything on the GPU fail once.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--public", action="store_true", help="every public function")
    parser.add_argument("--share", default="0/1", help="which of how many shares of the questions")
    parser.add_argument("--first", type=int, default=0, help="leave out the questions before this one")
    parser.add_argument("--events", default="0/1", help="which of how many shares of the events of each question")
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    share, shares = map(int, given.share.split("/"))
    part, parts = map(int, given.events.split("/"))
    names = list(public(share, shares)) if given.public else list(mixed.QUESTIONS)
    every = [(name, kind) for name in names for kind in KINDS]
    mine = range(len(every)) if given.public else range(share, len(every), shares)
    cases = [every[number] for number in mine if number >= given.first]
    began, tried, wrong, whole = time.monotonic(), 0, [], 0
    deadline = began + given.seconds
    for name, kind in cases:
        if time.monotonic() > deadline:
            break
        with KINDS[kind]() as events:
            some, found = troubles(name, events, lambda number: number % parts == part, deadline)
        tried, wrong = tried + some, wrong + [f"{name}, {kind} {one}" for one in found]
        whole += time.monotonic() < deadline
    minutes, asked = round((time.monotonic() - began) / 60, 2), len(cases)
    print("\n".join(wrong))
    print(f"{tried:,} faults in {whole} of {asked} questions and kinds, {len(wrong)} wrong, {minutes} minutes")
    record(given.record, "faults on cuda", tried, len(wrong), began, "cuda", whole=whole, of=asked)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
