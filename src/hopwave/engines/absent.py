"""Methods that raise the reason why an engine does not have them. An engine overrides those it has."""

from __future__ import annotations

from typing import Any, NoReturn

from hopwave.engines import Operation, Shortcut
from hopwave.errors import EngineError
from hopwave.graph import Graph


class NoOperations:
    """What engines.Operations has, except `sweep`, of which every engine has some."""

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        raise NotImplementedError

    def cut_sweep(self, graph: Graph, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("cut_sweep", graph)

    def reach_bounds(self, graph: Graph) -> Any:
        self._refuse("reach_bounds", graph)

    def components(self, graph: Graph, strong: bool) -> Any:
        self._refuse("components", graph)

    def blocks(self, graph: Graph, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("blocks", graph)

    def shortest_path(self, graph: Graph, source: int, target: int) -> Any:
        self._refuse("shortest_path", graph)

    def local_efficiencies(self, graph: Graph, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("local_efficiencies", graph)

    def path_sums(self, graph: Graph, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("path_sums", graph)

    def hyperball(self, graph: Graph, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("hyperball", graph)

    def _refuse(self, operation: Operation, graph: Graph) -> NoReturn:
        raise EngineError(self.why_not_operation(operation, graph))


class NoShortcuts:
    """What engines.Shortcuts has."""

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

    def triangles(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("triangles")

    def core_numbers(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("core_numbers")

    def label_propagation(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("label_propagation")

    def independent_set(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("independent_set")

    def power_iteration(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("power_iteration")

    def lanczos(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("lanczos")

    def dijkstra(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("dijkstra")

    def delta_stepping(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("delta_stepping")

    def near_far(self, *arguments: Any, **keywords: Any) -> Any:
        self._refuse("near_far")

    def _refuse(self, operation: Shortcut) -> NoReturn:
        raise EngineError(self.why_not_operation(operation))
