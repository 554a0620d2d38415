"""The driver's view of which GPU a thread uses."""

from __future__ import annotations

from cupy_backends.cuda.api import driver, runtime


def find_gpu():
    """Make the GPU known to a new thread: the driver's calls, unlike the runtime's, do not find it by themselves."""
    if not driver.ctxGetCurrent():
        runtime.setDevice(runtime.getDevice())
