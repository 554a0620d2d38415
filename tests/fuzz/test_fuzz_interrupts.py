"""A few hundred interrupts in a new process; `python tests/fuzz/interrupts.py 20000` makes more."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import njit

from hopwave.engines.cpu.betweenness.core_graph import arrays_of


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_calls_that_are_interrupted_end_and_the_next_is_right() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOPWAVE_NUM_THREADS": "3"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("interrupts.py")), "300", "--seconds", "60", "--seed", "1"],
        env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("300 interrupts of ") and done.stdout.endswith(" 0 wrong\n")


def test_ctrl_c_while_a_compiled_function_returns_arrays() -> None:
    @njit
    def take_long(n):
        total = np.zeros(3)
        for i in range(n):
            total[i % 3] += np.sqrt(i)
        return total, total[1:], total[2:]

    take_long(3)

    def ring(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            arrays_of(take_long, 50_000_000)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.gpu
@pytest.mark.slow
def test_kernels_of_interrupted_calls_write_into_no_memory_of_later_ones(gpu: Any) -> None:
    """What they report to came from CuPy's pool, which gave it to the next upload: its bytes changed on the way."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    given = ["300", "--device", "cuda", "--seconds", "60", "--only", "betweenness", "betweenness of edges"]
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("interrupts.py")), *given],
        env=environment, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
