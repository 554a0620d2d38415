"""Which of a plan's choices ranks follow: on CPUs all that change which arcs are looked at, on GPUs also the kernels.

A rank on a GPU has two pushes: expand and contract (mapping "twc"), and equal shares of arcs ("merge"). It has two
pulls: compacted rows by threads, as in Hiragushi's Figure 3, and open rows by warps.
"""

from __future__ import annotations

from dataclasses import replace

from hopwave.planning.jobs import SearchJob
from hopwave.planning.plan import Plan, Pull, Push, Step


def why_not(plan: Plan) -> str | None:
    """Why a plan cannot lead a search over ranks, or None.

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
    """The step that ranks on this device really take: on GPUs, every pull is masked and has early exit.

    >>> str(as_run(Pull("thread", "all", early_exit=False), "cuda"))
    'pull(thread, unvisited, exit)'
    """
    if device == "cuda" and isinstance(step, Pull):
        return replace(step, rows="compacted" if step.rows == "compacted" else "unvisited", early_exit=True)
    return step


def kernels_of(step: Step, device: str, sorted_rows: bool) -> dict[str, bool]:
    """The options of a rank's push or pull that follow the step.

    >>> kernels_of(Push("twc"), "cuda", False), kernels_of(Push("twc"), "cpu", False)
    ({'two_phase': True}, {})
    """
    if isinstance(step, Push):
        return {"two_phase": step.mapping == "twc"} if device == "cuda" else {}
    if device == "cuda":
        return {"compacted": step.rows == "compacted", "sorted_rows": sorted_rows}
    return {"all_rows": step.rows == "all", "early_exit": step.early_exit, "sorted_rows": sorted_rows}


def sorts_rows(plan: Plan) -> bool:
    """Whether rows are sorted by in-degree, as the plan's paper does; else only the best neighbour is put first."""
    pulls = any(isinstance(step, Pull) for step in plan.steps)
    return pulls and plan.order == "degree" and plan.loop == "host"


def without(plan: Plan, device: str, grid: bool) -> tuple[str, ...]:
    """The plan's choices that ranks on this device do not follow; grid: whether the layout is 2D.

    >>> [without(hw.plan("hiragushi-hybrid"), device, grid=False) for device in ("cpu", "cuda")]
    [('thread mappings', 'queue making'), ()]
    """
    pushes = [step for step in plan.steps if isinstance(step, Push)]
    pulls = [step for step in plan.steps if isinstance(step, Pull)]
    left_out = ["thread mappings", "queue making"]
    if device == "cuda":
        other = any(step.mapping not in ("twc", "merge") for step in pushes) or any(
            step.mapping != "thread" for step in pulls
        )
        left_out = ["thread mappings"] * other + ["queue making"] * any(step.output != "queue" for step in pushes)
        left_out += ["unmasked rows"] * any(step.rows == "all" for step in pulls)
        left_out += ["rows read to their end"] * any(not step.early_exit for step in pulls)
    elif grid and any(not step.early_exit for step in pulls):
        left_out.append("rows read to their end on every rank of a grid's row")
    if pulls and not sorts_rows(plan):
        left_out.append("neighbour order")
    return tuple(left_out)
