"""Thousands of mixed calls in one process, and whether memory or threads grow.

    python tests/engines/cpu/soak.py COUNT [--device cuda] [--record FILE]

Half of the calls use one graph, the others new graphs. After a tenth of the calls everything is compiled and every
buffer has its size; from then on memory may grow by 16 MiB, and threads by two: on a busy machine a call may begin
before the helpers of the last one sleep again. Every answer is compared.
"""

from __future__ import annotations

import argparse
import gc
import sys
import threading
import time
from pathlib import Path

import mixed
from recorded import record

ALLOWED_THREADS = 2
ALLOWED_GROWTH = 16 << 20


def memory() -> int:
    """Resident bytes of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def device_memory(device: str) -> int:
    """Bytes of the GPU's memory that are in use."""
    if device != "cuda":
        return 0
    import cupy

    cupy.get_default_memory_pool().free_all_blocks()
    return int(cupy.get_default_memory_pool().used_bytes())


def main() -> int:
    """Make the calls, print what has grown, and record the row."""
    parser = argparse.ArgumentParser(description="Make many calls in one process.")
    parser.add_argument("count", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    names, G = list(mixed.QUESTIONS), mixed.graph()
    kept = mixed.fresh(G)
    right = {name: mixed.answer(name, G, given.device) for name in names}
    began, wrong = time.monotonic(), 0

    def ask(turns: range) -> None:
        nonlocal wrong
        for turn in turns:
            name = names[turn % len(names)]
            found = mixed.answer(name, kept if turn // len(names) % 2 else mixed.fresh(G), given.device)
            wrong += not mixed.agree(found, right[name])

    ask(range(max(given.count // 10, 2 * len(names))))
    before = memory(), device_memory(given.device), threading.active_count()
    ask(range(given.count))
    after = memory(), device_memory(given.device), threading.active_count()
    grown = [later - earlier for earlier, later in zip(before, after, strict=True)]
    minutes = round((time.monotonic() - began) / 60, 2)
    print(
        f"{given.count:,} calls on {given.device} in {minutes} minutes, {wrong} wrong; memory grew by "
        f"{grown[0] / 2**20:.1f} MiB, the GPU's by {grown[1] / 2**20:.1f} MiB, threads by {grown[2]}"
    )
    failed = bool(wrong or grown[0] > ALLOWED_GROWTH or grown[1] > 1 << 20 or grown[2] > ALLOWED_THREADS)
    record(
        given.record, f"soak on {given.device}", given.count, wrong, began, given.device,
        grown_bytes=grown[0], grown_bytes_of_the_gpu=grown[1], grown_threads=grown[2],
    )  # fmt: skip
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
