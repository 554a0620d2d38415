"""The pages are true: generated tables, the picture, links, examples."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from benchmarks import pages, report, sanitize, turbo_kernels
from docs import __main__ as docs
from docs import measured, papers, papers_values, picture, speed, tables
from docs.site import pages as site_pages
from docs.site import reference

import hopwave as hw
from hopwave.papers import paper

NEEDS_HARDWARE = {"cupy", "cupyx", "cupy_backends", "mpi4py"}
MODULES = ["hopwave"] + [
    module.name
    for module in pkgutil.walk_packages(hw.__path__, "hopwave.")
    if not module.name.endswith("__main__")  # importing it would run the command
]


@pytest.mark.parametrize("name", docs.GENERATED)
def test_what_is_generated_is_up_to_date(name: str, root: Path) -> None:
    text = (root / name).read_text(encoding="utf-8")
    assert docs.GENERATED[name](text) == text, "run `make docs`"
    if name == "docs/papers.md":
        cells = {line.replace("\\|", "").count("|") for line in text.splitlines() if line.startswith("|")}
        assert cells == {6, 7}, "no cell breaks a table: five columns in the first, six in the others"


TOOLS = [measured, tables, papers_values, site_pages, reference, sanitize, pages, turbo_kernels, report]


@pytest.mark.parametrize("module", TOOLS, ids=lambda module: module.__name__)
def test_examples_of_generators_and_tools(module: Any) -> None:
    failed, tried = doctest.testmod(module)
    assert tried and not failed


def test_a_new_run_changes_the_times(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pages.rows
    slower = {"hopwave ms": 77.7, "device ms": 1.0}
    monkeypatch.setattr(pages, "rows", lambda name: [row | slower if "aim ms" in row else row for row in before(name)])
    assert measured.markdown().count("| 78 |") == 2  # once for a search, once for one source of betweenness


def test_the_papers_name_code_and_tests_that_exist() -> None:
    assert not (wrong := papers.wrong(papers.read())), "\n".join(wrong)
    for one in papers.read():  # every table and figure of `hopwave paper` has one row, to which its page links
        exhibits = [exhibit.number for exhibit in paper(one.key).exhibits]
        assert sorted(number for row in one.rows for number in row.shows) == sorted(exhibits), one.title


def test_the_numbers_of_notes_are_those_of_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = " ".join(row.note for paper in papers.read() for row in paper.rows)
    assert set(re.findall(r"{(\w+)}", notes)) == set(papers_values.values()), "each is used, and each is known"
    before, lines = papers_values.pushpull(), pages.lines
    assert before["table_2"].count(",") == 3 and before["table_2"].split()[-2] == "and"
    twice = [
        one | {"rows": [row | {"gain": 2 * row["gain"]} if "gain" in row else row for row in one["rows"]]}
        for one in lines("papers-pushpull", pages.RESULTS)
    ]
    monkeypatch.setattr(pages, "lines", lambda name, folder: twice if "push" in name else lines(name, folder))
    changed = {name for name, value in papers_values.pushpull().items() if value != before[name]}
    assert changed == {"table_2", "reuse", "direction"}, "a new run changes the numbers that follow from it"


def test_rows_that_name_nothing_are_found() -> None:
    """A missing file, name, plan or note, an unknown verdict, a function that is no test, and tests of pages only."""
    rules, tests = "planning/rules.py::beamer", "planning/test_rules.py::"
    rows = (
        papers.Row("1", "", "faithful", (rules,), (f"{tests}test_whole_searches",)),
        papers.Row("2", "", "faithful", ("planning/rules.py::nope", "no.py::x"), (f"{tests}test_nope",)),
        papers.Row("3", "", "differs", ("planning/catalogue.py::nope",)),
        papers.Row("4", "", "perhaps", note="so"),
        papers.Row("5", "", "faithful", (rules,), ("mpi/check_searches.py::checked",)),  # not a check
        papers.Row("6", "", "faithful", (rules,), tuple(sorted(papers.OF_PAGES))),
    )
    found = [sentence.partition(", ")[2] for sentence in papers.wrong([papers.Paper("P", rows)])]
    assert [sentence.partition(":")[0] for sentence in found] == ["2", "2", "2", "3", "3", "3", "4", "4", "5", "6"]


def test_links_lead_somewhere() -> None:
    assert [sentence for page in docs.pages() for sentence in docs.broken_links(page)] == []


def test_broken_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    (tmp_path / "good.md").write_text("# The House\n")
    page = tmp_path / "page.md"
    page.write_text(
        "[a](good.md) [b](good.md#the-house) [c](https://example.org) `[d](code.md)`\n"
        "```\n[e](code.md)\n```\n[f](gone.md) [g](good.md#the-garden) [h](#nowhere)\n"
    )
    assert [one.split()[3] for one in docs.broken_links(page)] == ["gone.md", "good.md#the-garden", "#nowhere"]


@pytest.mark.parametrize(
    "page", [page for page in docs.pages() if ">>>" in page.read_text()], ids=lambda page: page.name
)
def test_examples_in_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    # All code blocks of a page are one session. Other lines are blanked, so that a failure reports the right line.
    kept, inside = [], False
    for line in text.splitlines():
        inside = not inside and line == "```python" if line.startswith("```") else inside
        kept.append(line if inside and not line.startswith("```") else "")
    example = doctest.DocTestParser().get_doctest("\n".join(kept), {}, page.name, str(page), 0)
    assert doctest.DocTestRunner().run(example).failed == 0


@pytest.mark.parametrize(("page", "lines", "words"), [("README", 110, ">>> import hopwave"), ("CONTRIBUTING", 85, "")])
def test_first_pages_are_short(page: str, lines: int, words: str, root: Path) -> None:
    text = (root / f"{page}.md").read_text(encoding="utf-8")
    assert words in text and len(text.splitlines()) <= lines


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_modules(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in NEEDS_HARDWARE:
            raise
        pytest.skip(f"{error.name} is not installed")
    if name.startswith("hopwave.distributed") and importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    monkeypatch.chdir(tmp_path)  # an example may write a file
    known = {"hw": hw, "la": importlib.import_module("hopwave.linalg")}  # as docs/reference.md says
    if name.startswith("hopwave.distributed"):
        known |= {"distributed": hw.distributed, "da": importlib.import_module("hopwave.distributed.linalg")}
    assert doctest.testmod(module, extraglobs=known).failed == 0


def test_there_are_modules_to_look_at() -> None:
    assert {"hopwave.graph", "hopwave.engines.reference", "hopwave.algorithms.bfs"} <= set(MODULES)


# ---------------------------------------------------------------- every public name is explained


def test_public_names_have_a_docstring() -> None:
    """With an example; functions have more (test_docstrings.py). Methods of public classes have one, too."""
    for name in hw.__all__:
        public = getattr(hw, name)
        assert ">>>" in (public.__doc__ or ""), f"the docstring of hopwave.{name} has no example; add one after >>>"
        for member_name, member in vars(public).items() if inspect.isclass(public) else ():
            shown = callable(member) or isinstance(member, property | classmethod | staticmethod)
            if shown and not member_name.startswith("_"):
                assert inspect.getdoc(member), f"hopwave.{name}.{member_name} has no docstring"


def test_all_is_sorted_and_complete() -> None:
    pairs = zip(hw.__all__, sorted(hw.__all__), strict=True)
    late = next((name for name, expected in pairs if name != expected), "")
    assert not late, f"{late!r} is out of order in __all__ of src/hopwave/__init__.py; sort the names"
    assert all(hasattr(hw, name) for name in hw.__all__)
    import hopwave.errors

    kinds = {name for name, kind in vars(hopwave.errors).items() if inspect.isclass(kind) and name.endswith("Error")}
    assert kinds <= set(hw.__all__), "what can be raised can be caught"


# ---------------------------------------------------------------- the pages for newcomers


def unknown_names(way: str, folder: Path) -> list[str]:
    """Names in a way's text that nothing public and none of its files defines: `Searcher`, `csr.rows_of`."""
    files = [folder / file for file in re.findall(r"\]\((\S+\.py)\)", way)]
    code, stems = "\n".join(file.read_text(encoding="utf-8") for file in files), {file.stem for file in files}
    named = [name.split(".") for name in re.findall(r"`([A-Za-z_]\w+(?:\.\w+)?)`", way) if not name.endswith(".py")]
    ours = [parts for parts in named if parts[0] in stems or not parts[0].islower() or "_" in parts[0]]
    defined = r"^\s*(?:class |def )?{}\b\s*[(:=]"
    return [
        ".".join(parts)
        for parts in ours
        if not re.search(defined.format(parts[-1]), code, re.MULTILINE) and parts[0] not in hw.__all__
    ]


