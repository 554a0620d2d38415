"""The command `hopwave`. `app` combines the commands; `options` defines how they declare options."""

from hopwave.cli.app import main

__all__ = ["main"]
