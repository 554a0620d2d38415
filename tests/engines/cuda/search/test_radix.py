"""The radix sort of the column product: log n bits, stable, with values or without; one block or many."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]


def sorted_by_gpu(n: int, keys: Any, values: Any) -> tuple[Any, Any]:
    import cupy

    from hopwave.engines.cuda import buffers, launch
    from hopwave.engines.cuda.search import steps

    work = buffers.NamedBuffers()
    work.arrays["keys"] = cupy.asarray(keys)
    if values is not None:
        work.arrays["values"] = cupy.asarray(values)
    on_device = SimpleNamespace(device=launch.Device())
    search = SimpleNamespace(n=n, work=work, launch=launch.kernels("int"), on_device=on_device)
    found, theirs = steps.radix_sort(search, len(keys), "keys", None if values is None else "values")
    return found.get(), None if values is None else theirs.get()


@pytest.mark.parametrize("count", [1, 31, 4096, 4097, 1_000_000])
@pytest.mark.parametrize("n", [1, 200, 1 << 15, 1 << 21, 2**31 - 1])
@pytest.mark.parametrize("pairs", [False, True])
def test_keys_are_sorted_and_values_follow(count: int, n: int, pairs: bool) -> None:
    random = np.random.default_rng(count + n)
    keys = random.integers(0, n, count, dtype=np.int32)
    values = np.arange(count, dtype=np.int32) if pairs else None
    found, theirs = sorted_by_gpu(n, keys, values)
    order = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(found, keys[order])
    if pairs:
        np.testing.assert_array_equal(theirs, order)
