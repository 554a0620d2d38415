"""Traps are small, and small graphs go a way of their own on the CPU. Here they go the way of large graphs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hopwave.engines.cpu import policy

SHORT_WAY = "test_small_graphs"  # compares the two


@pytest.fixture(autouse=True, scope="module")
def the_way_of_large_graphs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Betweenness and many searches by workers, however small the graph is."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.module.__name__.endswith(SHORT_WAY):
            patch.setattr(policy, "SMALL_JOB", 0)
        yield
