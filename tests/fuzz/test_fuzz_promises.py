"""Some inputs for every fuzzer of promises.py; `make fuzz` tries more."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import long_run
import promises
import pytest
from difference import Difference

from hopwave.api import validate

pytestmark = pytest.mark.filterwarnings("ignore")

COUNTS = {
    "certificates": 100, "overflow": 2, "validation": 100, "options": 200, "samples": 20, "bits": 20, "sizes": 60,
    "pickles": 60, "folders": 50, "writers": 3, "too_large": 5,
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_promises_hold(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, checkpoint = promises.interrupts.policy, promises.interrupts.checkpoint
    for module, value in ((policy, "VERTICES_PER_THREAD"), (policy, "SMALL_JOB"), (checkpoint, "INTERVAL")):
        monkeypatch.setattr(module, value, getattr(module, value))  # set back afterwards
    attempts = getattr(promises, name)(random.Random(name), tmp_path)
    assert sum(attempt() for attempt in islice(attempts, COUNTS[name])) >= COUNTS[name]


def test_every_fuzzer_is_tried_here_or_has_its_own_test() -> None:
    """That of memory is tests/api/test_memory_estimate.py: it needs a process for every input."""
    named = {place.partition(":")[2] for place in long_run.FUZZERS.values() if place.startswith("promises:")}
    assert named - {"memory"} == set(COUNTS)


def test_a_promise_that_is_broken_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fuzzers that cannot fail would pass everything."""

    def function(flag: bool = False) -> None:
        """Takes anything."""

    def fails(name: str) -> bool:
        try:
            for attempt in islice(getattr(promises, name)(random.Random(1), tmp_path), 50):
                attempt()
        except Difference:
            return True
        return False

    monkeypatch.setattr(promises, "why_not_trusted", lambda place, shared=False: None)
    monkeypatch.setattr(promises.public_calls, "functions", lambda: iter([("function", function)]))
    monkeypatch.setattr(promises.hw, "validate", lambda *given: validate.Validation(()))
    assert fails("folders") and fails("options") and fails("validation")
