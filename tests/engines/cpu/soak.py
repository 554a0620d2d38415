"""Thousands of mixed calls in one process, and whether memory or threads grow.

    python tests/engines/cpu/soak.py COUNT [--device cuda] [--record FILE]

Half of the calls use one graph, the others new graphs. After a tenth of the calls everything is compiled and every
buffer has its size; from then on memory may grow by 16 MiB, and threads by as many as a call uses: it may begin before
the helpers of the last one sleep again. Every answer is compared.
"""

import argparse
import gc
import sys
import threading
import time
from pathlib import Path

import mixed
from hopwave.engines.cpu.crew import thread_count
from recorded import record

ALLOWED = 16 << 20, 1 << 20, max(2, thread_count())  # bytes of the host, bytes of the GPU, threads


def held(device: str) -> tuple[int, int, int]:
    """Resident bytes of this process, bytes of the GPU's memory that are in use, and threads."""
    gc.collect()
    pages, on_gpu = int(Path("/proc/self/statm").read_text().split()[1]), 0
    if device == "cuda":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
        on_gpu = int(cupy.get_default_memory_pool().used_bytes())
    return pages * 4096, on_gpu, threading.active_count()


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
    for turns in (max(given.count // 10, 2 * len(names)), given.count):
        before = held(given.device)
        for turn in range(turns):
            name = names[turn % len(names)]
            found = mixed.answer(name, kept if turn // len(names) % 2 else mixed.fresh(G), given.device)
            wrong += not mixed.agree(found, right[name])
    grown = [later - earlier for earlier, later in zip(before, held(given.device), strict=True)]
    minutes = round((time.monotonic() - began) / 60, 2)
    print(
        f"{given.count:,} calls on {given.device} in {minutes} minutes, {wrong} wrong; memory grew by "
        f"{grown[0] / 2**20:.1f} MiB, the GPU's by {grown[1] / 2**20:.1f} MiB, threads by {grown[2]}"
    )
    record(
        given.record, f"soak on {given.device}", given.count, wrong, began, given.device,
        grown_bytes=grown[0], grown_bytes_of_the_gpu=grown[1], grown_threads=grown[2],
    )  # fmt: skip
    return int(wrong > 0 or any(more > most for more, most in zip(grown, ALLOWED, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
