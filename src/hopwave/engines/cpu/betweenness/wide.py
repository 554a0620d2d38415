"""Betweenness with several threads on one source: for fewer sources than threads, and for huge graphs.

Path counts σ̂ of even levels are in one row of `sigma`, those of odd levels in the other; all other entries are 0. A
vertex that sums the counts of all in-neighbours in the other row therefore sums only its predecessors' counts. In the
backward pass, a negative share replaces σ̂, and the sign identifies successors. No thread writes data that others read.

Every sum is in the order of its adjacency list: bitwise identical to one source per thread (policy.adds_along_rows).
"""

from collections import namedtuple
from dataclasses import replace

import numpy as np

from hopwave.engines.cpu import crew, policy, team
from hopwave.engines.cpu.betweenness import wide_levels
from hopwave.engines.cpu.betweenness.run import Accumulation
from hopwave.engines.cpu.betweenness.state import ALL_ALIKE, ARCS, BEGINS, SHIFT, demand_of, hop_limit
from hopwave.engines.cpu.betweenness.wide_levels import WideState, wide_arrays
from hopwave.engines.cpu.crew import new_board, thread_count
from hopwave.engines.cpu.integers import U1, U6, U63
from hopwave.engines.cpu.intrinsics import inner, noinline, outer
from hopwave.engines.cpu.path_counts import LARGEST, rescale_level
from hopwave.engines.cpu.policy import LARGE_SHARE, PULL_ALWAYS, PULL_BY_RULE, PULL_WIDE
from hopwave.engines.cpu.search.loop import pull_chunk, push_chunk, region_chunk
from hopwave.engines.cpu.search.state import BUFFER, choose
from hopwave.engines.cpu.search.steps import mark_up
from hopwave.engines.cpu.team import led, regions
from hopwave.engines.cpu.views import allocate
from hopwave.engines.cpu.workers import FINISHED, new_control, run_workers, workers_within
from hopwave.engines.ledger import total

# pulls: see policy.pulls_of; bucket_bits: arcs are sorted into buckets of 2^bucket_bits vertices.
Limits = namedtuple("Limits", "cutoff threads endpoints degree_bits findable pulls bucket_bits")

# Cells of `done`: number of sources in the total, and the outcome of the last one.
DONE, OUTCOME = range(2)
ADDED, TOO_WIDE = np.int64(0), np.int64(1)

