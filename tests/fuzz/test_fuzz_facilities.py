"""Some graphs of the fuzzer of nearest facilities; `make fuzz` tries more."""

from __future__ import annotations

import random
from typing import Any

import facilities
import pytest
from difference import Difference


def test_only_rounding_changes_the_order_of_facilities() -> None:
    draw = random.Random(8)
    assert sum(facilities.try_graph(draw) for _ in range(30)) > 3000


def test_a_difference_that_is_no_tie_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    nearest_of = facilities.hw.nearest_of

    def changed(G: Any, places: Any, **how: Any) -> Any:
        return nearest_of(G.with_weights(G.weights * (1 + 1e-12)), places, **how)

    monkeypatch.setattr(facilities.hw, "nearest_of", changed)
    draw = random.Random(8)
    with pytest.raises(Difference, match="not the distance of its facility"):
        for _ in range(9):
            facilities.try_graph(draw)
