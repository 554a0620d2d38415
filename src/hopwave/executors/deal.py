"""Deals blocks to the workers of an executor, and collects their results in the order of the blocks.

A few blocks are under way at a time, and each reply makes room for the next block, so that fast workers get more
blocks. A block whose worker died is dealt again. Only `submit` of the executor is used.

A separate thread deals. An executor's own locks are Python code, which a Ctrl-C could break (system/threads.py); no
signal handler runs on that thread.
"""

from __future__ import annotations

import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from hopwave.errors import ExecutorError
from hopwave.executors import sizes
from hopwave.executors.worker import Block, Reply, Task, do, register
from hopwave.graph import Graph
from hopwave.system import threads


@dataclass
class Sent:
    """How many tasks and graphs were sent to the workers."""

    tasks: int = 0
    graphs: int = 0


class Deal:
    """The blocks from number `first` to `count`, dealt to an executor.

    Yields (number, result) in the order of the blocks, and None whenever no result came for a while. The caller may
    pause the iteration. When `dealer.stopped` is set, or the deal was garbage collected, no further block is dealt, and
    blocks that no worker has begun are cancelled.
    """

    def __init__(
        self, executor: Executor, graph: Graph, device: str, block: Callable[[int], Block], first: int, count: int
    ) -> None:
        self.dealer = _Dealer(_Here() if _is_inside(executor) else executor, graph, device, block, first, count)
        self.dealer.held = weakref.ref(self)
        self._begun = False

    @property
    def sent(self) -> Sent:
        """How many tasks and graphs were sent to the workers so far."""
        return self.dealer.sent

    def __iter__(self) -> Iterator[tuple[int, Any] | None]:
        dealer = self.dealer
        if not self._begun:
            self._begun = True
            if not threads.crew.start(1, dealer.run):
                raise ExecutorError(
                    "the system starts no further thread, and dealing blocks needs one; end other threads, or raise "
                    "the limit (ulimit -u)"
                )
        while dealer.taken < dealer.count:
            try:
                found = dealer.results.get(timeout=sizes.POLL_SECONDS)
            except Empty:
                yield None
                continue
            if isinstance(found, BaseException):
                raise found
            dealer.taken = found[0] + 1
            yield found


def _is_inside(executor: Executor) -> bool:
    """Whether this thread is one of a ThreadPoolExecutor's own.

    Such a thread serves the pool's queue, which is one of its arguments. The pool's list of threads would not do: a
    thread runs before it is in the list.
    """
    queue = getattr(executor, "_work_queue", None)
    return queue is not None and any(given is queue for given in getattr(threading.current_thread(), "_args", ()))


class _Here(Executor):
    """Runs tasks in the caller. Used if the caller is a thread of the pool: all threads of the pool may be waiting."""

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        done: Future[Any] = Future()
        try:
            done.set_result(work(*arguments, **named))
        except Exception as error:
            done.set_exception(error)
        return done


class _Dealer:
    """The thread of a Deal, and its state."""

    def __init__(
        self, executor: Executor, graph: Graph, device: str, block: Callable[[int], Block], first: int, count: int
    ) -> None:
        self.sent, self.stopped = Sent(), False
        self.held: Callable[[], Any] = object  # returns None once the deal was garbage collected
        self.taken, self.count = first, count  # the number of blocks whose results the caller has, and of all
        self.results: SimpleQueue[tuple[int, Any] | BaseException] = SimpleQueue()
        self._name = uuid4().hex
        self._executor, self._graph, self._device = executor, graph, device
        self._key, self._turned = register(graph)
        self._parcel: Graph = graph.reversed() if self._turned else graph
        self._block = block
        self._under_way: dict[Future[Reply], tuple[int, bool]] = {}  # (block's number, sent with the graph?)
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._held: list[int] = []  # blocks that wait until a worker has the graph
        self._lacking: set[str] = set()  # processes that do not have the graph
        self._workers: set[tuple[str, int]] = set()
        self._failures: Counter[int] = Counter()

    def run(self, number: int) -> None:
        """Deal all blocks."""
        try:
            self._deal()
            self.results.put(self._stopped(InterruptedError("it was stopped")))  # ignored if the caller has all results
        except BaseException as error:
            self.results.put(error)
        finally:
            for future in list(self._under_way):
                future.cancel()

    def _deal(self) -> None:
        turn = following = self.taken
        early: dict[int, Any] = {}  # results that came before their turn
        while turn < self.count and not self.stopped and self.held() is not None:
            most = sizes.tasks_under_way(len(self._workers))
            while (
                following < self.count
                and len(self._under_way) + len(self._held) < most
                and following - self.taken < sizes.AHEAD * most
                and not self.stopped
            ):
                self._submit(following)
                following += 1
            try:
                future = self._finished.get(timeout=sizes.POLL_SECONDS)
            except Empty:
                continue
            number, reply = self._received(future)
            if reply is None:
                continue
            early[number] = reply.result
            while turn in early:
                self.results.put((turn, early.pop(turn)))
                turn += 1

    def _submit(self, number: int, with_graph: bool = False) -> None:
        name = f"{self._name} {self.sent.tasks}"
        task = Task(name, self._key, self._turned, self._device, self._block(number))
        try:
            future = self._executor.submit(do, task, self._parcel if with_graph else None)
        except RuntimeError as error:  # it is broken (BrokenExecutor), or was shut down
            raise self._stopped(error) from error
        if not hasattr(future, "add_done_callback"):
            raise ExecutorError(
                f"submit of executor={self._executor!r} returned {future!r:.80}, and must return a Future; give "
                "another executor, for example a ProcessPoolExecutor"
            )
        self._under_way[future] = number, with_graph
        self.sent.tasks += 1
        self.sent.graphs += with_graph
        future.add_done_callback(self._finished.put)

    def _received(self, future: Future[Reply]) -> tuple[int, Reply | None]:
        """(number of a block, reply). The reply is None if the block had to be dealt again, which is done here."""
        number, with_graph = self._under_way.pop(future)
        if with_graph:
            self._release()
        try:
            reply = future.result()
            if not isinstance(reply, Reply):
                raise TypeError(f"a worker returned {reply!r:.80}")
        except BrokenExecutor as error:
            raise self._stopped(error) from error
        except Exception as error:
            self._failures[number] += 1
            if self._failures[number] >= sizes.TRIES:
                raise ExecutorError(
                    f"block {number:,} of {self.count:,} failed on {sizes.TRIES} workers of the executor, the last "
                    f"time with {_named(error)}; see what its workers print, or leave out executor="
                ) from error
            self._submit(number, with_graph)
            return number, None
        if reply.error is not None:
            raise reply.error
        if reply.lacks_graph:
            self._lacking.add(reply.process)
            if sum(carried for _, carried in self._under_way.values()) < len(self._lacking):
                self._submit(number, with_graph=True)
            else:
                self._held.append(number)
            return number, None
        self._lacking.discard(reply.process)
        self._workers.add((reply.process, reply.thread))
        return number, reply

    def _release(self) -> None:
        """Deal the blocks that waited for a graph to arrive at a worker."""
        held, self._held = self._held, []
        for number in held:
            self._submit(number)

    def _stopped(self, error: BaseException) -> ExecutorError:
        return ExecutorError(
            f"the executor cannot go on: {_named(error)}; make a new one and call again (with checkpoint=, betweenness "
            "continues where it was)"
        )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
