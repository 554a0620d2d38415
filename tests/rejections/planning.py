"""Rejections by plans: nonsense that cannot be written, and plans that cannot do what they are asked for; Graph500."""

import dataclasses
from typing import Any

import hopwave as hw
from hopwave import GraphError, PlanError, generate, graph500
from hopwave.planning.catalogue import CATALOGUE
from hopwave.planning.plan import Plan, Pull, Push
from hopwave.planning.rules import XBFS, Always, Beamer
from rejections import Row, each

PATH = generate.path(3)
push: Any = Push
pull: Any = Pull


def made(**changes: Any) -> Plan:
    given: dict[str, Any] = {"steps": (Push("thread"), Pull("thread")), "rule": Beamer(15, 18)}
    return Plan("mine", "none", "1", "a test", **given | changes)


MINE = dataclasses.replace(hw.plan("pushpull"), name="mine", rule=lambda sizes: 0)
OF_PULLS = [{"early_exit": True}, {"rows": "all"}, {"asynchronous": True}, {"operand": "visited"}]
OF_PUSHES = [{"output": "queue"}, {"claim": "atomic"}, {"structure_only": False}]
PULLS = ["mapping", "rows", "operand", "balance"]
OTHER_TASKS = [plan.name for plan in CATALOGUE.values() if plan.task != "search"]

ROWS: list[Row] = [
    *each(lambda choice: push("thread", **choice), OF_PULLS, TypeError, "unexpected keyword"),
    *each(lambda choice: pull("thread", **choice), OF_PUSHES, TypeError, "unexpected keyword"),
    *each(lambda name: push(**{"mapping": "thread", name: "odd"}), ["mapping", "output", "claim"], PlanError, "'odd'"),
    *each(lambda name: pull(**{"mapping": "thread", name: "odd"}), PULLS, PlanError, "='odd' is not known for Pull"),
    *each(lambda name: made(**{name: "odd"}), ["loop", "order", "task", "regime", "lengths"], PlanError, "'odd'"),
    *each(
        lambda given: made(rule=given[0], steps=(Push("thread"),) * given[1]),
        [(Always(), 2), (Beamer(15, 18), 1), (Beamer(15, 18), 3), (XBFS(0.1), 2)],
        PlanError,
        "chooses from",
    ),
    (lambda: dataclasses.replace(MINE, rule=3), PlanError, "rule=3"),  # type: ignore[arg-type]
    (lambda: dataclasses.replace(MINE, loop="device"), PlanError, "which only a search with loop='host' can call"),
    *each(lambda name: hw.bfs(PATH, 0, plan=name), OTHER_TASKS, PlanError, "not a search; hopwave.plans"),
    *each(
        lambda name: hw.betweenness_centrality(PATH, plan=name),
        [name for name in OTHER_TASKS if CATALOGUE[name].task == "paths"],
        PlanError,
        "for betweenness use 'auto'",
    ),
    *each(hw.plan, ["nope", "", None, 3, [], "auto"], PlanError, "use 'auto' or one of hopwave, "),
    (lambda: hw.plan("XBFS"), PlanError, "did you mean 'xbfs'? Use 'auto'"),
    # Graph500
    (lambda: graph500.run(0), GraphError, "scale"),
    (lambda: graph500.run(8, layout="2d"), GraphError, "mpiexec"),
    (lambda: graph500.run(8, device="abacus"), GraphError, "abacus"),
    (lambda: graph500.run(8, device="cuda", threads=2), GraphError, "threads=2 cannot be combined"),
    (lambda: graph500.run(8, device="cpu", plan="turbobc-sccsc"), PlanError, "computes betweenness"),
    (lambda: graph500.run(8, plan="nope"), PlanError, "'nope' is not known"),
    (lambda: graph500.run(8, device="cuda", plan="hiragushi-hybrid"), PlanError, "use device='cpu', plan='auto'"),
]
