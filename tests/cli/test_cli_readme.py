"""Every command of the README runs as it is written there, on a small graph."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import hopwave as hw

README = Path(__file__).resolve().parents[2] / "README.md"
SMALLER = {"--scale": "6", "-k": "5"}  # the README's sizes → sizes for a test


def commands() -> list[str]:
    """The command lines of the README's section about the command, without their comments."""
    section = README.read_text(encoding="utf-8").partition("## Command line")[2]
    block = section.partition("```sh\n")[2].partition("```")[0]
    return [line.partition(" #")[0].strip() for line in block.splitlines()]


def small(words: list[str]) -> list[str]:
    """The command with sizes that suit a test."""
    return [SMALLER.get(before, word) for before, word in zip(["", *words], words, strict=False)]


ELSEWHERE = ("warmup", "fetch", "paper")  # too slow for here; tests/datasets has a server; tests/papers


@pytest.mark.parametrize("command", [command for command in commands() if command.split()[1] not in ELSEWHERE])
def test_commands_run_as_they_are_written(command: str, run) -> None:
    hw.write("web.mtx.gz", hw.generate.kronecker(6, 4, seed=1))
    grid = hw.generate.grid(10, 10)
    hw.write("roads.csv", grid.with_weights([2.5] * grid.m))
    words = shlex.split(re.sub(r"^mpiexec -n \d+ ", "", command))  # tests/mpi starts several processes
    assert words[0] == "hopwave"
    assert run(" ".join(small(words[1:])))


def test_there_are_commands() -> None:
    assert {"info", "bfs", "bc", "sssp", "closeness", "doctor"} <= {command.split()[1] for command in commands()}
