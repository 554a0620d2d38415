"""A measured paper: what its page and its lines are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopwave.papers.records import WHY, Paper, Row


@dataclass(frozen=True)
class Outcome:
    """A measured paper: the machine, and the rows of each study."""

    paper: Paper
    quick: bool
    where: dict[str, Any]
    found: dict[str, list[Row]]
    seconds: float
    wrong: tuple[str, ...] = ()  # answers that failed their checks

    def lines(self) -> list[dict[str, Any]]:
        """One record per exhibit, with the columns that it shows."""
        records = []
        for one in self.paper.exhibits:
            rows = [{key: _plain(row[key]) for key in one.columns or row if row.get(key) is not None}
                    for row in one.rows(self.found)]  # fmt: skip
            about = {"paper": self.paper.key, "number": one.number, "title": one.caption, "note": one.note}
            records.append(about | {"where": self.where, "rows": rows})
        return records

    def summary(self) -> dict[str, int]:
        """How many exhibits and rows were measured, how many rows have stand-ins, and how many have nothing of ours."""
        rows = [row for some in self.found.values() for row in some]
        return {
            "exhibits": len(self.paper.exhibits),
            "measured": sum(one.measured(self.found) for one in self.paper.exhibits),
            "rows": sum(WHY not in row for row in rows),
            "stand-ins": sum(str(row.get("from", "")).startswith("stand-in") for row in rows),
            "left out": sum(WHY in row for row in rows),
        }


def _plain(value: Any) -> Any:
    """A number as JSON has it; floats with six digits."""
    value = value.item() if hasattr(value, "item") else value
    return float(f"{value:.6g}") if isinstance(value, float) else value
