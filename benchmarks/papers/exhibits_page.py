"""The pages papers-*.md: the tables and figures of one paper, from the lines that `hopwave paper` wrote."""

from __future__ import annotations

from typing import Any

from benchmarks import setting

Record = dict[str, Any]
NAMES = {
    "turbobfs": "TurboBFS",
    "hiragushi": "Hiragushi's hybrid search",
    "turbobc": "TurboBC",
    "xbfs": "XBFS",
    "pushpull": "Push-pull",
}
MOST = 80  # rows of a table on a page


def page(lines: list[Record]) -> str:
    """One section per table or figure that has rows; the others in one list, with their reasons."""
    first = lines[0]
    text = [f"# The tables and figures of {NAMES[first['paper']]}", setting.where(lines)]
    text.append(
        f"Made by `hopwave paper {first['paper']} --device {first['where']['device']}`, which also draws the figures. "
        "Columns *paper: …* are what the paper states, on its own machine. *from* says how a graph was had, or why a "
        "row has no numbers of ours."
    )
    without = [line for line in lines if not line["rows"] and line["note"]]
    for line in lines:
        if line["rows"] and len(line["rows"]) <= MOST:
            text += [f"## {line['number']}: {line['title']}", table(line["rows"])]
            text += [line["note"]] if line["note"] else []
    if without:
        text += ["## Without rows", *(f"*{line['number']}, {line['title']}.* {line['note']}" for line in without)]
    return "\n\n".join(text) + "\n"


def table(rows: list[Record]) -> str:
    """A table with every column that a row has, in their order."""
    columns: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        columns |= dict.fromkeys(row)
    last = [name for name in ("from", "remark") if name in columns]
    heads = [*(name for name in columns if name not in last), *last]
    return setting.table({name: row.get(name) for name in heads} for row in rows)
