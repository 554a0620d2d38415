"""Small HTML tables for notebooks, in the notebook's own colours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def bars(counts: Sequence[int], colours: Sequence[str]) -> str:
    """Counts as bars of a small picture (SVG). More than 160 counts are grouped; a bar is a group's greatest count."""
    if not counts:
        return ""
    size = -(-len(counts) // 160)
    groups = [(max(counts[at : at + size]), colours[at]) for at in range(0, len(counts), size)]
    wide, most = min(24.0, 480 / len(groups)), max(counts) or 1
    drawn = "".join(
        f'<rect x="{at * wide:.1f}" y="{60 - 60 * count / most:.1f}" width="{max(0.8 * wide, 1):.1f}" '
        f'height="{60 * count / most:.1f}" fill="{colour or "currentColor"}"/>'
        for at, (count, colour) in enumerate(groups)
    )
    size_of = f'width="{wide * len(groups):.0f}" height="60" role="img" aria-label="vertices of each level"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size_of}>{drawn}</svg>'


def table(title: str, rows: Iterable[Sequence[object]], header: Sequence[str] = ()) -> str:
    """A caption and a table; every cell is escaped.

    >>> table("A <graph>", [("vertices", 3)])
    '<table><caption>A &lt;graph&gt;</caption><tbody><tr><td>vertices</td><td>3</td></tr></tbody></table>'
    """
    head = f"<thead><tr>{''.join(f'<th>{escape(cell)}</th>' for cell in header)}</tr></thead>" if header else ""
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{escape(title)}</caption>{head}<tbody>{body}</tbody></table>"
