"""hopwave as a backend of NetworkX: convert, call, convert back. docs/networkx.md is the guide."""

from hopwave.networkx_backend.interface import backend

__all__ = ["backend"]
