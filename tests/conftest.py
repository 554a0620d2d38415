"""What all tests share: the number of cases, the folder of real graphs, and the GPU.

HOPWAVE_TESTS=quick, as in `make quick`, runs every test function on a sample of its cases, gives hypothesis fewer
examples, and leaves out the real graphs. The sample is the same on every run.

The examples of hypothesis are the same on every run too: a test that fails does so because of a change, not by chance.
HOPWAVE_TESTS=random, as in `make random`, draws forty times as many, and new ones each time.
"""

from __future__ import annotations

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
from hopwave.engines.cpu.search.small import FirstSearches

ROOT = Path(__file__).resolve().parents[1]

# A slow machine must not add lines to the stderr that tests compare; tests/system/test_progress.py turns them on.
os.environ.setdefault("HOPWAVE_PROGRESS", "0")

FirstSearches.most_seconds = 0.0  # searches take the same way whether or not code is compiled already

PROFILE = os.environ.get("HOPWAVE_TESTS", "whole")
EXAMPLES = {"whole": 15, "quick": 4, "random": 600}  # at least 4: some tests draw a quarter
QUICK_CASES = 4  # per test function
COMPILE_KERNELS = ("test_kernels.py", "test_linalg_kernels.py")  # of the GPU
WITHOUT_SEARCHES = ("house", "io", "datasets")  # folders of tests that make no searches
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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if PROFILE == "quick":
        take_sample(config, items)
    leave_out_gpu(config, items)
    site = [item for item in items if item.path.parent.name == "site" and "site" in getattr(item, "fixturenames", ())]
    without = [item for item in items if item not in site and needs_no_engine(item.path)]
    others = [item for item in items if item not in site and not needs_no_engine(item.path)]
    # Two workers each begin with one half of the list. The second worker begins with tests that need no compiled
    # search, while the first compiles what both need; otherwise each would compile it. Then the second builds the site:
    # if that came last, the first would wait for it.
    half = len(items) // 2
    later = (half + len(others)) // 2
    items[:] = [*others[:half], *without, *others[half:later], *site, *others[later:]]


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
    """Keep the garbage collector from scanning 10,000 tests again and again: they live until the end."""
    gc.collect()
    gc.freeze()


def needs_no_engine(path: Path) -> bool:
    """Whether the tests of a file make no search on the CPU: they compile kernels for a GPU, or read files."""
    return path.name in COMPILE_KERNELS or path.parent.name in WITHOUT_SEARCHES


def take_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Reduce the list to a few cases of every test function that needs no real graphs."""
    by_function = defaultdict(list)
    for item in items:
        by_function[item.nodeid.partition("[")[0]].append(item)
    chosen = (item for cases in by_function.values() for item in sample(cases))
    kept = {item for item in chosen if "data" not in item.fixturenames}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def sample(cases: Iterable[Any]) -> list[Any]:
    """Some cases of one test function, such that each value of each parameter occurs, as far as the limit allows.

    Cases are taken in the order of checksums, so that the first ones are not all of one plan or engine.
    """
    chosen: list[Any] = []
    seen: set[tuple[str, str]] = set()
    for item in sorted(cases, key=lambda item: crc32(item.nodeid.encode())):
        parameters = item.callspec.params if hasattr(item, "callspec") else {}
        values = {(name, repr(value)) for name, value in parameters.items()}
        limit = QUICK_COMPILES if "architecture" in parameters else 99 if "room" in parameters else QUICK_CASES
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
