"""The five papers' tables and figures, measured here beside what the papers state: `hopwave paper NAME`.

One module per paper declares what it shows (`records`); `run` measures it, and `page` writes it as one HTML file.
"""

from __future__ import annotations

from importlib import import_module

from hopwave.papers.records import Paper

NAMES = ("turbobfs", "hiragushi", "turbobc", "xbfs", "pushpull")


def paper(name: str) -> Paper:
    found: Paper = import_module(f"hopwave.papers.{name}").PAPER
    return found
