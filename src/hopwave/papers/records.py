"""Papers as records: their tables and figures, the published numbers, and the studies that measure ours.

A *study* measures: it takes a `Lab` and returns rows, dictionaries of columns. An *exhibit* is a table or a figure of
the paper; it shows columns of a study's rows. Several exhibits may show one study. NAME.toml stores a paper's data:
its graphs with their numbers, and its exhibits.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean, geometric_mean
from typing import Any

Row = dict[str, Any]
Study = Callable[[Any], list[Row]]  # its argument is a hopwave.papers.lab.Lab
LABELS = {"", "graph", "kind", "from", "where", "claim", "remark", "table", "algorithm", "program", "product"}
WHY = "why not"  # the column with the reason for missing measurements


@dataclass(frozen=True)
class Drawing:
    """How a figure is drawn: `bars`, `stacked`, `lines` or `points` over the column `x`, from the columns `series`.

    If `by` names a column, each of its values is a separate series, and `series` has one column.
    """

    form: str
    x: str
    series: tuple[str, ...]
    unit: str
    log: tuple[bool, bool] = (False, False)
    by: str = ""


@dataclass(frozen=True)
class Exhibit:
    """A table or figure with the paper's number. Without a study, the note is the reason for missing measurements."""

    number: str
    caption: str
    study: str = ""
    columns: tuple[str, ...] = ()  # columns of the rows, in the paper's order
    only: tuple[str, Any] | None = None  # rows whose column has this value
    drawings: tuple[Drawing, ...] = ()
    note: str = ""
    listed: bool = True  # False: the figure has too many points for a table

    def measured(self, found: Mapping[str, list[Row]]) -> bool:
        """Whether a row contains a measured value."""
        ours = [column for column in self.columns if column not in LABELS and not column.startswith("paper")]
        ours += [name for drawing in self.drawings for name in drawing.series if not name.startswith("paper")]
        return any(row.get(column) is not None for row in self.rows(found) if WHY not in row for column in ours)

    def rows(self, found: Mapping[str, list[Row]]) -> list[Row]:
        rows = found.get(self.study, [])
        return [row for row in rows if self.only is None or row.get(self.only[0]) == self.only[1]]


