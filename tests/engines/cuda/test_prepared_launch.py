"""Packed arguments of a launch, as the driver would read them; tested without a GPU."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")
from hopwave.engines.cuda import context
from hopwave.engines.cuda import launch as launching

RECORD = np.dtype([("a", np.uint64), ("b", np.int32)], align=True)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """The arguments of every launch: 16 bytes from each address."""
    seen: list[list[bytes]] = []

    def launch(*arguments: Any) -> None:
        handle, *grid, stream, listed = arguments
        assert (handle, grid, stream) == (77, [5, 1, 1, 64, 1, 1, 0], 9)
        addresses = (ctypes.c_void_p * 4).from_address(listed)
        assert not any(address % launching.ALIGNMENT for address in addresses)
        seen.append([ctypes.string_at(address, 16) for address in addresses])

    def plainly(*arguments: Any) -> None:
        *others, extra = arguments
        assert extra == 0
        launch(*others)

    driver = SimpleNamespace(launchCooperativeKernel=launch, launchKernel=plainly)
    monkeypatch.setattr(launching, "driver", driver)
    monkeypatch.setattr(context, "driver", SimpleNamespace(ctxGetCurrent=lambda: 1))
    monkeypatch.setattr(
        launching,
        "cupy",
        SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=9))),
    )
    return seen


def record(a: int, b: int) -> Any:
    return np.array([(a, b)], RECORD)


@pytest.mark.parametrize("cooperative", [True, False])
def test_arguments_lie_at_their_places_and_stay_there(launched: list[list[bytes]], cooperative: bool) -> None:
    launch = launching.PreparedLaunch(
        SimpleNamespace(handle=77),
        5,
        64,
        cooperative=cooperative,
        graph=record(3, -4),
        at=np.uint64(0),
        count=np.int32(7),
        alpha=np.float64(2.5),
    )
    launch()
    launch(at=1 << 40, count=8)
    launch.record("graph", record(5, 6))
    launch(count=launch.word(np.int32(-1)))
    graphs = [np.frombuffer(arguments[0], RECORD).tolist() for arguments in launched]
    assert graphs == [[(3, -4)], [(3, -4)], [(5, 6)]]
    assert [int.from_bytes(arguments[1][:8], "little") for arguments in launched] == [0, 1 << 40, 1 << 40]
    assert [np.frombuffer(arguments[2][:4], np.int32)[0] for arguments in launched] == [7, 8, -1]
    assert [np.frombuffer(arguments[3][:8], np.float64)[0] for arguments in launched] == [2.5, 2.5, 2.5]


def test_a_name_that_is_no_parameter_is_refused(launched: list[list[bytes]]) -> None:
    launch = launching.PreparedLaunch(
        SimpleNamespace(handle=77), 5, 64, a=np.int32(0), b=np.int32(0), c=np.int32(0), d=np.int32(0)
    )
    with pytest.raises(KeyError):
        launch(e=1)
    assert launched == []


class Array:
    """A substitute for a CuPy array at some address."""

    def __init__(self, address: int) -> None:
        self.data = SimpleNamespace(ptr=address)


def test_packed_launches_write_every_argument_and_keep_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays, numbers of 4 and 8 bytes, negative ones, floats, the greatest 64-bit number; grids as in Kernels."""
    seen: list[Any] = []

    def launch(handle: int, *arguments: Any) -> None:
        *shape, stream, listed, extra = arguments
        addresses = (ctypes.c_void_p * 6).from_address(listed)
        seen.append((handle, shape, stream, extra, [ctypes.string_at(address, 8) for address in addresses]))

    stream = SimpleNamespace(ptr=9)
    cuda = SimpleNamespace(get_current_stream=lambda: stream)
    found: list[int] = []
    runtime = SimpleNamespace(getDevice=lambda: 5, setDevice=found.append)
    monkeypatch.setattr(context, "runtime", runtime)
    monkeypatch.setattr(context, "driver", SimpleNamespace(ctxGetCurrent=lambda: 0))
    monkeypatch.setattr(launching, "driver", SimpleNamespace(launchKernel=launch))
    monkeypatch.setattr(launching, "cupy", SimpleNamespace(ndarray=Array, cuda=cuda))
    asked: list[Any] = []

    def get(*key: str) -> Any:
        asked.append(key)
        return SimpleNamespace(ptr=77)

    launches = launching.PackedLaunches(SimpleNamespace(get=get, grid=None, blocks=100))
    launches.begin()
    assert found == [5], "the driver does not find the GPU of a new thread by itself"
    first = Array(1 << 40), np.int32(-3), np.uint64(2**64 - 1), np.float64(2.5), np.float32(0.5), np.uint32(2**32 - 1)
    launches("steps/push.cuh", "push", 1000, *first, shape="true")
    launches("steps/push.cuh", "push", 10**9, *first[::-1][1:], np.int32(7), shape="true")
    launches("steps/push.cuh", "push", 10**9, *first, shape="true", blocks=3)
    launches("steps/push.cuh", "push", 0, *first, shape="true")
    packed = [value.tobytes() for value in (np.uint64(1 << 40), *first[1:])]
    assert asked == [("steps/push.cuh", "push", "true", "")]
    assert [one[:4] for one in seen] == [(77, [blocks, 1, 1, 256, 1, 1, 0], 9, 0) for blocks in (4, 100, 3)]
    for _, _, _, _, read in (seen[0], seen[2]):
        assert [there[: len(right)] for there, right in zip(read, packed, strict=True)] == packed
    assert seen[1][4][0][:4] == first[4].tobytes() and seen[1][4][4] == packed[0] and seen[1][4][5][:4] == b"\7\0\0\0"
