"""Algorithms with their own kernels: independent sets, label propagation, core numbers, triangles, Lanczos' steps."""

import cupy
import numpy as np

from hopwave.engines.cuda import build, nvrtc
from hopwave.engines.cuda.buffers import allocate
from hopwave.engines.cuda.launch import BLOCK, NULL, WARP, expression, kernels, offset_type, together, truth
from hopwave.engines.cuda.linalg.power import product
from hopwave.engines.cuda.records import record
from hopwave.engines.ledger import declare
from hopwave.errors import EngineError
from hopwave.generate import counter

# ---------------------------------------------------------------- independent sets

SET = "linalg/independent_set.cuh"
PRIORITIES = "independent set"  # as in engines/cpu/linalg/rounds.py
together(SET, "draw", "choose", "leave")
OPEN, WON = 0, 1


def independent_set(A, seed):
    """Whether each vertex is in the set, bool. Every round draws priorities for the remaining candidates."""
    rows, n = A.rows[:2], A.shape[0]
    launch = kernels(offset_type(A.rows.indptr))
    candidates, state = cupy.arange(n, dtype=np.int32), cupy.zeros(n, np.uint8)
    rank = cupy.full(n, -1, np.int64)
    while count := len(candidates):
        # There are no ties: the highest priority wins, so that every round has a winner.
        begin = np.uint64(counter.start(seed, PRIORITIES))
        launch(SET, "draw", count, candidates, np.uint64(count), begin, rank)
        for kernel in ("choose", "leave"):
            launch(SET, kernel, WARP * count, *rows, candidates, np.uint64(count), rank, state)
        candidates = candidates[state[candidates] == OPEN]
        seed += 1
    return state == WON


# ---------------------------------------------------------------- label propagation

LABELS = "linalg/labels.cuh"
together(
    LABELS, "list_long", "look_short", "count_labels", "best_labels", "look_long", "move", "spoil"
)  # fmt: skip
PIECE = 512  # ROW_PIECE in kernels/common/rows.cuh
NO_LABEL = -1
COINS = "labels"  # stream of coins, as in engines/cpu/linalg/rounds.py