@dataclass(frozen=True)
class Claim:
    """A number in a paper's text: a statistic of a column, over the rows of a study and over the paper's tables.

    `own` has the columns of the paper's tables if they differ from ours: one, or a ratio of two. Without a
    column, the remark is the reason for missing measurements. `tables`, `kinds` and `graphs` select rows.
    """

    where: str
    claim: str
    paper: float | str
    column: str = ""
    over: str = ""  # denominator of a ratio of two columns
    how: str = "mean"  # a key of STATISTICS
    tables: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    study: str = "searches"
    remark: str = ""

    def rows(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of this claim."""
        chosen = {"table": self.tables, "family": self.kinds, "graph": self.graphs}
        return [row for row in rows if all(not some or row.get(name) in some for name, some in chosen.items())]

    def states(self, row: Row) -> bool:
        """Whether the paper has numbers in the row, where its table has the claim's columns: not OOM, for example."""
        return all(isinstance(row.get(f"paper: {name}", 0), int | float) for name in (self.column, self.over))

    def of_tables(self, cases: "Iterable[Case]") -> Any:
        """The statistic over the paper's tables; None without data."""
        rows = []
        for shown, kind, n, m, stated in ((one.shown, one.kind, one.n, one.m, one.stated) for one in cases):
            sizes = {"thousands of arcs": m / 1e3, "7n + m": 7 * n + m, "9n + 2m": 9 * n + 2 * m}
            rows.append({"graph": shown, "family": kind} | stated | sizes)
        found = values(self.rows(rows), *(self.own or (self.column, self.over)))
        return STATISTICS[self.how](found) if found else None


def values(rows: Iterable[Row], column: str, over: str = "") -> list[float]:
    """The column's numbers in rows, or their ratios to another column."""
    pairs = ((row.get(column), row.get(over) if over else 1) for row in rows)
    return [one / other for one, other in pairs if isinstance(one, int | float) and isinstance(other, int | float)]


STATISTICS: dict[str, Callable[[list[float]], Any]] = {
    "mean": fmean,
    "geometric": geometric_mean,
    "max": max,
    "min": min,
    "range": lambda found: f"{min(found):.1f} to {max(found):.1f}",
}


@dataclass(frozen=True)
class Paper:
    """A paper: the authors' machine, and its tables and figures in order."""

    key: str
    title: str
    authors: str
    machine: str  # machine of the authors
    studies: Mapping[str, Study]
    exhibits: tuple[Exhibit, ...]
    method: str = ""
    part: str = ""  # the number of the selected exhibits, if not all


@dataclass(frozen=True)
class Case:
    """A row of a paper's table: a graph with the paper's name, how to obtain it, and the paper's columns.

    `made` is a recipe of `graphs.MADE`, and the graph is never downloaded; else `name` is a name of the collection, and
    `kind` the kind of its stand-in.
    """

    shown: str
    name: str
    made: tuple[str, int, int] | None
    kind: str
    n: int
    m: int
    directed: bool
    stated: Row = field(default_factory=dict)


@cache
def quoted(name: str) -> dict[str, Any]:
    """The contents of NAME.toml."""
    return tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8"))


def read(name: str, studies: Mapping[str, Study]) -> Paper:
    """The paper of a file NAME.toml, with the studies that measure its exhibits."""
    found = quoted(name)

    def exhibit(given: dict[str, Any]) -> Exhibit:
        columns = given.get("columns", [])
        columns = found["shared"][columns] if isinstance(columns, str) else columns
        drawings = [_record(Drawing, one) for one in given.get("drawings", ())]
        one: Exhibit = _record(Exhibit, given | {"columns": columns, "drawings": drawings})
        return one

    about = {key: found[key] for key in ("title", "authors", "machine", "method")}
    return Paper(name, **about, studies=studies, exhibits=tuple(map(exhibit, found["exhibits"])))


def claims(name: str) -> list[Claim]:
    """The claims of NAME.toml."""
    return [_record(Claim, one) for one in quoted(name)["claims"]]


def _record(kind: Any, given: dict[str, Any]) -> Any:
    return kind(**given | {key: tuple(value) for key, value in given.items() if isinstance(value, list)})


def tables(name: str) -> tuple[tuple[Case, ...], ...]:
    """The graphs of each table of NAME.toml, in its order."""
    found = quoted(name)["tables"].items()
    return tuple(table(one["rows"], one["columns"], number, one.get("unit", 1000)) for number, one in found)


def table(text: str, columns: Iterable[str], table: str, unit: int = 1000) -> tuple[Case, ...]:
    """Cases of a text: the paper's name, the collection's name or recipe, the kind, U or D, n, m, then the columns.

    A recipe is FAMILY:SIZE or FAMILY:SIZE:EDGES. n and m are in units of `unit`; - marks a column that the paper leaves
    empty.
    """
    cases = []
    for line in text.strip().splitlines():
        shown, name, kind, way, n, m, *rest = line.split()
        family, *sizes = name.split(":")
        made = (family, int(sizes[0]), int(sizes[1]) if sizes[1:] else 0) if sizes else None
        stated = {"table": table} | dict(zip(columns, map(_value, rest), strict=True))
        size = round(float(n) * unit), round(float(m) * unit)
        cases.append(Case(shown, "" if made else name, made, kind, *size, way == "D", stated))
    return tuple(cases)


def _value(text: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return None if text == "-" else text


def stated(case: Case) -> Row:
    """The published numbers of a row, as columns `paper: …`, and its table."""
    return {key if key == "table" else f"paper: {key}": value for key, value in case.stated.items()}


def left_out(why: str) -> Row:
    """The columns of a row without measurements."""
    return {"from": why, WHY: why}


@dataclass(frozen=True)
class Outcome:
    """A measured paper: the machine, and the rows of each study."""

    paper: Paper
    quick: bool
    where: dict[str, Any]
    found: dict[str, list[Row]]
    seconds: float
    wrong: tuple[str, ...] = ()  # results that failed their checks

    def lines(self) -> list[dict[str, Any]]:
        """One record per exhibit, with its columns."""
        records = []
        for one in self.paper.exhibits:
            rows = [{key: _as_json(row[key]) for key in one.columns or row if row.get(key) is not None}
                    for row in one.rows(self.found)]  # fmt: skip
            about = {"paper": self.paper.key, "number": one.number, "title": one.caption, "note": one.note}
            records.append(about | {"where": self.where, "rows": rows})
        return records

    def summary(self) -> dict[str, int]:
        """Numbers of measured exhibits, rows of tables and graphs, of stand-ins, and of rows without measurements."""
        listed = {one.study for one in self.paper.exhibits if one.listed}  # not the points of a figure
        rows = [row for study in listed for row in self.found.get(study, ())]
        origins = {
            row["graph"]: str(row["from"]) for row in rows if WHY not in row and "graph" in row and "from" in row
        }
        return {
            "exhibits": len(self.paper.exhibits),
            "measured": sum(one.measured(self.found) for one in self.paper.exhibits),
            "rows": sum(WHY not in row for row in rows),
            "graphs": len(origins),
            "stand-ins": sum(origin.startswith("stand-in") for origin in origins.values()),
            "left out": sum(WHY in row for row in rows),
        }


def slug(*words: str) -> str:
    """Words as an anchor of docs/papers.md, or as the name of a file: turbobfs-table-ii."""
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")


def _as_json(value: Any) -> Any:
    """A number for JSON; floats with six digits."""
    value = value.item() if hasattr(value, "item") else value
    return float(f"{value:.6g}") if isinstance(value, float) else value
