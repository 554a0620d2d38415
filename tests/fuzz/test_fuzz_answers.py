"""A few hundred inputs for the fuzzers of graphs, linalg and the NetworkX backend; `make fuzz` tries more."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import networkx as nx
import pytest
from difference import Attempt

pytestmark = pytest.mark.filterwarnings("ignore")


def tried(attempts: Iterator[Attempt], count: int) -> int:
    return sum(attempt() for attempt in islice(attempts, count))


def test_questions_are_drawn_from_the_table(tmp_path: Path) -> None:
    """tests/questions asks them about more graphs."""
    import answers

    for name in ("inputs", "roads", "structured"):
        assert tried(getattr(answers, name)(random.Random(1), tmp_path), 150) > 30


def test_linalg_beside_graphblas(tmp_path: Path) -> None:
    pytest.importorskip("graphblas")
    import products

    assert tried(products.inputs(random.Random(1), tmp_path), 300) > 800


@pytest.mark.skipif(
    "hopwave" not in nx.utils.backends.backends, reason="NetworkX finds backends by entry points: pip install -e ."
)
def test_the_networkx_backend_under_changes(tmp_path: Path) -> None:
    import mutations

    assert tried(mutations.inputs(random.Random(1), tmp_path), 15) > 150
