"""No call later than the first one compiles or loads machine code.

`python tests/house/test_second_calls.py cpu` asks every question, which takes a minute; `cuda` asks a GPU.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Each question in a forked process of its own, where no other has loaded code before; bfs until its rows are arranged.
ASK = """
import gc, os, sys
from numba.core.dispatcher import Dispatcher
from benchmarks.questions import METHODS, Case, call, questions  # and nothing is done before it is compiled

def loaded():
    all = (one for one in gc.get_objects() if isinstance(one, Dispatcher))
    found = {(one.py_func.__module__, one.py_func.__name__, len(one.overloads)) for one in all}
    return found | on_gpu() if device == "cuda" else found

def on_gpu():
    from cupy.cuda import compiler
    from hopwave.engines.cuda import nvrtc

    if not hasattr(compiler, "asked"):  # what CuPy compiles for its own arithmetic
        compiler.asked, compile = set(), compiler._compile_with_cache_cuda
        compiler._compile_with_cache_cuda = lambda text, *more, **given: (
            compiler.asked.add(("cupy", text[-200:], 0)), compile(text, *more, **given))[1]
    return compiler.asked | {("nvrtc", " ".join(key[2]), 0) for key in nvrtc.building.begun}

device, at_once = sys.argv[1], int(sys.argv[2])
case = Case("kron", 11, 7)
case.__dict__["sources"] = list(range(64))
case.large, case.small, case.weighted, case.one_way, case.grid
running = 0
for question in sys.argv[3:] or [*questions(), *METHODS]:
    if os.fork():
        running += 1
        if running >= at_once:
            os.wait()
        continue
    try:
        ask = call(question, case, device)
        if ask is not None:
            ask()
            before = loaded()
            for _ in range(20 if question == "bfs" else 1):
                ask()
            print(f"{question} {sorted(loaded() - before)}", flush=True)
    except Exception as error:
        print(f"{question} [{type(error).__name__}: {error}]", flush=True)
    finally:
        os._exit(0)
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
"""
OFTEN = ["bfs", "betweenness_centrality", "connected_components", "is_bipartite", "pagerank", "shortest_path", "sssp"]


def asked_again(device: str, at_once: int, *questions: str) -> dict[str, str]:
    """What asking again loads, by question."""
    environment = os.environ | {"HOPWAVE_NUM_THREADS": "2", "HOPWAVE_PROGRESS": "0", "PYTHONWARNINGS": "ignore"}
    root = Path(__file__).resolve().parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(root)])
    command = [sys.executable, "-c", ASK, device, str(at_once), *questions]
    out = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=True).stdout
    return dict(line.split(" [", 1) for line in out.splitlines())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.slow
def test_what_is_asked_often_loads_nothing_the_second_time() -> None:
    assert asked_again("cpu", 1, *OFTEN) == dict.fromkeys(OFTEN, "]")


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_a_gpu_loads_nothing_the_second_time() -> None:
    assert asked_again("cuda", len(OFTEN), *OFTEN) == dict.fromkeys(OFTEN, "]")


if __name__ == "__main__":
    for question, found in asked_again(sys.argv[1], os.cpu_count() or 1).items():
        print(question, f"[{found}")
