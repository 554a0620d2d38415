"""The site, built once for all workers of a test run, and a browser."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import browser
import pytest

from together import PROFILE


@pytest.fixture(scope="session")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. The first worker builds it, the others wait; all of them report a failure."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed; 'make site' installs what the site needs")
    pytest.importorskip("pydata_sphinx_theme")
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "site"
    shared.mkdir(exist_ok=True)
    done = shared / "done.json"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            paths = os.pathsep.join([str(root / "src"), str(root)])
            ran = subprocess.run(
                [sys.executable, "-m", "docs.site", str(shared), *(() if PROFILE == "complete" else ("--rows", "3"))],
                cwd=root,
                env=os.environ | {"PYTHONPATH": paths},
                capture_output=True,
                text=True,
            )
            done.write_text(json.dumps({"status": ran.returncode, "said": (ran.stdout + ran.stderr)[-4000:]}))
    outcome = json.loads(done.read_text())
    assert outcome["status"] == 0, outcome["said"]
    return shared / "html"


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    program = browser.find()
    if program is None:
        pytest.skip("there is no Chromium; install Debian's chromium, or set HOPWAVE_CHROMIUM")
    opened = browser.Browser(program, tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()
