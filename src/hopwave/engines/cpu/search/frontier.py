"""A frontier as a stretch of the queue and as a bitmap, each made from the other, and the rule that picks a step."""

from __future__ import annotations

import numpy as np

from hopwave import rules
from hopwave.engines.cpu.intrinsics import INLINED, INNER, U0, U1, U6, U63, noinline, trailing_zeros
from hopwave.engines.cpu.search.state import (
    DEPTH,
    EARLY,
    FIRST,
    FLAGS,
    HAS_BITMAP,
    HAS_QUEUE,
    HAS_VISITED,
    MARKED,
    QUEUE_BEGIN,
    QUEUE_END,
    SEGMENTS,
    WHICH,
)
from hopwave.engines.cpu.search.steps import KEEPS_OPEN
from hopwave.machine_code import njit

ZERO = np.int64(0)

_always, _beamer, _one_way, _ratio, _xbfs, _growing, _fewer = (njit(**INNER)(function) for function in rules.FUNCTIONS)


@njit(**INNER)
def choose(code, a, b, n, m, nf, mf, mu, nf0, mf0, last):
    """hopwave.rules, compiled."""
    if code == 1:
        return _beamer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 2:
        return _one_way(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 3:
        return _ratio(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 4:
        return _xbfs(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 5:
        return _growing(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    if code == 6:
        return _fewer(a, b, n, m, nf, mf, mu, nf0, mf0, last)
    return _always(a, b, n, m, nf, mf, mu, nf0, mf0, last)


@njit(**INNER)
def copy_words(words, pattern):
    for w in range(words.size):
        words[w] = pattern[w]


@njit(**INNER)
def clear_words(words):
    for w in range(words.size):
        words[w] = U0


@njit(**INNER)
def set_bits(words, queue, begin, end):
    noinline()
    for i in range(np.uint64(begin), np.uint64(end)):
        v = np.uint64(queue[i])
        words[v >> U6] |= U1 << (v & U63)


@njit(**INNER)
def append_bits(words, queue, tail):
    """The vertices of a bitmap, ascending, at the end of the queue. Returns the new end."""
    noinline()
    place = np.uint64(tail)
    for w in range(np.uint64(words.size)):
        x = words[w]
        base = w << U6
        while x != U0:
            queue[place] = np.uint32(base + trailing_zeros(x))
            place += U1
            x &= x - U1
    return np.int64(place)


@njit(**INNER)
def clear_bits(words, queue, end):
    """Take queue[:end] out of a bitmap."""
    noinline()
    for i in range(np.uint64(end)):
        v = np.uint64(queue[i])
        words[v >> U6] &= ~(U1 << (v & U63))


@njit(**INLINED)
def add_segment(W, here, begin, depth, shift):
    W.segments[here[SEGMENTS], 0] = begin
    W.segments[here[SEGMENTS], 1] = depth
    W.segments[here[SEGMENTS], 2] = shift
    here[SEGMENTS] += 1


@njit(**INLINED)
def make_queue(W, here):
    """The frontier as a stretch of the queue; behind it the vertices found early, and FIRST behind these."""
    if not here[HAS_QUEUE]:
        here[QUEUE_BEGIN] = here[QUEUE_END]
        here[QUEUE_END] = append_bits(W.bitmaps[here[WHICH]], W.queue, here[QUEUE_END])
        here[MARKED] = here[QUEUE_END]
        add_segment(W, here, here[QUEUE_BEGIN], here[DEPTH], ZERO)
    here[FIRST] = here[QUEUE_END]
    if here[EARLY]:
        here[FIRST] = append_bits(W.bitmaps[2 + here[WHICH]], W.queue, here[QUEUE_END])


@njit(**INLINED)
def make_bitmap(A, W, here):
    """The frontier as a bitmap, and the visited vertices up to date."""
    if not here[HAS_VISITED]:
        # Vertices without in-arcs are never found, so they count as visited, unless visited is what is looked for.
        copy_words(W.visited, A.padding if here[FLAGS] & KEEPS_OPEN else A.closed)
        here[HAS_VISITED] = 1
        here[MARKED] = 0
    if not here[HAS_BITMAP]:
        visited, front = W.visited, W.bitmaps[here[WHICH]]
        clear_words(front)
        set_bits(front, W.queue, here[QUEUE_BEGIN], here[QUEUE_END])
        set_bits(visited, W.queue, here[MARKED], here[QUEUE_BEGIN])
        for w in range(front.size):
            visited[w] |= front[w]
    here[MARKED] = here[QUEUE_END]
