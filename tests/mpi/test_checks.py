"""Every check of check_*.py on 1 and 4 ranks, each as a separate test. (test_ranks.py uses two ranks.)

Starting a job takes seconds, so one job per number of ranks runs all checks that were selected, and the tests read its
report. A check that fails ends its job; the checks after it run in another one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from mpi_job import NEEDS_MPI, start

pytestmark = NEEDS_MPI

HERE = Path(__file__).parent
CHECKS = tuple(
    name
    for path in sorted(HERE.glob("check_*.py"))
    for name in re.findall(r"^def check_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
)
ON_A_GPU = (
    *("packets", "wires", "generated_in_place", "sources_and_limits", "bytes_sent", "wide_slots", "ids_beyond_32_bits"),
    *("validation_finds_what_is_wrong", "shortest_paths", "betweenness_by_sources", "every_trap_in_every_layout"),
    *("hiragushis_hybrid", "rows_sorted_by_in_degree", "products_over_ranks", "products_write_as_linalg_does"),
    "algorithms_made_of_products",
)
MAX_JOBS = 4  # per number of ranks: three checks may fail before the rest is skipped
PASSED = ""
# Four ranks form a square, and divide few graphs evenly. HOPWAVE_RANKS="3 5" adds other numbers of ranks.
RANKS = (1, 4, *map(int, os.environ.get("HOPWAVE_RANKS", "").split()))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("ranks", RANKS)
def test_check(ranks: int, check: str, request: pytest.FixtureRequest, tmp_path_factory: Any) -> None:
    expect_passed(request, tmp_path_factory, "cpu", ranks, check)


@pytest.mark.gpu
@pytest.mark.parametrize("check", ON_A_GPU)
@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_check_with_ranks_that_share_a_gpu(
    gpu: Any, ranks: int, check: str, request: pytest.FixtureRequest, tmp_path_factory: Any
) -> None:
    expect_passed(request, tmp_path_factory, "cuda", ranks, check)


def expect_passed(request: pytest.FixtureRequest, factory: Any, device: str, ranks: int, check: str) -> None:
    """Fail with the reason unless this check passed in the job of this device and number of ranks."""

    def selected(number: int) -> list[str]:
        mine = (
            item for item in request.session.items if getattr(item, "originalname", None) == request.node.originalname
        )
        return [item.callspec.params["check"] for item in mine if item.callspec.params["ranks"] == number]

    if device == "cpu" and ranks > 1:  # first one rank compiles, so that the others read the code from disk
        shared_outcomes(factory, device, 1, selected(1))
    outcome = shared_outcomes(factory, device, ranks, selected(ranks))[check]
    if outcome != PASSED:
        pytest.fail(f"{check} on {ranks} ranks: {outcome}", pytrace=False)


def shared_outcomes(factory: Any, device: str, ranks: int, names: list[str]) -> dict[str, str]:
    """The outcomes of these checks. The first process of this test session that gets here runs them; the others wait.

    One job runs at a time: two would wait for each other's cores.
    """
    import fcntl  # Windows has neither this nor mpiexec

    base = factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / f"mpi-{device}-{ranks}"
    folder.mkdir(exist_ok=True)
    with (base / "mpi.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        kept = folder / "outcomes.json"
        if not kept.exists():
            kept.write_text(json.dumps(run_checks(folder, device, ranks, names)), encoding="utf-8")
        return dict(json.loads(kept.read_text(encoding="utf-8")))


def run_checks(folder: Path, device: str, ranks: int, names: list[str]) -> dict[str, str]:
    """For every check PASSED, or why it failed. All run in one job; after a failure the rest runs in another job."""
    outcomes: dict[str, str] = {}
    ending = ""
    for job in range(MAX_JOBS):
        left = [name for name in names if name not in outcomes]
        if not left:
            break
        report = folder / f"report-{job}.jsonl"
        try:
            done = start(ranks, str(HERE / "checks.py"), str(folder), *left, "--report", str(report), device=device)
            ending = "" if done.returncode == 0 else f"exit status {done.returncode}\n{done.stdout}{done.stderr}"
        except subprocess.TimeoutExpired as error:
            ending = f"the job did not end in {error.timeout} s"
        found = read_report(report, ending)
        outcomes |= found
        if not found:  # the job did not even begin
            break
    return {name: outcomes.get(name, f"did not run: {ending or 'its job ended early'}") for name in names}


def read_report(report: Path, ending: str) -> dict[str, str]:
    """The outcomes of the checks that a job started. ending: how the job ended, if not well."""
    found: dict[str, str] = {}
    lines = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
    for line in lines:
        event = json.loads(line)
        if event["state"] == "started":
            found[event["check"]] = f"did not finish: {ending}"
        elif event["state"] == "failed":
            found[event["check"]] = f"rank {event['rank']}: {event['reason']}"
        else:
            found[event["check"]] = PASSED
    if ending and found and all(outcome == PASSED for outcome in found.values()):
        found[list(found)[-1]] = f"passed, but then the job failed: {ending}"
    return found


# ---------------------------------------------------------------- tests of the functions above


def test_checks_are_found() -> None:
    assert len(CHECKS) == len(set(CHECKS)) >= 18
    assert set(ON_A_GPU) <= set(CHECKS)


def test_a_report_names_what_failed_and_what_did_not_finish(tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    events = [("a", "started"), ("a", "passed"), ("b", "started"), ("b", "failed"), ("c", "started")]
    report.write_text(
        "".join(json.dumps({"check": c, "state": s, "rank": 1, "reason": "no"}) + "\n" for c, s in events)
    )
    assert read_report(report, "killed") == {"a": PASSED, "b": "rank 1: no", "c": "did not finish: killed"}
    report.write_text("".join(json.dumps({"check": c, "state": s}) + "\n" for c, s in events[:2]))
    assert read_report(report, "") == {"a": PASSED}
    assert read_report(report, "exit status 1") == {"a": "passed, but then the job failed: exit status 1"}
    assert read_report(tmp_path / "none", "killed") == {}


def test_the_checks_after_a_failure_run_in_another_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: list[tuple[str, ...]] = []

    def pretend(ranks: int, script: str, folder: str, *rest: str, device: str) -> subprocess.CompletedProcess[str]:
        """A simulated job in which the checks b and d fail, and f never ends."""
        *names, _, report = rest
        jobs.append(tuple(names))
        with Path(report).open("w") as file:
            for name in names:
                file.write(json.dumps({"check": name, "state": "started"}) + "\n")
                if name == "f":
                    raise subprocess.TimeoutExpired("mpiexec", 300)
                state = "failed" if name in "bd" else "passed"
                file.write(json.dumps({"check": name, "state": state, "rank": 0, "reason": "wrong"}) + "\n")
                if state == "failed":
                    return subprocess.CompletedProcess([], 1, "", "")
        return subprocess.CompletedProcess([], 0, "", "")

    monkeypatch.setitem(globals(), "start", pretend)
    assert run_checks(tmp_path, "cpu", 2, list("abcdefg")) == {
        **dict.fromkeys("aceg", PASSED),
        **dict.fromkeys("bd", "rank 0: wrong"),
        "f": "did not finish: the job did not end in 300 s",
    }
    assert ["".join(names) for names in jobs] == ["abcdefg", "cdefg", "efg", "g"]


def test_a_job_that_cannot_begin_fails_every_check(tmp_path: Path) -> None:
    outcome = run_checks(tmp_path, "cpu", 1, ["nonsense"])["nonsense"]
    assert outcome.startswith("did not run: exit status") and "there is no check 'nonsense'" in outcome
