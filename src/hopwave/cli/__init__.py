"""The command `hopwave`: one module per command. `app` combines them; they print by `terminal`."""

from hopwave.cli.app import main

__all__ = ["main"]
