"""No call later than the first one compiles or loads machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Each question in a forked process of its own, where no other has loaded code before; bfs until its rows are arranged.
# Without arguments it asks all of them, which takes a minute.
ASK = """
import gc, os, sys
from numba.core.dispatcher import Dispatcher
from benchmarks.questions.calls import METHODS, Case, call, questions
from hopwave.engines.cpu.compile_notice import FirstWork
from hopwave.engines.cpu.search import small

def loaded():
    all = (one for one in gc.get_objects() if isinstance(one, Dispatcher))
    return {(one.py_func.__module__, one.py_func.__name__, len(one.overloads)) for one in all}

small.first_searches = lambda *given: None  # plain searches while nothing is on disk: see FirstSearches
FirstWork.seconds = 0.0
case = Case("kron", 11, 7)
case.__dict__["sources"] = list(range(64))
case.large, case.small, case.weighted, case.one_way, case.grid
for question in sys.argv[1:] or [*questions(), *METHODS]:
    if os.fork():
        os.wait()
        continue
    try:
        ask = call(question, case, "cpu")
        ask()
        before = loaded()
        for _ in range(20 if question == "bfs" else 1):
            ask()
        print(question, sorted(loaded() - before), flush=True)
    finally:
        os._exit(0)
"""
OFTEN = ["bfs", "betweenness_centrality", "connected_components", "is_bipartite", "pagerank", "shortest_path", "sssp"]


def asked_again(*questions: str) -> dict[str, str]:
    """What asking again loads, by question."""
    environment = os.environ | {"HOPWAVE_NUM_THREADS": "2", "HOPWAVE_PROGRESS": "0", "PYTHONWARNINGS": "ignore"}
    command, root = [sys.executable, "-c", ASK, *questions], Path(__file__).resolve().parents[2]
    out = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True).stdout
    return dict(line.split(" [", 1) for line in out.splitlines())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_what_is_asked_often_loads_nothing_the_second_time() -> None:
    assert asked_again(*OFTEN) == dict.fromkeys(OFTEN, "]")
