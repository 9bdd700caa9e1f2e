"""Axes moved, added, dropped and repeated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.sizes import UnknownShapeError
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

MOVES = {
    "transpose": lambda xp, a: xp.transpose(a),
    "transpose with axes": lambda xp, a: xp.transpose(a, tuple(np.roll(range(a.ndim), 1).tolist())),
    "swapaxes": lambda xp, a: xp.swapaxes(a, 0, -1),
    "moveaxis": lambda xp, a: xp.moveaxis(a, 0, -1),
    "rollaxis": lambda xp, a: xp.rollaxis(a, a.ndim - 1),
    "expand_dims": lambda xp, a: xp.expand_dims(a, (0, -1)),
    "squeeze": lambda xp, a: xp.squeeze(a),
    "matrix_transpose": lambda xp, a: xp.matrix_transpose(xp.expand_dims(a, 0)),
    "broadcast_to": lambda xp, a: xp.broadcast_to(a, (2, *a.shape)),
    "broadcast_to ones": lambda xp, a: xp.broadcast_to(xp.expand_dims(a, 0), (3, *a.shape)),
    "T": lambda xp, a: a.T,
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", MOVES)
@given(case=arrays_and_chunks(dtypes=("i8", "c16"), min_dims=1))
def test_moves_are_numpys(name, merged, case):
    """Each function gives NumPy's values, shape and type over any chunks."""
    array, chunks = case
    with grids(merged=merged):
        lazy = MOVES[name](mt, tensor_of(array, chunks))
        assert lazy.shape == MOVES[name](np, array).shape
        assert_same(lazy, MOVES[name](np, array))


@given(data=st.data())
def test_squeeze_names_axes(data):
    """Axes of length one go, others are refused."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8",), min_dims=2))
    x = mt.expand_dims(tensor_of(array, chunks), 1)
    assert_same(mt.squeeze(x, 1), array)
    if array.shape[0] != 1:
        with pytest.raises(ValueError, match="size not equal to one"):
            x.squeeze(0)


BAD = {
    "transpose": lambda x: x.transpose(0, 0),
    "transpose short": lambda x: mt.transpose(x, (0,)),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "moveaxis": lambda x: mt.moveaxis(x, (0, 1), 0),
    "rollaxis": lambda x: mt.rollaxis(x, 0, 5),
    "expand_dims": lambda x: mt.expand_dims(x, 4),
    "broadcast_to": lambda x: mt.broadcast_to(x, (2, 3)),
    "broadcast_to fewer": lambda x: mt.broadcast_to(x, (4,)),
    "matrix_transpose": lambda x: mt.matrix_transpose(x[0]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_axes_are_refused_at_the_call(name):
    """What cannot be is a ValueError (AxisError is one) before anything runs."""
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy's texts are many
        BAD[name](mt.ones((5, 4), chunk_size=2))


def test_unknown_lengths_survive_moves():
    """Axes of unknown length may be moved and repeated around."""
    a = np.arange(12).reshape(6, 2)
    x = mt.array(a, chunk_size=2)
    kept = x[x[:, 0] > 3]
    assert_same(kept.T, a[a[:, 0] > 3].T)
    assert_same(mt.expand_dims(kept, 1), a[a[:, 0] > 3][:, None])


def test_broadcast_arrays():
    """Tensors are broadcast against each other."""
    found = mt.broadcast_arrays(mt.ones((3, 1)), mt.arange(4))
    expected = np.broadcast_arrays(np.ones((3, 1)), np.arange(4))
    for lazy, array in zip(found, expected, strict=True):
        assert_same(lazy, array)


def test_lengths_that_running_tells():
    """An axis that may turn out to be of length one is not called too long."""
    x = mt.arange(10, chunk_size=3)
    with pytest.raises(UnknownShapeError, match="execute"):
        mt.squeeze(x[x > 8], 0)


def test_one_axis_to_transpose():
    """NumPy's integers are axes too."""
    assert_same(mt.transpose(mt.ones(3), np.int64(0)), np.ones(3))
