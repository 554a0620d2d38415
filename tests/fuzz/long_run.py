"""Runs all fuzzers in turn for as long as you like, and records what was tried.

    python tests/fuzz/long_run.py MINUTES [--only NAME ...] [--seed SEED] [--record FILE]

`make fuzz MINUTES=60` runs this. Each fuzzer gets an equal share of the time. An input on which two answers differ is
printed, and the fuzzer goes on; the exit status is then 1. FILE gets one row per fuzzer: inputs compared, wrong
answers, and minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

import columns
import interrupts
import machines
import mutations
import products
import questions
import readers
from difference import Fuzzer

import hopwave as hw

FUZZERS: dict[str, Fuzzer] = {
    "readers": readers.inputs,
    "columns": columns.inputs,
    "graphs": questions.inputs,
    "linalg": products.inputs,
    "networkx": mutations.inputs,
    "states": machines.inputs,
    "interrupts on cpu": interrupts.inputs,
}
MEMORY = Path("/dev/shm")  # most time would be spent waiting for a disk


def run(name: str, seconds: float, seed: int) -> dict[str, object]:
    """Try inputs of one fuzzer until its time is over. Returns the row for the record."""
    began, compared, wrong = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        for attempt in FUZZERS[name](random.Random(f"{name} {seed}"), Path(folder)):
            try:
                compared += attempt()
            except Exception as error:  # of any kind: a fuzzer's own mistakes are reported too
                wrong += 1
                compared += 1
                traceback.print_exception(error, file=sys.stderr)
            if time.monotonic() - began > seconds:
                break
    minutes = round((time.monotonic() - began) / 60, 2)
    return {
        "fuzzer": name, "inputs": compared, "wrong": wrong, "minutes": minutes, "seed": seed,
        "date": time.strftime("%Y-%m-%d"), "version": hw.__version__,
    }  # fmt: skip


def main() -> int:
    """Run the named fuzzers, print a line for each and record the rows."""
    parser = argparse.ArgumentParser(description="Compare random inputs with other programs.")
    parser.add_argument("minutes", type=float)
    parser.add_argument("--only", nargs="+", choices=FUZZERS, default=list(FUZZERS))
    parser.add_argument("--seed", type=int, default=time.time_ns())
    parser.add_argument("--record", type=Path, help="a file of rows, to which this run is added")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ.setdefault("HOPWAVE_PROGRESS", "0")
    found = 0
    for name in given.only:
        row = run(name, 60 * given.minutes / len(given.only), given.seed)
        print(
            f"{name}: {row['inputs']:,} inputs of seed {given.seed} in {row['minutes']} minutes, {row['wrong']} wrong"
        )
        found += int(str(row["wrong"]))
        if given.record:
            with given.record.open("a") as file:
                file.write(json.dumps(row) + "\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
