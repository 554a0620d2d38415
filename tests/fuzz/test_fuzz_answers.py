"""A few hundred inputs for the fuzzers of graphs, linalg and the NetworkX backend; `make fuzz` tries more."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import networkx as nx
import pytest
from difference import Attempt, Difference
from hypothesis import settings
from structure_questions import QUESTIONS

pytestmark = pytest.mark.filterwarnings("ignore")


def tried(attempts: Iterator[Attempt], count: int) -> int:
    return sum(attempt() for attempt in islice(attempts, count))


def test_graphs_beside_networkx_igraph_scipy_and_fractions(tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    import answers

    graphs = settings.default.max_examples
    assert tried(answers.inputs(random.Random(1), tmp_path), graphs * len(answers.QUESTIONS)) > 25 * graphs


def test_clusters_communities_and_groups_beside_networkx(tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    import answers

    graphs = settings.default.max_examples
    assert tried(answers.structure(random.Random(1), tmp_path), graphs * len(QUESTIONS)) > 20 * graphs


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


def test_a_wrong_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fuzzers that cannot fail would pass everything."""
    pytest.importorskip("igraph")
    import answers
    import cases
    import hop_questions

    import hopwave as hw

    right = hw.bfs_many
    monkeypatch.setattr(hw, "bfs_many", lambda *given, **options: right(*given, **options) + 1)
    case = cases.Case(3, [(0, 1), (1, 2)], [1.0, 1.0], False, random.Random(1))
    with pytest.raises(Difference, match="many of Case"):
        answers.ask(hop_questions.many, case)
    assert answers.ask(hop_questions.search, case) == 1
