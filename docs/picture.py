"""Draws docs/architecture.svg from the imports: floors as rows, rooms as boxes, one arrow per pair of rooms.

An arrow A → B means that A imports from B. It is left out if a chain of arrows implies it (transitive reduction): `api`
→ `rules` is not drawn beside `api` → `plan` → `rules`. The tooltip of a box lists all imports of its room.

The layout is a small version of Sugiyama's. If a room imports another on its floor, it gets a row above it. An arrow
that passes a row gets a slot in that row; arrows to the same room share their slots. Sweeps look for the order of every
row with the fewest crossings. Then boxes move as close to their neighbours as the order allows. Nothing is random: the
same imports give the same file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from itertools import combinations

from docs import floors

MARGIN, LABELS = 16, 178  # around everything; the column with the floors' titles
BOX_HEIGHT, ROW_HEIGHT, FLOOR_GAP, FLOOR_PADDING = 30, 62, 16, 14
LETTER, BOX_GAP, SLOT_GAP = 7.4, 24, 17  # width of a letter; between two boxes; beside an arrow that passes a row
STRAIGHT = 6.0  # how much more an arrow that passes a row resists moving than a box
SWEEPS = 60
CENTRE = 0.1  # how strongly a node is drawn to the middle: without this, rows drift to one side

LEGEND = "Filled: folder. Outlined: module. A → B: A imports from B, left out where a chain of arrows says the same."
STYLE = """
  .page { fill: #ffffff } .floor { fill: #f2f5f9 }
  .box { fill: #ffffff; stroke: #5b7083; stroke-width: 1.2 } .folder { fill: #dcebfa }
  .arrow { fill: none; stroke: #7d8fa1; stroke-width: 1.3 } .head { fill: #7d8fa1 }
  text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; fill: #1c2733 }
  .title { font-family: system-ui, sans-serif; font-size: 14px; font-weight: 600 }
  .purpose { font-family: system-ui, sans-serif; font-size: 11px; fill: #55677a }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0f151c } .floor { fill: #18212c }
    .box { fill: #0f151c; stroke: #7f93a8 } .folder { fill: #1d3a57 }
    .arrow { stroke: #71859b } .head { fill: #71859b }
    text { fill: #e6edf5 } .purpose { fill: #9fb2c6 }
  }
"""


@dataclass(eq=False)
class Node:
    """A room's box, or the slot of an arrow that passes a row."""

    row: int
    room: str = ""  # empty: a slot
    x: float = 0.0
    above: list[Node] = field(default_factory=list)
    below: list[Node] = field(default_factory=list)

    @property
    def width(self) -> float:
        return LETTER * len(caption(self.room)) + 20 if self.room else 0.0


def caption(room: str) -> str:
    """`api/` for a folder, `plan` for a module, `hopwave` for the package itself."""
    return f"{room}/" if (floors.SOURCE / room).is_dir() else room


# ---------------------------------------------------------------- rooms and arrows


def arrows() -> dict[str, set[str]]:
    """For each room, the other rooms that it imports from. Arrows up, which tests/house forbids, are not drawn."""
    if wrong := floors.homeless():
        raise SystemExit("\n".join(wrong))
    found: dict[str, set[str]] = {floors.room_of(module): set() for module in floors.modules()}
    for one in floors.imports():
        start, end = floors.room_of(one.importer), floors.room_of(one.imported)
        if start != end and floors.floor_of(start) <= floors.floor_of(end):
            found[start].add(end)
    del found["__main__"]  # three lines that call the command
    return found


def reachable(start: str, below: dict[str, set[str]]) -> set[str]:
    """The rooms that chains of arrows lead to from `start`; includes `start` if one leads back."""
    seen: set[str] = set()
    todo = [start]
    while todo:
        new = below[todo.pop()] - seen
        seen |= new
        todo.extend(new)
    return seen


def reduced(below: dict[str, set[str]]) -> dict[str, set[str]]:
    """The arrows that no chain of other arrows replaces."""
    reach = {room: reachable(room, below) for room in below}
    return {
        room: {end for end in ends if not any(end in reach[way] for way in ends - {end})}
        for room, ends in below.items()
    }


def rows(below: dict[str, set[str]]) -> list[list[str]]:
    """The rooms of every row, from top to bottom. Within a floor, a room is in a row below all that import it."""
    reach = {room: reachable(room, below) for room in below}
    found = []
    for number in range(len(floors.FLOORS)):
        here = [room for room in sorted(below) if floors.floor_of(room) == number]
        above = {room: {one for one in here if room in below[one] and one not in reach[room]} for room in here}

        def depth(room: str, above: dict[str, set[str]] = above) -> int:
            return max((1 + depth(one) for one in above[room]), default=0)

        depths = {room: depth(room) for room in here}
        found += [[room for room in here if depths[room] == level] for level in range(1 + max(depths.values()))]
    return found


# ---------------------------------------------------------------- layout


def lay_out(below: dict[str, set[str]]) -> list[list[Node]]:
    """Every row's nodes from left to right, each with its place."""
    grid = [[Node(number, room) for room in row] for number, row in enumerate(rows(below))]
    node = {one.room: one for row in grid for one in row}
    slots: dict[tuple[str, int], Node] = {}
    for room, ends in sorted(below.items()):
        for end in sorted(ends):
            upper, last = node[room], node[end]
            if upper.row >= last.row:
                continue  # a circle of rooms: tests/house reports it, the picture cannot show it
            for number in range(upper.row + 1, last.row):
                joined = (end, number) in slots  # another arrow to this room passes here: both share the rest
                slot = slots.setdefault((end, number), Node(number))
                link(upper, slot)
                if joined:
                    break
                grid[number].append(slot)
                upper = slot
            else:
                link(upper, last)
    order(grid)
    place_nodes(grid)
    return grid


def link(upper: Node, lower: Node) -> None:
    """One step of an arrow."""
    upper.below.append(lower)
    lower.above.append(upper)


def crossings(grid: list[list[Node]]) -> int:
    """How many pairs of arrows cross."""
    place_of = {one: number for row in grid for number, one in enumerate(row)}
    count = 0
    for row in grid:
        steps = [(place_of[upper], place_of[lower]) for upper in row for lower in upper.below]
        count += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(steps, 2))
    return count


def order(grid: list[list[Node]]) -> None:
    """Sort every row by the places of its neighbours, down and up in turn; keep the order with fewest crossings."""
    best, fewest = [list(row) for row in grid], crossings(grid)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in grid if down else reversed(grid):
            place_of = {one: (number + 0.5) / len(other) for other in grid for number, one in enumerate(other)}
            row.sort(
                key=lambda one: _mean([place_of[near] for near in (one.above if down else one.below)], place_of[one])
            )
        if (count := crossings(grid)) < fewest:
            best, fewest = [list(row) for row in grid], count
    grid[:] = best


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def place_nodes(grid: list[list[Node]]) -> None:
    """Give every node the x nearest to its neighbours' that keeps the row's order and its gaps."""
    for row in grid:
        pack(row, [0.0] * len(row))
    for sweep in range(SWEEPS):
        for row in grid if sweep % 2 else reversed(grid):
            pack(row, [(1 - CENTRE) * _mean([near.x for near in one.above + one.below], one.x) for one in row])
    left = min(one.x - one.width / 2 for row in grid for one in row)
    for row in grid:
        for one in row:
            one.x -= left


def pack(row: list[Node], wanted: list[float]) -> None:
    """Move a row's nodes to the least Σ weight · (x − wanted)² with enough room between them (isotonic regression)."""
    offset, offsets = 0.0, []
    for number, one in enumerate(row):
        if number:
            before = row[number - 1]
            offset += (before.width + one.width) / 2 + (BOX_GAP if before.room and one.room else SLOT_GAP)
        offsets.append(offset)
    pools: list[tuple[float, float, int]] = []  # Σ weight · (wanted − offset), Σ weight, nodes
    for one, want, apart in zip(row, wanted, offsets, strict=True):
        weight = 1.0 if one.room else STRAIGHT
        pool = (weight * (want - apart), weight, 1)
        while pools and pools[-1][0] / pools[-1][1] > pool[0] / pool[1]:
            pool = tuple(map(sum, zip(pools.pop(), pool, strict=True)))
        pools.append(pool)
    starts = [total / weight for total, weight, count in pools for _ in range(count)]
    for one, start, apart in zip(row, starts, offsets, strict=True):
        one.x = start + apart


# ---------------------------------------------------------------- drawing


def svg() -> str:
    """The picture."""
    every = arrows()
    below = reduced(every)
    grid = lay_out(below)
    top, bands = _heights(grid)
    left = MARGIN + LABELS + FLOOR_PADDING
    width = left + max(one.x + one.width / 2 for row in grid for one in row) + FLOOR_PADDING + MARGIN
    height = bands[-1][1] + 2 * MARGIN + 8
    shapes = []
    for floor, (begin, end) in zip(floors.FLOORS, bands, strict=True):
        shapes.append(_rectangle("floor", MARGIN, begin, width - 2 * MARGIN, end - begin, 8))
        shapes += _title(floor, begin)
    for row in grid:
        for one in row:
            shapes += [_arrow(one, lower, left, top) for lower in one.below]
    for row in grid:
        for one in row:
            if one.room:
                shapes.append(_box(one, left, top, every[one.room]))
    shapes.append(f'<text class="purpose" x="{MARGIN + 12}" y="{height - MARGIN:.1f}">{LEGEND}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img">\n'
        "<title>The floors of hopwave and what imports what</title>\n"
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path class="head" d="M0,0.8 L7.5,4 L0,7.2 z"/></marker></defs>\n'
        + "\n".join([_rectangle("page", 0, 0, width, height, 0), *shapes])
        + "\n</svg>\n"
    )


def _heights(grid: list[list[Node]]) -> tuple[list[float], list[tuple[float, float]]]:
    """The y of every row's boxes, and where every floor begins and ends."""
    top: list[float] = []
    bands: list[tuple[float, float]] = []
    y = float(MARGIN)
    row_floors = [floors.floor_of(next(one.room for one in row if one.room)) for row in grid]
    for number in range(len(floors.FLOORS)):
        begin = y
        y += FLOOR_PADDING
        for _ in range(row_floors.count(number)):
            top.append(y)
            y += ROW_HEIGHT
        y += BOX_HEIGHT - ROW_HEIGHT + FLOOR_PADDING
        bands.append((begin, y))
        y += FLOOR_GAP
    return top, bands


def _port(one: Node, neighbours: list[Node], near: Node) -> float:
    """The x at which an arrow meets a box: arrows are side by side, in the order of their other ends."""
    if not one.room:
        return one.x
    at = sorted(neighbours, key=lambda other: other.x).index(near)
    step = min(14.0, (one.width - 16) / max(1, len(neighbours)))
    return one.x + (at - (len(neighbours) - 1) / 2) * step


def _arrow(upper: Node, lower: Node, left: float, top: list[float]) -> str:
    """One step of an arrow, from the foot of a row to the next row; through the row, if it ends in a slot."""
    x, y = left + _port(upper, upper.below, lower), top[upper.row] + BOX_HEIGHT
    end, foot = left + _port(lower, lower.above, upper), top[lower.row] - (1 if lower.room else 0)
    bend = (foot - y) / 2
    path = f"M{x:.1f},{y:.1f} C{x:.1f},{y + bend:.1f} {end:.1f},{foot - bend:.1f} {end:.1f},{foot:.1f}"
    if lower.room:
        return f'<path class="arrow" marker-end="url(#head)" d="{path}"/>'
    return f'<path class="arrow" d="{path} V{top[lower.row] + BOX_HEIGHT:.1f}"/>'


def _box(one: Node, left: float, top: list[float], imported: set[str]) -> str:
    x, y = left + one.x - one.width / 2, top[one.row]
    kind = "box folder" if caption(one.room).endswith("/") else "box"
    says = f"{caption(one.room)} imports {', '.join(sorted(imported)) or 'no other room'}"
    return (
        f"<g><title>{escape(says)}</title>{_rectangle(kind, x, y, one.width, BOX_HEIGHT, 5)}"
        f'<text x="{left + one.x:.1f}" y="{y + 19:.1f}" text-anchor="middle">{escape(caption(one.room))}</text></g>'
    )


def _title(floor: floors.Floor, begin: float) -> list[str]:
    lines, words = [""], floor.purpose.split()
    for word in words:
        if len(lines[-1]) + len(word) > 28:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    x = MARGIN + 12
    texts = [f'<text class="title" x="{x}" y="{begin + 22:.1f}">{escape(floor.title)}</text>']
    for number, line in enumerate(lines):
        texts.append(f'<text class="purpose" x="{x}" y="{begin + 37 + 13 * number:.1f}">{escape(line)}</text>')
    return texts


def _rectangle(kind: str, x: float, y: float, width: float, height: float, radius: float) -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.0f}"/>'
