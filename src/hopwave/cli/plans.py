"""`hopwave plans`: the published algorithms that hopwave runs, and their choices."""

from __future__ import annotations

from typing import Annotated, Any

import typer

import hopwave as hw
from hopwave.cli import options, terminal
from hopwave.planning.plan import Plan


def plans(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[PLAN]", help="Show every choice of this plan.", autocompletion=options.plan_names),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the table in Markdown, as in the README.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """List the plans: every published algorithm with its steps, its rule and its paper."""
    if as_json and markdown:
        raise typer.BadParameter("--json and --markdown cannot be combined; leave out one of them")
    chosen = hw.plans() if name is None else type(hw.plans())([hw.plan(name)])
    if as_json:
        terminal.emit({"plans": [_record(plan) for plan in chosen]})
    elif markdown:
        terminal.line(chosen.markdown())
    elif name is not None:
        terminal.show(terminal.facts(name, _choices(chosen[0])))
    else:
        shown = terminal.table(
            "Plans", "plan", "what it is", "rule", "paper", caption="'hopwave plans PLAN' shows one plan in full."
        )
        shown.columns[0].no_wrap, shown.columns[0].style = True, "cyan"
        shown.columns[2].no_wrap = True
        for plan in chosen:
            shown.add_row(plan.name, plan.summary, str(plan.rule), f"{plan.paper}, {plan.section}")
        terminal.show(shown)


def _choices(plan: Plan) -> dict[str, str]:
    steps = {f"step {number}": str(step) for number, step in enumerate(plan.steps)}
    return {
        "what it is": plan.summary,
        "paper": f"{plan.paper}, {plan.section}",
        "task": plan.task,
        **steps,
        "rule": str(plan.rule),
        "loop": f"on the {plan.loop}",
        "neighbours": "by descending degree" if plan.order == "degree" else "in any order",
        "length of a path": "its hops" if plan.lengths == "hops" else "the sum of its weights",
    }


def _record(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "summary": plan.summary,
        "paper": plan.paper,
        "section": plan.section,
        "task": plan.task,
        "steps": [str(step) for step in plan.steps],
        "rule": str(plan.rule),
        "loop": plan.loop,
        "order": plan.order,
        "lengths": plan.lengths,
    }
