"""What tests of executors share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from every_call import plain
from hopwave import Graph
from hopwave.executors.deal import Deal

Call = tuple[Callable[..., Any], Graph, dict[str, Any]]


def answer(call: Call, **how: Any) -> Any:
    """What a call finds, to the last bit."""
    function, graph, given = call
    found = function(graph, **given, **how)
    return plain(found), plain(getattr(found, "bounds", None))


def noted_deals(monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """A list to which every later deal is appended."""
    made: list[Deal] = []
    begin = Deal.__init__

    def noted(self: Deal, *arguments: Any) -> None:
        begin(self, *arguments)
        made.append(self)

    monkeypatch.setattr(Deal, "__init__", noted)
    return made
