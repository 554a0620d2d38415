"""Random questions over MPI ranks, compared with one process; and ranks that disagree (tests/mpi/check_random.py)."""

import random
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "mpi"


def inputs(draw: random.Random, folder: Path) -> int:
    """A job of some ranks."""
    sys.path[:0] = [str(HERE)]
    from mpi_job import start

    from questions import Difference

    ranks, seed = draw.choice((2, 3, 4)), draw.randrange(1, 1 << 40)
    try:
        done = start(ranks, HERE / "checks.py", folder, f"random_questions={seed}", seconds=240)
    except subprocess.TimeoutExpired as error:
        raise Difference(f"{ranks} ranks, seed {seed}: the job did not end; {error.stdout!r}") from error
    if done.returncode or "passed random_questions" not in done.stdout:
        raise Difference(f"{ranks} ranks, seed {seed}: {done.stdout[-300:]} {done.stderr[-1500:]}")
    return 60  # questions
