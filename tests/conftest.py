"""What all tests share: how hypothesis searches, where the real graphs are, and the GPU."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from graphs import DATA
from hopwave import EngineError, engines

ROOT = Path(__file__).resolve().parents[1]

# No deadline: a slow machine is not a wrong answer.
settings.register_profile("hopwave", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hopwave")


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
    """The CUDA engine; without a GPU the test is skipped, and the engine's own words say why."""
    try:
        return engines.engine("cuda")
    except EngineError as error:
        pytest.skip(str(error))