INIT, OUT, MARK, PULL, BACK, SORT, ADD_SORTED = (np.int64(kind) for kind in range(7))
ZERO, ONE_EACH = np.int64(0), np.int64(1)
WORDS_COLLECTED = np.int64(BUFFER // 64)  # maximum words, so that a worker's buffer can store their vertices


@inner
def work(A, W, board, me):
    noinline()
    kind, level, flags = board[crew.JOB_KIND], board[crew.JOB_DEPTH], board[crew.JOB_FLAGS]
    if kind == OUT:
        wide_levels.count_and_push(A, W, board, me, level, flags)
    elif kind == PULL:
        wide_levels.pull_counting(A, W, board, me, level)
    elif kind == BACK:
        wide_levels.finish_level(A, W, board, me, level, flags)
    elif kind == SORT:
        wide_levels.sort_arcs(A, W, board, me, level, flags & wide_levels.FLAGS, flags >> wide_levels.FLAG_BITS)
    elif kind == ADD_SORTED:
        wide_levels.add_sorted(A, W, board, me, level, flags & wide_levels.FLAGS, flags >> wide_levels.FLAG_BITS)
    else:
        region = me
        while True:
            begin, stop, region = crew.next_of_regions(board, region)
            if region < 0:
                return
            if kind == MARK:
                mark_up(W.parent, W.visited, W.visited, A.closed, begin, stop)
            else:
                last = min(np.uint64(stop) << U6, np.uint64(W.parent.size))
                wide_levels.forget(W.parent, W.sigma, A.unvisited, np.uint64(begin) << U6, last)


divided = regions(work)  # a job over words or buckets


@inner
def by_level(A, W, board, kind, level, flags, arcs, threads):
    """Post a job over a level, work on it, and wait. A large level is found among all words, others in the queue."""
    noinline()
    begin, end, n = W.levels[level, BEGINS], W.levels[level + 1, BEGINS], W.parent.size
    pushes = kind == OUT and flags & wide_levels.PUSHES != 0
    if (end - begin) * LARGE_SHARE >= n and not pushes:
        words = np.int64(W.visited.size)
        size = min(WORDS_COLLECTED, region_chunk(words, threads))
        divided(A, W, board, kind, words, size, level, flags | wide_levels.BY_WORDS, ZERO, threads)
        return
    size = push_chunk(end - begin, arcs, threads)
    if end - begin <= size:  # too small to share
        crew.describe_job(board, kind, begin, end, size, level, flags, ZERO)
        work(A, W, board, ZERO)
        return
    crew.open_job(board, kind, begin, end, size, level, flags, ZERO)
    work(A, W, board, ZERO)
    crew.close_job(board)


@inner
def by_sorted_arcs(A, W, board, from_level, level, flags, limits):
    """Carry values to an adjacent level along sorted arcs. False if sorting is slower or the space is insufficient."""
    noinline()
    levels, buckets, threads = W.levels, np.int64(W.runs.shape[0]), limits.threads
    arcs, fewer = levels[level, ARCS], levels[from_level, ARCS]
    if fewer > W.getters.size or 10 * fewer + W.parent.size >= 2 * arcs:  # sorting takes 10 ns per arc, gathering 2 ns
        return False
    flags |= limits.bucket_bits << wide_levels.FLAG_BITS
    board[crew.TAIL] = 0
    divided(A, W, board, SORT, buckets, ONE_EACH, from_level, flags, ZERO, threads)
    if board[crew.FOUND]:
        return False
    divided(A, W, board, ADD_SORTED, buckets, ONE_EACH, level, flags, ZERO, threads)
    return True


@inner
def settle(W, level, bound, bits):
    """Scale a counted level down if its successors might overflow. Returns a bound on exponents; -1: too wide."""
    if bound + 2 * bits <= LARGEST:
        return bound + bits
    begin, end = W.levels[level, BEGINS], W.levels[level + 1, BEGINS]
    bound, shift = rescale_level(W.sigma[level % 2], W.queue, begin, end, bits)
    W.levels[level, SHIFT] = shift
    return bound if shift >= 0 else np.int64(-1)


@inner
def way_out(A, W, board, source, limits, rule):
    """Find levels, and count paths up to level `counted`. Returns the number of levels; 0 if one exceeds float64."""
    noinline()
    queue, levels, sums = W.queue, W.levels, W.sums
    n, words, threads, bits = W.parent.size, np.int64(W.visited.size), limits.threads, limits.degree_bits
    m = np.int64(A.indptr[n])
    divided(A, W, board, INIT, words, region_chunk(words, threads), ZERO, ZERO, ZERO, threads)
    sums[:, :] = 0.0
    nf, mf = np.int64(1), -np.int64(W.parent[source]) - 1
    W.parent[source], W.sigma[0, source], queue[0] = 0, 1.0, np.uint32(source)
    v = np.uint64(source)
    levels[0, BEGINS], levels[1, BEGINS] = 0, 1
    levels[0, SHIFT], levels[0, ARCS] = 0, mf
    mu, nf0, mf0, last, bound, marked, counted = m - mf, ZERO, ZERO, np.int64(-1), ZERO, ZERO, ZERO
    findable = limits.findable + np.int64((A.closed[v >> U6] >> (v & U63)) & U1)
    count = np.int64(1)  # number of levels
    while count <= limits.cutoff and levels[count, BEGINS] < findable:
        level, end = count - 1, levels[count, BEGINS]
        if counted < level and by_sorted_arcs(A, W, board, level - 1, level, wide_levels.OUTWARDS, limits):
            counted, bound = level, settle(W, level, bound, bits)
        choice, is_new = np.int64(limits.pulls == PULL_ALWAYS), counted < level
        if limits.pulls == PULL_BY_RULE:
            choice = choose(np.int64(rule[0]), rule[1], rule[2], n, m, nf, mf, mu, nf0, mf0, last)
            choice = np.int64(choice != 0 or mf * PULL_WIDE > mu)  # vertices that a push finds must still be counted
        if choice:
            if is_new:
                by_level(A, W, board, OUT, level, wide_levels.COUNTS, mf, threads)
                counted, bound = level, settle(W, level, bound, bits)
            size = pull_chunk(words, threads)
            if marked != end:
                divided(A, W, board, MARK, words, size, ZERO, ZERO, ZERO, threads)
            board[crew.TAIL] = end
            divided(A, W, board, PULL, words, size, count, ZERO, ZERO, threads)
        else:
            board[crew.TAIL] = end
            flags = wide_levels.PUSHES | wide_levels.COUNTS if is_new else wide_levels.PUSHES
            by_level(A, W, board, OUT, level, flags, mf, threads)
            if is_new:
                counted, bound = level, settle(W, level, bound, bits)
        tail, edges = board[crew.TAIL], board[crew.EDGES]
        nf0, mf0, last, nf, mf = nf, mf, choice, tail - end, edges
        if bound < 0:
            return ZERO
        if nf == 0:
            return count
        levels[count, SHIFT], levels[count, ARCS] = 0, mf
        levels[count + 1, BEGINS] = tail
        if choice:
            marked, counted, bound = tail, count, settle(W, count, bound, bits)
            if bound < 0:
                return ZERO
        mu -= mf
        count += 1
    level = count - 1
    if counted < level:
        if not by_sorted_arcs(A, W, board, level - 1, level, wide_levels.OUTWARDS, limits):
            by_level(A, W, board, OUT, level, wide_levels.COUNTS, mf, threads)
        if settle(W, level, bound, bits) < 0:
            return ZERO
    return count


@inner
def way_back(A, W, board, count, limits):
    noinline()
    for level in range(count - 1, 0, -1):
        level_, flags = np.int64(level), wide_levels.WITH_ENDPOINTS * limits.endpoints
        if level < count - 1:
            flags |= wide_levels.HAS_SUCCESSORS
            if by_sorted_arcs(A, W, board, level_ + 1, level_, flags, limits):
                continue
        by_level(A, W, board, BACK, level_, flags, W.levels[level, ARCS], limits.threads)


@outer
def commit(total, row, done):
    for v in range(total.size):
        total[v] += row[v]
    done[DONE] += 1


@inner
def lead(A, W, board, source, limits, rule, certificate, done):
    """The leader's part: forward from the source, backward, and both sides of the certificate."""
    noinline()
    count = way_out(A, W, board, source, limits, rule)
    done[OUTCOME] = TOO_WIDE
    if count == 0:
        return
    way_back(A, W, board, count, limits)
    counted = 0.0
    for i in range(W.sums.shape[0]):
        certificate[0] += W.sums[i, wide_levels.FOUND_SUM]
        certificate[1] += W.sums[i, wide_levels.DUE]
        counted += W.sums[i, wide_levels.COUNTED]
    if limits.endpoints:
        W.total[source] += counted  # the source is an endpoint of every path
    done[OUTCOME] = ADDED
    done[DONE] += 1


part_of = led(lead, work)


@outer
def take_part(A, W, board, source, limits, rule, certificate, done, team, helpers, me):
    """One thread's part: number 0 leads, others help with one source after another."""
    part_of(A, W, board, (source, limits, rule, certificate, done), team, helpers, me)


# ------------------------------------------------------------------ runs

Shared = namedtuple("Shared", "control")  # see workers.run_workers


class WideAccumulation:
    """Like Accumulation; every block is one source."""

    def __init__(self, loaded, job, plan, threads):
        n = loaded.n
        self.loaded, self.job, self.plan = loaded, job, plan
        self.blocks, self.size, self.extended = len(job.sources), 1, 0
        threads = thread_count(threads)
        worth = n // policy.VERTICES_PER_THREAD + loaded.m // policy.ARCS_PER_WIDE_THREAD
        # Levels of meshes are small.
        together = plan.regime == "wide" or job.memory_limit is not None or not loaded.flat
        self.teams = 1 if together else max(1, min(self.blocks, threads // policy.TEAM_OF_MESH))
        self.workers = max(1, min(threads // self.teams, worth, policy.MAX_TEAM + 1))
        arrays = self._arrays()
        workers_within(job.memory_limit, 1, total(arrays) - arrays["levels"].nbytes + 8 * n)  # or raises an error
        self.total = np.zeros(n) if job.memory_limit is not None else loaded.sums()
        self.certificate = np.zeros((self.blocks, 2))
        self._done = np.zeros(2, np.int64)  # counted by compiled code, so that it agrees with the total after Ctrl-C
        self._limits = Limits(
            cutoff=hop_limit(job.cutoff),
            threads=self.workers,
            endpoints=int(job.endpoints),
            degree_bits=loaded.degree_bits,
            findable=int(loaded.findable),
            pulls=policy.pulls_of(plan, loaded),
            bucket_bits=policy.bucket_bits(n),
        )
        self._rule = np.array([plan.rule.code, *plan.rule.parameters()])
        self._targets, self._origins = demand_of(job)
        self._states = []

    done = property(lambda self: int(self._done[DONE]))

    def advance(self, first, poll):
        self._done[DONE] = first
        if first < self.blocks and not self._states:
            self._states = self.loaded.spare(self._kind) or [
                WideState(targets=ALL_ALIKE, **allocate(self._arrays())) for _ in range(self.teams)
            ]
        while self.done < self.blocks:
            number = self.done
            if number > first and poll(number):  # at least one source: a caller that always pauses makes progress
                return number
            if self.teams == 1:
                self._add(number)
            else:
                self._add_at_once(number, poll)
        if self._states and self.job.memory_limit is None:
            states, self._states = self._states, []
            self.loaded.leave(self._kind, states, len(states) * sum(array.nbytes for array in states[0]))
        return self.blocks

    def _add(self, number):
        state = self._states[0]._replace(total=self.total)
        if not self._work_on(number, state, self._done):
            self._add_by_one(number)

    def _add_at_once(self, number, poll):
        """Add as many sources as there are teams, one team per source; their sums are added to the total in order."""
        numbers = range(number, min(number + self.teams, self.blocks))
        states = self._states
        counted, control = [False] * len(numbers), new_control()
        control[FINISHED] = number

        def lead(A, i, shared):
            states[i].total.fill(0.0)
            counted[i] = self._work_on(numbers[i], states[i], np.zeros(2, np.int64))

        run_workers(lead, None, range(len(numbers)), Shared(control), poll)
        for i, one in enumerate(numbers):
            if counted[i]:
                commit(self.total, states[i].total, self._done)
            else:
                self._add_by_one(one)

    def _work_on(self, number, state, done):
        """One team's source, in compiled code. Returns whether its path counts are small enough for this method."""
        A = self.loaded.adjacency("any")
        source = np.int64(self.job.sources[number])
        demand = self._origins[number] if self._origins.size else 1.0
        targets = self._targets if self._targets.size or demand == 1.0 else np.ones(self.loaded.n)
        state = state._replace(targets=targets if demand == 1.0 else demand * targets)
        part = A, state, new_board(), source, self._limits, self._rule, self.certificate[number], done
        team.lead(self.workers - 1, take_part, part, (A.indptr.itemsize, A.in_indptr.itemsize))
        return done[OUTCOME] != TOO_WIDE

    def _add_by_one(self, number):
        """Process a source with too large path counts on one worker, which can scale them."""
        one = replace(self.job, sources=self.job.sources[number : number + 1])
        run = Accumulation(self.loaded, one, self.plan, 1)
        run.advance(0, lambda done: False)
        self.certificate[number] = run.certificate[0]
        self.extended += run.extended
        self.total, self._done = self.total + run.total, np.array([number + 1, 0])

    @property
    def _kind(self):
        return "wide", self.teams, self.workers

    def _arrays(self):
        limited = self.job.memory_limit is not None
        return wide_arrays(self.loaded.n, self.loaded.m, self.teams, self.workers, limited)
