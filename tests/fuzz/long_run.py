"""Runs all fuzzers in turn for as long as you like, and records what was tried.

    python tests/fuzz/long_run.py MINUTES [--only NAME ...] [--seed SEED] [--record FILE]

`make fuzz MINUTES=60` runs this. Each fuzzer gets an equal share of the time. An input on which two answers differ is
printed, and the fuzzer goes on; the exit status is then 1. FILE gets one row per fuzzer: inputs compared, wrong
answers, and minutes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import hopwave as hw
from recorded import record

FUZZERS = {  # name → module and function; a module is imported when it runs: some need other programs
    "readers": "readers:inputs",
    "columns": "columns:inputs",
    "graphs": "answers:inputs",
    "roads": "answers:roads",
    "structure": "answers:structured",
    "facilities": "facilities:inputs",
    "graphs on cuda": "answers:on_cuda",
    "compressed rows on cuda": "packed_rows:on_cuda",
    "reductions": "reductions:inputs",
    "linalg": "products:inputs",
    "linalg on cpu": "products:on_cpu",
    "linalg on cuda": "products:on_cuda",
    "networkx": "mutations:inputs",
    "networkx functions": "served:inputs",
    "states": "machines:inputs",
    "interrupts on cpu": "interrupts:inputs",
    "faults on cpu": "faults:inputs",
    "certificates": "promises:certificates",
    "overflow": "promises:overflow",
    "validation": "promises:validation",
    "options": "promises:options",
    "samples": "promises:samples",
    "bits": "promises:bits",
    "checkpoints": "checkpoints:inputs",
    "sizes": "promises:sizes",
    "pickles": "promises:pickles",
    "folders": "promises:folders",
    "servers": "servers:inputs",
    "machine code": "machine_code:inputs",
    "writers": "promises:writers",
    "memory": "promises:memory",
    "ranks": "ranks:inputs",
    "too large": "promises:too_large",
}
MEMORY = Path("/dev/shm")  # most time would be spent waiting for a disk


def run(name: str, seconds: float, seed: int, file: Path | None) -> dict[str, Any]:
    """Try inputs of one fuzzer until its time is over. Returns the row, which it adds to the file, if there is one."""
    module, _, function = FUZZERS[name].partition(":")
    inputs = getattr(importlib.import_module(module), function)
    began, compared, wrong = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        for attempt in inputs(random.Random(f"{name} {seed}"), Path(folder)):
            try:
                compared += attempt()
            except Exception as error:  # of any kind: a fuzzer's own mistakes are reported too
                wrong += 1
                compared += 1
                traceback.print_exception(error, file=sys.stderr)
            if time.monotonic() - began > seconds:
                break
    device = "cuda" if name.endswith("cuda") else "cpu"
    return record(file, name, compared, wrong, began, device, seed=seed)


def main() -> int:
    """Run the named fuzzers, print a line for each and record the rows."""
    parser = argparse.ArgumentParser(description="Compare random inputs with other programs.")
    parser.add_argument("minutes", type=float)
    here = {device.kind for device in hw.devices()}
    named = [name for name in FUZZERS if not name.endswith("cuda") or "cuda" in here]
    parser.add_argument("--only", nargs="+", choices=FUZZERS, default=named)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("HOPWAVE_PROGRESS", "0")
    found = 0
    for name in given.only:
        row = run(name, 60 * given.minutes / len(given.only), given.seed, given.record)
        print(
            f"{name}: {row['inputs']:,} inputs of seed {given.seed} in {row['minutes']} minutes, {row['wrong']} wrong"
        )
        found += row["wrong"]
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
