"""Positions, grids of them and joins by brackets, against NumPy."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "unravel": lambda xp, a: xp.unravel_index(a % 12, (3, 4)),
    "unravel order": lambda xp, a: xp.unravel_index(a % 12, (3, 4), "F"),
    "unravel length": lambda xp, a: xp.unravel_index(a % 12, 12),
    "unravel too far": lambda xp, a: xp.unravel_index(a * 0 + 12, (3, 4)),
    "unravel floats": lambda xp, a: xp.unravel_index(a * 1.5, (3, 4)),
    "ravel": lambda xp, a: xp.ravel_multi_index((a % 3, a % 4), (3, 4)),
    "ravel modes": lambda xp, a: xp.ravel_multi_index((a, a * 9), (3, 4), ["wrap", "clip"], "F"),
    "ravel lengths": lambda xp, a: xp.ravel_multi_index((a, a), (3, 4, 5)),
    "tril": lambda xp, a: xp.tril_indices_from(a),
    "triu": lambda xp, a: xp.triu_indices_from(a, 1),
    "tril of a vector": lambda xp, a: xp.tril_indices_from(a[0]),
    "diagonal": lambda xp, a: xp.diag_indices_from(xp.ones((3, 3))),
    "diagonal of a vector": lambda xp, a: xp.diag_indices_from(a[0]),
    "diagonal of a box": lambda xp, a: xp.diag_indices_from(xp.ones((2, 3))),
    "ix_": lambda xp, a: xp.ix_(a[0], [4, 5], []),
    "ix_ of masks": lambda xp, a: xp.ix_(a[0] > 1, [1]),
    "ix_ of a matrix": lambda xp, a: xp.ix_(a),
    "rows": lambda xp, a: xp.r_[a, a * 2.5],
    "columns": lambda xp, a: xp.c_[a[0], a[0]],
    "columns of matrices": lambda xp, a: xp.c_[a, a],
    "rows of numbers": lambda xp, a: xp.r_[a[0], 0, 2.5, 1:3],
    "directive": lambda xp, a: xp.r_["1,2,0", a[0], a[0]],
    "wide directive": lambda xp, a: xp.r_["0,3,1", a, a],
    "axis": lambda xp, a: xp.r_["-1", a, a],
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i4", "i8"), min_dims=2, max_dims=2, min_side=1), merged=st.booleans()
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


@pytest.mark.parametrize(
    "key", [np.s_[0:5], np.s_[:3, 1:9:2], np.s_[-1:1:5j], np.s_[-1:1:5j, 0:2], np.s_[0:2:0.5, :3]]
)
def test_grids(key: Any) -> None:
    """Full and open."""
    assert_like_numpy(lambda xp: xp.mgrid[key])
    assert_like_numpy(lambda xp: xp.ogrid[key])


@pytest.mark.parametrize("args", [(4,), (4, 1), (4, -2, 6), (0,)])
def test_triangles(args: Any) -> None:
    """Positions of ones, under any diagonal."""
    assert_like_numpy(lambda xp: xp.tril_indices(*args))
    assert_like_numpy(lambda xp: xp.triu_indices(*args))
    assert_like_numpy(lambda xp: xp.mask_indices(args[0], xp.triu, 1))
    assert_like_numpy(lambda xp: xp.diag_indices(args[0], 3))


def test_what_brackets_refuse() -> None:
    """Matrices, and slices without an end."""
    with pytest.raises(NotImplementedError, match="matrices"):
        mt.r_["r", mt.ones(2)]
    with pytest.raises(ValueError, match="stop"):
        mt.r_[1:]
    with pytest.raises(ValueError, match="special directives must be the first entry"):
        mt.r_[:3, "wrong"]
    with pytest.raises(ValueError, match="unknown special directive"):
        mt.r_["wrong", [1]]
    assert len(mt.r_) == len(mt.c_) == 0
    assert_same(mt.c_[mt.ones(2), mt.ones(2)], np.ones((2, 2)))


def test_positions_without_axes_and_delayed_lengths() -> None:
    """A position of no axes has no places; lengths that are delayed are refused."""
    assert mt.unravel_index(mt.tensor(np.array(0)), ()) == ()
    for dims in (dask.delayed((2, 2)), [2, dask.delayed(2)]):
        with pytest.raises(NotImplementedError, match="Dask types are not supported"):
            mt.ravel_multi_index((1, 1), dims)
