"""Packed arguments of a launch, as the driver would read them; no GPU is needed to pack them."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cupy")
from hopwave.engines.cuda import prepared_launch

RECORD = np.dtype([("a", np.uint64), ("b", np.int32)], align=True)


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[list[bytes]]:
    """The arguments of every launch: 16 bytes from each address."""
    seen: list[list[bytes]] = []

    def launch(*arguments: Any) -> None:
        handle, *grid, stream, listed = arguments
        assert (handle, grid, stream) == (77, [5, 1, 1, 64, 1, 1, 0], 9)
        addresses = (ctypes.c_void_p * 4).from_address(listed)
        assert not any(address % prepared_launch.ALIGNMENT for address in addresses)
        seen.append([ctypes.string_at(address, 16) for address in addresses])

    def plainly(*arguments: Any) -> None:
        *others, extra = arguments
        assert extra == 0
        launch(*others)

    driver = SimpleNamespace(launchCooperativeKernel=launch, launchKernel=plainly, ctxGetCurrent=lambda: 1)
    monkeypatch.setattr(prepared_launch, "driver", driver)
    monkeypatch.setattr(
        prepared_launch,
        "cupy",
        SimpleNamespace(cuda=SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=9))),
    )
    return seen


def record(a: int, b: int) -> Any:
    return np.array([(a, b)], RECORD)


@pytest.mark.parametrize("cooperative", [True, False])
def test_arguments_lie_at_their_places_and_stay_there(launched: list[list[bytes]], cooperative: bool) -> None:
    launch = prepared_launch.PreparedLaunch(
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
    launch = prepared_launch.PreparedLaunch(
        SimpleNamespace(handle=77), 5, 64, a=np.int32(0), b=np.int32(0), c=np.int32(0), d=np.int32(0)
    )
    with pytest.raises(KeyError):
        launch(e=1)
    assert launched == []
