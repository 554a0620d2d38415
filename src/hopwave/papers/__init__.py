"""The five papers' tables and figures, measured here next to the published numbers: `hopwave paper NAME`.

NAME.toml contains a paper's published numbers, NAME.py the studies that measure ours; `run` writes one HTML file.
"""

from importlib import import_module

from hopwave.papers.records import Paper, read

NAMES = ("turbobfs", "hiragushi", "turbobc", "xbfs", "pushpull")


def paper(name: str) -> Paper:
    return read(name, import_module(f"hopwave.papers.{name}").STUDIES)
