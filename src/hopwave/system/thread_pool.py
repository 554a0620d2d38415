"""Work for a pool of threads, done by the calling thread where the system starts none (ulimit -u, a container)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def begun(pool: ThreadPoolExecutor, work: Callable[..., Result], *arguments: Any) -> Future[Result]:
    """work(*arguments) on a thread of the pool, or at once where no thread can be started. It is done once in any case.

    >>> with ThreadPoolExecutor(2) as pool:
    ...     begun(pool, max, 3, 7).result()
    7
    """
    found: Future[Result] = Future()
    first = threading.Lock()

    def run() -> None:
        # A pool that cannot start a thread has queued the call all the same, and its other threads may find it there.
        if not first.acquire(blocking=False) or not found.set_running_or_notify_cancel():
            return
        try:
            result = work(*arguments)
        except BaseException as error:
            found.set_exception(error)
        else:
            found.set_result(result)

    try:
        pool.submit(run)
    except (RuntimeError, MemoryError):
        run()
    return found


def each(pool: ThreadPoolExecutor, items: Iterable[Any], work: Callable[[Any], Result]) -> list[Result]:
    """work(item) for every item, in their order; the first error is raised here, and what has not begun is left out.

    >>> with ThreadPoolExecutor(2) as pool:
    ...     each(pool, [1, 2, 3], str)
    ['1', '2', '3']
    """
    waiting = [begun(pool, work, item) for item in items]
    try:
        return [future.result() for future in waiting]
    finally:
        for future in waiting:
            future.cancel()
