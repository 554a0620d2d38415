"""SplitMix64's random numbers in compiled code, identical to generate/counter.py."""

import numpy as np

from hopwave.engines.cpu.intrinsics import inner
from hopwave.generate import counter

WEYL, FIRST, SECOND = np.uint64(counter.WEYL), np.uint64(counter.FIRST), np.uint64(counter.SECOND)
U27, U30, U31 = np.uint64(27), np.uint64(30), np.uint64(31)


@inner
def mix(z):
    """The finaliser."""
    z = (z ^ (z >> U30)) * FIRST
    z = (z ^ (z >> U27)) * SECOND
    return z ^ (z >> U31)
