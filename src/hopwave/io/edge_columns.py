"""Which columns of a table are the two ends of an edge and the weights: for tables as text and for Parquet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import NamedTuple, TypeAlias

from hopwave.errors import IgnoredColumnWarning, warn
from hopwave.io.format import IDS, Request
from hopwave.io.source import Source

Column: TypeAlias = str | int | None
# Common names for the two ends of an edge, the most common first.
PAIRS = (
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("tail", "head"), ("start", "end"),
    ("from_node", "to_node"), ("fromnodeid", "tonodeid"), ("node1", "node2"), ("node_1", "node_2"), ("id1", "id2"),
    ("id_1", "id_2"), ("source_id", "target_id"), ("citing", "cited"), ("row", "col"), ("i", "j"),
    ("source", "destination"), ("origin", "destination"), ("from_id", "to_id"), ("sender", "receiver"),
    ("parent", "child"),
    *product(
        ("source", "src", "origin", "orig", "from", "start"), ("target", "dst", "dest", "destination", "to", "end")
    ),
    *product(("source_id", "origin_id"), ("dest_id", "destination_id")),
)  # fmt: skip
HALVES = {"source", "src", "origin", "orig", "from", "target", "dst", "dest", "destination", "to"}  # an end, if alone
WEIGHTS = ("weight", "weights", "w", "value", "cost", "length", "distance")  # names of a column of weights
TIMES = ("time", "travel_time", "duration")  # not read without weight=, but named beside weights that were read


class Chosen(NamedTuple):
    """The columns of a table that are read."""

    ends: tuple[int, int]
    weight: int | None
    guessed: bool  # neither the caller nor the header says which columns are the ends


def choose(
    source: Source,
    request: Request,
    names: Sequence[str],
    wanted: tuple[Column, Column, Column],
    line: int | None,
    is_number: Callable[[int], bool],
) -> Chosen:
    """The columns of the two ends and of the weights: those given, else those with a known name.

    Without known names, the ends are the first two columns that are neither the weights nor an index without a title.
    `is_number` says whether the column at a place has numbers.
    """
    if len(names) < 2:
        raise source.fail(
            f"one column, {names[0] if names else ''!r}; expected at least two, the ends of an edge", line
        )
    if not request.weights and wanted[2] is not None:
        raise TypeError(f"weight={wanted[2]!r} names a column, weights=False leaves weights out; give one of the two")
    first, second, weight = (_place(source, names, column, line) for column in wanted)
    if first is not None and first == second:
        raise source.fail(f"column {names[first]!r} is given as both ends of an edge; expected two columns", line)
    if weight is not None and weight in (first, second):
        raise source.fail(f"column {names[weight]!r} is given as an end and as the weight; expected two columns", line)
    folded = [name.strip().lower() for name in names]
    pairs = ((folded.index(a), folded.index(b)) for a, b in PAIRS if a in folded and b in folded)
    known = next((pair for pair in pairs if weight not in pair and pair[0] != second and pair[1] != first), None)
    guessed = known is None and (first is None or second is None)
    usual = known or _first_free(source, names, (first, second, weight), line)
    ends = usual[0] if first is None else first, usual[1] if second is None else second
    if first is None and second is None and folded[ends[0]] in IDS and folded[ends[1]] in ("label", "name"):
        a, b = (names[end] for end in ends)
        raise source.fail(
            f"columns {a!r} and {b!r}, as a list of vertices has; expected edges: read the file of the edges, or give "
            f"source={a!r} and target={b!r} if they are the ends of an edge",
            line,
        )
    if weight is None and request.weights:
        found = [folded.index(name) for name in WEIGHTS if name in folded and folded.index(name) not in ends]
        weight = found[0] if found else None
        times = (folded.index(name) for name in TIMES if name in folded)
        others = [*found[1:], *(place for place in times if place not in ends and is_number(place))]
        if found and others and not folded[found[0]].startswith("weight"):
            _warn_of_weights(source, [names[place] for place in (found[0], *others)])
    for place, given in zip((*ends, weight), wanted, strict=True):
        if place is not None and given is None and not guessed:
            _check_single(source, names, names[place], line)
    return Chosen(ends, weight, guessed)


def _first_free(
    source: Source, names: Sequence[str], taken: tuple[int | None, int | None, int | None], line: int | None
) -> tuple[int, int]:
    """The first two columns that can be ends; where one end is given, the other is the usual column, if it is free."""
    first, second, weight = taken
    missing = (first is None) + (second is None)
    free = [i for i in range(len(names)) if i not in taken]
    for is_unlikely in (is_index, _is_weight):
        rest = [i for i in free if not is_unlikely(names[i])]
        free = rest if len(rest) >= missing else free
    if len(free) < missing:
        beside = f" beside the weights, {names[weight]!r}" if weight is not None else ""
        raise source.fail(f"too few columns{beside}: {len(free)}; expected {missing}, the ends of an edge", line)
    if not missing:
        return 0, 1
    if missing == 2:
        return free[0], free[1]
    return free[0], 1 if 1 in free else free[0]


def _check_single(source: Source, names: Sequence[str], title: str, line: int | None) -> None:
    places = [i for i, name in enumerate(names) if name == title]
    if len(places) > 1:
        shown = " and ".join(map(str, places))
        raise source.fail(f"{len(places)} columns {title!r}; expected one: give its position, {shown}, instead", line)


def is_index(title: str) -> bool:
    """Whether a column is the index that pandas wrote: it has no title of its own."""
    title = title.strip().lower()
    return not title or title.startswith(("unnamed: ", "__index_level_"))


def _is_weight(title: str) -> bool:
    return title.strip().lower() in WEIGHTS and title.strip().lower() not in ("w", "value")  # which may be ends


def _place(source: Source, names: Sequence[str], wanted: Column, line: int | None) -> int | None:
    """The position of a column that the caller gave by its name or its position."""
    if wanted is None:
        return None
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return wanted
    if isinstance(wanted, str) and wanted in names:
        _check_single(source, names, wanted, line)
        return names.index(wanted)
    has = ", ".join(map(repr, names))
    raise source.fail(f"no column {wanted!r}; expected one of {has}, or a position from 0 to {len(names) - 1}", line)


def _warn_of_weights(source: Source, titles: Sequence[str]) -> None:
    """Warn of weights that were chosen among several columns, none of which is called weight."""
    read, *others = map(repr, titles)
    warn(
        f"{source.path}: column {read} was read as the weights, and not {' or '.join(others)}; give weight={read} if "
        f"that is right, or weight={others[0]}",
        IgnoredColumnWarning,
    )


def warn_of_guess(source: Source, names: Sequence[str], kinds: Sequence[str], chosen: Chosen) -> None:
    """Warn of ends that were guessed, if other columns can be ends as well.

    A kind is "text", "id" (whole numbers), or anything else for a column that cannot be an end.
    """
    ends = chosen.ends
    others = [i for i, title in enumerate(names) if i not in (*ends, chosen.weight) and not is_index(title)]
    half = [i for i in others if names[i].strip().lower() in HALVES]
    others = [i for i in others if kinds[i] in ("text", "id") and not _is_weight(names[i])]
    if chosen.weight is None:  # one column of numbers may be weights, which another warning says
        numbers = [i for i in others if kinds[i] == "id"]
        others = [i for i in others if i not in numbers[:1]]
    alike = [i for i in others if kinds[i] in (kinds[ends[0]], kinds[ends[1]])]
    texts = [i for i in others if kinds[i] == "text"]
    rivals = half or alike or (texts if len(texts) > 1 else [])
    if not rivals:
        return
    a, b = (names[i] if names[i].strip() else i for i in ends)
    warn(
        f"{source.path}: columns {a!r} and {b!r} were read as the ends of an edge, and not "
        f"{' or '.join(repr(names[i]) for i in rivals[:5])}, because no title says which are; "
        f"give source={a!r} and target={b!r} if that is right, or the titles of others",
        IgnoredColumnWarning,
    )
