"""executor= with mpi4py.futures: rank 0 deals out blocks, the other ranks are its workers."""

from __future__ import annotations

from pathlib import Path

from mpi_job import NEEDS_MPI, start

import hopwave as hw

pytestmark = NEEDS_MPI

SCRIPT = """
import hopwave as hw
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(hw.betweenness_centrality(hw.generate.delaunay(300, seed=1), executor=pool).scores.tobytes().hex())
"""


def test_mpi4py_futures(tmp_path: Path) -> None:
    file = tmp_path / "job.py"
    file.write_text(SCRIPT)
    done = start(2, "-m", "mpi4py.futures", str(file))
    expected = hw.betweenness_centrality(hw.generate.delaunay(300, seed=1)).scores
    assert done.stdout.split() == [expected.tobytes().hex()], done.stderr
