"""Methods of engines: those that raise the reason why an engine does not have them, which others override, and those
that are functions of a module.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hopwave.engines import Operation, Shortcut
from hopwave.errors import EngineError
from hopwave.graph import Graph


def _absent(operation: Operation | Shortcut) -> Any:
    def refuse(self: Any, *arguments: Any, **keywords: Any) -> Any:
        graph = arguments[:1] if isinstance(self, NoOperations) else ()
        raise EngineError(self.why_not_operation(operation, *graph))

    return refuse


def found_in(module: str, name: str) -> Any:
    """A method that is a function of a module, which is imported when it is first called."""

    def method(_: Any, *arguments: Any) -> Any:
        return getattr(import_module(module), name)(*arguments)

    vars(method)["home"] = module, name  # a test compares the arguments
    return method


class NoOperations:
    """What engines.Operations has, except `sweep`, of which every engine has some."""

    cut_sweep = _absent("cut_sweep")
    reach_bounds = _absent("reach_bounds")
    components = _absent("components")
    blocks = _absent("blocks")
    shortest_path = _absent("shortest_path")
    local_efficiencies = _absent("local_efficiencies")
    path_sums = _absent("path_sums")
    hyperball = _absent("hyperball")

    def why_not_operation(self, operation: Operation, graph: Graph) -> str | None:
        raise NotImplementedError


class NoShortcuts:
    """What engines.Shortcuts has."""

    name: str

    waves = _absent("waves")
    count_entries = _absent("count_entries")
    count_triangles = _absent("count_triangles")
    triangles = _absent("triangles")
    core_numbers = _absent("core_numbers")
    label_propagation = _absent("label_propagation")
    independent_set = _absent("independent_set")
    power_iteration = _absent("power_iteration")
    lanczos = _absent("lanczos")
    dijkstra = _absent("dijkstra")
    delta_stepping = _absent("delta_stepping")
    near_far = _absent("near_far")

    def why_not_operation(self, operation: Shortcut) -> str | None:
        if getattr(type(self), operation) is not getattr(NoShortcuts, operation):
            return None
        return f"device={self.name!r} has no compiled {operation}; compute it by products, or use another device"
