"""The runner of examples: cells, and what they print and draw."""

import json
from pathlib import Path

import pytest
from docs import tables
from docs.site import cells, pages


def test_a_python_file_is_split_into_cells(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nx = 1\nx + 1\n", encoding="utf-8")
    assert cells.read(file) == [cells.Cell("markdown", "# Title\n\nText."), cells.Cell("code", "x = 1\nx + 1")]


def test_cells_share_names_and_show_their_last_value() -> None:
    code = ["import hopwave as hw\nG = hw.generate.path(3)\nprint('made')", "G", "G.n", "None"]
    ran = [output for _, output in cells.run([cells.Cell("code", text) for text in code], "test")]
    assert [output.printed for output in ran] == ["made\n", "", "", ""]
    assert ran[1].html.startswith("<table>") and [output.text for output in ran] == ["", "", "3", ""]


def test_figures_are_kept() -> None:
    pytest.importorskip("matplotlib")
    code = "import hopwave as hw\nhw.bfs(hw.generate.star(4), 0).plot()"
    [(_, output)] = cells.run([cells.Cell("code", code)], "test")
    assert len(output.figures) == 1 and b"<svg" in output.figures[0] and not output.text


@pytest.mark.parametrize("code", ["1 / 0", "import warnings\nwarnings.warn('careful')"])
def test_an_error_or_a_warning_stops_the_build(code: str) -> None:
    with pytest.raises((ZeroDivisionError, UserWarning)):
        list(cells.run([cells.Cell("code", code)], "test"))


def test_notebooks_are_stored_without_results() -> None:
    for file in cells.examples():
        if file.suffix == ".ipynb":
            book = json.loads(file.read_text(encoding="utf-8"))
            assert book["nbformat"] == 4 and len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
            code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
            assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_links_to_code_are_words_until_the_repository_has_an_address() -> None:
    page, here = pages.ROOT / "docs" / "plans.md", Path("plans.md")
    assert pages.relinked("[`rules.py`](../src/hopwave/planning/rules.py)", page, here) == "`rules.py`"
    linked = pages.relinked("[`rules.py`](../src/hopwave/planning/rules.py)", page, here, "https://example.org/")
    assert linked == "[`rules.py`](https://example.org/src/hopwave/planning/rules.py)"
    assert pages.relinked("[t](../benchmarks/results/cpu-search.md)", page, here) == "[t](results/cpu-search.md)"
    assert pages.relinked("```\n[a](b.md)\n```\n", page, here) == "```\n[a](b.md)\n```\n"


@pytest.mark.parametrize("name", tables.TABLES)
def test_tables_have_a_value_in_every_column(name: str) -> None:
    rows = tables.TABLES[name]()
    assert rows and all(any(row[title] is not None for row in rows) for title in rows[0])
