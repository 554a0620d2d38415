"""Records of measurements, and the pages made from them: nothing is measured here, and no GPU is needed.

    python -m benchmarks.pages [page …]          rewrites the named pages of benchmarks/results, or all of them
    python -m benchmarks.pages --paper FILE …    keeps what `hopwave paper NAME --out FOLDER` wrote to NAME.jsonl

tests/house compares pages with their records.

A record is one line of JSON: {"benchmark", "title", "where", "rows", "note"}. A new run of a benchmark replaces its
record; git has the earlier ones. The records of all benchmarks whose names begin with the same word are in one file,
results/WORD.jsonl. A page shows one record or several (PAGES). The pages of papers (papers-*) have one record per table
or figure of the paper.

Some pages have a template, benchmarks/templates/NAME.md, and a function in VALUES that computes its values. In a
template

    {name}, {record[key]:.2f}, {one / other}    are values; a float has three digits if no format is given
    each rows: | {graph} | {n:,} |              is written once per record of `rows`; its keys are values in that line

In a table, None is shown as –. A paragraph that names a value which is None is omitted, and so is a section with
`each rows:` if there are no such rows.
"""

from __future__ import annotations

import json
import os
import re
import string
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from hopwave.papers import records

Record = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WRITTEN = Path(os.environ.get("HOPWAVE_RESULTS", RESULTS))  # where a run puts its records and pages
TEMPLATES = ROOT / "benchmarks" / "templates"
EACH = re.compile(r"^each (\w+): ", re.MULTILINE)
VALUES = {  # page → the function that computes the values of its template
    "gpu-authors": "benchmarks.authors:values",
    "gpu-turbo-kernels": "benchmarks.turbo_kernels:values",
    "sanitizer": "benchmarks.sanitize:values",
    "scaling": "benchmarks.scaling:values",
}
PAGES: dict[str, tuple[str, tuple[str, ...]]] = {  # pages with several records: title, benchmarks
    "cpu-betweenness": (
        "Betweenness on the CPU",
        ("cpu-betweenness", "cpu-betweenness-weighted", "cpu-betweenness-by-degree"),
    ),
    "cpu-gap": ("The GAP benchmark on the CPU", ("cpu-gap-2", "cpu-gap-16")),
    "cpu-many": (
        "Distances from many sources on the CPU",
        ("cpu-many", "cpu-many-16", "cpu-many-weighted", "cpu-distance-sums"),
    ),
    "cpu-sampling": (
        "Sampled betweenness and distances",
        ("cpu-paths", "cpu-paths-promise", "cpu-k-bounds", "cpu-intervals", "gpu-paths"),
    ),
    "cpu-sssp": ("Shortest paths on the CPU", ("cpu-sssp", "cpu-k-paths")),
    "cpu-tables": ("Tables of distances and accessibility", ("cpu-tables", "gpu-tables")),
    "first-minute": (
        "Import and first calls",
        (
            *("first-cpu", "first-cpu-aarch64", "first-cpu-wheel", "first-cpu-wheel-aarch64"),
            *("first-cuda", "first-cuda-wheel", "first-baseline-x86_64", "first-baseline-aarch64"),
        ),
    ),
    "gpu-scale": ("Large graphs on one GPU", ("gpu-scale", "gpu-scale-files")),
    "gpu-many": ("Many sources on one GPU", ("gpu-many", "gpu-many-large", "gpu-many-weighted")),
    "graphs": ("Building, writing and reading graphs", ("graphs-building", "graphs-building-h200", "graphs-files")),
    "linalg": ("Linear algebra", ("linalg-algorithms", "linalg-search", "linalg-search-cuda")),
    "linalg-products": ("The four products", ("linalg-products", "linalg-products-cuda")),
    "memory": ("Peak memory, estimated and measured", ("memory-cpu", "memory-cuda")),
    "networkx": (
        "NetworkX through hopwave",
        ("networkx-cpu", "networkx-h200", "networkx-small", "networkx-suite", "networkx-karate"),
    ),
    "peers": (
        "Other programs, measured once",
        ("peers-authors", "peers-cugraph", "peers-cugraph-many", "peers-gap", "peers-networkit"),
    ),
    "questions": ("Every public question", ("questions", "questions-calls", "questions-calls-2")),
    "ranks": ("Searches over MPI ranks", ("ranks-cpu", "ranks-h200")),
}
PAPERS = {
    "turbobfs": "TurboBFS",
    "hiragushi": "Hiragushi's hybrid search",
    "turbobc": "TurboBC",
    "xbfs": "XBFS",
    "pushpull": "Push-pull",
}
MOST = 80  # rows of a paper's table on a page
ORIGINS = ("stand-in", "generated", "made", "the paper's file")  # how `from` begins if there is a graph
SCALED = re.compile("scaled to|extrapolated from")


