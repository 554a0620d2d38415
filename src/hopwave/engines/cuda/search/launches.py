"""The launches of a level as records, which can be repeated for a later level (ahead.py).

An argument that differs from level to level is a marker: LEVEL, BEFORE or COUNTERS. All others stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Changing(Enum):
    """An argument that differs from level to level; its value is the name of a search's attribute."""

    LEVEL = "level"  # the depth of the frontier
    BEFORE = "before"  # the counters of the level before, or null
    COUNTERS = "counters"  # the counters of this level


LEVEL, BEFORE, COUNTERS = Changing


@dataclass
class Launch:
    """A kernel with one thread per item of work; its arguments by the names of its parameters, in order."""

    header: str
    name: str
    work: int
    shape: str
    arguments: dict[str, Any]

    def now(self, search):
        """The arguments at the search's current level."""
        return {
            name: getattr(search, value.value) if type(value) is Changing else value
            for name, value in self.arguments.items()
        }

    def make(self, search):
        """Make the launch at the search's current level."""
        search.launch(self.header, self.name, self.work, shape=self.shape, **self.now(search))


@dataclass
class Clear:
    """Sets the first bytes of an array to 0."""

    array: Any
    size: int

    def make(self, search):
        self.array.data.memset_async(0, self.size)
