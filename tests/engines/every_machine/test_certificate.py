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

RIGHT = [[3.0, 3.0], [4.0, 4.0]]


@pytest.mark.parametrize(
    ("sides", "sums", "words"),
    [
        ([[3.0, 3.0], [4.0 + 1e-7, 4.0]], None, "source number 1 sums to"),
        ([[5.0, 0.0], [1.0, 1.0]], None, "source number 0"),
        ([[1.0, 1.0], [math.nan, 2.0]], None, "source number 1"),
        ([[math.inf, math.inf]], None, "source number 0"),
        (RIGHT, [3.0, 3.9], r"all sources together sum to .* instead of 7.0; .* please report"),
        (RIGHT, [7.0, 7.0], "all sources together"),
        (RIGHT, [math.nan, 7.0], "all sources together"),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value encountered in subtract")
def test_sides_or_sums_that_differ_are_an_error(sides: Any, sums: Any, words: str) -> None:
    with pytest.raises(EngineError, match=words):
        certify(np.array(sides), *([] if sums is None else [np.array(sums)]))


def test_sides_that_agree_are_certified() -> None:
    certificate = certify(np.array([[1e9 + 0.5, 1e9], [0.0, 0.0], [2.0, 2.0]]))
    assert 4e-10 < certificate.error < certificate.tolerance == TOLERANCE and certificate.sources == 3
    assert "arithmetic checked to 5.0e-10" in str(certificate)
    assert certify(np.zeros((0, 2))).error == certify(np.array(RIGHT), np.array([2.0, 5.0])).error == 0.0


def lose(run: Any, again: Any) -> None:
    """A part of one source's dependencies."""
    run.certificate[2, 0] *= 1 - 1e-6


def add_again(run: Any, again: Any) -> None:
    """Each source's own sums are right, but the scores are wrong."""
    again.advance(0, lambda done: False)
    brandes.sums_of(run)[:] += brandes.sums_of(again)  # what is checked and read, on a device if left there


@machines
@pytest.mark.parametrize("spoil", [lose, add_again])
@pytest.mark.parametrize(
    "ask",
    [
        hw.betweenness_centrality,
        hw.edge_betweenness_centrality,
        lambda graph, **where: hw.betweenness_centrality(graph, targets=[0, 4], cutoff=5, **where),
        lambda graph, **where: hw.betweenness_centrality(graph, epsilon=0.3, seed=1, **where),
    ],
)
def test_damaged_sums_raise(device: str, spoil: Any, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engines.engine(device)
    accumulation = engine.accumulation

    def damaged(graph: Any, job: Any, *given: Any) -> Any:
        run, again = (accumulation(graph, one, *given) for one in (job, replace(job, sources=job.sources[:1])))
        advance = run.advance

        def wrong(*arguments: Any) -> int:
            done: int = advance(*arguments)
            spoil(run, again)
            return done

        run.advance = wrong
        return run

    monkeypatch.setattr(engine, "accumulation", damaged)
    words = "source number 2 sums to" if spoil is lose else "all sources together sum to"
    with pytest.raises(EngineError, match=rf"{words} .* instead of .* please report"):
        ask(TRAPS["binary-tree"](), device=device)


@machines
def test_the_certificate_counts_what_was_computed(device: str) -> None:
    """Both sides come from the run: Σ δ from the sums themselves, Σ (d − 1) from the levels."""
    graph, job = TRAPS["delaunay"](), BetweennessJob(np.array([3, 50], np.int64))
    run = engines.engine(device).accumulation(graph, job, CATALOGUE["hopwave-block"])
    brandes.accumulate(run, job, "test", False, None)
    distances = np.array([oracle.distances(graph, s) for s in (3, 50)])
    assert run.certificate[:, 1].tolist() == (np.maximum(distances - 1, 0)).sum(axis=1).tolist()
    assert math.isclose(run.total.sum(), run.certificate[:, 0].sum(), rel_tol=1e-12)


@pytest.mark.parametrize("last", [2.0, 1.0])
def test_sums_that_stay_on_a_device_are_checked_there(last: float) -> None:
    class Run:
        blocks, size, done, certificate = 0, 1, 0, np.array([[3.0, 3.0]])
        sums_on_device = np.array([1.0, last])
        total = property(lambda self: pytest.fail("fetched"))

    run: Any = Run()
    job = BetweennessJob(np.zeros(1, np.int64))
    if last == 2.0:
        assert brandes.accumulate(run, job, "test", False, None).error == 0
        assert brandes.sums_of(run).tolist() == [1, 2]
    else:
        with pytest.raises(EngineError, match="all sources together sum to"):
            brandes.accumulate(run, job, "test", False, None)
