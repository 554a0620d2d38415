"""Counter-based random numbers: the i-th number of a stream depends only on (seed, stream, i).

Any thread or rank can therefore draw any block of a random graph. The hash is SplitMix64 (Steele, Lea, Flood, OOPSLA
2014): a Weyl sequence followed by a 64-bit finaliser. The name of the stream determines where the sequence starts.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hopwave.graph.csr import LARGEST_VERTEX_COUNT
from hopwave.system.threads import each, host_cores

Words = npt.NDArray[np.uint64]

WEYL = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = (1 << 64) - 1

BLOCK = 1 << 18  # numbers per NumPy call; large enough that threads rarely wait for the interpreter lock


def _mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * FIRST) & _MASK
    z = ((z ^ (z >> 27)) * SECOND) & _MASK
    return z ^ (z >> 31)


@lru_cache(maxsize=256)
def start(seed: int, stream: str) -> int:
    """The initial state of a stream's sequence."""
    state = _mix((seed + WEYL) & _MASK)
    for letter in stream.encode():
        state = _mix((state + letter * WEYL + 1) & _MASK)
    return state


def bits(seed: int, stream: str, first: int, count: int, stride: int = 1) -> Words:
    """64 random bits for each of `count` counters: first, first + stride, first + 2 · stride, ..."""
    z = np.arange(count, dtype=np.uint64)
    z *= np.uint64((stride * WEYL) & _MASK)
    z += np.uint64((start(seed, stream) + (first + 1) * WEYL) & _MASK)
    return _finish(z)


def mixed(counters: Words, seed: int, stream: str) -> Words:
    """64 random bits for each of the counters, which may be in any order."""
    z = counters * np.uint64(WEYL)
    z += np.uint64((start(seed, stream) + WEYL) & _MASK)
    return _finish(z)


def priorities(ids: npt.NDArray[Any], seed: int, stream: str) -> npt.NDArray[np.int64]:
    """A unique nonnegative random number for each id below 2³¹: 32 random bits, then the id."""
    drawn = mixed(ids.astype(np.uint64), seed, stream) >> np.uint64(32)
    return (drawn << np.uint64(31)).astype(np.int64) | ids.astype(np.int64)


def sequence(start: int, number: int, count: int) -> npt.NDArray[np.float64]:
    """The first `count` uniform numbers in [0, 1) of the sequence of item `number`; `start` is that of a stream."""
    key = _mix((start + (number + 1) * WEYL) & _MASK)
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(WEYL) + np.uint64(key)
    return (_finish(z) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _finish(z: Words) -> Words:
    """SplitMix64's finaliser, in place."""
    shifted = z >> np.uint64(30)
    z ^= shifted
    z *= np.uint64(FIRST)
    np.right_shift(z, np.uint64(27), out=shifted)
    z ^= shifted
    z *= np.uint64(SECOND)
    np.right_shift(z, np.uint64(31), out=shifted)
    z ^= shifted
    return z


def fractions(seed: int, stream: str, first: int, count: int) -> npt.NDArray[np.float64]:
    """Uniform numbers in [0, 1), multiples of 2^-53."""
    return (bits(seed, stream, first, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def integers(
    seed: int, stream: str, first: int, count: int, below: int | npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Uniform integers in [0, below). `below` may be an array with one bound per number."""
    bound = np.asarray(below, dtype=np.int64)
    drawn: npt.NDArray[np.int64] = (fractions(seed, stream, first, count) * bound).astype(np.int64)
    np.minimum(drawn, bound - 1, out=drawn)  # a fraction of 53 bits times the bound may round up to the bound
    return drawn


def scramble(ids: npt.NDArray[Any], n: int, seed: int) -> npt.NDArray[Any]:
    """A pseudo-random permutation of 0 ... n - 1, applied to `ids`, without a table.

    Multiplying by an odd number, adding, and folding high bits onto low bits are bijections of b-bit words. A result
    of at least n is permuted again until it is below n (cycle walking).
    """
    width = max(n - 1, 1).bit_length()
    words = _scramble_words(ids.astype(np.uint32 if width <= 32 else np.uint64), width, seed)
    if n < 1 << width:
        outside = np.flatnonzero(words >= n)
        while outside.size:
            words[outside] = _scramble_words(words[outside], width, seed)
            outside = outside[words[outside] >= n]
    return words


def _scramble_words(words: npt.NDArray[Any], width: int, seed: int) -> npt.NDArray[Any]:
    number = words.dtype.type
    mask = number((1 << width) - 1)
    folded = np.empty_like(words)
    for multiply, add in scrambling(width, seed):
        words *= number(multiply)
        words += number(add)
        words &= mask
        np.right_shift(words, number((width + 1) // 2), out=folded)
        words ^= folded
    return words


def scrambling(width: int, seed: int) -> list[tuple[int, int]]:
    """(multiplier, summand) of each of the four rounds of `scramble`."""
    mask = (1 << width) - 1
    return [((start(seed, f"multiply {turn}") | 1) & mask, start(seed, f"add {turn}") & mask) for turn in range(4)]


def edges(n: int, count: int, draw: Callable[[int, int], tuple[Any, Any]]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Both endpoints of `count` edges, int32 if n fits; all cores call draw(begin, end), which returns one block."""
    src, dst = np.empty((2, count), np.int32 if n <= LARGEST_VERTEX_COUNT else np.int64)

    def fill(begin: int) -> None:
        block = slice(begin, min(begin + BLOCK, count))
        src[block], dst[block] = draw(block.start, block.stop)

    blocks = range(0, count, BLOCK)
    each(min(len(blocks), host_cores()), blocks, fill)
    return src, dst
