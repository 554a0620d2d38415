"""Keeps the pages true: `python -m docs` (or `make docs`) rewrites the tables of plans and follows every link.

The table of plans stands in README.md and docs/plans.md between the lines `<!-- plans -->` and `<!-- /plans -->`, and
is made from the catalogue. A relative link must lead to a file of the repository, and its #part to a heading there.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WITH_PLANS = ("README.md", "docs/plans.md")
BEGIN, END = "<!-- plans -->", "<!-- /plans -->"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")


def with_plans(page: str) -> str:
    """The page with the table of plans between its two marks made anew."""
    import hopwave

    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise SystemExit(f"a page lacks the marks {BEGIN} and {END}; put them where the table of plans belongs")
    return f"{before}{BEGIN}\n{hopwave.plans().markdown()}\n{END}{after}"


def pages() -> list[Path]:
    """The repository's own Markdown files."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")])


def headings(page: str) -> set[str]:
    """What #part of a link may say, spelled as GitHub spells it."""
    titles = re.findall(r"^#+ +(.+?) *$", FENCED.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(page: Path) -> list[str]:
    """One sentence for each relative link of a page that leads nowhere."""
    broken = []
    for link in LINK.findall(INLINE.sub("code", FENCED.sub("", page.read_text(encoding="utf-8")))):
        if ELSEWHERE.match(link):
            continue
        file, _, part = link.partition("#")
        target = page.parent / file if file else page
        if not target.exists():
            broken.append(f"{page.relative_to(ROOT)}: the link {link} leads to no file")
        elif part and target.suffix == ".md" and part not in headings(target.read_text(encoding="utf-8")):
            broken.append(f"{page.relative_to(ROOT)}: the link {link} leads to no heading of {target.name}")
    return broken


def main() -> int:
    """Rewrite what is generated, then say what is broken."""
    for name in WITH_PLANS:
        page = ROOT / name
        old = page.read_text(encoding="utf-8")
        new = with_plans(old)
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(f"{name}: the table of plans was rewritten")
    broken = [sentence for page in pages() for sentence in broken_links(page)]
    print("\n".join(broken) or f"{len(pages())} pages, every link leads somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
