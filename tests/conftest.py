"""What all tests share: the number of cases, the folder of real graphs, and the GPU.

`make test` runs every test. Of a test that is marked `sampled`, it runs as few cases as have every value of every
parameter on every device; fuzzers make a quarter of their attempts. HOPWAVE_TESTS=complete, as in `make complete`,
runs all. HOPWAVE_TESTS=quick, as in `make quick`, runs every test function on a sample of its cases, gives hypothesis
fewer examples, and leaves out the real graphs. Samples are the same on every run.

The examples of hypothesis are the same on every run too: a test that fails does so because of a change, not by chance.
HOPWAVE_TESTS=random, as in `make random`, draws forty times as many, and new ones each time.
"""

import gc
import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from graphs import DATA
from hopwave import EngineError, engines
from hopwave.api import choice
from hopwave.system.compile_notice import First
from together import PROFILE

ROOT = Path(__file__).resolve().parents[1]

# A slow machine must not add lines to the stderr that tests compare; tests/system/test_progress.py turns them on.
os.environ.setdefault("HOPWAVE_PROGRESS", "0")

First.most_seconds = 0.0  # searches take the same way whether or not code is compiled already

EXAMPLES = {"whole": 15, "complete": 15, "quick": 4, "random": 600}  # at least 4: some tests draw a quarter
QUICK_CASES = 4  # per test function
WITHOUT_SEARCHES = {  # folders, and files, of tests that need no compiled search
    *("test_kernels.py", "test_linalg_kernels.py", "site", "io", "datasets", "test_import.py", "test_layout.py"),
    *("test_budget.py", "test_docstrings.py", "test_oracle.py", "test_report.py", "test_scaling.py", "test_papers.py"),
}
QUICK_COMPILES = 1  # cases of a test that compiles kernels for a GPU, which takes seconds each

for name, examples in EXAMPLES.items():
    settings.register_profile(
        name,
        deadline=None,  # slowness is no failure
        max_examples=examples,
        derandomize=name != "random",
        suppress_health_check=[HealthCheck.too_slow],
    )
if PROFILE not in EXAMPLES:
    raise pytest.UsageError(f"HOPWAVE_TESTS={PROFILE} is not known; use one of {', '.join(EXAMPLES)}")
settings.load_profile(PROFILE)


@pytest.hookimpl(trylast=True)  # after -m and -k
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if PROFILE in ("quick", "whole"):
        take_sample(config, items)
    leave_out_gpu(config, items)
    # Two workers each begin with one half of the list. The first begins with `hopwave warmup`, which compiles what all
    # tests need by two processes; meanwhile the second runs tests that need no compiled search, and builds the site.
    # Otherwise both would compile the same functions at the same time.
    turn = {id(item): place_of(item) for item in items}
    first, others, without = ([item for item in items if turn[id(item)] == place] for place in range(3))
    half = max(0, (len(items) + 1) // 2 - len(first))
    items[:] = [*first, *others[:half], *without, *others[half:]]


def place_of(item: pytest.Item) -> int:
    """0: the warm-up. 2: no search on the CPU, but kernels for a GPU, files, pages or the site. 1: all others."""
    if item.name == "test_warmup":
        return 0
    return 2 if item.path.name in WITHOUT_SEARCHES or item.path.parent.name in WITHOUT_SEARCHES else 1


def leave_out_gpu(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a GPU, keep one GPU test per file: it is skipped, and its reason stands for all of them."""
    if choice.has_gpu():
        return
    first = {item.path: item for item in reversed(items) if needs_gpu(item)}
    left_out = {item for item in items if needs_gpu(item) and first[item.path] is not item}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def needs_gpu(item: pytest.Item) -> bool:
    """Whether a test would be skipped without a GPU."""
    skipped = any(mark.args and mark.args[0] is True for mark in item.iter_markers("skipif"))
    return item.get_closest_marker("gpu") is not None and (skipped or "gpu" in getattr(item, "fixturenames", ()))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from scanning all tests, and what a compiler makes, again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def take_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Reduce the list: to a few cases of functions that are marked, or of every function that needs no real graphs."""
    by_function = defaultdict(list)
    for item in items:
        device = item.callspec.params.get("device") if PROFILE == "whole" and hasattr(item, "callspec") else None
        by_function[item.nodeid.partition("[")[0], device].append(item)
    kept = set()
    for cases in by_function.values():
        if PROFILE == "quick":
            kept |= {item for item in sample(cases) if "data" not in item.fixturenames}
        else:
            kept |= set(sample(cases) if cases[0].get_closest_marker("sampled") else cases)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def sample(cases: Iterable[Any]) -> list[Any]:
    """Some cases of one test function, such that each value of each parameter occurs, as far as the limit allows.

    Cases are taken in the order of checksums, so that the first ones are not all of one plan or engine.
    """
    chosen: list[Any] = []
    seen: set[tuple[str, int]] = set()
    for item in sorted(cases, key=lambda item: crc32(item.nodeid.encode())):
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        values = {(name, id(value)) for name, value in parameters.items()}  # cases share the objects of a list
        limit = QUICK_COMPILES if "architecture" in parameters else 99 if "room" in parameters else QUICK_CASES
        limit = limit if PROFILE == "quick" else len(parameters) * 99
        if len(chosen) < limit and (not chosen or not values <= seen):
            chosen.append(item)
            seen |= values
    return chosen


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real graphs: HOPWAVE_DATA, or shared/data next to the repository."""
    if not DATA.is_dir():
        pytest.skip(f"there is no {DATA}; set HOPWAVE_DATA to a folder of .mtx.gz graphs")
    return DATA


@pytest.fixture(scope="session")
def gpu() -> Any:
    """The CUDA engine; without a GPU the test is skipped, and the engine's error is the reason."""
    try:
        return engines.engine("cuda")
    except EngineError as error:
        pytest.skip(str(error))
