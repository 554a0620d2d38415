"""CPU machine code in a wheel, so that the user's machine need not compile.

`make wheels` runs `hopwave warmup` with Numba set to a baseline CPU that most machines support, and HOPWAVE_SHIP to its
name. All compiled functions are then also written to the baseline's folder in the package, one file per function and
signature: one line of JSON (the SHA-256 of the rest), then Numba's pickle of the code, compressed. A folder is used
only if its `about.json` matches this machine, the CPU has every feature of the baseline, and no other user can write to
the folder. Otherwise functions are compiled, and one line of the log says why.
"""

import hashlib
import json
import logging
import os
import pickle
import platform
import sys
import zlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from hopwave.system.files import replacing, why_not_trusted

log = logging.getLogger("hopwave")

PACKAGE = Path(__file__).resolve().parents[1]
FOLDER = PACKAGE / "machine_code" / "cpu"
ABOUT = "about.json"
SUFFIX = ".code"


class Baseline(NamedTuple):
    """The CPU features that code in a wheel may use. `cpu` is the model that LLVM tunes for; it may support more."""

    cpu: str
    features: frozenset[str]
    without: tuple[str, ...] = ()

    @classmethod
    def of(cls, cpu: str, features: str, without: str = "") -> "Baseline":
        """The baseline with features as words separated by spaces."""
        return cls(cpu, frozenset(features.split()), tuple(without.split()))

    def settings(self) -> dict[str, str]:
        """Environment variables with which hopwave compiles for this baseline into the package, on any CPU."""
        words = [*(f"-{name}" for name in self.without), *(f"+{name}" for name in sorted(self.features))]
        return {"NUMBA_CPU_NAME": self.cpu, "NUMBA_CPU_FEATURES": ",".join(words), "HOPWAVE_SHIP": self.cpu}


# A baseline must list every feature that the compiler may use: a missing one causes illegal instructions on machines
# without it. The levels of x86-64 are those of the psABI, as LLVM defines them (X86.td).
_V2 = "cmov crc32 cx16 cx8 fxsr mmx popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3"
_V3 = f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"
_LATER_ARM = "v8.1a v8.2a aes sha2 crc dotprod fullfp16 rcpc rdm ras spe ssbs perfmon"
# Fastest first. Arm server CPUs since about 2017 have the atomics of Armv8.1. Haswell (2013) and Zen (2017) support
# x86-64-v3; Nehalem (2008), Bulldozer (2011) and Intel's small cores support v2.
BASELINES = {
    "aarch64": (Baseline.of("neoverse-n1", "fp-armv8 neon lse", _LATER_ARM),),
    "x86_64": (Baseline.of("x86-64-v3", _V3), Baseline.of("x86-64-v2", _V2)),
}


def made_with(triple: str) -> dict[str, Any]:
    """Versions that machine code depends on, besides its source and the CPU."""
    return {
        "hopwave": sys.modules["hopwave"].__version__,
        "python": f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}",
        "numba": import_module("numba").__version__,
        "llvmlite": import_module("llvmlite").__version__,
        "triple": triple,
    }


def why_not(folder: Path, triple: str, features: str) -> str | None:
    """Why the machine code of a folder cannot be used on a CPU with these features (LLVM's list); None if it can."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        wanted, needed = dict(about["made with"]), set(about["features"])
        reason = why_not_trusted(folder, shared=True)
    except FileNotFoundError:
        return "there is none"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return f"{folder / ABOUT} cannot be read ({type(error).__name__})"
    here = made_with(triple)
    for name, value in wanted.items():
        if here.get(name) != value and reason is None:
            reason = f"it was built for {name} {value}, but this is {here.get(name)}"
    missing = needed - {word[1:] for word in features.split(",") if word.startswith("+")}
    if missing and reason is None:
        reason = f"this CPU has no {', '.join(sorted(missing))}"
    return reason


@cache
def _choose(triple: str, features: str) -> tuple[Path | None, str]:
    """(folder, "") for a CPU with these features, or (None, reason) if there is no usable folder."""
    reason = "there is none"
    for baseline in BASELINES.get(platform.machine(), ()):
        folder = FOLDER / baseline.cpu
        if (found := why_not(folder, triple, features)) is None:
            return folder, ""
        if folder.is_dir():
            reason = found
    return None, reason


@cache
def _say_once(reason: str) -> None:
    log.warning("machine code in the package is not used, so functions are compiled: %s", reason)


def file_of(function: Any, key: tuple[Any, ...], source: str) -> str | None:
    """File name for a function with Numba's index key and the digest of its source; None outside this package."""
    path = Path(function.__code__.co_filename).resolve()
    if PACKAGE not in path.parents:
        return None
    signature, _, hashes = key
    digest = hashlib.sha256(repr((str(signature), hashes, source)).encode()).hexdigest()
    return f"{_place(function, path)}-{digest[:24]}{SUFFIX}"


def _place(function: Any, path: Path) -> str:
    return ".".join([*path.relative_to(PACKAGE).with_suffix("").parts, function.__qualname__.replace("<locals>", "")])


def holds(function: Any) -> bool:
    """Whether the package contains usable machine code of a function, for any signature."""
    path = Path(function.__code__.co_filename).resolve()
    if not FOLDER.is_dir() or PACKAGE not in path.parents:
        return False
    from numba.core.registry import cpu_target

    codegen = cpu_target.target_context.codegen()
    folder, _ = _choose(codegen.magic_tuple()[0], codegen._tm_features)
    return folder is not None and any(folder.glob(f"{_place(function, path)}-*{SUFFIX}"))


def load(name: str | None, target_context: Any) -> Any:
    """The compiled function of a file; None if the file is missing, is damaged, or does not match this machine."""
    if name is None or not FOLDER.is_dir() or os.environ.get("HOPWAVE_SHIP"):
        return None
    codegen = target_context.codegen()
    folder, reason = _choose(codegen.magic_tuple()[0], codegen._tm_features)
    if folder is None:
        _say_once(reason)
        return None
    file = folder / name
    try:
        line, _, code = file.read_bytes().partition(b"\n")
        if json.loads(line)["sha256"] != hashlib.sha256(code).hexdigest():
            raise ValueError("the digest does not match")
        from numba.core.compiler import CompileResult

        return CompileResult._rebuild(target_context, *pickle.loads(zlib.decompress(code)))  # type: ignore[no-untyped-call]
    except FileNotFoundError:
        log.info("%s is not in the package: its source or types differ", file.name)
    except Exception as error:  # unpickling may raise any error
        _say_once(f"{file} is damaged ({type(error).__name__}: {error})")
    return None


def save(name: str | None, compiled: Any, cpu: str) -> None:
    """Write a compiled function into the package, for the baseline of that name; only `make wheels` does this."""
    if name is None:
        return
    from numba.core.serialize import dumps

    (baseline,) = (one for one in BASELINES[platform.machine()] if one.cpu == cpu)
    reduced = list(compiled._reduce())
    reduced[6] = ""  # omits the annotated source, which contains paths of this machine
    code = zlib.compress(dumps(tuple(reduced)), 9)  # type: ignore[no-untyped-call]
    folder = FOLDER / cpu
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / name) as stream:
        stream.write(json.dumps({"sha256": hashlib.sha256(code).hexdigest()}).encode() + b"\n" + code)
    about = {"made with": made_with(compiled.codegen.magic_tuple()[0]), "features": sorted(baseline.features)}
    with replacing(folder / ABOUT) as stream:
        stream.write(json.dumps(about, indent=1).encode() + b"\n")
