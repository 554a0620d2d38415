"""The weight of the code base: every room has a budget of lines and files, and budgets only go down.

    python tests/house/test_budget.py

prints each room's lines and files, and what its budget leaves. A change that needs more room somewhere takes it from
another room: the sums hold. Lower a budget in budget.toml when a room becomes lighter.
"""

import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("budget.toml")
PLACES = {  # sum → its folder, and the ending of the files whose lines count
    "src": ("src", ".py"),
    "cuda": ("src", ".cuh"),
    "tests": ("tests", ".py"),
    "benchmarks": ("benchmarks", ".py"),
}


class Weight(NamedTuple):
    """Lines and files, or the most of each."""

    lines: int
    files: int


def weighed(files: list[Path]) -> Weight:
    """Lines and number of these files."""
    return Weight(sum(file.read_bytes().count(b"\n") for file in files), len(files))


def room_of(file: Path) -> str:
    """The room of a source file: a folder of src/hopwave, one of engines/, or "loose"."""
    parts = file.relative_to(ROOT / "src").parts[1:]
    if len(parts) < 2:
        return "loose"
    if parts[0] != "engines":
        return parts[0]
    return f"engines/{parts[1]}" if parts[1] in ("cpu", "cuda") else "engines"


def found() -> dict[str, Weight]:
    """The weight of every room and of every sum."""
    weights = {}
    for name, (folder, ending) in PLACES.items():
        files = sorted((ROOT / folder).rglob(f"*{ending}"))
        weights[f"all {name}"] = weighed(files)
        if name == "src":
            rooms: dict[str, list[Path]] = {}
            for file in files:
                rooms.setdefault(room_of(file), []).append(file)
            weights |= {room: weighed(some) for room, some in rooms.items()}
    every = [file for file in (ROOT / "benchmarks").rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    weights["all benchmarks"] = weights["all benchmarks"]._replace(files=len(every))
    return dict(sorted(weights.items()))


def budgets() -> dict[str, Weight]:
    """The budget of every room and of every sum."""
    return {room: Weight(**most) for room, most in tomllib.loads(BUDGET.read_text(encoding="utf-8")).items()}


def table(weights: dict[str, Weight], most: dict[str, Weight]) -> str:
    """One line per room: its weight, and what its budget leaves."""
    lines = [f"{'room':<20} {'lines':>7} {'left':>6} {'files':>6} {'left':>5}"]
    for room, now in weights.items():
        left = Weight(*(a - b for a, b in zip(most.get(room, Weight(0, 0)), now, strict=True)))
        lines.append(f"{room:<20} {now.lines:>7,} {left.lines:>6,} {now.files:>6} {left.files:>5}")
    return "\n".join(lines)


def test_every_room_keeps_its_budget() -> None:
    weights, most = found(), budgets()
    print(table(weights, most))
    unknown = set(weights) ^ set(most)
    assert not unknown, f"{sorted(unknown)}: budget.toml and the folders of src/hopwave differ; take lines from a room"
    heavy = [room for room, now in weights.items() if now.lines > most[room].lines or now.files > most[room].files]
    remedy = "shorten this room, or take lines from another room in tests/house/budget.toml"
    assert not heavy, f"{', '.join(heavy)}: over budget; {remedy}\n{table(weights, most)}"


def test_the_rooms_add_up_to_the_sum() -> None:
    """A room may borrow from another, and the sum of all budgets stays that of the whole."""
    rooms = [most for room, most in budgets().items() if not room.startswith("all ")]
    assert sum(one.lines for one in rooms) <= budgets()["all src"].lines
    assert sum(one.files for one in rooms) <= budgets()["all src"].files


def test_a_line_too_many_is_noticed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    most = found()
    less = most | {"io": most["io"]._replace(lines=most["io"].lines - 1)}
    monkeypatch.setattr("test_budget.budgets", lambda: less)
    with pytest.raises(AssertionError, match=r"io: over budget"):
        test_every_room_keeps_its_budget()
    assert "io " in capsys.readouterr().out


if __name__ == "__main__":
    print(table(found(), budgets()))
