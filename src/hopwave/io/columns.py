"""Choose the columns of a table with the endpoints and the weight: the same rule for text and Parquet."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from hopwave.graph.columns import direction_column
from hopwave.io.format import Request, explained
from hopwave.io.lines import NUMERIC, Source

Column: TypeAlias = str | int | None
# Common names for the two endpoints of an edge, the most common first.
PAIRS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("tail", "head"), ("start", "end"),
    ("from_node", "to_node"), ("fromnodeid", "tonodeid"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"), ("source_id", "target_id"), ("citing", "cited"), ("row", "col"), ("i", "j"),
    ("from_id", "to_id"), ("sender", "receiver"), ("parent", "child"),
    *product(
        ("source", "src", "origin", "orig", "from", "start"), ("target", "dst", "dest", "destination", "to", "end")
    ),
    *product(("source_id", "origin_id"), ("dest_id", "destination_id")),
)  # fmt: skip
WEIGHTS = ("weight", "weights", "cost", "length", "distance", "w", "value")
IDS = ("id", "index", "row", "no", "nr")  # headers of columns that number the rows
MOST_NAMED = 3  # maximum number of columns named in a message


class Table(NamedTuple):
    """Headers and column types of a table, from its first rows."""

    titles: list[str]  # headers, or positions as text without a header row
    titled: bool
    is_number: Callable[[int], bool]  # whether the column at a position contains numbers
    line: int | None = None  # line of the header row or the first row

    def title(self, place: int) -> str:
        """A column's header in lower case; "" without a header row."""
        return self.titles[place].strip().lower() if self.titled else ""

    def counts_rows(self, place: int) -> bool:
        """Whether a column numbers the rows: by its header, or as the index of pandas, whose header is empty."""
        title = self.title(place)
        untitled = self.titled and (not title or title.startswith(("unnamed: ", "__index_level_")))
        return title in IDS or (untitled and self.is_number(place))

    def listed(self, places: Sequence[int], joined: str) -> str:
        """Columns for a message: their headers, or numbers counted from 1 without a header row."""
        shown = [repr(self.titles[i]) if self.titled else str(i + 1) for i in places[:MOST_NAMED]]
        return joined.join([*shown, "…"] if len(places) > MOST_NAMED else shown)


def choose(
    source: Source, request: Request, table: Table, wanted: tuple[Column, Column, Column]
) -> tuple[int, int, int | None, int | None]:
    """The positions of both endpoints, the weight and the direction. An ambiguous column raises an error."""
    titles, line = table.titles, table.line
    if len(titles) < 2:
        raise source.fail(f"one column, {''.join(titles)!r}; expected at least two, for the endpoints of an edge", line)
    if not request.weights and wanted[2] is not None:
        raise TypeError(f"weight={wanted[2]!r} cannot be combined with weights=False; omit one of them")
    first, second, weight = given = [_place(source, table, column) for column in wanted]
    for place in given:
        if place is not None and given.count(place) > 1:
            raise source.fail(f"column {titles[place]!r} is selected twice; pass different columns", line)
    folded = [table.title(i) for i in range(len(titles))]
    with explained(source):
        told = direction_column(folded[i] for i in range(len(titles)) if request.directed is None and i not in given)
    way = None if told is None else next(i for i, title in enumerate(folded) if title == told and i not in given)
    pairs = ((folded.index(a), folded.index(b)) for a, b in PAIRS if a in folded and b in folded)
    known = next((pair for pair in pairs if weight not in pair and pair[0] != second and pair[1] != first), None)
    if known is None:
        free = [i for i in range(len(titles)) if i not in (*given, way)]
        free = [i for i in free if not table.counts_rows(i) and folded[i] not in WEIGHTS] if table.titled else free
        missing = [first, second].count(None)
        if len(free) < missing or (len(free) > missing and (missing == 1 or (missing and table.titled))):
            raise source.fail(
                f"columns {table.listed(free, ' or ') or 'besides the weights: none'} may be the endpoints; "
                "pass source= and target=, their headers or positions (Graph.from_scipy reads a matrix)",
                line,
            )
        known = (free[0], free[missing - 1]) if missing else (0, 1)
    ends = known[0] if first is None else first, known[1] if second is None else second
    if weight is None and request.weights:
        weight = _weight(source, table, (*ends, way))
    for place, column in zip((*ends, weight, way), (*wanted, None), strict=True):
        if place is not None and column is None:
            _place(source, table, titles[place])  # a header that occurs twice
    return *ends, weight, way


def _weight(source: Source, table: Table, others: tuple[int | None, ...]) -> int | None:
    """The column named weight, or the only candidate if its header names a weight; other candidates are an error."""
    places = [i for i in range(len(table.titles)) if i not in others]
    found = [i for i in places if table.title(i) in WEIGHTS or (table.is_number(i) and not table.counts_rows(i))]
    for i in found:
        if table.title(i) in (WEIGHTS if len(found) == 1 else WEIGHTS[:2]):
            return i
    if not found:
        return None
    named = [title if table.titled and table.titles.count(title) == 1 else i for i, title in enumerate(table.titles)]
    raise source.fail(
        f"column {table.listed(found, ', column ')} may be weights; pass "
        f"{' or '.join(f'weight={named[i]!r}' for i in found[:MOST_NAMED])} to read it, or weights=False to ignore it"
        f"{'' if table.titled else ' (Graph.from_scipy reads a matrix)'}",
        table.line,
    )


def _place(source: Source, table: Table, wanted: Column) -> int | None:
    """The position of a column that the caller selected by header or position."""
    titles = table.titles
    if wanted is None or (isinstance(wanted, int) and not isinstance(wanted, bool) and 0 <= wanted < len(titles)):
        return wanted
    places = [i for i, title in enumerate(titles) if isinstance(wanted, str) and title == wanted]
    if len(places) == 1:
        return places[0]
    if places:
        which = " and ".join(map(str, places))
        problem = f"{len(places)} columns are named {wanted!r}; pass a position instead: {which}"
    else:
        has = ", ".join(map(repr, titles))
        problem = f"no column {wanted!r}; pass one of {has}, or a position from 0 to {len(titles) - 1}"
    raise source.fail(problem, table.line)


def has_titles(cells: Iterable[str]) -> bool:
    """Whether a row contains known headers: those of two endpoints, or weight."""
    found = {cell.strip().lower() for cell in cells}
    return "weight" in found or any(found.issuperset(pair) for pair in PAIRS)


def is_header(rows: list[list[str]]) -> bool | None:
    """Whether the first row is a header: known names, or text above a column of numbers. None: unknown."""
    first, below = rows[0], rows[1:]
    if has_titles(first):
        return True
    if any(NUMERIC.fullmatch(cell) for cell in first):
        return False
    for column, title in enumerate(first):
        cells = filled(below, column)
        if title.strip() and cells and all(NUMERIC.fullmatch(cell) for cell in cells):
            return True
    return False if len(first) < 2 else None  # `choose` reports a single cell as an error


def filled(rows: list[list[str]], column: int) -> list[str]:
    """The cells of a column that are not empty."""
    return [row[column] for row in rows if column < len(row) and row[column].strip()]
