"""`hopwave table` and `hopwave accessibility`: what they print and write, and their errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calls import Answer, Fail, Run

import hopwave as hw

ROADS = hw.Graph.from_edges(["a", "b", "c", "a"], ["b", "c", "d", "d"], weights=[10.0, 25.0, 10.0, 90.0])


@pytest.fixture
def roads() -> Path:
    hw.write("roads.npz", ROADS)
    return Path("roads.npz")


def test_a_table_on_the_screen_and_in_files(run: Run, answer: Answer, fail: Fail, roads: Path) -> None:
    found = answer("table", roads, "-s", "a", "-s", "b", "-t", "d", "--limit", 40)
    assert found["distances"] == [[None], [35.0]]
    assert "2 × 1" in run("table", roads, "-s", "a", "-s", "b", "-t", "d")
    Path("homes.txt").write_text("b\n\na\n")
    assert "wrote table.npy" in run("table", roads, "--sources", "homes.txt", "--out", "table.npy")
    assert (np.load("table.npy") == hw.distance_table(ROADS, ["b", "a"]).values).all()
    assert answer("table", roads, "-s", "a", "--no-weights")["distances"] == [[0, 1, 2, 1]]


def test_accessibility(run: Run, answer: Answer, fail: Fail, roads: Path) -> None:
    Path("jobs.csv").write_text("place,jobs,rent\nb,100,8\nc,40,\nd,7,6\n")
    found = answer("accessibility", roads, "--values", "jobs.csv", "--limit", 15, "--limit", 40, "--top", 1)
    assert found["top"] == [
        {"vertex": "a", "jobs within 15": 100.0, "jobs within 40": 140.0, "rent within 15": 8.0, "rent within 40": 8.0}
    ]
    text = run("accessibility", roads, "--limit", 15, "--out", "reach.csv")
    assert "Most vertices within 15" in text
    assert Path("reach.csv").read_text() == "vertex,vertices within 15\na,2.0\nb,2.0\nc,2.0\nd,2.0\n"
    faded = answer("accessibility", roads, "--decay", "power:1", "--inwards", "--top", 4)
    assert len(faded["top"]) == 4
