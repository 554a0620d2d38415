"""Keeps the pages correct: `python -m docs` (or `make docs`) rewrites what is generated and follows every link.

The table of plans comes from the catalogue. It is in docs/plans.md, between the lines `<!-- plans -->` and
`<!-- /plans -->`. The table of NetworkX functions is in docs/networkx.md, between `<!-- functions -->` and
`<!-- /functions -->`; it and the list in src/_hopwave_nx_info.py come from the decorators of these functions. The
tables of docs/papers.md come from docs/papers.toml, those of docs/guarantees.md from docs/guarantees.toml and
benchmarks/results. docs/picture.py draws docs/architecture.svg from the imports. From benchmarks/results,
docs/measured.py makes the README's table of times, docs/tables.py those of docs/compared.md, docs/performance.md and
docs/scaling.md; docs/speed.py draws docs/speed*.svg and docs/betweenness.svg. The list of names in docs/reference.md
comes from docs/site/reference.py. A relative link must lead to a file of the repository, and its #part to a heading in
that file.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docs import guarantees, measured, papers, picture, speed, tables
from docs.site import reference

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- plans -->", "<!-- /plans -->"

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")  # https:, mailto:
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`\n]*`")


def with_plans(page: str) -> str:
    """The page with its table of plans rewritten."""
    import hopwave

    return with_table(page, BEGIN, END, hopwave.plans().markdown())


def with_functions(page: str) -> str:
    """The page with its table of NetworkX functions rewritten."""
    found = networkx_functions()
    rows = [f"{len(found)} functions:", "", "| function | notes | further keywords |", "|---|---|---|"]
    rows += [
        f"| `{served.name}` | {served.notes} | {', '.join(f'`{word}`' for word in served.keywords)} |"
        for served in found
    ]
    return with_table(page, "<!-- functions -->", "<!-- /functions -->", "\n".join(rows))


def with_info(module: str) -> str:
    """The module that NetworkX reads, with its list of functions rewritten; those with equal notes are grouped."""
    groups: dict[str, list[str]] = {}
    for served in networkx_functions():
        groups.setdefault(f"[{' '.join(served.keywords)}] {served.notes}", []).append(served.name)
    lines = (textwrap.wrap(f"{' '.join(names)}: {notes}", 118) for notes, names in groups.items())
    return with_table(module, "<functions>", "</functions>", "\n".join("\n  ".join(some) for some in lines))


def networkx_functions() -> list[Any]:
    """The functions that hopwave serves, in the order of its modules, even those that this NetworkX lacks."""
    from hopwave.networkx_backend import FAMILIES, dispatch

    found = [*dispatch.FUNCTIONS.values(), *dispatch.LATER.values()]
    return sorted(found, key=lambda served: FAMILIES.index(served.function.__module__.rpartition(".")[2]))


def with_papers(page: str) -> str:
    """The page with its tables of the papers rewritten."""
    return with_table(page, "<!-- papers -->", "<!-- /papers -->", papers.markdown())


def with_guarantees(page: str) -> str:
    """The page with its tables of promises rewritten."""
    return with_table(page, "<!-- guarantees -->", "<!-- /guarantees -->", guarantees.markdown())


def with_times(page: str) -> str:
    """The page with its table of times rewritten."""
    return with_table(page, "<!-- times -->", "<!-- /times -->", measured.markdown())


def with_table(page: str, begin: str, end: str, table: str) -> str:
    """The page with this table between its two marks."""
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise SystemExit(f"a page has no marks {begin} and {end}; put them where the table belongs")
    return f"{before}{begin}\n{table}\n{end}{after}"


def pages() -> list[Path]:
    """The repository's own Markdown files, except templates, whose links belong to the pages made from them."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md")]
    return sorted(page for page in found if page.parent.name != "templates")


def headings(page: str) -> set[str]:
    """The headings of a page, as GitHub spells them after the # of a link, and its anchors."""
    titles = re.findall(r"^#+ +(.+?) *$", FENCED.sub("", page), re.MULTILINE)
    anchors = re.findall(r'<a id="([^"]+)">', page)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles} | {*anchors}


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


GENERATED: dict[str, Callable[[str], str]] = {  # file → the function that rewrites the generated part of its text
    "docs/plans.md": with_plans,
    "docs/networkx.md": with_functions,
    "src/_hopwave_nx_info.py": with_info,
    "docs/papers.md": with_papers,
    "docs/guarantees.md": with_guarantees,
    "README.md": with_times,
    "docs/reference.md": reference.with_names,
    **dict.fromkeys(("docs/compared.md", "docs/performance.md", "docs/scaling.md"), tables.with_tables),
    "docs/architecture.svg": lambda before: picture.svg(),
    "docs/speed.svg": lambda before: speed.search(),
    "docs/speed-narrow.svg": lambda before: speed.narrow(),
    "docs/betweenness.svg": lambda before: speed.betweenness(),
}


def main() -> int:
    """Rewrite everything generated, then print every broken link."""
    for name, make in GENERATED.items():
        file = ROOT / name
        before = file.read_text(encoding="utf-8") if file.exists() else ""
        if (text := make(before)) != before:
            file.write_text(text, encoding="utf-8")
            print(f"{name} was rewritten")
    broken = [sentence for page in pages() for sentence in broken_links(page)]
    print("\n".join(broken) or f"{len(pages())} pages, every link leads somewhere")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
