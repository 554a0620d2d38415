"""Which GPU a thread uses, as the driver sees it."""

from cupy_backends.cuda.api import driver, runtime


def find_gpu():
    """Make the GPU known to a new thread: unlike the runtime's calls, the driver's do not find it by themselves."""
    if not driver.ctxGetCurrent():
        runtime.setDevice(runtime.getDevice())