def test_the_ways_name_what_their_files_have(root: Path) -> None:
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    ways = page.split("## Five calls")[1].split("\n## ")[0].split("\n### ")[1:]
    assert len(ways) == 5 and not [name for way in ways for name in unknown_names(way, root / "docs")]
    gone = ways[0].replace("`Searcher`", "`Seeker`") + "`search.vanished`"
    assert unknown_names(gone, root / "docs") == ["Seeker", "search.vanished"]


def test_five_files_to_read_first(root: Path) -> None:
    """The list begins with the specification."""
    page = (root / "docs" / "architecture.md").read_text(encoding="utf-8")
    files = re.findall(r"^\d\. +\[`[^\]]+`\]\(([^)]+)\) ", page.partition("## Five files")[2], re.MULTILINE)
    assert len(files) == 5 and files[0].endswith("engines/reference/__init__.py")


@pytest.mark.parametrize(
    ("draw", "panels"),
    [
        (speed.search, speed.search_panels),
        (speed.narrow, speed.search_panels),
        (speed.betweenness, speed.betweenness_panels),
    ],
)
def test_pictures_of_speed_have_every_time(draw: Any, panels: Any) -> None:
    drawn = [row for panel in panels() for row in panel.rows]
    times = re.findall(r": ([\w -]+) ([\d.,]+) ms[^<]*</title>", draw())
    assert len(times) == sum(len(row.points) for row in drawn) and len(drawn) >= 8


