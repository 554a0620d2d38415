"""Builds the site: `python -m docs.site [folder]` (or `make site`). Every warning of Sphinx is an error."""

from __future__ import annotations

import argparse
import gc
import shutil
import sys
import time
from pathlib import Path

from docs.site import cells, pages, reference

HERE = Path(__file__).resolve().parent


def build(folder: Path, rows: int | None = None) -> int:
    """Build the site: its pages in folder/source, what a browser reads in folder/html. Returns the exit status."""
    from sphinx.cmd.build import main as sphinx

    source, html = folder / "source", folder / "html"
    for old in (source, html):
        shutil.rmtree(old, ignore_errors=True)
    gc.set_threshold(100_000, 50, 100)  # trees of documents are large and hold few circles: looking for them takes long
    begin = time.perf_counter()
    pages.collect(source, rows)
    reference.write(source)
    for example in cells.examples():
        spent = cells.write(example, source)
        print(f"{example.relative_to(pages.ROOT)} ran in {spent:.1f} s", flush=True)
    cells.write_contents(source)
    ran = time.perf_counter()
    status = sphinx(["-b", "html", "-q", "-W", "--keep-going", "-c", str(HERE), str(source), str(html)])
    done = time.perf_counter()
    print(f"{html / 'index.html'}: examples {ran - begin:.0f} s, Sphinx {done - ran:.0f} s")
    return status


def main() -> int:
    """Read the arguments and build."""
    parser = argparse.ArgumentParser(description="Build the documentation site.")
    parser.add_argument("folder", type=Path, nargs="?", default=pages.ROOT / "build" / "site")
    parser.add_argument("--rows", type=int, help="keep only so many rows of every table, for the tests")
    given = parser.parse_args()
    return build(given.folder.resolve(), given.rows)


if __name__ == "__main__":
    sys.exit(main())
