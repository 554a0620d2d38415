"""Shortcuts of linear algebra that an engine does not have."""

from __future__ import annotations

from typing import Any, NoReturn

from hopwave.engines import Shortcut
from hopwave.errors import EngineError


class NoShortcuts:
    """Every shortcut of engines.Algebra, as a method that raises the reason. An engine overrides those it has."""

    name: str

    def why_not_operation(self, operation: Shortcut) -> str | None:
        if getattr(type(self), operation) is not getattr(NoShortcuts, operation):
            return None
        return f"device={self.name!r} has no compiled {operation}; compute it by products, or use another device"

    def waves(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("waves")

    def count_entries(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("count_entries")

    def count_triangles(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("count_triangles")

    def pagerank(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("pagerank")

    def power_iteration(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("power_iteration")

    def dijkstra(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("dijkstra")

    def delta_stepping(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("delta_stepping")

    def near_far(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("near_far")

    def _refuse(self, operation: Shortcut) -> NoReturn:
        raise EngineError(self.why_not_operation(operation))