@pytest.mark.slow
def test_the_picture_has_every_room(root: Path) -> None:
    drawn = set(re.findall(r'text-anchor="middle">([^<]+)</text>', picture.svg()))
    assert drawn == {picture.caption(room) for room in picture.arrows()}
    assert {"api/", "engines/cpu/", "planning/", "hopwave"} <= drawn


def test_the_changelog_knows_this_version(root: Path) -> None:
    assert f"## {hw.__version__}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {hw.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n  version: {hw.__version__}\n" in (root / "conda/recipe.yaml").read_text(encoding="utf-8")


# ---------------------------------------------------------------- packages


def test_the_five_papers_are_cited(root: Path) -> None:
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    assert text.count("type: conference-paper") == 5
    notes = re.findall(r'notes: "plans? ([a-z-]+)', text)
    assert all(any(plan.name.startswith(note.rstrip("-")) for plan in hw.plans()) for note in notes) and len(notes) == 5


def test_hints_install_what_the_extras_do(root: Path) -> None:
    from hopwave.system.optional import EXTRAS

    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert library in {re.match(r"[\w-]+", each)[0] for each in extras[extra]}, extra
    assert set(extras) - {*EXTRAS.values()} == {"all", "site", "test", "lint", "bench", "mpi", "cuda12", "cuda13"}
    assert extras["all"] == ["hopwave[networkx,io,plot,igraph,mpi]"]


def test_archives_hold_no_tests(root: Path) -> None:
    targets = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert targets["sdist"]["include"] == ["/src", "/CHANGELOG.md", "/CITATION.cff"]
    assert targets["wheel"]["packages"] == ["src/hopwave", "src/_hopwave_command.py", "src/_hopwave_nx_info.py"]
