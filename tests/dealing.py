"""What tests of executors share."""

from __future__ import annotations

from typing import Any

import pytest

from hopwave.executors.deal import Deal


def noted_deals(monkeypatch: pytest.MonkeyPatch) -> list[Deal]:
    """A list to which every later deal is appended."""
    made: list[Deal] = []
    begin = Deal.__init__

    def noted(self: Deal, *arguments: Any) -> None:
        begin(self, *arguments)
        made.append(self)

    monkeypatch.setattr(Deal, "__init__", noted)
    return made
