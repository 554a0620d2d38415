"""The GPU's faults, one at a time: an allocation, a launch or a compilation that fails at any moment of any call."""

from __future__ import annotations

import cuda_faults
import pytest

import mixed

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

EVERY = 5  # each of the first 5 events fails once; of the others, one in SOME (cuda_faults.py takes all)
SOME = 11


@pytest.mark.parametrize("name", mixed.QUESTIONS)
@pytest.mark.parametrize("kind", cuda_faults.KINDS)
def test_a_fault_is_told_and_the_next_call_is_right(kind: str, name: str) -> None:
    with cuda_faults.KINDS[kind]() as events:
        _, found = cuda_faults.troubles(name, events, lambda number: number <= EVERY or number % SOME == 0)
    assert not found
