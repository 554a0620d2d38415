"""A few kills of each kind in a new process; `python tests/fuzz/kills.py 1000` makes more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_killed_process_leaves_the_old_file_or_the_new_one() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "HOPWAVE_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("kills.py")), "18", "--seed", "1"],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("18 kills in ") and done.stdout.endswith(" 0 wrong\n")
