"""hopwave.distributed, tested without ranks: what it exports."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from hopwave import distributed


@pytest.mark.parametrize("name", distributed.__all__)
def test_public_names_are_not_hidden_by_modules(name: str) -> None:
    """bfs and world are also names of modules; importing these must not replace the functions."""
    if importlib.util.find_spec(f"hopwave.distributed.{name}") is not None:
        importlib.import_module(f"hopwave.distributed.{name}")
    public = getattr(distributed, name)
    assert callable(public) and not isinstance(public, ModuleType)
