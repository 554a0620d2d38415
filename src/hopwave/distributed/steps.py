"""Which of a plan's choices ranks follow: on CPUs all that change which arcs are looked at, on GPUs fewer."""

from __future__ import annotations

from dataclasses import replace

from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push, Step


def why_not(plan: Plan) -> str | None:
    """Why a plan cannot lead a search over ranks, or None.

    >>> import hopwave as hw
    >>> why_not(hw.plan("hiragushi-hybrid")) is None, why_not(hw.plan("xbfs")) is None
    (True, False)
    """
    if reason := plan.why_not(SearchJob()):
        return reason
    for step in plan.steps:
        if isinstance(step, Pull) and step.asynchronous:
            return (
                f"plan {plan.name!r} looks ahead into the next level, which ranks do not; "
                "use 'auto' or 'hiragushi-hybrid'"
            )
        if isinstance(step, Push) and step.output == "reuse":
            return (
                f"plan {plan.name!r} pushes from the queue of a pull, and pulls over ranks make none; "
                "use 'auto' or 'hiragushi-hybrid'"
            )
    return None


def as_run(step: Step, device: str) -> Step:
    """The step that ranks on this device really take: a rank on a GPU has one pull, masked and with early exit.

    >>> str(as_run(Pull("thread", "all", early_exit=False), "cuda"))
    'pull(thread, unvisited, exit)'
    """
    if device == "cuda" and isinstance(step, Pull):
        return replace(step, rows="unvisited", operand="frontier", early_exit=True)
    return step


def sorts_rows(plan: Plan, device: str) -> bool:
    """Whether rows are sorted by in-degree, as the plan's paper does; else only the best neighbour is put first."""
    pulls = any(isinstance(step, Pull) for step in plan.steps)
    return pulls and plan.order == "degree" and plan.loop == "host" and device == "cpu"


def without(plan: Plan, device: str, grid: bool) -> tuple[str, ...]:
    """The plan's choices that ranks on this device do not follow; grid: whether the layout is 2D.

    >>> import hopwave as hw
    >>> without(hw.plan("hiragushi-hybrid"), "cpu", grid=False)
    ('thread mappings', 'queue making')
    """
    left_out = ["thread mappings", "queue making"]
    pulls = [step for step in plan.steps if isinstance(step, Pull)]
    if device == "cuda":
        left_out += ["unmasked rows"] * any(step.rows == "all" for step in pulls)
        left_out += ["visited operand"] * any(step.operand == "visited" for step in pulls)
        left_out += ["rows read to their end"] * any(not step.early_exit for step in pulls)
    elif grid and any(not step.early_exit for step in pulls):
        left_out.append("rows read to their end on every rank of a grid's row")
    if pulls and not sorts_rows(plan, device):
        left_out.append("neighbour order")
    return tuple(left_out)
