"""A list of plans that prints as a table."""

from __future__ import annotations

from collections.abc import Iterator

from hopwave.planning.plan import Plan


class PlanTable(tuple[Plan, ...]):
    """A tuple of plans that prints as a table.

    >>> [plan.name for plan in hw.plans()][0]
    'hopwave'
    """

    def __str__(self) -> str:
        width = max(len(plan.name) for plan in self)
        return "\n".join(f"{plan.name:<{width}}  {plan.summary}  [{plan.paper}, {plan.section}]" for plan in self)

    __repr__ = __str__

    def rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """The rows of the table in docs/plans.md: name, what it is, steps, rule, paper."""
        for plan in self:
            steps = " · ".join(str(step) for step in plan.steps)
            yield plan.name, plan.summary, steps, str(plan.rule), f"{plan.paper}, {plan.section}"

    def markdown(self) -> str:
        """The table in Markdown."""
        lines = ["| plan | what it is | steps | rule | paper |", "|---|---|---|---|---|"]
        lines += [
            f"| `{name}` | {what} | {steps} | {rule} | {paper} |" for name, what, steps, rule, paper in self.rows()
        ]
        return "\n".join(lines)
