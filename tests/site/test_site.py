"""The site is built without warnings; every public name is in its reference, and every link leads somewhere."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from docs.site import cells, pages, reference

from hopwave.cli import app

pytestmark = pytest.mark.slow


class Links(HTMLParser):
    """The links of a page, and their possible targets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.to: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = dict(attributes)
        self.places |= {found.get("id") or "", found.get("name") or ""}
        address = found.get("href" if tag in ("a", "link") else "src") or ""
        if address and not re.match(r"[a-z]+:|//", address):
            self.to.add(address)


def test_every_public_name_has_its_docstring_on_the_site(site: Path) -> None:
    for group in reference.GROUPS:
        page = (site / "api" / f"{group.file}.html").read_text(encoding="utf-8")
        places = Links(page).places
        assert [name for name in group.names if f"{group.module}.{name}" not in places] == [], group.title
    bfs = (site / "api" / "search.html").read_text(encoding="utf-8")
    assert all(part in bfs for part in ("Parameters", "Returns", "Raises", "See also", "Examples", "depth_limit"))
    structure = unescape(re.sub(r"<[^>]+>", "", (site / "api" / "structure.html").read_text(encoding="utf-8")))
    assert re.search(r"is_connected\([^)]*\)\s*→\s*bool", structure), "a signature says what has no section Returns"


def test_the_page_of_the_command_has_every_subcommand(site: Path) -> None:
    places = Links((site / "api" / "command.html").read_text(encoding="utf-8")).places
    names = {f"hopwave-{command.name or command.callback.__name__}" for command in app.app.registered_commands}
    assert len(names) >= 14
    assert {"hopwave-generate-kronecker", *names} <= places


def test_every_link_of_every_page_leads_to_a_page_and_a_place(site: Path) -> None:
    found = {
        file: Links(file.read_text(encoding="utf-8")) for file in site.rglob("*.html") if "_static" not in file.parts
    }
    broken = []
    for file, links in found.items():
        for link in links.to:
            address, _, part = unquote(link).partition("#")
            target = (file.parent / address.partition("?")[0]).resolve() if address else file
            if not target.exists():
                broken.append(f"{file.name}: {link}")
            elif part and target in found and part not in found[target].places:
                broken.append(f"{file.name}: {link} (no such part)")
    assert broken == []
    assert len(found) > 80


def test_pages_of_the_repository_are_on_the_site(site: Path) -> None:
    """Under their own titles: Sphinx writes pages like search.html too, and would overwrite a page of that name."""
    missing = []
    for file in pages.files():
        if file.suffix == ".md" and (title := re.search(r"^# (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)):
            built = _built(site, file)
            plain = (
                re.sub(r"\W+", "", re.sub(r"<[^>]+>", "", built.read_text(encoding="utf-8"))) if built.exists() else ""
            )
            if re.sub(r"\W+", "", title[1]) not in plain or built.name in ("search.html", "genindex.html"):
                missing.append(file.name)
    assert missing == []


def _built(site: Path, file: Path) -> Path:
    return (site / str(pages.place(file))).with_suffix(".html")


def test_examples_were_run(site: Path) -> None:
    assert len([file for file in cells.examples() if file.suffix == ".py"]) == 10
    assert len([file for file in cells.examples() if file.suffix == ".ipynb"]) == 2
    for file in cells.examples():
        page = (site / cells.home(file) / f"{file.stem}.html").read_text(encoding="utf-8")
        assert "Run when the site was built" in page and "<img" in page
        has_files = cells.home(file) == "tutorials" or "hw.read(" not in file.read_text(encoding="utf-8")
        assert has_files, "an example of the gallery needs no file"


def test_tables_of_results_are_filled_in(site: Path) -> None:
    for name in ("performance", "compared"):
        text = (site / f"{name}.html").read_text(encoding="utf-8")
        assert text.count("<table") > 3


def test_properties_are_described_by_sentences(site: Path) -> None:
    """Sphinx reads the words before a colon as a property's type: a docstring must begin without a colon."""
    wrong = [file.name for file in (site / "api").glob("*.html") if ">Type<span" in file.read_text(encoding="utf-8")]
    assert wrong == []
