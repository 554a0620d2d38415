"""A frontier as a stretch of the queue and as a bitmap, each made from the other, and the rule that picks a step."""

import numpy as np

from hopwave.engines.cpu.integers import U0, U1, U6, U63
from hopwave.engines.cpu.intrinsics import INNER, noinline, trailing_zeros
from hopwave.planning import rules
from hopwave.system.numba_cache import njit

_always, _beamer, _one_way, _ratio, _xbfs, _growing, _fewer = (njit(**INNER)(function) for function in rules.FUNCTIONS)


@njit(**INNER)
def choose(code, a, b, n, m, nf, mf, mu, nf0, mf0, last):
    """hopwave.planning.rules, compiled: which step computes the next level."""
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
def merge_words(words, more):
    for w in range(np.uint64(words.size)):
        words[w] |= more[w]


@njit(**INNER)
def mark_frontier(visited, front, queue, marked, begin, end):
    """Bitmaps of what is visited and of the frontier queue[begin:end]; queue[:marked] is in the former already."""
    noinline()
    front[:] = U0
    set_bits(front, queue, begin, end)
    set_bits(visited, queue, marked, begin)
    merge_words(visited, front)
