"""Parts of matrices by place, and of vectors by comparison with another vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwave import LinalgError
from hopwave import linalg as la
from operands import machines


@machines
@pytest.mark.parametrize("values", [True, False])
@given(st.data())
def test_triangles_and_diagonals_are_those_of_numpy(device: str, values: bool, data: Any) -> None:
    rows, columns = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    table = rng.integers(1, 9, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    A = la.Matrix.from_dense(table)
    A = A if values else A.pattern()
    diagonal = data.draw(st.integers(-45, 45))
    i, j = np.indices(table.shape)
    for where, keep in {
        "tril": j - i <= diagonal,
        "triu": j - i >= diagonal,
        "diag": j - i == diagonal,
        "offdiag": j - i != diagonal,
    }.items():
        found = la.select(A, where, diagonal, device=device)
        expected = table * keep
        assert np.array_equal(found.to_dense(), expected if values else expected != 0)
        assert found.has_values == values
        masked = la.select(A, where, diagonal, mask=la.Matrix.from_dense(i == 0), device=device)
        assert np.array_equal(masked.to_dense() != 0, expected * (i == 0) != 0)


@machines
@pytest.mark.parametrize("kind", ["sparse", "dense"])
def test_a_vector_is_compared_place_by_place(device: str, kind: Any) -> None:
    u = la.Vector.from_entries([5, 1, 3, 0], [5.0, 1.0, 3.0, 9.0], n=6)
    v = la.Vector.from_entries([1, 3, 5], [2.0, 3.0, 4.0], n=6)
    u.convert(kind)
    assert la.select(u, la.binary.lt, v, device=device).to_dict() == {1: 1.0}
    assert la.select(u, la.binary.ge, v, device=device).to_dict() == {
        3: 3.0,
        5: 5.0,
    }  # no entry if v has none


def test_places_that_are_not_known() -> None:
    with pytest.raises(LinalgError, match="'corner' is not known; use tril"):
        la.select(la.Matrix.from_dense(np.eye(2)), "corner")
