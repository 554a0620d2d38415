"""Traps are small, and the CPU has a short way for small graphs. Here they go the way of large graphs."""

from collections.abc import Iterator

import pytest

from hopwave.engines.cpu import policy

SHORT_WAY = "test_small_graphs"  # the test that compares the two ways


@pytest.fixture(autouse=True, scope="module")
def the_way_of_large_graphs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Workers compute betweenness and many searches, however small the graph is."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith(SHORT_WAY):
            patch.setattr(policy, "SMALL_JOB", 0)
        yield
