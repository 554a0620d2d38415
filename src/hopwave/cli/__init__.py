"""The command `hopwave`: one module per command. `app` puts them together, `terminal` prints for all of them."""

from __future__ import annotations

from hopwave.cli.app import main

__all__ = ["main"]
