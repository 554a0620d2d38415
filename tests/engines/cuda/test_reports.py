"""Memory to which kernels report is handed out again when no kernel can write to it any more."""

from __future__ import annotations

import numpy as np
import pytest

cupy = pytest.importorskip("cupy")

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

SLOW = """extern "C" __global__ void slow(unsigned long long *to) {
  const long long begin = clock64();
  while (clock64() - begin < 200000000ll);
  *to = 7;
}"""


@pytest.mark.parametrize("of_products", [False, True])
def test_memory_is_not_handed_out_before_its_kernels_end(of_products: bool) -> None:
    from hopwave.engines.cuda.buffers import Report
    from hopwave.engines.cuda.linalg import scratch

    size, slow = scratch.SLOTS * scratch.SLOT, cupy.RawKernel(SLOW, "slow")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        held = scratch.Pending(scratch.stream_scratch()) if of_products else Report(size)
        address = int(held.address if of_products else held.memory.ptr)
        slow((1,), (1,), (np.uint64(address),))
        assert not stream.done
    del held
    scratch.forget()  # as after Ctrl-C
    others = [Report(size)]
    while not others[-1].memory.ptr <= address < others[-1].memory.ptr + size and len(others) < 100:
        others.append(Report(size))
    assert len(others) < 100, "the memory is not used again"
    assert stream.done
