"""The row that a long run adds to its record, benchmarks/results/fuzz.jsonl; docs/guarantees.py shows them."""

import json
import time
from pathlib import Path
from typing import Any

import hopwave as hw


def machine(device: str = "cpu") -> str:
    """The machine of a run, in words: its GPU, if that is the device, and its processor."""
    processor, *others = hw.devices()
    used = next((other for other in others if other.kind == device), None)
    cores = f"{processor.model}, {processor.cores} cores"
    return f"{used.model}, {cores}" if used else cores


def record(
    file: Path | None, fuzzer: str, inputs: int, wrong: int, began: float, device: str = "cpu", **more: Any
) -> dict[str, Any]:
    """The row of a run that began at this time of time.monotonic(); it is added to the file, if there is one."""
    row = {
        "fuzzer": fuzzer, "inputs": inputs, "wrong": wrong, "minutes": round((time.monotonic() - began) / 60, 2),
        **more, "machine": machine(device), "date": time.strftime("%Y-%m-%d", time.gmtime()), "version": hw.__version__,
    }  # fmt: skip
    if file is not None:
        with file.open("a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")
    return row
