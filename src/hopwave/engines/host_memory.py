"""How much of the host's memory can be had, and a sentence where an answer needs more."""

from __future__ import annotations

from hopwave.errors import EngineError


def available_memory() -> int | None:
    """Bytes that can be had without swapping, or None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 (a pseudo file)
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None


FEWER = "ask for fewer sources at a time or for sums of distances"


def check_room(size: int, what: str, remedy: str = FEWER) -> None:
    """An error where an answer cannot be held."""
    room = available_memory()
    if room is not None and size > room * 3 // 4:
        raise EngineError(
            f"{what} need {size / 1e9:.1f} GB and {room / 1e9:.1f} GB are free; "
            f"{remedy}, or use a machine with more memory"
        )
