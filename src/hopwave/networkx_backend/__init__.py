"""hopwave as a backend of NetworkX: convert, call, convert back. docs/networkx.md is the guide."""

from importlib import import_module
from typing import Any

from hopwave.networkx_backend import convert, dispatch

# Importing a module registers its functions with dispatch.serves.
FAMILIES = ("traversal", "paths", "distances", "centrality")
for family in FAMILIES:
    import_module(f"hopwave.networkx_backend.{family}")


class Backend:
    """The backend object for NetworkX; every supported function is an attribute."""

    convert_from_nx = staticmethod(convert.convert_from_nx)
    convert_to_nx = staticmethod(convert.convert_to_nx)
    can_run = staticmethod(dispatch.can_run)
    should_run = staticmethod(dispatch.should_run)

    @staticmethod
    def on_start_tests(items: list[Any]) -> None:
        """Mark the one test of NetworkX's suite whose expected values contradict the definition (see centrality.py)."""
        import pytest

        reason = "three of five paths pass vertex 6; NetworkX counts two"
        for item in items:
            if item.nodeid.endswith("TestEdgeSubsetBetweennessCentrality::test_diamond_multi_path"):
                item.add_marker(pytest.mark.xfail(reason=reason))

    def __getattr__(self, name: str) -> Any:
        served = dispatch.FUNCTIONS.get(name)
        if served is None:
            raise AttributeError(f"hopwave does not support {name!r}; set nx.config.fallback_to_nx=True for NetworkX")
        return served


backend = Backend()

__all__ = ["backend"]
