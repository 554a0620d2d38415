"""Every check of check_*.py on 1 and 4 ranks, in one job for each. (test_ranks.py uses two ranks.)"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest
from mpi_job import NEEDS_MPI, start

pytestmark = NEEDS_MPI

HERE = Path(__file__).parent
CHECKS = [
    name
    for path in sorted(HERE.glob("check_*.py"))
    for name in re.findall(r"^def check_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]
ON_A_GPU = [
    *("packets", "wires", "generated_in_place", "sources_and_limits", "bytes_sent", "wide_slots", "ids_beyond_32_bits"),
    *("validation_finds_what_is_wrong", "shortest_paths", "betweenness_by_sources", "every_trap_in_every_layout"),
    *("hiragushis_hybrid", "rows_sorted_by_in_degree", "products_over_ranks", "products_write_as_linalg_does"),
    "algorithms_made_of_products",
]
# Four ranks form a square, and divide few graphs evenly. HOPWAVE_RANKS="3 5" adds other numbers of ranks.
RANKS = (1, 4, *map(int, os.environ.get("HOPWAVE_RANKS", "").split()))


def expect_passed(ranks: int, folder: Path, names: list[str], device: str) -> None:
    """Fails with what the job printed unless it ends well and all of these checks passed."""
    done = start(ranks, str(HERE / "checks.py"), str(folder), *names, device=device)
    file = folder / "passed.txt"
    found = file.read_text().split() if file.exists() else []
    if done.returncode or found != names:
        pytest.fail(f"after {found[-1:]}, exit status {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)


@pytest.mark.parametrize("ranks", RANKS)
def test_check(ranks: int, tmp_path: Path) -> None:
    assert len(CHECKS) == len(set(CHECKS)) >= 18
    expect_passed(ranks, tmp_path, CHECKS, "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_check_with_ranks_that_share_a_gpu(gpu: Any, ranks: int, tmp_path: Path) -> None:
    expect_passed(ranks, tmp_path, ON_A_GPU, "cuda")
