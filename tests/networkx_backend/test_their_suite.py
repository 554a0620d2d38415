"""NetworkX's own tests, with every call that hopwave serves dispatched to hopwave."""

import os
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import hopwave
from together import PROFILE

pytestmark = pytest.mark.slow

TESTS = (  # run in one process, since starting one takes seconds
    *("algorithms/traversal", "algorithms/shortest_paths", "algorithms/centrality", "algorithms/bipartite"),
    *("algorithms/link_analysis", "algorithms/components", "algorithms/connectivity/tests/test_connectivity.py"),
    *("algorithms/tests/test_dag.py", "algorithms/tests/test_distance_measures.py", "algorithms/tests/test_wiener.py"),
    *("algorithms/tree/tests/test_distance_measures.py", "algorithms/tests/test_distance_regular.py"),
    *("algorithms/tests/test_efficiency.py", "algorithms/tests/test_simple_paths.py"),
    *("algorithms/tests/test_cluster.py", "algorithms/tests/test_core.py"),
    *("algorithms/community/tests/test_quality.py", "generators/tests/test_ego.py"),
)
LEFT_OUT = (  # files whose tests call nothing that hopwave serves
    "algorithms/traversal/tests/test_dfs.py",
    *("algorithms/traversal/tests/test_edgebfs.py", "algorithms/traversal/tests/test_edgedfs.py"),
    *("algorithms/shortest_paths/tests/test_dense.py", "algorithms/shortest_paths/tests/test_dense_numpy.py"),
    *("algorithms/centrality/tests/test_subgraph.py", "algorithms/bipartite/tests/test_matrix.py"),
    *("algorithms/bipartite/tests/test_edgelist.py", "algorithms/bipartite/tests/test_link_analysis.py"),
    *("algorithms/bipartite/tests/test_project.py", "algorithms/bipartite/tests/test_spectral_bipartivity.py"),
)
SLOW = "algorithms/connectivity/tests/test_connectivity.py::test_articulation_points"  # a fifth of the time
LEAST_SERVED = 4_000 if PROFILE == "complete" else 1_000  # with fewer, NetworkX computes what hopwave should
HERE = Path(__file__).parent
HOME = Path(nx.__file__).parent
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "count_served", "-rfE", "--tb=short")
FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
SUMMARY = re.compile(r"(\d+) passed")
SERVED = re.compile(r"hopwave served (\d+) calls")


def run(tests: list[str], folder: Path, **environment: str) -> tuple[int, list[str], str]:
    """How many tests passed, which ones failed, and the output."""
    settings = folder / "pytest.ini"  # an empty one, since our own settings turn warnings into errors
    settings.write_text("[pytest]\n")
    without = [f"--ignore={HOME / path}" for path in LEFT_OUT] + [f"--deselect={SLOW}"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NETWORKX_", "PYTEST_"))}
    kept["PYTHONPATH"] = os.pathsep.join([str(Path(hopwave.__file__).parents[1]), str(HERE)])  # the code under test
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, "-c", str(settings), f"--rootdir={HOME}", *without, *tests],
        cwd=folder,
        env=kept | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    passed = SUMMARY.search(done.stdout)
    return int(passed.group(1)) if passed else 0, FAILED.findall(done.stdout), done.stdout + done.stderr


def test_no_failure_that_networkx_does_not_have(tmp_path: Path) -> None:
    tests = [str(HOME / path) for path in TESTS]
    missing = [path for path in (*TESTS, *LEFT_OUT) if not (HOME / path).exists()]
    assert not missing, "NetworkX moved these tests: name their new place in TESTS or LEFT_OUT"
    passed, failed, printed = run(tests, tmp_path, NETWORKX_TEST_BACKEND="hopwave", NETWORKX_FALLBACK_TO_NX="True")
    assert passed > 0, printed  # nothing was collected, or pytest itself failed
    served = SERVED.search(printed)
    assert served is not None and int(served.group(1)) > LEAST_SERVED, printed
    if failed:
        _, theirs, _ = run(tests, tmp_path)
        assert set(failed) <= set(theirs), printed
