"""The GPU's faults, one at a time: an allocation, a launch or a compilation that fails at any moment of any call.

After each the call raises one of our errors, or gives the right answer by another way; and the next call is right.
"""

from __future__ import annotations

from typing import Any

import pytest

import hopwave as hw
import mixed
from mixed import Events

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

G = mixed.graph()
EVERY = 5  # each of the first so many events fails once; of the others, one in SOME
SOME = 11


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> Any:
    import cupy

    events = Events(lambda: cupy.cuda.memory.OutOfMemoryError(1 << 40, 1 << 30, 0))
    pool = cupy.get_default_memory_pool()

    def allocate(size: int) -> Any:
        events()
        return pool.malloc(size)

    cupy.cuda.set_allocator(allocate)
    yield events
    cupy.cuda.set_allocator(pool.malloc)


class CountedFunction:
    """A kernel whose launches are counted."""

    def __init__(self, function: Any, events: Events) -> None:
        self.function, self.events, self.ptr = function, events, function.ptr

    def __call__(self, *arguments: Any, **others: Any) -> None:
        self.events()
        self.function(*arguments, **others)


class CountedDriver:
    """CUDA's driver, whose cooperative launches are counted."""

    def __init__(self, driver: Any, events: Events) -> None:
        self._driver, self._events = driver, events

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def launchCooperativeKernel(self, *arguments: Any) -> Any:
        self._events()
        return self._driver.launchCooperativeKernel(*arguments)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Any:
    from cupy_backends.cuda.api import driver

    from hopwave.engines.cuda import launch, nvrtc, prepared_launch

    events = Events(lambda: driver.CUDADriverError(701))  # too many resources requested for launch
    kernel = nvrtc.kernel
    launch.forget()
    monkeypatch.setattr(nvrtc, "kernel", lambda *given, **more: CountedFunction(kernel(*given, **more), events))
    monkeypatch.setattr(prepared_launch, "driver", CountedDriver(prepared_launch.driver, events))
    yield events
    monkeypatch.undo()
    launch.forget()


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Kernels come from the disk, once they are there; reading one counts as compiling it."""
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
        monkeypatch.setattr(nvrtc, "building", Counted())
        launch.forget()

    events.begin = begin  # type: ignore[method-assign]
    yield events
    monkeypatch.undo()
    launch.forget()


def troubles(name: str, events: Events) -> list[str]:
    """What went wrong after faults at every moment of a question: nothing, it should be."""
    right, found = mixed.answer(name, G, "cpu"), []
    mixed.answer(name, mixed.fresh(G), "cuda")  # so that all kernels are on the disk
    events.begin(0)
    assert mixed.agree(mixed.answer(name, mixed.fresh(G), "cuda"), right)
    count = events.count
    for fails in [i for i in range(1, count + 1) if i <= EVERY or i % SOME == 0]:
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
    return found


@pytest.mark.parametrize("name", mixed.QUESTIONS)
@pytest.mark.parametrize("kind", ["allocations", "launches", "compilations"])
def test_a_fault_is_told_and_the_next_call_is_right(kind: str, name: str, request: pytest.FixtureRequest) -> None:
    assert not troubles(name, request.getfixturevalue(kind))
