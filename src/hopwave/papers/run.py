"""Measure one paper: every study once, then its page and its lines."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import hopwave as hw
from hopwave.errors import EngineError
from hopwave.papers import page
from hopwave.papers.lab import EFFORTS, Lab, WrongAnswer
from hopwave.papers.records import Outcome, Paper
from hopwave.system.files import replacing


def measure(
    paper: Paper, device: str, quick: bool, say: Callable[[str], None], seconds: float = 0.0, out: Path | None = None
) -> Outcome:
    """Run every study of a paper. A study that cannot run on this device leaves a row that says why.

    If `out` names a folder, what is measured is written there row by row: a run that is stopped loses nothing.
    """
    lab, began, where = Lab(device, quick, say, seconds), time.perf_counter(), machine(device, quick)

    def so_far() -> Outcome:
        return Outcome(paper, quick, where, lab.results, time.perf_counter() - began, tuple(lab.wrong))

    if out is not None:
        lab.keep = lambda: write(so_far(), out)
    for lab.study, study in paper.studies.items():
        say(f"{paper.key}: {lab.study}")
        try:
            lab.results[lab.study] = study(lab)
        except (EngineError, MemoryError, WrongAnswer) as error:
            lab.results[lab.study] = [lab.failed(error)]
        lab.keep()
    return so_far()


def machine(device: str, quick: bool) -> dict[str, Any]:
    """Where and when this run was made."""
    model = next((one.model for one in hw.devices() if one.kind == device), device)
    effort = EFFORTS[device, quick]
    cores = next((one.cores for one in hw.devices() if one.kind == "cpu"), None)
    return {
        "device": device, "model": model, "cores": cores, "machine": platform.machine(),
        "date": date.today().isoformat(), "python": platform.python_version(), "numpy": np.__version__,
        "hopwave": hw.__version__, "quick": quick, "trials": effort.trials, "or seconds": effort.seconds,
    }  # fmt: skip


def write(outcome: Outcome, folder: Path) -> tuple[Path, Path]:
    """Write the page and the lines; returns both files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / f"{outcome.paper.key}.html", folder / f"{outcome.paper.key}.jsonl"
    texts = page.html(outcome), "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in outcome.lines())
    for file, text in zip(files, texts, strict=True):
        with replacing(file) as stream:
            stream.write(text.encode())
    return files
