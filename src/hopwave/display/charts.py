"""Charts as SVG text for self-contained pages: bars, stacked bars, lines and points; axes may be logarithmic."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0e8fa9", "#b0468f", "#c98a12", "#4b7d2a", "#6b5fc7", "#c4502e", "#55677a", "#8a6d00",
           "#5fc0d4", "#e08fc4", "#efc46a", "#8fbf6a", "#aaa2ea", "#e8957a", "#a3b3c2", "#b8a04a")  # fmt: skip
EDGE = 2.0  # margin at each end of a logarithmic axis, in percent
WIDTH, HEIGHT, LEFT, TOP = 760, 300, 84, 12  # size and margins of the plot area, in units of the view box
Value = float | None


@dataclass(frozen=True)
class Axis:
    """An axis; positions are in percent.

    >>> axis = Axis.of([1.0, 100.0])
    >>> [round(axis.place(value)) for value in (1.0, 10.0, 100.0)]
    [2, 50, 98]
    >>> Axis.of([3.0, 10.0], log=False).place(5.0)
    50.0
    """

    first: float
    last: float
    log: bool = True

    @classmethod
    def of(cls, values: Iterable[float], log: bool = True) -> "Axis":
        """An axis from the minimum to the maximum of the positive values; a linear axis begins at 0."""
        above = [value for value in values if value > 0] or [1.0]
        first, last = min(above), max(above)
        if not log:
            return cls(0.0, last, log=False)
        return cls(first, last) if last > first * 1.05 else cls(first / 2, last * 2)

    def place(self, value: float) -> float:
        """Position of a value on the axis, in percent."""
        if not self.log:
            return 100 * value / self.last
        share = math.log(value / self.first) / math.log(self.last / self.first)
        return EDGE + share * (100 - 2 * EDGE)

    def ticks(self) -> list[float]:
        """Powers of ten; with fewer than three, also 2 and 5 times each; with more than six, every second or third."""
        if not self.log:
            step = 10.0 ** math.floor(math.log10(self.last))
            step = next(step * part for part in (1, 0.5, 0.2, 0.1) if self.last / (step * part) >= 3)
            return [step * number for number in range(int(self.last / step * 1.0000001) + 1)]
        low, high = math.floor(math.log10(self.first)), math.ceil(math.log10(self.last))
        tens = [10.0**exponent for exponent in range(low, high + 1)]
        inside = [tick for tick in tens if self.first <= tick <= self.last]
        if len(inside) >= 3:
            return inside[:: math.ceil(len(inside) / 6)]
        return [k * ten for ten in tens for k in (1, 2, 5) if self.first <= k * ten <= self.last]


def shown(value: float) -> str:
    """A number with three significant digits, or as an integer from 1000, without an exponent.

    >>> [shown(value) for value in (0.0, 0.012345, 7.0, 12345.6, 1234567.0)]
    ['0', '0.0123', '7', '12,346', '1,234,567']
    """
    if value >= 1000:
        return f"{value:,.0f}"
    digits = 2 - math.floor(math.log10(value)) if value > 0 else 0
    text = f"{value:.{max(0, digits)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def bars(
    names: Sequence[str], series: Mapping[str, Sequence[Value]], unit: str, log: bool = False, stacked: bool = False
) -> str:
    """Groups of bars, one group per name; stacked bars show shares of a total. A missing value has no bar."""
    tops = [sum(filter(None, group)) if stacked else max(filter(None, group), default=0.0)
            for group in zip(*series.values(), strict=True)]  # fmt: skip
    lows = [value for values in series.values() for value in values if value]
    axis = Axis.of([*tops, min(lows, default=0.0) / 2], log)  # half, so that the smallest bar of a log axis is visible
    below = 22 + min(120.0, 4.7 * max(map(len, names), default=0))  # space for slanted names
    parts, floor = _frame(axis, unit), HEIGHT + TOP
    wide = (WIDTH - LEFT) / max(len(names), 1)
    thick = 0.8 * wide / (1 if stacked else len(series))
    for place, name in enumerate(names):
        left, base = LEFT + (place + 0.1) * wide, 0.0
        for number, (label, values) in enumerate(series.items()):
            if not (value := values[place]):
                continue
            top, bottom = axis.place(base + value), axis.place(base) if base else 0.0
            text = escape(f"{name}, {label}: {shown(value)} {unit}")
            x = left + (0 if stacked else number * thick)
            parts.append(
                f'<rect x="{x:.1f}" y="{floor - HEIGHT * top / 100:.1f}" width="{max(thick - 0.5, 0.8):.1f}" '
                f'height="{max(HEIGHT * (top - bottom) / 100, 0.5):.1f}" fill="{_colour(number)}">'
                f"<title>{text}</title></rect>"
            )
            base += value if stacked else 0.0
        x, y = LEFT + (place + 0.5) * wide, floor + 14
        parts.append(f'<text transform="translate({x:.1f} {y}) rotate(-45)" text-anchor="end">{escape(name)}</text>')
    return _drawn(parts, HEIGHT + TOP + below) + legend(series)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str, log: tuple[bool, bool], joined: bool = True
) -> str:
    """Points (x, y) of each series, joined by a line or not."""
    usable = {
        name: [(a, b) for a, b in points if (a > 0 or not log[0]) and (b > 0 or not log[1])]
        for name, points in series.items()
    }
    across, up = (Axis.of([point[i] for points in usable.values() for point in points], log[i]) for i in (0, 1))
    parts, floor, long = _frame(up, y), HEIGHT + TOP, WIDTH - LEFT
    for tick in across.ticks():
        at = LEFT + long * across.place(tick) / 100
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{floor}" class="grid"/>')
        parts.append(f'<text x="{at:.1f}" y="{floor + 15}" text-anchor="middle">{shown(tick)}</text>')
    parts.append(f'<text x="{LEFT + long / 2}" y="{floor + 34}" text-anchor="middle">{escape(x)}</text>')
    for number, (name, points) in enumerate(usable.items()):
        placed = [(LEFT + long * across.place(a) / 100, floor - HEIGHT * up.place(b) / 100) for a, b in points]
        if joined and placed:
            way = " ".join(f"{a:.1f},{b:.1f}" for a, b in placed)
            parts.append(f'<polyline points="{way}" fill="none" stroke="{_colour(number)}" stroke-width="2"/>')
        for (a, b), (at, height) in zip(points, placed, strict=True):
            text = escape(f"{name}: {shown(a)} {x}, {shown(b)} {y}")
            parts.append(
                f'<circle cx="{at:.1f}" cy="{height:.1f}" r="{3 if joined else 2}" fill="{_colour(number)}">'
                f"<title>{text}</title></circle>"
            )
    return _drawn(parts, HEIGHT + TOP + 40) + legend(usable)


def legend(names: Iterable[str]) -> str:
    """The colours of the series."""
    marks = (f'<span><i style="background:{_colour(at)}"></i>{escape(name)}</span>' for at, name in enumerate(names))
    return f'<p class="legend">{" ".join(marks)}</p>'


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]


def _frame(axis: Axis, unit: str) -> list[str]:
    """The vertical axis: a line and a number at each tick, and the unit next to the axis."""
    floor, at = HEIGHT + TOP, f"translate(13 {TOP + HEIGHT / 2}) rotate(-90)"
    parts = [f'<text transform="{at}" text-anchor="middle">{escape(unit)}</text>']
    for tick in axis.ticks():
        y = floor - HEIGHT * axis.place(tick) / 100 if tick else floor
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{shown(tick)}</text>')
    return parts


def _drawn(parts: Iterable[str], height: float) -> str:
    style = "text{font:11px system-ui,sans-serif;fill:currentColor}.grid{stroke:currentColor;opacity:.15}"
    opened = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH + 8} {height:.0f}" role="img">'
    return f"{opened}<style>{style}</style>{''.join(parts)}</svg>"
