"""A betweenness result has a certificate with both sides of an identity; if they differ, there is no result."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from test_search import machines

import hopwave as hw
import oracle
from graphs import TRAPS
from hopwave import EngineError, engines
from hopwave.algorithms import brandes
from hopwave.algorithms.brandes import TOLERANCE, certify
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob


@pytest.mark.parametrize(
    ("sides", "words"),
    [
        ([[3.0, 3.0], [4.0 + 1e-7, 4.0]], "source number 1 sums to"),
        ([[5.0, 0.0], [1.0, 1.0]], "source number 0"),
        ([[1.0, 1.0], [math.nan, 2.0]], "source number 1"),
        ([[math.inf, math.inf]], "source number 0"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in subtract")
def test_sides_that_differ_are_an_error(sides: list[list[float]], words: str) -> None:
    with pytest.raises(EngineError, match=words):
        certify(np.array(sides))


@pytest.mark.parametrize("sums", [[3.0, 3.9], [7.0, 7.0], [math.nan, 7.0]])
def test_sums_that_hold_more_or_less_than_their_sources_are_an_error(sums: list[float]) -> None:
    sides = np.array([[3.0, 3.0], [4.0, 4.0]])
    assert certify(sides, np.array([2.0, 5.0])).error == 0.0
    with pytest.raises(EngineError, match=r"all sources together sum to .* instead of 7.0; .* please report"):
        certify(sides, np.array(sums))


def test_sides_that_agree_are_certified() -> None:
    certificate = certify(np.array([[1e9 + 0.5, 1e9], [0.0, 0.0], [2.0, 2.0]]))
    assert 4e-10 < certificate.error < certificate.tolerance == TOLERANCE and certificate.sources == 3
    assert "arithmetic checked to 5.0e-10" in str(certificate)
    assert certify(np.zeros((0, 2))).error == 0.0


@machines
@pytest.mark.parametrize("function", [hw.betweenness_centrality, hw.edge_betweenness_centrality])
def test_a_wrong_sum_raises(device: str, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that loses a part of one source's dependencies is caught."""
    engine = engines.engine(device)
    accumulation = engine.accumulation

    def damaged(*given: Any) -> Any:
        run = accumulation(*given)
        advance = run.advance

        def wrong(*arguments: Any) -> int:
            done: int = advance(*arguments)
            run.certificate[2, 0] *= 1 - 1e-6
            return done

        run.advance = wrong
        return run

    monkeypatch.setattr(engine, "accumulation", damaged)
    with pytest.raises(EngineError, match=r"source number 2 sums to .* instead of .* please report"):
        function(TRAPS["binary-tree"](), device=device)


@machines
@pytest.mark.parametrize(
    "ask",
    [
        hw.betweenness_centrality,
        hw.edge_betweenness_centrality,
        lambda graph, **where: hw.betweenness_centrality(graph, targets=[0, 4], cutoff=5, **where),
        lambda graph, **where: hw.betweenness_centrality(graph, epsilon=0.3, seed=1, **where),
    ],
)
def test_a_source_added_twice_raises(device: str, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each source's own sums are right, but the scores are wrong."""
    engine = engines.engine(device)
    accumulation = engine.accumulation

    def damaged(graph: Any, job: Any, *given: Any) -> Any:
        run, again = (accumulation(graph, one, *given) for one in (job, replace(job, sources=job.sources[:1])))
        advance = run.advance

        def wrong(*arguments: Any) -> int:
            done: int = advance(*arguments)
            again.advance(0, lambda done: False)
            brandes.sums_of(run)[:] += brandes.sums_of(again)  # what is checked and read, on a device if left there
            return done

        run.advance = wrong
        return run

    monkeypatch.setattr(engine, "accumulation", damaged)
    with pytest.raises(EngineError, match=r"all sources together sum to .* instead of .* please report"):
        ask(TRAPS["binary-tree"](), device=device)


@machines
def test_the_certificate_counts_what_was_computed(device: str) -> None:
    """Both sides come from the run: Σ δ from the sums themselves, Σ (d − 1) from the levels."""
    graph = TRAPS["delaunay"]()
    engine = engines.engine(device)
    job = BetweennessJob(np.array([3, 50], np.int64))
    run = engine.accumulation(graph, job, CATALOGUE["hopwave-block"])
    brandes.accumulate(run, job, "test", False, None)
    distances = np.array([oracle.distances(graph, s) for s in (3, 50)])
    assert run.certificate[:, 1].tolist() == (np.maximum(distances - 1, 0)).sum(axis=1).tolist()
    assert math.isclose(run.total.sum(), run.certificate[:, 0].sum(), rel_tol=1e-12)


def test_sums_that_stay_on_a_device_are_checked_there() -> None:
    class Run:
        blocks, size, done, certificate = 0, 1, 0, np.array([[3.0, 3.0]])

        def __init__(self, sums: list[float]) -> None:
            self.sums_on_device = np.array(sums)

        @property
        def total(self) -> Any:
            raise AssertionError("fetched")

    job: Any = BetweennessJob(np.zeros(1, np.int64))
    right: Any = Run([1.0, 2.0])
    assert brandes.accumulate(right, job, "test", False, None).error == 0 and brandes.sums_of(right).tolist() == [1, 2]
    wrong: Any = Run([1.0, 1.0])
    with pytest.raises(EngineError, match="all sources together sum to"):
        brandes.accumulate(wrong, job, "test", False, None)
