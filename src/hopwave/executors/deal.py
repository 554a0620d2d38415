"""Distributes blocks to the workers of an executor, and collects the results in the order of the blocks.

A few blocks are pending at a time, and each reply makes room for the next block. A block whose worker died is sent
again. A separate thread sends blocks: an executor's locks are Python code, that Ctrl-C may break (system/threads.py).
"""

import os
import threading
import weakref
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np

from hopwave.arrays import on_host
from hopwave.engines import Engine, engine
from hopwave.errors import ExecutorError, HopwaveError
from hopwave.graph import Graph
from hopwave.planning.jobs import BetweennessJob, SampleJob
from hopwave.planning.many_sources import Sweep, Swept
from hopwave.planning.plan import Plan
from hopwave.system import threads

# ---------------------------------------------------------------- sizes; none of them changes a result

TASKS_PER_WORKER = 2  # pending tasks per worker: one is computed, one waits, so that no worker is idle
FIRST_TASKS = 2 * (os.cpu_count() or 1)  # pending tasks before any worker has replied
AHEAD = 4  # results that may wait for an earlier block, per pending task: each is one array of n numbers
TRIES = 3  # attempts for a block whose worker died
POLL_SECONDS = 0.05  # interval of the checks for Ctrl-C, progress and checkpoints
GRAPHS_KEPT = 2  # graphs that a worker process caches for the next blocks and the next call

BLOCKS = 256  # approximate number of blocks before blocks grow, so that workers finish at about the same time
LANES = 64  # searches that share their steps; fewer are not worth a message
ROW_BYTES = 1 << 26  # maximum bytes of distances in one reply
PAIRS = 1 << 12  # minimum pairs of vertices per task
ON_GPU = 16  # factor of searches or pairs per task compared with a CPU: a GPU runs thousands concurrently