# ---------------------------------------------------------------- records


def file_of(benchmark: str, folder: Path = RESULTS) -> Path:
    """The file of a benchmark's records."""
    return folder / f"{benchmark.partition('-')[0]}.jsonl"


def every_line(folder: Path = RESULTS) -> list[Record]:
    """All records of a folder; fuzz.jsonl has none."""
    files = sorted(file for file in folder.glob("*.jsonl") if file.stem != "fuzz")
    return [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]


def lines(benchmark: str, folder: Path = RESULTS) -> list[Record]:
    """The records of one benchmark: one, or for a paper one per table and figure; none without the file."""
    file = file_of(benchmark, folder)
    text = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [record for record in map(json.loads, text) if record["benchmark"] == benchmark]


def rows(benchmark: str, folder: Path = RESULTS) -> list[Record]:
    """The rows of a benchmark's newest run; none without one."""
    found = lines(benchmark, folder)
    return list(found[-1]["rows"]) if found else []


def keep(records: list[Record], folder: Path | None = None) -> None:
    """Write records, in place of the earlier ones of the same benchmarks, and the pages that show them."""
    folder = WRITTEN if folder is None else folder
    folder.mkdir(parents=True, exist_ok=True)
    new = {record["benchmark"] for record in records}
    for file in {file_of(name, folder) for name in new}:
        text = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        kept = [line for line in text if json.loads(line)["benchmark"] not in new]
        kept += [json.dumps(record) for record in records if file_of(record["benchmark"], folder) == file]
        kept.sort(key=lambda line: str(json.loads(line)["benchmark"]))  # stable: a paper's exhibits keep their order
        file.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    for page in {page_of(name) for name in new}:
        (folder / f"{page}.md").write_text(rendered(page, folder), encoding="utf-8")


def of_paper(file: Path) -> list[Record]:
    """The records of a file that `hopwave paper` wrote: one per table and figure."""
    found = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [{"benchmark": f"papers-{record['paper']}"} | record for record in found]


def publish(
    benchmark: str,
    title: str,
    rows: list[Record],
    note: str = "",
    more: Record | None = None,
    where: Record | None = None,
) -> None:
    """Keep one record, and print it as a page shows it.

    `where` describes the machine, by default as `setting.machine()` does; `more` adds to that.
    """
    about = (import_module("benchmarks.setting").machine() if where is None else where) | (more or {})
    keep([{"benchmark": benchmark, "title": title, "where": about, "rows": rows, "note": note}])
    print(f"\n# {title}\n\n{table(rows)}\n\n{note}")


# ---------------------------------------------------------------- pages


def page_of(benchmark: str) -> str:
    """The page that shows a benchmark."""
    return next((page for page, (_, shown) in PAGES.items() if benchmark in shown), benchmark)


def names(folder: Path = RESULTS) -> list[str]:
    """The names of all pages that the records of a folder make."""
    return sorted({page_of(record["benchmark"]) for record in every_line(folder)})


def rendered(page: str, folder: Path = RESULTS) -> str:
    """The page of this name, from its records."""
    if page.startswith("papers-"):
        return exhibits(lines(page, folder))
    if page in VALUES:
        return filled((TEMPLATES / f"{page}.md").read_text(encoding="utf-8"), values(page, folder))
    title, shown = PAGES.get(page, ("", (page,)))
    records = [record for name in shown for record in lines(name, folder)]
    if len(shown) == 1:
        return section(records[-1], "#")
    return "\n".join([f"# {title}\n", *(section(record, "##") for record in records)])


