"""Starts Python under mpiexec."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hopwave.papers.hiragushi import OPEN_MPI

ROOT = Path(__file__).resolve().parents[2]
MPIEXEC = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
NEEDS_MPI = [
    pytest.mark.mpi,
    pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed"),
    pytest.mark.skipif(MPIEXEC is None, reason="mpiexec is missing; run: pip install mpich"),
]


def start(ranks: int, *command: Any, seconds: float = 600, device: str = "cpu") -> subprocess.CompletedProcess[str]:
    """Run Python on several ranks; raises subprocess.TimeoutExpired if the job does not end in time."""
    assert MPIEXEC is not None
    known = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOPWAVE_NUM_THREADS": "1"}
    known |= {"HOPWAVE_CHECK_DEVICE": device, **OPEN_MPI}
    line = [MPIEXEC, "-n", str(ranks), sys.executable, *map(str, command)]
    return subprocess.run(line, capture_output=True, text=True, timeout=seconds, env=known, check=False)
