"""The model of docs/scaling.md: it finds what it was made of, and foretells the jobs that it was not fitted to."""

from typing import Any

import pytest
from benchmarks import pages
from benchmarks import scaling as model
from benchmarks.scaling import Machine

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


def test_jobs_of_four_ranks_are_foretold_to_within_a_sixth() -> None:
    """As the page says; nothing is fitted to them."""
    four = [row for row in model.checked(LINES) if row["ranks"] == 4]
    assert {(row["layout"], row["scale"]) for row in four} >= {("1d", 20), ("2d", 20)}
    assert all(abs(row["predicted"] / row["ms"] - 1) < 1 / 6 for row in four)
