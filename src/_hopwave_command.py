"""The command `hopwave`.

This module is outside of hopwave so that Ctrl-C ends the command without a traceback even while hopwave is imported.
"""

import os
import signal
import sys
from contextlib import suppress


def main() -> int:
    """Import the program and run it; returns its exit code."""
    by_python = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not if SIGINT is ignored, as by nohup
    if by_python:
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:  # answered without the libraries of the program
        from hopwave import __version__

        with suppress(OSError):  # the reader is gone: the program knows what to do
            sys.stdout.write(f"hopwave {__version__}\n")
            sys.stdout.flush()
            return 0
    from hopwave.cli.app import main as run

    if by_python:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()
