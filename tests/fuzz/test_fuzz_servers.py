"""Some servers that lie, cut and redirect; `make fuzz` tries more."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
import servers
from difference import Difference

from hopwave.datasets import fetching


@pytest.fixture(autouse=True)
def local(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def test_a_server_gives_its_graph_or_an_error(tmp_path: Path) -> None:
    attempts = servers.inputs(random.Random(3), tmp_path)
    assert sum(attempt() for attempt in islice(attempts, 20)) >= 40
    attempts.close()


def test_a_download_that_joins_other_bytes_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fuzzer that cannot fail would pass everything."""
    monkeypatch.setattr(fetching, "_range", lambda answer: (-1, -1))
    monkeypatch.setattr(fetching, "_copy", lambda *given: True)
    attempts = servers.inputs(random.Random(3), tmp_path)
    with pytest.raises(Difference, match="an honest server is not believed"):
        next(attempts)()
    attempts.close()
