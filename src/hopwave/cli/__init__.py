"""The command `hopwave`: one file a command, `app` puts them together, `terminal` is how they all speak."""

from __future__ import annotations

from hopwave.cli.app import main

__all__ = ["main"]
