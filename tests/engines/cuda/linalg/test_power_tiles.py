"""How the GPU's power iterations deal rows to warps, tested without a GPU: every row and entry exactly once."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("cupy")

from hopwave.engines.cuda.linalg import power


@pytest.mark.parametrize("rows", [[0, 3, 5, 6, 40, 40, 41, 100], [0, 0, 0, 0, 0, 0, 0, 33], [0, 1, 1, 1, 1, 1, 1, 1]])
def test_every_row_is_in_one_tile(rows: list[int]) -> None:
    tiles, seen = power.tiles_of(rows, 11), np.zeros(rows[-1], int)
    assert tiles[0] == 11
    for kind in range(1, power.KINDS):
        per_tile = 1 << (kind - 1)  # as all_tiles() in kernels/linalg/power.cuh counts
        for tile in range(tiles[kind - 1], tiles[kind]):
            first = rows[kind] + (tile - tiles[kind - 1]) * per_tile
            assert first < rows[kind + 1]
            seen[first : min(first + per_tile, rows[kind + 1])] += 1
    assert (seen[: rows[1]] == 0).all() and (seen[rows[1] :] == 1).all()


def test_every_entry_of_a_cut_row_is_in_one_piece() -> None:
    lengths = np.array([5000, 1025, 1024, 513])
    row, first = power.pieces_of(lengths, 512)
    assert row.dtype == first.dtype == np.int32
    for i, length in enumerate(lengths):
        pieces = np.flatnonzero(row == i)
        assert pieces.tolist() == list(range(first[i], first[i + 1]))
        assert (len(pieces) - 1) * 512 < length <= len(pieces) * 512
