"""The protocol of an engine: it has every method, and a reason for everything it cannot do. mypy checks types."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, get_args

import numpy as np
import pytest

from hopwave import EngineError, engines, generate
from hopwave.engines import NoOperations, NoShortcuts
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.jobs import BetweennessJob, SampleJob, SearchJob
from hopwave.planning.many_sources import CutSweep, HyperBallJob, PathSums, Sweep
from together import in_one_test

GRAPH = generate.path(3)
WEIGHTED = GRAPH.with_weights(np.ones(GRAPH.m))
JOB = BetweennessJob(np.zeros(1, np.int64))
OPERATIONS = get_args(engines.Operation)
SHORTCUTS = get_args(engines.Shortcut)

# How to call each operation of an Engine.
CALLS: dict[str, Any] = {
    "sweep": lambda engine: engine.sweep(GRAPH, Sweep(JOB.sources, "sums"), lambda done: None),
    "weighted_sweep": lambda engine: engine.sweep(
        WEIGHTED, Sweep(JOB.sources, "sums", weighted=True), lambda done: None
    ),
    "components": lambda engine: engine.components(GRAPH, False),
    "strong_components": lambda engine: engine.components(GRAPH, True),
    "blocks": lambda engine: engine.blocks(
        GRAPH, np.zeros(GRAPH.n, np.int64), (np.arange(GRAPH.n) > 0).astype(np.int32)
    ),
    "shortest_path": lambda engine: engine.shortest_path(GRAPH, 0, 2),
    "path_sampling": lambda engine: engine.path_sampling(GRAPH, SampleJob(1)),
    "weighted_path_sampling": lambda engine: engine.path_sampling(WEIGHTED, SampleJob(1, weighted=True)),
    "cut_sweep": lambda engine: engine.cut_sweep(
        GRAPH,
        CutSweep(JOB.sources, "harmonic", 0.0, np.ones(GRAPH.n, int), np.full(GRAPH.n, GRAPH.n)),
        lambda done: None,
    ),
    "reach_bounds": lambda engine: engine.reach_bounds(GRAPH),
    "local_efficiencies": lambda engine: engine.local_efficiencies(GRAPH, lambda done: None),
    "path_sums": lambda engine: engine.path_sums(GRAPH, PathSums("stress"), lambda done: None),
    "hyperball": lambda engine: engine.hyperball(GRAPH, HyperBallJob(4, 1), lambda done: None),
}


def methods(protocol: type) -> dict[str, Any]:
    return {name: found for name, found in inspect.getmembers(protocol, inspect.isfunction) if name[0] != "_"}


@pytest.mark.parametrize("name", engines.NAMES)
@pytest.mark.parametrize("module, kind", [("", "Engine"), (".linalg", "Algebra")])
def test_every_engine_has_every_method(name: str, module: str, kind: str) -> None:
    if name == "cuda":
        pytest.importorskip("cupy")
    found = getattr(import_module(f"hopwave.engines.{name}{module}"), kind)
    protocol = methods(getattr(engines, kind))
    assert len(protocol) > 12
    for method, declared in protocol.items():
        defined = getattr(found, method)
        if defined in (getattr(NoOperations, method, None), getattr(NoShortcuts, method, None)):
            continue
        given = list(inspect.signature(defined).parameters)
        if home := vars(defined).get("home"):  # a function elsewhere, which may take the loaded graph
            taken = inspect.signature(getattr(import_module(home[0]), home[1])).parameters
            given = ["self", *("graph" if argument == "loaded" else argument for argument in taken)]
        assert given == list(inspect.signature(declared).parameters), method


def test_every_operation_is_called_below() -> None:
    assert set(CALLS) == set(OPERATIONS)
    assert set(SHORTCUTS) < set(methods(engines.Algebra))


@in_one_test("operation", OPERATIONS)
def test_the_cpu_has_every_operation(operation: Any) -> None:
    engine = engines.engine("cpu")
    assert engine.why_not_operation(operation, GRAPH) is None
    assert CALLS[operation](engine) is not None


@in_one_test("operation", [name for name in OPERATIONS if not name.endswith("path_sampling")])
def test_what_the_reference_cannot_do_raises_the_reason(operation: Any) -> None:
    engine = engines.engine("reference")
    reason = engine.why_not_operation(operation, GRAPH)
    if operation in ("weighted_sweep", "path_sums"):
        assert reason is None and CALLS[operation](engine) is not None
        return
    assert reason is not None and "device='cpu'" in reason
    with pytest.raises(EngineError) as raised:
        CALLS[operation](engine)
    assert str(raised.value) == reason


@pytest.mark.parametrize("name", ["reference", "cpu"])
@in_one_test("shortcut", SHORTCUTS)
def test_shortcuts_are_there_or_raise_the_reason(name: str, shortcut: Any) -> None:
    algebra = engines.algebra(name)
    reason = algebra.why_not_operation(shortcut)
    assert (reason is None) == (name == "cpu" and shortcut not in ("waves", "near_far", "lanczos"))
    if reason is not None:
        with pytest.raises(EngineError) as raised:
            getattr(algebra, shortcut)()
        assert str(raised.value) == reason and f"device={name!r}" in reason


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_a_plan_is_a_search_or_betweenness(name: str) -> None:
    engine = engines.engine(name)
    assert "not a search" in str(engine.why_not(CATALOGUE["hopwave-block"], SearchJob()))
    assert engine.why_not(CATALOGUE["hopwave"], SearchJob()) is None
