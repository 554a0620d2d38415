"""Free memory of the host, and the error for a result that needs more."""

from hopwave.errors import too_large

BYTES_ANYWHERE = 1 << 26  # bytes that a run may use without querying the free memory, which takes 0.1 ms


def available_memory() -> int | None:
    """Bytes that can be used without swapping and within `ulimit -v`, or None if the system does not report them."""
    try:
        with open("/proc/meminfo", encoding="ascii") as lines, open("/proc/self/statm", "rb") as pages:  # noqa: PTH123
            free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
            used = int(pages.read().split()[0])
        import resource  # which exists where /proc does

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        return free if limit == resource.RLIM_INFINITY else max(0, min(free, limit - used * resource.getpagesize()))
    except (OSError, StopIteration):
        return None


def workers_that_fit(workers: int, answer: int, each: int) -> int:
    """The number of workers, at least one, that fit into memory besides the result: `each` and `answer` are bytes."""
    free = None if answer + workers * each <= BYTES_ANYWHERE else available_memory()
    return workers if free is None else max(1, min(workers, (free - answer) * 3 // 4 // max(1, each)))


def check_memory(size: int, what: str, remedy: str = "use fewer sources at a time, or sums of distances") -> None:
    """Raise an error if `size` bytes exceed three quarters of the free memory."""
    free = None if size <= BYTES_ANYWHERE else available_memory()
    if free is not None and size > free * 3 // 4:
        raise too_large(what, size, free * 3 // 4, f"{remedy}, or use a machine with more memory")
