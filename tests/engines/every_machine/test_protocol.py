"""The protocol of an engine: it has every method, and a reason for everything it cannot do. mypy checks types."""

import inspect
from importlib import import_module
from typing import Any, get_args

import numpy as np
import pytest

from hopwave import EngineError, engines, generate
from hopwave.engines import NoOperations, NoShortcuts
from hopwave.planning.jobs import BetweennessJob, SampleJob
from hopwave.planning.many_sources import CutSweep, HyperBallJob, PathSums, Sweep

GRAPH = generate.path(3)
WEIGHTED = GRAPH.with_weights(np.ones(GRAPH.m))
JOB = BetweennessJob(np.zeros(1, np.int64))
OPERATIONS = get_args(engines.Operation)
SHORTCUTS = get_args(engines.Shortcut)


def poll(done: int) -> None:
    """Continue."""


# How to call each operation of an Engine.
CALLS: dict[str, Any] = {
    "sweep": lambda engine: engine.sweep(GRAPH, Sweep(JOB.sources, "sums"), poll),
    "weighted_sweep": lambda engine: engine.sweep(WEIGHTED, Sweep(JOB.sources, "sums", weighted=True), poll),
    "components": lambda engine: engine.components(GRAPH, False),
    "strong_components": lambda engine: engine.components(GRAPH, True),
    "blocks": lambda engine: engine.blocks(GRAPH, np.zeros(3, np.int64), np.array([0, 1, 1], np.int32)),
    "shortest_path": lambda engine: engine.shortest_path(GRAPH, 0, 2),
    "path_sampling": lambda engine: engine.path_sampling(GRAPH, SampleJob(1)),
    "weighted_path_sampling": lambda engine: engine.path_sampling(WEIGHTED, SampleJob(1, weighted=True)),
    "cut_sweep": lambda engine: engine.cut_sweep(
        GRAPH, CutSweep(JOB.sources, "harmonic", 0.0, np.ones(3, int), np.full(3, 3)), poll
    ),
    "reach_bounds": lambda engine: engine.reach_bounds(GRAPH),
    "local_efficiencies": lambda engine: engine.local_efficiencies(GRAPH, poll),
    "path_sums": lambda engine: engine.path_sums(GRAPH, PathSums("stress"), poll),
    "hyperball": lambda engine: engine.hyperball(GRAPH, HyperBallJob(4, 1), poll),
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


def refused(reason: str | None, call: Any) -> bool:
    """Whether there is a reason, which the call then raises."""
    if reason is not None:
        with pytest.raises(EngineError) as raised:
            call()
        assert str(raised.value) == reason and "device=" in reason
    return reason is not None


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_operations_and_shortcuts_are_there_or_raise_the_reason(name: str) -> None:
    engine, algebra = engines.engine(name), engines.algebra(name)
    for operation, call in CALLS.items():
        if not operation.endswith("path_sampling"):
            lacks = refused(engine.why_not_operation(operation, GRAPH), lambda call=call: call(engine))
            assert lacks == (name != "cpu" and operation not in ("weighted_sweep", "path_sums"))
            assert lacks or call(engine) is not None
    for shortcut in SHORTCUTS:
        lacks = refused(algebra.why_not_operation(shortcut), getattr(algebra, shortcut))
        assert lacks == (name != "cpu" or shortcut in ("waves", "near_far"))
