"""Runs the tutorials and examples of docs/gallery and docs/notebooks; writes pages with what they print and draw.

A Python file is split at its lines `# %%` (code) and `# %% [markdown]` (text in comments), as editors do it. A notebook
has its cells already. Both run in this process, one after another, each in an empty namespace: no kernel is started.
What a cell prints, its last expression and its figures follow it on the page. A warning or an error stops the build.

An example needs no download: its graph is generated, or comes with Python or a package that the site installs. A
tutorial may write files and read them.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docs.site.pages import ROOT, code_address, relinked

FOLDERS = {"gallery/tutorials": "*.py", "gallery": "*.py", "notebooks": "*.ipynb"}


@dataclass(frozen=True)
class Cell:
    """A piece of an example: `kind` is "markdown" or "code"."""

    kind: str
    text: str


@dataclass
class Output:
    """What a cell of code printed, its last value as text or HTML, and its figures as SVG."""

    printed: str = ""
    text: str = ""
    html: str = ""
    figures: list[bytes] = field(default_factory=list)


def examples() -> list[Path]:
    """Every example, in the order of the site."""
    return [file for folder, ending in FOLDERS.items() for file in sorted((ROOT / "docs" / folder).glob(ending))]


def home(file: Path) -> str:
    """The folder of the site that has the page of an example; the gallery shows the notebooks, too."""
    return "tutorials" if file.parent.name == "tutorials" else "gallery"


def read(file: Path) -> list[Cell]:
    """The cells of an example."""
    if file.suffix == ".ipynb":
        cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
        return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    found = []
    for kind, text in re.findall(r"^# %%( \[markdown\])?\n(.*?)(?=^# %%|\Z)", file.read_text("utf-8"), re.M | re.S):
        plain = re.sub(r"^# ?", "", text, flags=re.MULTILINE) if kind else text
        found.append(Cell("markdown" if kind else "code", plain.strip()))
    return found


def run(cells: list[Cell], name: str) -> Iterator[tuple[Cell, Output]]:
    """Run the cells one after another in one namespace."""
    import matplotlib

    matplotlib.use("agg")
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, cell in enumerate(cells):
        output = Output()
        if cell.kind == "code":
            with contextlib.redirect_stdout(io.StringIO()) as printed, warnings.catch_warnings():
                warnings.simplefilter("error")
                last = _execute(cell.text, space, f"{name}, cell {number}")
                output.figures = list(_figures())
            output.printed = printed.getvalue()
            if last is not None and not _drawn(last):
                output.html = last._repr_html_() if hasattr(last, "_repr_html_") else ""
                output.text = "" if output.html else repr(last)
        yield cell, output


def _execute(code: str, space: dict[str, Any], name: str) -> Any:
    """Run code as a notebook does: the value of a last expression is returned."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    return None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), space)


def _drawn(value: Any) -> bool:
    """Whether a value is a part of a picture, so that the picture is shown instead."""
    first = value[0] if isinstance(value, list | tuple) and value else value
    return type(first).__module__.startswith("matplotlib")


def _figures() -> Iterator[bytes]:
    from matplotlib import pyplot, rc_context

    for number in pyplot.get_fignums():
        with io.BytesIO() as stream, rc_context({"svg.hashsalt": "hopwave"}):
            pyplot.figure(number).savefig(stream, format="svg", metadata={"Date": None})
            yield stream.getvalue()
    pyplot.close("all")


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """Another current folder for an example that writes something."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def write(file: Path, source: Path) -> float:
    """Run an example and write its page into the folder that Sphinx reads; returns the seconds that it ran."""
    folder = source / home(file)
    folder.mkdir(parents=True, exist_ok=True)
    cells, begin = read(file), time.perf_counter()
    parts, figures = [], 0
    with empty_folder():
        for cell, output in run(cells, file.name):
            if cell.kind == "markdown":
                parts.append(relinked(cell.text, file, Path(home(file), f"{file.stem}.md"), code_address()))
                continue
            parts.append(f"```python\n{cell.text}\n```")
            parts += [f"```text\n{text.rstrip()}\n```" for text in (output.printed, output.text) if text]
            if output.html:
                parts.append(f'```{{raw}} html\n<div class="cell-output">{output.html}</div>\n```')
            for figure in output.figures:
                figures += 1
                (folder / f"{file.stem}-{figures}.svg").write_bytes(figure)
                parts.append(f"![figure {figures} of this example]({file.stem}-{figures}.svg)")
    spent = time.perf_counter() - begin
    where = file.relative_to(ROOT).as_posix()
    parts.append(f"*Run when the site was built, in {spent:.1f} seconds, from `{where}`.*")
    (folder / f"{file.stem}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return spent


def write_contents(source: Path) -> None:
    """Write the page that shows all examples, with the first figure of each."""
    folder = source / "gallery"
    cards, names = [], []
    for file in (example for example in examples() if home(example) == "gallery"):
        title, about = re.match(r"# ([^\n]+)\n\n(.+?)(?:\n\n|\Z)", read(file)[0].text, re.S).groups()  # type: ignore[union-attr]
        picture = f":img-top: {file.stem}-1.svg\n" if (folder / f"{file.stem}-1.svg").exists() else ""
        cards.append(f":::{{grid-item-card}} {title}\n:link: {file.stem}\n:link-type: doc\n{picture}\n{about}\n:::")
        names.append(file.stem)
    text = (
        "# Gallery\n\nEach page is a complete analysis, short enough to read. The pages were run when this site was "
        "built, and show their output below the code.\n\n::::{grid} 1 2 2 3\n:gutter: 3\n\n"
        + "\n\n".join(cards)
        + "\n\n::::\n\n"
        "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"
    )
    (folder / "index.md").write_text(text, encoding="utf-8")
