"""Searches from many sources on the CPU: workers process batches, each with its own arrays, or all threads share each.

If threads share a batch, all threads pull a level of a full batch; the leader pushes the first. Distances are stored as
bits until a search ends: plane i has bit i of the levels; levels of at least DEEPEST are written as they are found.
"""

from functools import lru_cache

import numpy as np

from hopwave.arrays import Structure
from hopwave.engines.cpu import crew, policy
from hopwave.engines.cpu.crew import lead, new_board, thread_count
from hopwave.engines.cpu.integers import ONE, U0, U1
from hopwave.engines.cpu.intrinsics import atomic_add, inner, noinline, ordered_add, outer, uncounted
from hopwave.engines.cpu.many import kernels
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import new_control, run_workers
from hopwave.engines.host_memory import check_memory, workers_that_fit
from hopwave.engines.ledger import declare, total
from hopwave.planning.many_sources import Swept
from hopwave.system.compile_notice import is_compiled

# ------------------------------------------------------------------ batches shared by all threads

CLEAR, PULL, WRITE = range(3)  # jobs
VERTICES_PER_CHUNK = 512
MOST_PUSHED = 1 << 14  # maximum arcs of a level that only the leader pushes
ZERO = np.int64(0)


@inner
def clear(own, low, high):
    own.seen[low:high] = U0
    own.front[low:high] = U0
    own.fresh[low:high] = U0
    for plane in range(own.planes.shape[0]):
        own.planes[plane, low:high] = U0


@inner
def write(own, shared, first, count, low, high):
    noinline()
    seen, planes = own.seen, own.planes
    for lane in range(count):
        by, row = np.uint64(lane), shared.rows[shared.places[first + lane]]
        for v in range(low, high):
            depth = np.int32(0)
            for bit in range(kernels.PLANES):
                depth |= np.int32((planes[bit, v] >> by) & U1) << np.int32(bit)
            row[v] = depth - np.int32(1) + np.int32((seen[v] >> by) & U1)


@inner
def work(A, own, shared, first, count, board):
    noinline()
    kind, depth = board[crew.JOB_KIND], board[crew.JOB_DEPTH]
    front, fresh = (own.front, own.fresh) if depth & 1 else (own.fresh, own.front)
    found, counts, pairs = np.empty(VERTICES_PER_CHUNK, np.uint32), np.zeros(kernels.LANES, np.int64), 0
    while True:
        begin, stop = crew.next_chunk(board)
        if begin >= stop:
            break
        if kind == CLEAR:
            clear(own, begin, stop)
        elif kind == WRITE:
            write(own, shared, first, count, begin, stop)
        else:
            full, rows = kernels.all_lanes(count), (A.in_indptr, A.in_indices)
            tail, _ = kernels.pull_wide(*rows, own.seen, front, fresh, full, begin, stop, found)
            pairs += kernels.settle(A, own, fresh, found, tail, depth)[1]
            kernels.keep_level(own, shared, first, fresh, found, tail, depth, counts)
    if pairs:
        ordered_add(board, crew.FOUND, pairs)
        for lane in range(count):
            if counts[lane]:
                atomic_add(own.lanes, lane, counts[lane])


@inner
def together(kind, depth, A, own, shared, first, count, board):
    """A job for all threads. Returns the number of pairs found."""
    crew.open_job(board, kind, ZERO, np.int64(own.seen.size), VERTICES_PER_CHUNK, depth, ZERO, ZERO)
    work(A, own, shared, first, count, board)
    crew.close_job(board)
    return board[crew.FOUND]


@outer
def search_together(A, own, shared, first, count, most_pushed, board, me):
    """A thread's part of the searches from `count` sources, starting at number `first`: thread 0 leads."""
    A, own, shared = uncounted(A), uncounted(own), uncounted(shared)
    if me:
        joined = ZERO
        while True:
            joined = crew.join_job(board, joined, me)
            if joined < 0:
                return
            work(A, own, shared, first, count, board)
            crew.leave_job(board)
    keeps_rows, limit = shared.limits.keep & kernels.ROWS, shared.limits.limit
    together(CLEAR, ZERO, A, own, shared, first, count, board)
    room = max(most_pushed, kernels.LANES)
    active, found = np.empty(room, np.uint32), np.empty(room, np.uint32)
    front, fresh = own.fresh, own.front
    size, left = kernels.begin_lanes(shared, first, count, fresh, found)
    own.lanes[:] = 0
    depth, pushed, written = ZERO, True, False
    arcs, pairs = kernels.settle(A, own, fresh, found, size, depth)
    kernels.keep_level(own, shared, first, fresh, found, size, depth, own.lanes)
    while True:
        left -= pairs
        kernels.fill_sums(own, shared, first, count, depth)
        over = pairs == 0 or left <= 0 or depth >= limit
        if keeps_rows and not written and (over or depth == kernels.DEEPEST - 1):
            together(WRITE, depth, A, own, shared, first, count, board)
            written = True
        if over:
            return
        depth += 1
        front, fresh = fresh, front
        active, found = found, active
        if pushed and arcs <= most_pushed:
            tail = kernels.push_wide(A.indptr, A.indices, own.seen, front, fresh, active, size, found)
            for i in range(size):
                front[active[i]] = U0
            size = tail
            arcs, pairs = kernels.settle(A, own, fresh, found, size, depth)
            kernels.keep_level(own, shared, first, fresh, found, size, depth, own.lanes)
        else:
            pushed = False
            pairs = together(PULL, depth, A, own, shared, first, count, board)


