"""All fuzzers, and a run of them for as long as you like.

    python tests/fuzz/long_run.py MINUTES [--only NAME ...] [--seed SEED] [--record FILE]

A fuzzer is a function `inputs(draw, folder)`. It makes one attempt: it draws an input, compares two answers, raises
Difference if they differ, and returns how many comparisons it made. `make fuzz MINUTES=60` gives each fuzzer an equal
share of the time; MINUTES=0 makes as many attempts of each as test_fuzz.py does. An input on which two answers differ
is printed, and the fuzzer continues; the exit status is then 1. FILE gets one row per fuzzer: inputs compared, wrong
answers, and minutes.
"""

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import hopwave as hw
from recorded import record
from together import some


class Fuzzer(NamedTuple):
    """Module and function of a fuzzer, and how many attempts the tests make; 0: the module's `every` says."""

    place: str
    attempts: int
    alone: bool = False  # it needs its own process: it starts others, handles signals or changes what all calls use

    def function(self) -> Any:
        """The function; its module may need other programs, and is imported when it is needed."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)

    def count(self, folder: Path) -> int:
        return some(self.attempts) if self.attempts else import_module(self.place.partition(":")[0]).every(folder)


FUZZERS = {
    "readers": Fuzzer("readers:inputs", 400),
    "columns": Fuzzer("columns:inputs", 250),
    "graphs": Fuzzer("answers:inputs", 2),
    "roads": Fuzzer("answers:roads", 3),
    "structure": Fuzzer("answers:structured", 3),
    "facilities": Fuzzer("facilities:inputs", 30),
    "graphs on cuda": Fuzzer("answers:on_cuda", 3),
    "compressed rows on cuda": Fuzzer("packed_rows:on_cuda", 10),
    "reductions": Fuzzer("reductions:inputs", 100),
    "reductions on cuda": Fuzzer("reductions:on_cuda", 80),
    "linalg": Fuzzer("products:inputs", 100),
    "linalg on cpu": Fuzzer("products:on_cpu", 1),
    "linalg on cuda": Fuzzer("products:on_cuda", 1),
    "networkx functions": Fuzzer("served:inputs", 60),
    "states": Fuzzer("vectors:inputs", 40),
    "interrupts on cpu": Fuzzer("interrupts:inputs", 300, alone=True),
    "interrupts on cuda": Fuzzer("interrupts:on_cuda", 300, alone=True),
    "interrupts on cold processes": Fuzzer("cold:inputs", 4, alone=True),
    "faults on cpu": Fuzzer("faults:inputs", 0, alone=True),
    "faults on cuda": Fuzzer("gpu_faults:on_cuda", 5),
    "faults of the host on cuda": Fuzzer("faults:on_cuda", 20, alone=True),
    "kills": Fuzzer("kills:inputs", 24, alone=True),
    "certificates": Fuzzer("promises:certificates", 100),
    "overflow": Fuzzer("promises:overflow", 2),
    "options": Fuzzer("promises:options", 200),
    "samples": Fuzzer("promises:samples", 20),
    "bits": Fuzzer("promises:bits", 20, alone=True),
    "checkpoints": Fuzzer("checkpoints:inputs", 40),
    "sizes": Fuzzer("promises:sizes", 60),
    "pickles": Fuzzer("promises:pickles", 60),
    "folders": Fuzzer("promises:folders", 50),
    "servers": Fuzzer("servers:inputs", 20),
    "machine code": Fuzzer("machine_code:inputs", 3),
    "writers": Fuzzer("promises:writers", 3, alone=True),
    "memory": Fuzzer("promises:memory", 1, alone=True),
    "ranks": Fuzzer("ranks:inputs", 1, alone=True),
    "too large": Fuzzer("promises:too_large", 5),
}
MEMORY = Path("/dev/shm")  # most time would be spent waiting for a disk


def run(name: str, seconds: float, seed: int, file: Path | None) -> dict[str, Any]:
    """Try inputs of one fuzzer until its time is over. Returns the row, which it adds to the file, if there is one."""
    began, compared, wrong, attempts = time.monotonic(), 0, 0, 0
    fuzzer, draw = FUZZERS[name], random.Random(f"{name} {seed}")
    attempt = fuzzer.function()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        count = 0 if seconds else fuzzer.count(Path(folder))
        while attempts < count or time.monotonic() - began < seconds:
            attempts += 1
            try:
                compared += attempt(draw, Path(folder))
            except Exception as error:  # of any kind: a fuzzer's own mistakes are reported too
                wrong += 1
                compared += 1
                traceback.print_exception(error, file=sys.stderr)
    device = "cuda" if name.endswith("cuda") else "cpu"
    return record(file, name, compared, wrong, began, device, seed=seed, attempts=attempts)


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
