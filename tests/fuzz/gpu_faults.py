"""Fuzzing of the GPU's faults: an allocation, a launch or a compilation that fails at one moment of a call.

Calls are those of tests/every_call.py. After each fault the call raises one of our errors, or gives the right answer
another way; the next call is right.
"""

import itertools
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import every_call
import hopwave as hw
from every_call import Fresh, close, plain
from mixed import Events
from questions import Difference


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

    events = Events(lambda: cupy.cuda.runtime.CUDARuntimeError(2), buffers._waiting.clear)  # out of memory

    def counted(allocate: Callable[[int], Any]) -> Callable[[int], Any]:
        return lambda size: (events(), allocate(size))[1]

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

    made = nvrtc.Building._made

    def count(*given: Any) -> Any:
        events()
        return made(*given)

    def forget() -> None:
        nvrtc.building = nvrtc.Building()
        forget_kernels()

    failed = "steps/push.cuh for sm_90: NVRTC_ERROR_OUT_OF_MEMORY"
    events = Events(lambda: nvrtc.CompilingFailed(failed), forget)
    with patch.object(nvrtc, "building", nvrtc.building), patch.object(nvrtc.Building, "_made", staticmethod(count)):
        yield events
    forget_kernels()


KINDS: dict[str, Callable[[], AbstractContextManager[Events]]] = {
    "allocations": allocations,
    "pinned": pinned,
    "launches": launches,
    "compilations": compilations,
}


def troubles(fresh: Fresh, events: Events, wanted: Callable[[int], bool]) -> tuple[int, list[str]]:
    """Cause a fault at each wanted event of a call: returns how many there were, and what went wrong after them."""
    found, tried = [], 0
    right = plain(fresh()())  # so that all kernels are on the disk
    call = fresh()
    events.begin(0)
    if not close(plain(call()), right):
        found.append("two calls give two answers")
    count = events.count
    for fails in filter(wanted, range(1, count + 1)):
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


@cache
def calls() -> Iterator[tuple[str, Fresh]]:
    return itertools.cycle(every_call.calls("cuda").items())


def on_cuda(draw: random.Random, folder: Path) -> int:
    """Faults of every kind at the first and at one in eight events of the next call."""
    (name, fresh), part, tried = next(calls()), draw.randrange(8), 0
    try:
        fresh()()
    except hw.HopwaveError:  # a GPU or compressed rows do not offer it
        return 0
    for kind, begin in KINDS.items():
        with begin() as events:
            some, found = troubles(fresh, events, lambda number: number == 1 or number % 8 == part)
        tried += some
        if found:
            raise Difference(f"{name}, {kind}: {'; '.join(found)}")
    return tried
