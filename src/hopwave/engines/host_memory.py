"""Free memory of the host, and the error for a result that needs more."""

from hopwave.errors import too_large

BYTES_ANYWHERE = 1 << 26  # bytes that a run may use without querying the free memory, which takes 0.1 ms


def available_memory() -> int | None:
    """Bytes that can be used without swapping, or None if the system does not report them."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines:  # noqa: PTH123 (a pseudo file)
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return None


FEWER = "use fewer sources at a time, or sums of distances"


def workers_that_fit(workers: int, answer: int, each: int) -> int:
    """The number of workers, at least one, that fit into memory besides the result: `each` and `answer` are bytes."""
    free = None if answer + workers * each <= BYTES_ANYWHERE else available_memory()
    return workers if free is None else max(1, min(workers, (free - answer) * 3 // 4 // max(1, each)))


def check_memory(size: int, what: str, remedy: str = FEWER) -> None:
    """Raise an error if `size` bytes exceed three quarters of the free memory."""
    free = None if size <= BYTES_ANYWHERE else available_memory()
    if free is not None and size > free * 3 // 4:
        raise too_large(what, size, free * 3 // 4, f"{remedy}, or use a machine with more memory")