# ------------------------------------------------------------------ batches

KEEP = {"sums": kernels.SUMS, "columns": kernels.SUMS | kernels.COLUMNS, "rows": kernels.ROWS, "pairs": kernels.PAIRS}
NO_LIMIT = np.iinfo(np.int32).max
SUM_ARRAYS = "histogram", "columns"  # the last of a worker's arrays, which start at 0 in every run


def sweep(loaded, job, poll, threads):
    """All searches of the job; poll(sources done) is called from time to time. See hopwave.algorithms.many_sources."""
    n, k, threads = loaded.n, len(job.sources), thread_count(threads)
    together = job.together and job.keep != "pairs"
    workers = max(1, min(threads, k // policy.SOURCES_PER_WORKER if together else k))
    alone = k * (n + loaded.m) <= policy.SMALL_JOB
    if together and not alone and policy.side_by_side(job.depth, k, threads):
        return _side_by_side(loaded, job, poll, threads)
    each = bytes_per_worker(n, job.keep, together)
    workers = 1 if alone else workers_that_fit(workers, _checked_table(n, k, job), each)
    width = policy.batch_width(k, workers, together)
    arranged = together and loaded.irregular and k >= policy.SOURCES_BEFORE_ARRANGING
    A = loaded.adjacency("paper" if arranged else "any", searches=k if together else 1)
    shared = _shared_state(loaded, job, width, together)
    kind = "searches", together, together or job.keep == "rows"  # states that differ only in their sums
    left, sums = loaded.spare(kind) or [], sum_arrays(n, job.keep)  # pages of an earlier run are already mapped
    states = [state._replace(**allocate(sums)) for state in left[:workers]]
    states += [kernels.WorkerState(**allocate(worker_arrays(n, job.keep, together))) for _ in range(len(left), workers)]
    kernel = kernels.take_batches if together else kernels.take_sources
    run_workers(kernel, A, states, shared, poll, alone)
    if job.keep == "pairs":
        shared = with_room_for_pairs(shared, shared.sums[:, kernels.REACHED], np.int32)
        if shared.pair_vertex.size:
            run_workers(kernel, A, states, shared, poll, alone)
    loaded.leave(kind, states, len(states) * sum(array.nbytes for array in states[0][: -len(SUM_ARRAYS)]))
    return _swept(shared, states)


def _side_by_side(loaded, job, poll, threads):
    n, k = loaded.n, len(job.sources)
    _checked_table(n, k, job)
    A = loaded.adjacency("any", searches=k)
    shared = _shared_state(loaded, job, kernels.LANES, True)
    kind = "side by side", job.keep
    arrays = worker_arrays(n, job.keep, True) | declare(np.uint32, active=0, found=0)
    arrays |= declare(np.uint64, planes=(kernels.PLANES if job.keep == "rows" else 0, n))
    own = loaded.spare(kind) or kernels.WorkerState(**allocate(arrays))
    own = own._replace(**allocate(sum_arrays(n, job.keep)))
    for first in range(0, k, kernels.LANES):
        board, count = new_board(), min(kernels.LANES, k - first)
        lead(threads - 1, board, search_together, (A, own, shared, first, count, MOST_PUSHED, board))
        if poll(first + count):
            break
    loaded.leave(kind, own, sum(array.nbytes for array in own[: -len(SUM_ARRAYS)]))
    return _swept(shared, [own])


def _swept(shared, states):
    return Swept(
        reached=shared.sums[:, kernels.REACHED],
        total=shared.sums[:, kernels.TOTAL],
        farthest=shared.sums[:, kernels.FARTHEST],
        inverse=shared.inverse,
        histogram=sum(state.histogram for state in states),
        columns=sum(state.columns for state in states),
        rows=shared.rows,
        pairs=(shared.pair_vertex, shared.pair_distance),
    )


def _shared_state(loaded, job, width, together):
    """The arrays of the result, and the sources in search order: neighbouring sources share a batch."""
    k = len(job.sources)
    places = np.arange(k, dtype=np.int64)
    if together and k > width:
        places = np.argsort(neighbourhood_rank(loaded)[job.sources], kind="stable")
    sources = job.sources[places]
    limits = kernels.Limits(
        width=width,
        limit=NO_LIMIT if job.limit is None else int(job.limit),
        keep=KEEP[job.keep],
        shift=int(job.shift),
        weight=kernels.INVERSE if job.weight == "inverse" else kernels.HOPS,
        upwards=bool(job.upwards),
        pull_share=policy.PULL_SHARE,
        push_cost=policy.PUSH_COST,
    )
    return kernels.SharedState(
        sources=sources,
        places=places,
        reach=reachable(loaded, sources),
        sums=np.zeros((k, 3), np.int64),
        inverse=np.zeros(k),
        rows=loaded.table(k, np.int32) if job.keep == "rows" else np.empty((0, 0), np.int32),
        starts=np.zeros(k if job.keep == "pairs" else 0, np.int64),
        pair_vertex=np.empty(0, np.int32),
        pair_distance=np.empty(0, np.int32),
        control=new_control(),
        limits=limits,
    )


def with_room_for_pairs(shared, counts, dtype):
    """The shared state for a second run that writes the pairs, with space for the pairs that a first run counted."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    check_memory((4 + np.dtype(dtype).itemsize) * total, f"{total:,} pairs")
    room = {"pair_vertex": np.empty(total, np.int32), "pair_distance": np.empty(total, dtype)}
    return shared._replace(starts=ends - counts, control=new_control(), **room)


def worker_arrays(n, keep, together):
    """The arrays of a WorkerState; untouched pages use no memory, and few pages of a histogram are touched."""
    words = n if together else 0
    return (
        declare(np.uint64, seen=words, front=words, fresh=words)
        | declare(np.uint32, active=n, found=words)
        | declare(np.int32, fill=-1, depth=0 if together or keep == "rows" else n)
        | declare(np.uint64, planes=(0, n))
        | declare(np.int64, fill=0, lanes=kernels.LANES)
        | sum_arrays(n, keep)
    )


def sum_arrays(n, keep):
    """The last arrays of a WorkerState, which start at 0 in every run."""
    sums, columns = n + 1 if keep in ("sums", "columns") else 0, n if keep == "columns" else 0
    return declare(np.int64, fill=0, histogram=sums, columns=(columns, 3))


@lru_cache(maxsize=64)  # cached: listing the arrays takes as long as a call on a small graph
def bytes_per_worker(n, keep, together):
    return total(worker_arrays(n, keep, together))


def _checked_table(n, k, job):
    """Bytes of the distances of k sources, if they are wanted; raises an error if memory is insufficient."""
    answer = 4 * k * n if job.keep == "rows" else 0
    check_memory(answer, f"a table of {k:,} × {n:,} distances")
    return answer


def reachable(loaded, sources):
    """The maximum number of vertices that each source reaches. A search that has found that many is complete."""
    from hopwave.engines.cpu.components import hook

    graph, used = loaded.graph, loaded.graph._prepared.record(Structure).components
    if graph.directed or not (False in used or hook.overloads or is_compiled(hook)):  # labels would need the compiler
        return loaded.findable + (graph.in_degrees[sources] == 0).astype(np.int64)
    labels = component_labels(graph, strong=False)
    return np.bincount(labels)[labels[sources]].astype(np.int64)


def component_labels(graph, strong):
    kept = graph._prepared.record(Structure).components
    if strong not in kept:
        own_component_labels(graph, strong)
    return kept[strong]


def own_component_labels(graph, strong):
    """Component numbers in an array that the caller may keep and change."""
    kept = graph._prepared.record(Structure).components
    if strong in kept:
        return kept[strong].copy()
    from hopwave.engines.cpu.components import components

    kept[strong], own = components(graph, strong)
    return own


def neighbourhood_rank(loaded):
    def ranks():
        A, (order, waiting) = loaded.adjacency("any"), np.empty((2, loaded.n), np.uint32)
        neighbourhoods(A.indptr, A.indices, order, waiting, np.zeros(loaded.n, np.uint8))
        rank = np.empty(loaded.n, np.int64)
        rank[order] = np.arange(loaded.n)
        return rank

    return loaded.graph._prepared.made(neighbourhoods, ranks)


@outer
def neighbourhoods(indptr, indices, order, waiting, state):
    """Fill order with all vertices: groups of 64, grown by breadth-first search, each next to the previous group."""
    first, last, lowest, placed, n = 0, 0, 0, 0, order.size  # state: 1: waiting, next to a placed vertex; 2: placed
    while placed < n:
        group = placed
        stop = min(group + kernels.LANES, n)
        head = group
        while placed < stop:
            if head == placed:  # no vertex to grow from: use the next waiting vertex, otherwise any
                while first < last and state[waiting[first]] == 2:
                    first += 1
                if first < last:
                    v = waiting[first]
                else:
                    while state[lowest] == 2:
                        lowest += 1
                    v = np.uint32(lowest)
                state[v] = 2
                order[placed] = v
                placed += 1
                continue
            u = order[head]
            head += 1
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] != 2 and placed < stop:
                    state[w] = 2
                    order[placed] = w
                    placed += 1
        for i in range(group, placed):
            u = order[i]
            for j in range(np.int64(indptr[u]), np.int64(indptr[u + ONE])):
                w = indices[j]
                if state[w] == 0:
                    state[w] = 1
                    waiting[last] = w
                    last += 1
