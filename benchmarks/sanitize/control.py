"""Kernels with one mistake each, which a tool of compute-sanitizer must report (sanitize.py).

A tool that reports nothing has found nothing, or has checked nothing. These kernels tell the two apart: they are
launched with the same options as the parts.
"""

from __future__ import annotations

from contextlib import suppress

SOURCE = r"""
namespace hopwave { namespace control {
__global__ void memcheck(int *a, int *b) { a[blockDim.x + threadIdx.x] = 1; }  // behind the end
__global__ void initcheck(int *a, int *b) { b[threadIdx.x] = a[threadIdx.x] + 1; }  // nobody has written to a
__global__ void racecheck(int *a, int *b) {
    __shared__ volatile int s[64];
    s[threadIdx.x] = b[threadIdx.x];
    b[threadIdx.x] = s[63 - threadIdx.x];  // without a barrier before it
}
__global__ void synccheck(int *a, int *b) {
    __syncwarp(0xffff);  // half of the threads wait, and are not among those that are waited for
    b[threadIdx.x] = 1;
}
} }
"""


def run(tool: str) -> None:
    """Make the mistake that this tool must find."""
    import cupy

    cupy.cuda.set_allocator(None)
    name = f"hopwave::control::{tool}"
    kernel = cupy.RawModule(code=SOURCE, name_expressions=[name], options=("-std=c++17",)).get_function(name)
    a, b = cupy.empty(64, "int32"), cupy.empty(64, "int32")
    if tool != "initcheck":
        a.fill(0)
        b.fill(0)
    with suppress(cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError):  # memcheck ends the kernel
        kernel((1,), (64,), (a, b))
        cupy.cuda.Device().synchronize()