def section(record: Record, mark: str) -> str:
    """Title, machine, table and note of one record."""
    text = f"{mark} {record['title']}\n\n{where(record)}\n\n{table(record['rows'])}\n\n{record['note']}\n"
    return text.rstrip() + "\n"


def where(record: Record) -> str:
    """The machine of a record, as a sentence."""
    return ", ".join(f"{key} {value}" for key, value in record["where"].items())


def values(page: str, folder: Path = RESULTS) -> Record:
    """The values that a template can name."""
    module, _, function = VALUES[page].partition(":")
    record = lines(page, folder)[-1]
    compute: Callable[[list[Record]], Record] = getattr(import_module(module), function)
    return {"where": where(record)} | compute(record["rows"])


def table(rows: Iterable[Record]) -> str:
    """Rows as a Markdown table with every column that a row has, in their order; `from` and `remark` are last."""
    rows = list(rows)
    columns: dict[str, None] = {}
    for row in sorted(rows, key=len, reverse=True):
        columns |= dict.fromkeys(row)
    last = [name for name in ("from", "remark") if name in columns]
    heads = [*(name for name in columns if name not in last), *last]
    text = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    text += ["| " + " | ".join(_cell(row.get(head)) + _origin(row, head) for head in heads) + " |" for row in rows]
    return "\n".join(text)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _origin(row: Record, head: str) -> str:
    """After a ratio, what a time of it is extrapolated from."""
    said = [value for value in row.values() if isinstance(value, str) and SCALED.search(value)]
    return f" ({said[0]})" if said and head.startswith("times ") else ""


def exhibits(records: list[Record]) -> str:
    """A paper's page: one section per table or figure that has rows; the others in one list, with their reasons."""
    first = records[0]
    origins = [row for one in records for row in one["rows"] if row.keys() >= {"graph", "from"}]
    graphs = {row["graph"]: row["from"] for row in origins if row["from"].startswith(ORIGINS)}
    stand_ins = [graph for graph, origin in graphs.items() if origin.startswith("stand-in")]
    text = [f"# The tables and figures of {PAPERS[first['paper']]}", where(records[-1])]
    text.append(
        f"Made by `hopwave paper {first['paper']} --device {first['where']['device']}`, which also draws the figures. "
        "Columns *paper: …* are what the paper states, on its own machine. *from* says how a graph was had, or why a "
        f"row has no numbers of ours. {len(stand_ins)} of {len(graphs)} graphs are stand-ins; averages count stand-ins "
        "of one kind and size once."
    )
    shown = [one for one in records if 0 < len(one["rows"]) <= MOST]
    without = [one for one in records if one not in shown]
    for one in shown:
        text += [f"{_anchor(one)}\n## {one['number']}: {one['title']}", _command(one), table(one["rows"])]
        text += [one["note"]] if one["note"] else []
    if without:
        listed = (f"{_anchor(one)}*{one['number']}, {one['title']}.* {one['note']}" for one in without)
        text += ["## Pictures, and points that only the command draws", *listed]
    return "\n\n".join(text) + "\n"


def _anchor(exhibit: Record) -> str:
    return f'<a id="{records.slug(exhibit["number"])}"></a>'


def _command(exhibit: Record) -> str:
    paper, number = exhibit["paper"], exhibit["number"]
    row = f"[Row of papers.md](../../docs/papers.md#{records.slug(paper, number)})"
    return f'{row}, `hopwave paper {paper} --only "{number}"`'


# ---------------------------------------------------------------- templates


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
    """Rewrite pages, or keep the records of papers."""
    if sys.argv[1:2] == ["--paper"]:
        for file in sys.argv[2:]:
            keep(of_paper(Path(file)))
        return
    for name in sys.argv[1:] or names():
        (RESULTS / f"{name}.md").write_text(rendered(name), encoding="utf-8")


if __name__ == "__main__":
    main()
