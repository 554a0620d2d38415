"""The pages of the repository, collected for the site.

docs/ is the root of the site. The changelog, the page for contributors and the tables of benchmarks/results are beside
it. Links between pages lead to the same pages of the site; links to code lead to the repository, if [project.urls] of
pyproject.toml has its address, and are plain text otherwise.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURES = {".svg", ".png"}
LINK = re.compile(r"(!?)\[((?:[^\]\[]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z]+:|#")  # https:, mailto:, a part of the same page
TOP_PAGES = {"README.md": "index.md"} | {
    f"{name.upper()}.md": f"{name}.md" for name in ("changelog", "contributing", "security", "code_of_conduct")
}


def place(file: Path) -> Path | None:
    """Where a file of the repository is on the site, or None if it is not there.

    >>> [place(ROOT / name).as_posix() for name in ("docs/gpu.md", "docs/gallery/tutorials/streets.py", "CHANGELOG.md")]
    ['gpu.md', 'tutorials/streets.md', 'changelog.md']
    >>> place(ROOT / "Makefile")
    """
    inside = file.relative_to(ROOT)
    if inside.as_posix() in TOP_PAGES:
        return Path(TOP_PAGES[inside.as_posix()])
    if inside.parts[:2] == ("docs", "gallery") and inside.suffix == ".py":  # its page is made by `cells`
        return Path(inside.parent.name, f"{inside.stem}.md")
    if inside.suffix not in PICTURES | {".md"}:
        return None
    if inside.parts[0] == "docs":
        return inside.relative_to("docs")
    if inside.parts[:2] == ("benchmarks", "results"):
        return inside.relative_to("benchmarks")
    return None


def files() -> list[Path]:
    """Every file of the repository that has a place on the site."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*"), *(ROOT / "benchmarks" / "results").glob("*")]
    kept = PICTURES | {".md"}
    return sorted(file for file in found if file.suffix in kept and file.name != "README.md" and place(file))


def code_address() -> str:
    """The address of the repository's files, or nothing as long as pyproject.toml has none."""
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    return f"{urls['Repository'].rstrip('/')}/blob/main/" if "Repository" in urls else ""


def relinked(text: str, file: Path, here: Path, code: str = "") -> str:
    """The text of a file with its links as they are on the site, at `here`. Code blocks stay as they are.

    >>> relinked("[a](../CHANGELOG.md#x) [b](gpu.md) [c](../Makefile)", ROOT / "docs" / "cpu.md", Path("cpu.md"))
    '[a](changelog.md#x) [b](gpu.md) c'
    """

    def moved(found: re.Match[str]) -> str:
        picture, words, link = found.groups()
        if ELSEWHERE.match(link):
            return found[0]
        name, hash_, part = link.partition("#")
        target = (file.parent / name).resolve()
        on_site = place(target)
        if on_site is not None:
            return f"{picture}[{words}]({Path(os.path.relpath(on_site, here.parent)).as_posix()}{hash_}{part})"
        return f"[{words}]({code}{target.relative_to(ROOT).as_posix()})" if code else words

    pieces = FENCE.split(text)  # every second piece is inside a fence
    shown = [f"{piece.rstrip()}\n" if inside % 2 else LINK.sub(moved, piece) for inside, piece in enumerate(pieces)]
    return "```".join(shown)


def collect(source: Path, rows: int | None = None) -> None:
    """Copy every page and picture to the folder that Sphinx reads; `rows`: the most rows of a table."""
    code = code_address()
    longer = re.compile(rf"((?:^\|.*\n){{{(rows or 0) + 2}}})(?:^\|.*\n)+", re.MULTILINE)
    for file in files():
        here = place(file)
        assert here is not None
        target = source / here
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            text = re.sub(r'<a id="([\w-]+)"></a>', r"[]{#\1}", file.read_text(encoding="utf-8"))  # a place for links
            if rows and "[]{#" not in text:
                text = longer.sub(r"\1", text)
            target.write_text(relinked(text, file, here, code), encoding="utf-8")
        else:
            shutil.copyfile(file, target)
