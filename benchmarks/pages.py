"""Pages of results, made from their JSON lines: nothing is measured here, and no GPU is needed.

    python -m benchmarks.pages [name …]

rewrites the named pages of benchmarks/results, or all that follow from a .jsonl file. tests/house compares them.

Most pages have the form of setting.page, those of papers (papers-*) that of papers/exhibits_page.py. Each of the others
has a template, benchmarks/templates/NAME.md, and a function in VALUES that computes its values. In a template

    {name}, {record[key]:.2f}, {one / other}    are values; a float has three digits if no format is given
    each rows: | {graph} | {n:,} |              is written once per record of `rows`; its keys are values in that line

In a table, None is shown as –. A paragraph that names a value which is None is left out, and so is a section with
`each rows:` if there are no such rows.
"""

from __future__ import annotations

import json
import re
import string
import sys
from collections import ChainMap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import setting
from benchmarks.gpu import values as gpu_values
from benchmarks.mpi import scaling_page
from benchmarks.papers import authors_page, exhibits_page, turbo_kernels_page
from benchmarks.questions import aims
from benchmarks.questions import page as questions_page
from benchmarks.sanitize import page as sanitize_page

Record = dict[str, Any]
RESULTS = setting.ROOT / "benchmarks" / "results"
TEMPLATES = setting.ROOT / "benchmarks" / "templates"
EACH = re.compile(r"^each (\w+): ", re.MULTILINE)
VALUES: dict[str, Callable[[list[Record]], Record]] = {
    "gpu-authors": authors_page.values,
    "gpu-betweenness": gpu_values.betweenness,
    "gpu-hopwave": gpu_values.hopwave,
    "gpu-scale": gpu_values.scale,
    "gpu-search": gpu_values.search,
    "gpu-turbo-kernels": turbo_kernels_page.values,
    "questions": questions_page.values,
    "questions-aims": aims.values,
    "sanitizer": sanitize_page.values,
    "scaling": scaling_page.values,
}


def names(folder: Path = RESULTS) -> list[str]:
    """The names of all pages."""
    return sorted(page.stem for page in folder.glob("*.md"))


def lines(name: str, folder: Path = RESULTS) -> list[Record]:
    """All lines of a .jsonl file."""
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def earlier(name: str) -> list[Record]:
    """The lines that earlier runs have left for this page; none without the file."""
    return lines(name, setting.RESULTS) if (setting.RESULTS / f"{name}.jsonl").exists() else []


def write(name: str, folder: Path = RESULTS, found: list[Record] | None = None) -> None:
    """Write a page from its .jsonl file, into which `found` is written first if it is given."""
    if found is not None:
        folder.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(line) + "\n" for line in found)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (folder / f"{name}.md").write_text(rendered(name, folder), encoding="utf-8")


def rendered(name: str, folder: Path = RESULTS) -> str:
    """The page of this name, from its .jsonl file. If each line is a run, the newest run makes the page."""
    if name.startswith("papers-"):
        return exhibits_page.page(lines(name, folder))
    if name not in VALUES:
        return setting.page(lines(name, folder)[-1])
    return filled((TEMPLATES / f"{name}.md").read_text(encoding="utf-8"), values(name, folder))


def values(name: str, folder: Path = RESULTS) -> Record:
    """The values that a template can name."""
    found = lines(name, folder)
    return {"where": setting.where(found)} | VALUES[name](found)


def filled(template: str, values: Record) -> str:
    """A template filled with its values.

    >>> rows = [{"a": 3, "b": 2}]
    >>> print(filled("{few}\\n\\n| a | b |\\neach rows: | {a} | {a / b:.1f} |\\n", {"few": None, "rows": rows}))
    | a | b |
    | 3 | 1.5 |
    <BLANKLINE>
    """
    first, *sections = re.split(r"^(?=## )", template, flags=re.MULTILINE)
    text = first + "".join(section for section in sections if all(values[rows] for rows in EACH.findall(section)))
    blocks = [(_table if block.startswith("|") else _paragraph)(block, values) for block in text.split("\n\n")]
    return "\n\n".join(filter(None, blocks)).rstrip() + "\n"


def _table(block: str, values: Record) -> str:
    text = []
    for line in block.splitlines():
        each = EACH.match(line)
        for record in values[each[1]] if each else ({},):
            text.append(_Fields().vformat(EACH.sub("", line), (), ChainMap(record, values)))
    return "\n".join(text)


def _paragraph(block: str, values: Record) -> str | None:
    fields = _Fields()
    text = fields.vformat(block, (), values)
    return None if fields.missing else text


class _Fields(string.Formatter):
    """Fills in {name}, {record[key]} and {one / other}."""

    missing = False  # whether a value was None

    def get_field(self, name: str, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        """The value of a field."""
        parts = [_value(part, kwargs) for part in name.split(" / ")]
        if None in parts or len(parts) == 1:
            return None if None in parts else parts[0], name
        return parts[0] / parts[1], name

    def convert_field(self, value: Any, conversion: Any) -> Any:
        """None stays None, even with !s."""
        return None if value is None else super().convert_field(value, conversion)

    def format_field(self, value: Any, form: str) -> str:
        """A value in its format."""
        if value is None or value == []:
            self.missing = True
            return "–"
        if isinstance(value, list):  # a list of paragraphs
            return "\n\n".join(value)
        return format(value, form or (".3g" if isinstance(value, float) else ""))


def _value(field: str, values: Mapping[str, Any]) -> Any:
    """values["record"]["key"] for record[key]. A key that the record lacks gives None; an unknown name is an error."""
    name, *keys = field.replace("]", "").split("[")
    found = values[name]
    for key in keys:
        found = found[int(key)] if isinstance(found, (list, tuple)) else None if found is None else found.get(key)
    return found


def main() -> None:
    """Rewrite pages."""
    for name in sys.argv[1:] or names():
        write(name)


if __name__ == "__main__":
    main()