def sources_per_block(job: Sweep, n: int, device: str = "cpu") -> int:
    """Searches per task. Weighted column sums keep the blocks of the job, because the blocks determine the rounding."""
    if job.weighted and job.keep == "columns":
        return job.block or len(job.sources)
    size = max(1, len(job.sources) // (BLOCKS * LANES)) * LANES * (ON_GPU if device == "cuda" else 1)
    if job.keep == "rows":
        columns = n if job.targets is None or not job.weighted else len(job.targets)
        size = min(size, max(1, ROW_BYTES // ((8 if job.weighted else 4) * max(1, columns))))
    return size


def pairs_per_block(pairs: int, device: str = "cpu") -> int:
    """Random pairs per task."""
    return max(PAIRS, pairs // BLOCKS) * (ON_GPU if device == "cuda" else 1)


# ------------------------------------------------------------------ blocks of work

# A part of a job: one of the functions below with its first arguments bound. It is pickled, so it contains no graph.
Block = Callable[[Engine, Graph, int | None], Any]


def source_block(job: BetweennessJob, plan: Plan, engine: Engine, graph: Graph, threads: int | None) -> Any:
    """Sums of dependencies over one block of sources, and both sides of each source's certificate."""
    run = engine.accumulation(graph, job, plan, threads)
    done = 0
    while done < run.blocks:
        done = run.advance(done, _go_on)
    return run.total, run.certificate


def core_block(job: BetweennessJob, number: int, engine: Engine, graph: Graph, threads: int | None) -> Any:
    """The sums of one batch of core vertices of a reduced job; the worker's graph caches the core for later blocks."""
    from hopwave.engines.cpu.betweenness.core_run import CoreRun, run_of

    kept = graph._prepared.find(CoreRun) or graph._prepared.keep(run_of(graph, job, threads))
    return kept.batches(number, number + 1), kept.certificate


def sweep_block(job: Sweep, engine: Engine, graph: Graph, threads: int | None) -> Swept:
    """Searches from one block of sources; the histogram ends at the largest distance."""
    found = engine.sweep(graph, job, _go_on, threads)
    return replace(found, histogram=np.trim_zeros(found.histogram, "b"), rows=on_host(found.rows))


def path_block(job: SampleJob, begin: int, end: int, engine: Engine, graph: Graph, threads: int | None) -> Any:
    """Random paths of the pairs with numbers in [begin, end): counts per vertex, and sums."""
    run = engine.path_sampling(graph, job, threads)
    run.done = begin
    while run.done < end:
        run.advance(end, _go_on)
    return run.counts, run.sums


def _go_on(done: int) -> bool:
    """A poll that never stops and shows nothing: the process that collects the results shows progress."""
    return False


# ------------------------------------------------------------------ graphs

# A task names its graph by a key. A worker without the graph says so in its reply, and receives the graph with the next
# task (`_Dealer`). Threads of the process that built the graph, and processes forked from it, already have the graph.


@dataclass
class GraphKey:
    """The name of a graph among all processes."""

    key: str = field(default_factory=lambda: uuid4().hex)


_at_home: WeakValueDictionary[str, Graph] = WeakValueDictionary()  # graphs built in this process
_received: OrderedDict[str, Graph] = OrderedDict()  # graphs received with a task; the most recently used is last
_lock = threading.Lock()


def register(graph: Graph) -> tuple[str, bool]:
    """(key, turned). If `turned`, the key names the reversed graph, and workers reverse the graph under that key."""
    other = graph._known_reverse()
    known = None if other is None else other._prepared.find(GraphKey)
    if other is not None and known is not None and graph._prepared.find(GraphKey) is None:
        _at_home[known.key] = other
        return known.key, True
    key = graph._prepared.record(GraphKey).key
    _at_home[key] = graph
    return key, False


def _graph(key: str, parcel: Graph | None) -> Graph | None:
    with _lock:
        found = _at_home.get(key)
        if found is not None:
            return found
        found = _received.pop(key, parcel)
        if found is not None:
            _received[key] = found
            while len(_received) > GRAPHS_KEPT:
                _received.popitem(last=False)
        return found


# ------------------------------------------------------------------ tasks


@dataclass(frozen=True)
class Task:
    """One block, the key of its graph (or of the graph's reverse), and the engine that computes it.

    Task names are unique, because some executors, such as Dask's, compute equal calls only once.
    """

    name: str
    graph: str
    turned: bool
    device: str
    block: Block


class Reply(NamedTuple):
    """A worker's reply: the result, an error that every worker would raise, or neither if the graph is missing."""

    process: str
    thread: int
    lacks_graph: bool
    result: Any = None
    error: HopwaveError | OverflowError | None = None


_PROCESS = uuid4().hex


def do(task: Task, parcel: Graph | None) -> Reply:
    """Compute a block. `parcel` is the block's graph, if the graph is sent with the task."""
    who = f"{_PROCESS} {os.getpid()}", threading.get_ident()  # a fork has its parent's _PROCESS, so add the pid
    graph = _graph(task.graph, parcel)
    if graph is None:
        return Reply(*who, lacks_graph=True)
    threads = 1 if task.device == "cpu" else None  # one thread per worker; the reference engine accepts no threads=
    try:
        result = task.block(engine(task.device), graph.reversed() if task.turned else graph, threads)
    except (HopwaveError, OverflowError) as error:
        return Reply(*who, lacks_graph=False, error=error)
    return Reply(*who, lacks_graph=False, result=result)


@dataclass
class Sent:
    """How many tasks and graphs were sent to the workers."""

    tasks: int = 0
    graphs: int = 0


class Deal:
    """The blocks with numbers in [first, count), distributed to an executor.

    Yields (number, result) in the order of the blocks, and None after POLL_SECONDS without a result. When
    `dealer.stopped` is set or the Deal is garbage collected, blocks that no worker has begun are cancelled.
    """

    def __init__(self, executor: Executor, *work: Any) -> None:
        """`work`: the other arguments of `_Dealer`."""
        self.dealer = _Dealer(_Here() if _is_inside(executor) else executor, *work)
        self.dealer.held = weakref.ref(self)
        self.sent, self._begun = self.dealer.sent, False

    def __iter__(self) -> Iterator[tuple[int, Any] | None]:
        dealer = self.dealer
        if not self._begun:
            self._begun = True
            if not threads.crew.start(1, dealer.run):
                problem = "the system cannot start another thread, and executor= needs one"
                raise ExecutorError(f"{problem}; end other threads, or raise the limit (ulimit -u)")
        while dealer.taken < dealer.count:
            try:
                found = dealer.results.get(timeout=POLL_SECONDS)
            except Empty:
                yield None
                continue
            if isinstance(found, BaseException):
                raise found
            dealer.taken = found[0] + 1
            yield found

    def collect(self, add: Callable[[int, Any], None], pause: Callable[[], bool]) -> None:
        """Add results until all blocks are added or `pause()` is true. An error cancels blocks that are not begun."""
        try:
            for found in self:
                if found is not None:
                    add(*found)
                if pause():
                    return
        except BaseException:
            self.dealer.stopped = True
            raise


def _is_inside(executor: Executor) -> bool:
    """Whether the current thread is a worker of this ThreadPoolExecutor."""
    # Checked by the thread's arguments, because a thread runs before the pool lists it among its threads.
    queue = getattr(executor, "_work_queue", None)
    return queue is not None and any(given is queue for given in getattr(threading.current_thread(), "_args", ()))


class _Here(Executor):
    """Runs tasks in the caller. Used if the caller is a worker of the pool, because all workers may be waiting."""

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
        self.held: Callable[[], Any] = object  # returns None after the Deal was garbage collected
        self.taken, self.count = first, count  # number of blocks whose results the caller has, and of all blocks
        self.results: SimpleQueue[tuple[int, Any] | BaseException] = SimpleQueue()
        self._name = uuid4().hex
        self._executor, self._graph, self._device = executor, graph, device
        self._key, self._turned = register(graph)
        self._parcel: Graph = graph.reversed() if self._turned else graph
        self._block = block
        self._under_way: dict[Future[Reply], tuple[int, bool]] = {}  # (block's number, sent with the graph?)
        self._finished: SimpleQueue[Future[Reply]] = SimpleQueue()
        self._held: list[int] = []  # blocks that wait until a worker has the graph
        self._lacking: set[str] = set()  # processes without the graph
        self._workers: set[tuple[str, int]] = set()
        self._failures: Counter[int] = Counter()

    def run(self, number: int) -> None:
        """Distribute all blocks."""
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
            # An executor does not report its number of workers. Two tasks per known worker reach twice as many workers.
            most = max(FIRST_TASKS, TASKS_PER_WORKER * len(self._workers))
            while (
                following < self.count
                and len(self._under_way) + len(self._held) < most
                and following - self.taken < AHEAD * most
                and not self.stopped
            ):
                self._submit(following)
                following += 1
            try:
                future = self._finished.get(timeout=POLL_SECONDS)
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
            problem = f"submit of executor={self._executor!r} returned {future!r:.80}, which is not a Future"
            raise ExecutorError(f"{problem}; pass another executor, for example a ProcessPoolExecutor")
        self._under_way[future] = number, with_graph
        self.sent.tasks += 1
        self.sent.graphs += with_graph
        future.add_done_callback(self._finished.put)

    def _received(self, future: Future[Reply]) -> tuple[int, Reply | None]:
        """(number of a block, reply). The reply is None if this method had to send the block again."""
        number, with_graph = self._under_way.pop(future)
        if with_graph:  # also submit the blocks that waited until a worker received the graph
            held, self._held = self._held, []
            for waiting in held:
                self._submit(waiting)
        try:
            reply = future.result()
            if not isinstance(reply, Reply):
                raise TypeError(f"a worker returned {reply!r:.80}")
        except BrokenExecutor as error:
            raise self._stopped(error) from error
        except Exception as error:
            self._failures[number] += 1
            if self._failures[number] >= TRIES:
                raise ExecutorError(
                    f"block {number:,} of {self.count:,} failed on {TRIES} workers of the executor, the last "
                    f"time with {_named(error)}; check the output of the workers, or omit executor="
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

    def _stopped(self, error: BaseException) -> ExecutorError:
        return ExecutorError(
            f"the executor cannot continue: {_named(error)}; create a new executor and call again (with checkpoint=, "
            "betweenness resumes from the last checkpoint)"
        )


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
