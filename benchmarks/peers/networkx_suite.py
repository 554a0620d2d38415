"""NetworkX's own tests, with the calls that hopwave serves dispatched to it: python -m benchmarks.peers.networkx_suite

tests/networkx_backend/test_their_suite.py says which tests, and runs them; this counts them. Takes some minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.setting import ROOT, publish

sys.path.insert(0, str(ROOT / "tests" / "networkx_backend"))
NOTE = """\
Tests of NetworkX's installed package about what hopwave serves, in one process each:
`python -m benchmarks.peers.networkx_suite`; `make test` asserts that no test fails through hopwave that does not fail
without it. Calls: those that hopwave answered; others, such as those with options that it has not, went to NetworkX.
"""


def counted(through: str, **environment: str) -> dict[str, Any]:
    import test_their_suite as suite

    with tempfile.TemporaryDirectory() as folder:
        tests = [str(suite.HOME / path) for path in suite.TESTS]
        passed, failed, printed = suite.run(tests, Path(folder), **environment)
    served = suite.SERVED.search(printed)
    row = {"through": through, "passed": passed, "failed": len(failed), "calls": served and int(served.group(1))}
    print(row, failed, flush=True)
    return row


def main() -> None:
    import networkx as nx

    rows = [
        counted("hopwave", NETWORKX_TEST_BACKEND="hopwave", NETWORKX_FALLBACK_TO_NX="True"),
        counted("NetworkX alone"),
    ]
    publish("networkx-suite", f"The tests of NetworkX {nx.__version__} through hopwave", rows, NOTE)


if __name__ == "__main__":
    main()
