"""Machine code of kernels on disk, in a folder that only its owner can write to, and in a wheel (ship.py).

A file is one line of JSON (the symbol of every instance, and the SHA-256 of symbols and code) followed by the code.
Files in a wheel are trusted like its Python files, and used unless the driver is older than their compiler.
"""

import hashlib
import json
import logging
from contextlib import suppress
from functools import cache
from pathlib import Path

from hopwave.system.files import cache_folder, replacing, why_not_trusted

log = logging.getLogger("hopwave")
SUFFIX = ".kernel"
SHIPPED = Path(__file__).resolve().parents[2] / "machine_code" / "cuda"
ABOUT = "about.json"


def folder() -> Path:
    return cache_folder() / "kernels"


def why_not() -> str | None:
    """Why the folder is not used, with the remedy; None if it is used."""
    place = folder()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = why_not_trusted(place)
    except OSError as error:
        return f"{place} cannot be created ({error.strerror}); set HOPWAVE_CACHE to a writable folder"
    if reason is None or ";" in reason:
        return reason
    return f"{reason}; set HOPWAVE_CACHE to a folder of your own"


def read(key: tuple[str, ...]) -> tuple[bytes, dict[str, str]] | None:
    """The code stored under this key, and the symbols of its instances; None if the file is missing or damaged."""
    if why_not() is not None:
        return None
    path = path_of(key)
    try:
        return _content(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError):
        log.warning("%s is damaged and will be compiled again", path)
    with suppress(OSError):
        path.unlink()
    return None


def _content(path: Path) -> tuple[bytes, dict[str, str]]:
    line, _, code = path.read_bytes().partition(b"\n")
    about = json.loads(line)
    symbols = dict(about["symbols"])
    if about["sha256"] != _digest(code, symbols):
        raise ValueError("the digest does not match")
    return code, symbols


def read_shipped(key: tuple[str, ...], driver: int) -> tuple[bytes, dict[str, str]] | None:
    """The package's code under this key, for a driver of this CUDA version (13000); None if it cannot be used."""
    path = path_of(key, SHIPPED)
    if not path.is_file():
        return None
    if (reason := why_not_shipped(driver)) is None:
        try:
            return _content(path)
        except (OSError, ValueError, KeyError, TypeError):
            reason = f"{path} is damaged"
    _say_once(reason)
    return None


@cache
def why_not_shipped(driver: int) -> str | None:
    """Why the package's code is not used with this driver; None if it is used."""
    try:
        major = int(json.loads((SHIPPED / ABOUT).read_text(encoding="utf-8"))["nvrtc"][0])
        reason = why_not_trusted(SHIPPED, shared=True)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        return f"{SHIPPED / ABOUT} cannot be read ({type(error).__name__})"
    if reason is None and driver // 1000 < major:
        reason = f"compiled with CUDA {major}, but the driver supports CUDA {driver // 1000}"
    return reason


@cache
def _say_once(reason: str) -> None:
    log.warning("kernels are compiled because those in the package cannot be used: %s", reason)


def write(key: tuple[str, ...], code: bytes, symbols: dict[str, str]) -> None:
    """Store code, if possible. The file appears complete or not at all."""
    if (reason := why_not()) is not None:
        log.info("kernels are not cached: %s", reason)
        return
    try:
        with replacing(path_of(key)) as stream:
            stream.write(content_of(code, symbols))
    except OSError as error:  # the disk is full, or has become read-only
        log.info("kernels are not cached: %s", error)


def content_of(code: bytes, symbols: dict[str, str]) -> bytes:
    about = json.dumps({"sha256": _digest(code, symbols), "symbols": symbols})
    return about.encode() + b"\n" + code


def holds(key: tuple[str, ...]) -> bool:
    return why_not() is None and path_of(key).is_file()


def _digest(code: bytes, symbols: dict[str, str]) -> str:
    return hashlib.sha256(json.dumps(symbols, sort_keys=True).encode() + b"\n" + code).hexdigest()


def path_of(key: tuple[str, ...], place: Path | None = None) -> Path:
    """The file of this key, in the user's folder or in a folder that becomes part of a package."""
    digest = hashlib.sha256("\0".join(key).encode()).hexdigest()
    return (place or folder()) / (digest[:40] + SUFFIX)
