"""The model of docs/scaling.md: it finds what it was made of, and foretells the jobs that it was not fitted to."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks import pages
from benchmarks import scaling as model
from benchmarks.scaling import Machine, Network

LINES = pages.rows("scaling")


def level(direction: str, arcs: int, ms: float = 0.0) -> dict[str, Any]:
    """A measured level of one rank."""
    return {"direction": direction, "edges": arcs, "checked": arcs, "ms": ms}


def test_the_fit_finds_the_times_that_levels_are_made_of() -> None:
    machine = Machine(push=(0.5, 3e-6, 0.0), pull=(1.0, 2e-6, 1e-7))
    lines = []
    for n in (1 << 10, 1 << 16, 1 << 20):
        levels = [
            level(direction, arcs, a + b * arcs + c * n)
            for direction, (a, b, c) in (("push", machine.push), ("pull", machine.pull))
            for arcs in (1, 10_000, 3_000_000)
        ]
        lines.append({"part": "measured", "device": "cpu", "ranks": 1, "n": n, "searches": [{"levels": levels}]})
    found = model.fitted(lines, "cpu")
    assert found.push == pytest.approx(machine.push, abs=1e-12) and found.pull == pytest.approx(machine.pull, abs=1e-12)


def test_a_level_is_computing_host_and_network() -> None:
    line = {"ranks": 8, "grid": [4, 2], "own": 1000}
    one = {"direction": "pull", "checked by one": 500, "packets by one": 3, "exchanges": 5, "passes": 2,
           "headers": 100, "sent by one": 1100}  # fmt: skip
    machine, network = Machine((9, 9, 9), (1.0, 0.01, 0.001), exchange=0.1), Network(10.0, 2.0, 1e-3)
    computing, exchanging = model.level_ms(line, one, machine, network, factor=1)
    assert computing == pytest.approx(2 * 1.0 + 5.0 + 1.0 + 7 * 0.1)  # two turns of a row, arcs, vertices, exchanges
    assert exchanging == pytest.approx(((5 * 3 + 2) * 10 + 3 * 2) * 1e-3 + 1100 / 1e-3 * 1e-6)
    computing, exchanging = model.level_ms(line, one, machine, network, factor=4)
    assert computing == pytest.approx(2 * 1.0 + 20.0 + 4.0 + 7 * 0.1)
    assert exchanging == pytest.approx(((5 * 3 + 2) * 10 + 5 * 2) * 1e-3 + (100 + 4 * 1000) / 1e-3 * 1e-6)


def test_jobs_of_four_ranks_are_foretold_to_within_a_sixth() -> None:
    """As the page says; nothing is fitted to them."""
    four = [row for row in model.checked(LINES) if row["ranks"] == 4]
    assert {(row["layout"], row["scale"]) for row in four} >= {("1d", 20), ("2d", 20)}
    assert all(abs(row["predicted"] / row["ms"] - 1) < 1 / 6 for row in four)


def test_predictions_have_a_row_for_every_number_of_gpus() -> None:
    rows = model.predictions(LINES, 21)
    assert rows[0]["GPUs"] == 1 and rows[-1]["GPUs"] == 8192 and rows[-1]["scale"] == 34
    for row in rows[1:]:
        for layout in ("1D", "2D"):
            assert row[f"{layout}, as now"] < row[f"{layout}, led by the GPU"] < row[f"{layout}, the network alone"]