class Labels:
    """See planning.jobs.LabelRounds."""

    def __init__(self, A, order):
        self.rows, self.n, self.m = A.rows[:2], A.shape[0], A.nnz
        self.launch = kernels(offset_type(A.rows.indptr))
        self.f, self.rank = cupy.arange(self.n, dtype=np.int32), order.astype(np.int32)
        self.label_at = cupy.empty_like(self.f)
        self.label_at[self.rank] = self.f
        made = declare(np.int32, fill=NO_LABEL, wins=self.n) | declare(np.uint8, fill=1, stale=self.n)
        made |= declare(np.uint64, fill=0, best=self.n) | declare(np.uint64, pieces=self.n + self.m // PIECE)
        made |= declare(np.uint8, moved=self.n) | declare(np.int32, labels=2 * self.m)
        made |= declare(np.uint32, frequencies=2 * self.m)
        for name, array in allocate(made).items():
            setattr(self, name, array)
        self.restless_count = count = cupy.zeros(1, np.uint32)
        self.launch(LABELS, "list_long", self.n, self.rows[0], np.int32(self.n), self.pieces, count)
        self.count = int(count.get()[0])

    def settle(self, seed, most):
        """At most `most` rounds, until no vertex would change its label; returns whether that state was reached."""
        for number in range(most):
            if self.restless() == 0:
                return True
            self.move(seed + number)
        return self.restless() == 0

    def restless(self):
        offsets, n, pieces = self.rows[0], np.int32(self.n), (self.pieces, np.uint64(self.count))
        ranked = self.f, self.rank
        table, work = (self.labels, self.frequencies), WARP * self.count
        self.labels.data.memset_async(0xFF, self.labels.nbytes)
        self.frequencies.data.memset_async(0, self.frequencies.nbytes)
        self.launch(
            LABELS, "look_short", WARP * self.n, *self.rows, n, *ranked, self.label_at, self.stale, self.wins
        )  # fmt: skip
        self.launch(LABELS, "count_labels", work, *self.rows, *pieces, self.f, self.stale, *table)
        self.launch(LABELS, "best_labels", work, offsets, *pieces, n, *ranked, self.stale, *table, self.best)
        self.restless_count.data.memset_async(0, self.restless_count.nbytes)
        found = self.best, self.wins, self.restless_count
        self.launch(LABELS, "look_long", self.n, offsets, n, self.label_at, self.stale, *found)
        return int(self.restless_count.get()[0])

    def move(self, seed):
        """Vertices whose coins are 1 adopt their new labels."""
        begin = np.uint64(counter.start(seed, COINS))
        self.launch(LABELS, "move", self.n, np.int32(self.n), begin, self.wins, self.f, self.moved, self.stale)
        arcs = np.int32(self.n), np.uint64(self.m)
        self.launch(LABELS, "spoil", self.m, *self.rows, *arcs, self.moved, self.stale)


# ---------------------------------------------------------------- core numbers

PEEL = "linalg/peel.cuh"
PEEL_BLOCKS = 2  # blocks per multiprocessor: more would only wait for entries
PEELING = record(PEEL, "Peeling", "u32 arrived least[2] head tail pending")


def core_numbers(A, both):
    """The core number of every vertex, int64 on the GPU. Loops do not count. both: whether in- and out-arcs count."""
    rows, n = A.rows, A.shape[0]
    columns = A.columns if both else None
    entries = (2 if both else 1) * (n + A.nnz // PIECE)
    kernel, fit = nvrtc.cooperative(PEEL, expression(PEEL, "peel", offset_type(rows.indptr)), BLOCK)
    if not fit or entries >= 1 << 32:
        raise EngineError("this GPU cannot peel the graph in one cooperative launch; use device='cpu'")
    arrays = allocate(declare(np.int32, left=n) | declare(np.uint64, list=entries) | declare(np.int64, core=n))
    if not n:
        return arrays["core"]
    at = np.zeros(1, PEELING)
    at["least"] = np.iinfo(np.uint32).max
    at = cupy.asarray(at.view(np.uint8))
    into = (NULL, NULL) if columns is None else columns[:2]
    blocks = min(fit, PEEL_BLOCKS * kernels().attributes["MultiProcessorCount"])
    kernel(
        (blocks,), (BLOCK,),
        (*rows[:2], *into, np.int32(n), np.uint64(entries), arrays["left"], arrays["list"], at, arrays["core"]),
    )  # fmt: skip
    return arrays["core"]


# ---------------------------------------------------------------- triangles

TRIANGLES = "linalg/triangles.cuh"
WARP_SLOTS = 1024  # in the kernels
SHORT_THREADS, LONG_THREADS = 128, 256  # threads per block: one warp per vertex, or one block per vertex
SHORT_BLOCKS, LONG_BLOCKS = 14, 8  # blocks per multiprocessor


def triangles(part):
    return counted(part, each=True)


def count_triangles(part):
    return counted(part, each=False)


def counted(part, each):
    """Triangles of a symmetric pattern, with `each` per vertex; None if a vertex's table exceeds shared memory."""
    offsets, neighbours, _ = part
    n, launch = len(offsets) - 1, kernels(offset_type(offsets))
    found, total = cupy.zeros(n if each else 0, np.int64), cupy.zeros(1, np.uint64)
    ups, longs = cupy.empty(n, np.uint32), cupy.empty(n, np.int32)
    counts = cupy.zeros(4, np.uint32)  # count of long lists, maximum length; next short, next long list
    rows = offsets, neighbours, np.uint64(n)
    launch(TRIANGLES, "count_up", WARP * n, *rows, ups, longs, counts)
    up = build.offsets_of(ups, n, offsets.dtype)
    heads = cupy.empty(len(neighbours) // 2, np.int32)  # every edge except loops is stored twice
    launch(TRIANGLES, "write_up", WARP * n, *rows, up, heads)
    long, most = counts[:2].tolist()
    multiprocessors = launch.attributes["MultiProcessorCount"]
    size, shape = 8 if each else 4, truth(each)  # bytes per slot: a vertex, and how often it was found
    room = 1 << max(1, 2 * most - 1).bit_length()
    if long and size * room > launch.attributes["MaxSharedMemoryPerBlockOptin"]:
        return None
    sums = found, total
    if n:
        blocks = min(-(-n // 16), SHORT_BLOCKS * multiprocessors)
        launch.exactly(
            TRIANGLES, "count_short", shape, (blocks,), SHORT_THREADS,
            (up, heads, np.uint32(n), counts[2:], *sums), size * WARP_SLOTS * (SHORT_THREADS // WARP),
        )  # fmt: skip
    if long:
        launch.exactly(
            TRIANGLES, "count_long", shape, (min(long, LONG_BLOCKS * multiprocessors),), LONG_THREADS,
            (up, heads, longs, np.uint32(long), np.uint32(room), counts[3:], *sums), size * room,
        )  # fmt: skip
    return found if each else int(total.get()[0])


# ---------------------------------------------------------------- Lanczos' steps

LANCZOS = "linalg/power.cuh"
MOST_VECTORS = 20  # LANCZOS_MOST in the kernels: vectors of Q
PASSES = 3
STEPS_AHEAD = 4  # steps without a wait: unneeded steps cost less than waits


def lanczos_steps(A, Q, k):
    """See hopwave.engines.Algebra.lanczos: up to STEPS_AHEAD steps, as Q has room."""
    if A.has_values or len(Q) > MOST_VECTORS + 1:
        return None
    kernel, fit = nvrtc.cooperative(LANCZOS, expression(LANCZOS, "orthogonal", offset_type(A.rows.indptr)), BLOCK)
    if not fit:
        return None
    n = Q.shape[1]
    blocks = min(-(-n // BLOCK), fit)
    ends = range(k, min(k + STEPS_AHEAD, len(Q) - 1))
    sums, arrived = cupy.empty((PASSES, MOST_VECTORS * blocks), np.float64), cupy.zeros(len(ends), np.uint32)
    found = cupy.empty((len(ends), MOST_VECTORS + 1), np.float64)  # per step: Q y, and the length of the remainder
    for step, end in enumerate(ends):
        y = _there_and_back(Q[end], A)
        if y is None:
            return None
        given = Q, np.int64(n), np.int64(end + 1), y, sums, found[step], Q[end + 1], arrived[step:]
        kernel((blocks,), (BLOCK,), given)
    host = found.get()
    return [(row[: end + 1], float(row[MOST_VECTORS])) for end, row in zip(ends, host, strict=True)]


def _there_and_back(x, A):
    """Aᵀ A x, without waiting; None if no such launch exists."""
    if A.rows.indices is A.columns.indices:
        return product(x, A, rounds=2)
    h = product(x, A.T)
    return None if h is None else product(h, A)
