"""Jobs of several ranks: every check of check_*.py, in one job per number of ranks; ends of jobs in which a rank fails.

Four ranks form a square, and divide few graphs evenly. HOPWAVE_RANKS="3 5" adds other numbers of ranks.
"""

import json
import os
import re
from pathlib import Path
from typing import Any

import faulty_calls
import pytest
from faulty_calls import SECONDS_TO_END
from mpi_job import NEEDS_MPI, start

import hopwave as hw
from hopwave import graph500
from together import PROFILE

pytestmark = NEEDS_MPI

CHECKS = [
    name
    for path in sorted(Path(__file__).parent.glob("check_*.py"))
    for name in re.findall(r"^def check_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
]
ON_A_GPU = [
    *("packets", "wires", "generated_in_place", "sources_and_limits", "bytes_sent", "wide_slots", "ids_beyond_32_bits"),
    *("validation_finds_what_is_wrong", "shortest_paths", "betweenness_by_sources", "every_trap_in_every_layout"),
    *("hiragushis_hybrid", "rows_sorted_by_in_degree", "products_over_ranks", "products_write_as_linalg_does"),
    "algorithms_made_of_products",
]


def expect_passed(ranks: int, folder: Path, names: list[str], device: str) -> None:
    """Fails with what the job printed unless it ends well and all of these checks passed."""
    done = start(ranks, faulty_calls.HERE / "checks.py", folder, *names, device=device)
    file = folder / "passed.txt"
    found = file.read_text().split() if file.exists() else []
    if done.returncode or found != names:
        pytest.fail(f"after {found[-1:]}, exit status {done.returncode}\n{done.stdout}{done.stderr}", pytrace=False)


@pytest.mark.parametrize("ranks", [1, 4, *map(int, os.environ.get("HOPWAVE_RANKS", "").split())])
def test_check(ranks: int, tmp_path: Path) -> None:
    """One rank has one layout: `make complete` tries the traps on it as well."""
    assert len(CHECKS) == len(set(CHECKS)) >= 18
    left_out = "every_trap_in_every_layout" if ranks == 1 and PROFILE != "complete" else ""
    expect_passed(ranks, tmp_path, [name for name in CHECKS if name != left_out], "cpu")


@pytest.mark.gpu
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_check_with_ranks_that_share_a_gpu(gpu: Any, ranks: int, tmp_path: Path) -> None:
    expect_passed(ranks, tmp_path, ON_A_GPU, "cuda")


# ---------------------------------------------------------------- a rank that fails

FAILURES = {  # what rank 1 does → what is printed
    "raise SystemExit(3)": "rank 1 has ended, but other ranks wait for it",
    "os.kill(os.getpid(), 9)": "Killed (signal 9)",
    "parts.part = None": "failed: AttributeError",  # a bug: rank 0 waits in an exchange
}


@pytest.mark.parametrize("action", FAILURES)
def test_a_rank_that_fails_ends_the_job(action: str) -> None:
    """The other rank waits for it in an exchange; MPI alone would let it wait forever."""
    script = (
        "import os; from hopwave import distributed; parts = distributed.kronecker(6); world = distributed.world()\n"
        f"if world.rank == 1:\n    {action}\n"
        "while True: distributed.bfs(parts, 1)\n"
    )
    done = start(2, "-c", script, seconds=SECONDS_TO_END)
    assert done.returncode != 0 and FAILURES[action] in done.stdout + done.stderr, done


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[int]]:
    """The places that call MPI in a job without a fault."""
    return faulty_calls.reached(tmp_path_factory.mktemp("faults"))


def test_a_fault_is_injected_at_every_place_that_calls_mpi(reached: dict[str, list[int]]) -> None:
    """`faulty_calls.py --all` makes each of them fail once; this test finds calls that it would not reach."""
    known = faulty_calls.places()
    assert len(known) > 50 and set(reached) <= set(known)
    assert not {place for place, why_not in known.items() if why_not is None and place not in reached}


def test_a_call_of_mpi_that_fails_ends_the_job(reached: dict[str, list[int]], tmp_path: Path) -> None:
    """While a rank ends. The other rank waits; the job must report the reason and end."""
    (place,) = [one for one in reached if "/ranks.py:" in one and one.endswith(":Isend") and 1 in reached[one]]
    assert faulty_calls.trouble(tmp_path, 1, place) is None


def test_a_damaged_file_ends_the_job_with_its_line(tmp_path: Path) -> None:
    """Only the last rank reads the damage; every rank raises, and one of them prints the error."""
    path = tmp_path / "web.mtx"
    rows = "".join(f"{i} {i + 1}\n" for i in range(1, 90))
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n100 100 90\n{rows}7 x\n")
    done = start(3, "-c", f"from hopwave import distributed; distributed.read({str(path)!r})", seconds=SECONDS_TO_END)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if "web.mtx:92" in line]
    assert len(lines) == 1 and "rank 2 of 3" in lines[0] and "'x'" in lines[0]


def test_graph500_over_two_ranks() -> None:
    """One report, every search valid, and each component has as many input edges as in one process."""
    options = "--scale 10 --nbfs 4 --seed 7 --device cpu --json --sssp --layout 2d --plan hiragushi-hybrid"
    done = start(2, "-m", "hopwave", "graph500", *options.split())
    assert done.returncode == 0 and done.stdout.startswith("{") and done.stdout.endswith("}\n"), done
    found = json.loads(done.stdout)
    alone = graph500.run(10, roots=4, seed=7, device="cpu").values()
    assert found["valid"] and found["ranks"] == 2 and found["NBFS"] == 4
    assert found["plan"] == "hiragushi-hybrid" and 0 <= found["waiting_share"] <= 1
    for name in ("min", "median", "max"):
        assert found[f"bfs_{name}_nedge"] == found[f"sssp_{name}_nedge"] == alone[f"bfs_{name}_nedge"]


def test_a_command_that_fails_prints_one_error() -> None:
    done = start(2, "-m", "hopwave", "graph500", "--scale", "99", seconds=SECONDS_TO_END)
    assert done.returncode == 3
    assert sum("scale=99" in line for line in done.stderr.splitlines()) == 1


POOL = """
import hopwave as hw
from mpi4py.futures import MPIPoolExecutor

if __name__ == "__main__":
    with MPIPoolExecutor() as pool:
        print(hw.betweenness_centrality(hw.generate.delaunay(300, seed=1), executor=pool).scores.tobytes().hex())
"""


def test_mpi4py_futures(tmp_path: Path) -> None:
    """Rank 0 deals out blocks, the other ranks are its workers."""
    (tmp_path / "job.py").write_text(POOL)
    done = start(2, "-m", "mpi4py.futures", tmp_path / "job.py")
    expected = hw.betweenness_centrality(hw.generate.delaunay(300, seed=1)).scores
    assert done.stdout.split() == [expected.tobytes().hex()], done.stderr
