"""`hopwave doctor`: the hardware, the libraries, what is missing and how to install it, and a self-test."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

import hopwave as hw
from hopwave.cli import options, selftest, terminal
from hopwave.system import mpi
from hopwave.system.devices import Device, cuda_extra, devices
from hopwave.system.optional import install
from hopwave.system.progress import Meter

REQUIRED = ("numpy", "scipy", "numba", "typer", "rich")
# (module, distributions that contain it, extra that installs it or "" if that depends on the GPU, purpose).
EXTRAS = (
    ("networkx", ("networkx",), "networkx", "graphs from and to NetworkX, hopwave as its backend"),
    ("pyarrow", ("pyarrow",), "io", "Parquet files"),
    ("pandas", ("pandas",), "io", "results as data frames"),
    ("matplotlib", ("matplotlib",), "plot", "pictures"),
    ("igraph", ("igraph", "python-igraph"), "igraph", "graphs from and to igraph"),
    ("mpi4py", ("mpi4py",), "mpi", "several machines"),
    ("cupy", ("cupy-cuda12x", "cupy-cuda13x", "cupy"), "", "NVIDIA GPUs"),
)


@dataclass(frozen=True)
class Library:
    """An optional library: its version, None if it is not installed, and the command that installs it."""

    name: str
    purpose: str
    version: str | None
    install: str


def doctor(as_json: options.Json = False) -> None:
    """Show hardware and libraries, what is missing and how to install it, and test every engine."""
    from hopwave.system import numba_cache  # imports Numba

    about = {"hopwave": hw.__version__, "python": platform.python_version(), "system": platform.platform()}
    versions = {name: _version((name,)) or "missing" for name in REQUIRED}
    found, libraries = devices(), optional()
    kept, unfit = numba_cache.where_kept(), mpi.mismatch()
    usable = any(device.kind == "cuda" and device.available for device in found)
    kernels, room = (_kernels(), _room()) if usable else (None, None)
    outcomes = []
    with Meter("testing", selftest.total(), None) as meter:
        for outcome in selftest.run():
            outcomes.append(outcome)
            meter.update(len(outcomes))
    failed = [outcome for outcome in outcomes if outcome.passed is False]
    if as_json:
        terminal.emit(
            {
                **about,
                "executable": sys.executable,
                "machine_code": {"folder": kept, "damaged": [str(path) for path in numba_cache.replaced]},
                **({"kernels": asdict(kernels)} if kernels else {}),
                **({"largest_graphs": asdict(room)} if room else {}),
                "required": versions,
                "devices": [asdict(device) for device in found],
                "optional": [asdict(library) for library in libraries],
                "mpi": unfit,
                "self_test": [asdict(outcome) for outcome in outcomes],
                "ok": not failed,
            }
        )
    else:
        code = _kept_at(kept, numba_cache.replaced)
        about = {**about, "executable": sys.executable, "machine code": code}
        if kernels:
            about["GPU kernels"] = str(kernels)
        if room:
            about["GPU memory"] = str(room)
        if unfit:
            about["MPI"] = unfit
        terminal.show(
            terminal.facts("hopwave", {**about, **versions}),
            _device_table(found),
            _library_table(libraries),
            _test_table(outcomes),
        )
    if failed:
        reasons = "; ".join(f"{outcome.engine}, {outcome.check}: {outcome.note}" for outcome in failed)
        raise terminal.CheckFailed(f"the self-test failed: {reasons}")
    if not as_json:
        terminal.line("All checks passed.", style="green")


def _kept_at(folder: str | None, damaged: list[Path]) -> str:
    if folder is None:
        return "kept nowhere: every process compiles anew; set NUMBA_CACHE_DIR to a folder that can be written to"
    return folder + (f" ({len(damaged)} damaged and made again)" if damaged else "")


@dataclass(frozen=True)
class Kernels:
    """Kernels compiled for this GPU: the folder, why it is not used (or None), how many are kept, of how many."""

    folder: str
    reason: str | None
    kept: int
    all: int

    def __str__(self) -> str:
        if self.reason:
            return f"kept nowhere: {self.reason}"
        missing = "" if self.kept == self.all else "; for the others run: hopwave warmup --device cuda"
        return f"{self.kept} of {self.all} compiled in {self.folder}{missing}"


def _kernels() -> Kernels:
    """The kernels compiled for the GPU."""
    from hopwave.engines.cuda import kernel_files, nvrtc
    from hopwave.engines.cuda.instances import all_instances

    every = [(header, name) for header, names in all_instances().items() for name in names]
    kept = sum(nvrtc.is_kept(header, name) for header, name in every)
    return Kernels(str(kernel_files.folder()), kernel_files.why_not(), kept, len(every))


@dataclass(frozen=True)
class Room:
    """The largest Graph500 scales that the GPU searches now, with plain rows and with compressed ones; 0 for none."""

    plain: int
    compressed: int

    def __str__(self) -> str:
        return (
            f"rows of 2^{self.plain} vertices with 16 edges each fit as they are, of 2^{self.compressed} compressed; "
            "rows of larger graphs are compressed and read across the bus, at a fifth to a tenth of the speed"
        )


def _room() -> Room:
    """What the GPU's free memory holds."""
    from hopwave.engines.cuda.buffers import free_memory
    from hopwave.engines.cuda.kronecker import MOST_SCALE, bytes_needed

    free, scales = free_memory(), range(1, MOST_SCALE + 1)
    fits = [[scale for scale in scales if bytes_needed(scale, 16, packed) <= free] for packed in (False, True)]
    return Room(*(max(some, default=0) for some in fits))


def optional() -> list[Library]:
    """The optional libraries, installed or not; found without importing them."""
    return [
        Library(
            name,
            purpose,
            (_version(distributions) or "unknown") if importlib.util.find_spec(name) is not None else None,
            install(extra or cuda_extra()),
        )
        for name, distributions, extra, purpose in EXTRAS
    ]


def _version(distributions: tuple[str, ...]) -> str | None:
    for name in distributions:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _mark(passed: bool | None) -> Text:
    return Text("ok", "green") if passed else Text("–", "dim") if passed is None else Text("FAILED", "bold red")


def _device_table(found: tuple[Device, ...]) -> Table:
    shown = terminal.table("Hardware", "device", "model", "cores", "memory", "", numbers=(2, 3))
    for device in found:
        cores = "" if device.cores is None else str(device.cores)
        state = Text("ok", "green") if device.available else Text(device.reason or "not usable", "yellow")
        shown.add_row(device.name, Text(device.model), cores, terminal.size(device.memory_bytes), state)
    if len(found) == 1:
        shown.add_row("cuda", "no NVIDIA GPU found", "", "", "searches run on the processor")
    return shown


def _library_table(libraries: list[Library]) -> Table:
    shown = terminal.table("Extras", "library", "for", "version", "install with")
    shown.columns[3].no_wrap = True
    for library in libraries:
        version = Text("missing", "yellow") if library.version is None else Text(library.version)
        shown.add_row(library.name, library.purpose, version, "" if library.version else library.install)
    return shown


def _test_table(outcomes: list[selftest.Outcome]) -> Table:
    shown = terminal.table("Self-test", "engine", "check", "", "")
    for outcome in outcomes:
        shown.add_row(outcome.engine, outcome.check, _mark(outcome.passed), Text(outcome.note))
    return shown
