"""Every test of this folder needs NetworkX to find hopwave; some turn off its warnings about cached conversions."""

from collections.abc import Iterator

import networkx as nx
import pytest


def pytest_runtest_setup() -> None:
    if "hopwave" not in nx.utils.backends.backends:
        pytest.skip("NetworkX finds backends by entry points: pip install -e .")


@pytest.fixture
def quiet() -> Iterator[None]:
    """No warning when a converted graph is used again."""
    with nx.config(warnings_to_ignore={"cache"}):
        yield
