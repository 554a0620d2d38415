"""The GPU's faults, one at a time: an allocation, a launch or a compilation that fails at one moment of a call.

    python tests/engines/cuda/cuda_faults.py [--seconds 60] [--only NAME ...] [--share 0/4] [--events 0/8]
        [--record FILE]

lets every event of every call (tests/every_call.py) fail once, and adds a row to FILE. --share 0/4 takes every fourth
call, --events 0/8 every eighth event. The tests (test_cuda_faults.py) take some of them.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import every_call
import hopwave as hw
from every_call import Fresh, close, plain
from mixed import Events
from recorded import record


@contextmanager
def allocations() -> Iterator[Events]:
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


@contextmanager
def pinned() -> Iterator[Events]:
    """Every allocation of pinned memory is an event; what earlier calls have left is not used again."""
    import cupy

    from hopwave.engines.cuda import buffers

    events = Events(lambda: cupy.cuda.runtime.CUDARuntimeError(2))  # out of memory

    def counted(allocate: Callable[[int], Any]) -> Callable[[int], Any]:
        return lambda size: (events(), allocate(size))[1]

    def begin(fails: int) -> None:
        events.count, events.fails = 0, fails
        buffers._waiting.clear()

    events.begin = begin  # type: ignore[method-assign]
    with (
        patch.object(buffers, "_pool", SimpleNamespace(malloc=counted(buffers._pool.malloc))),
        patch.object(cupy.cuda, "alloc_pinned_memory", counted(cupy.cuda.alloc_pinned_memory)),
        patch.object(cupy.cuda, "PinnedMemory", counted(cupy.cuda.PinnedMemory)),
    ):
        yield events


class Counted:
    """A kernel or CUDA's driver, with its launches counted."""

    def __init__(self, counted: Any, events: Events) -> None:
        self._counted, self._events = counted, events

    def __call__(self, *arguments: Any, **others: Any) -> None:
        self._events()
        self._counted(*arguments, **others)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._counted, name)
        return Counted(found, self._events) if name in ("launchKernel", "launchCooperativeKernel") else found


def forget_kernels() -> None:
    """Drop every loaded kernel, those that products and their scratch space keep as well."""
    from hopwave.engines.cuda import launch
    from hopwave.engines.cuda.linalg import scratch
    from hopwave.linalg import products

    launch.forget()
    scratch.forget()
    products._arithmetic.cache_clear()


@contextmanager
def launches() -> Iterator[Events]:
    from cupy_backends.cuda.api import driver

    from hopwave.engines.cuda import launch, nvrtc

    events = Events(lambda: driver.CUDADriverError(701))  # too many resources requested for launch
    kernel = nvrtc.kernel
    forget_kernels()
    with (
        patch.object(nvrtc, "kernel", lambda *given, **more: Counted(kernel(*given, **more), events)),
        patch.object(launch, "driver", Counted(launch.driver, events)),
    ):
        yield events
    forget_kernels()


@contextmanager
def compilations() -> Iterator[Events]:
    """Every kernel instance that a call needs is an event: loading it from disk counts as compiling it."""
    from hopwave.engines.cuda import nvrtc

    events = Events(lambda: nvrtc.CompilingFailed("steps/push.cuh for sm_90: NVRTC_ERROR_OUT_OF_MEMORY"))
    made = nvrtc.Building._made

    def count(*given: Any) -> Any:
        events()
        return made(*given)

    def begin(fails: int) -> None:
        events.count, events.fails = 0, fails
        nvrtc.building = nvrtc.Building()
        forget_kernels()

    events.begin = begin  # type: ignore[method-assign]
    with patch.object(nvrtc, "building", nvrtc.building), patch.object(nvrtc.Building, "_made", staticmethod(count)):
        yield events
    forget_kernels()


KINDS: dict[str, Callable[[], AbstractContextManager[Events]]] = {
    "allocations": allocations,
    "pinned": pinned,
    "launches": launches,
    "compilations": compilations,
}


def troubles(
    fresh: Fresh, events: Events, wanted: Callable[[int], bool], deadline: float = math.inf
) -> tuple[int, list[str]]:
    """Cause a fault at each wanted event of a call: returns how many there were, and what went wrong after them.

    After each fault the call raises one of our errors, or gives the right answer another way; the next call is right.
    """
    found, tried = [], 0
    right = plain(fresh()())  # so that all kernels are on the disk
    call = fresh()
    events.begin(0)
    if not close(plain(call()), right):
        found.append("two calls give two answers")
    count = events.count
    for fails in filter(wanted, range(1, count + 1)):
        if time.monotonic() > deadline:
            break
        tried += 1
        call, where = fresh(), f"{fails} of {count}"
        events.begin(fails)
        try:
            if not close(plain(call()), right):
                found.append(f"{where}: a wrong answer")
        except hw.HopwaveError as error:
            if "; " not in str(error):
                found.append(f"{where}: no remedy in {error}")
        except BaseException as error:
            found.append(f"{where}: {error!r}")
        events.begin(0)
        for again in (call, fresh()):
            try:
                if not close(plain(again()), right):
                    found.append(f"{where}: then a wrong answer")
            except BaseException as error:
                found.append(f"{where}: then {error!r}")
    return tried, found


def main() -> int:
    parser = argparse.ArgumentParser(description="Let everything on the GPU fail once.")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--only", nargs="+", help="names of calls")
    parser.add_argument("--share", default="0/1", help="which of how many shares of the calls")
    parser.add_argument("--events", default="0/1", help="which of how many shares of the events of each call")
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    share, shares = map(int, given.share.split("/"))
    part, parts = map(int, given.events.split("/"))
    named = every_call.calls("cuda")
    began, tried, wrong, whole, asked = time.monotonic(), 0, 0, 0, 0
    deadline = began + given.seconds
    for name in list(given.only or named)[share::shares]:
        try:
            named[name]()()
        except hw.HopwaveError as error:  # a GPU, or compressed rows, do not offer it
            print(f"{name}: {str(error)[:100]}")
            continue
        for kind in KINDS:
            asked += 1
            if time.monotonic() > deadline:
                continue
            with KINDS[kind]() as events:
                some, found = troubles(named[name], events, lambda number: number % parts == part, deadline)
            tried, wrong = tried + some, wrong + len(found)
            whole += time.monotonic() < deadline
            for one in found:
                print(f"{name}, {kind} {one}", flush=True)
        print(f"{name}: {tried:,} faults so far, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    row = record(given.record, "faults on cuda", tried, wrong, began, "cuda", whole=whole, of=asked)
    print(f"{tried:,} faults in {whole} of {asked} calls and kinds, {wrong} wrong, {row['minutes']} minutes")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
