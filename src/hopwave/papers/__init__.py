"""The five papers' tables and figures, measured here beside what the papers state: `hopwave paper NAME`.

NAME.toml has what a paper states, and NAME.py the studies that measure it; `run` measures and writes one HTML file.
"""

from importlib import import_module

from hopwave.papers.records import Paper, read

NAMES = ("turbobfs", "hiragushi", "turbobc", "xbfs", "pushpull")


def paper(name: str) -> Paper:
    return read(name, import_module(f"hopwave.papers.{name}").STUDIES)
