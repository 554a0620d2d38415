"""A few lists of steps for every machine; `make fuzz` tries more."""

from __future__ import annotations

import machines
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

SHORT = settings(
    max_examples=6, stateful_step_count=15, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.mark.parametrize("machine", machines.MACHINES, ids=lambda machine: machine.__name__.lower())
def test_what_has_a_state(machine: type[machines.Counted]) -> None:
    before = machine.steps
    run_state_machine_as_test(machine, settings=SHORT)
    assert machine.steps > before + 20
