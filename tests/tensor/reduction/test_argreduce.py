"""Positions of extremes equal NumPy's: the first of ties, the first nan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

NAMES = ["argmax", "argmin", "nanargmax", "nanargmin"]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_positions_equal_numpy(name: str, data: st.DataObject) -> None:
    """Positions and refusals are NumPy's over axes, ties, nan and empty chunks."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i1", "f8", "?", "u2")))
    axis = data.draw(st.sampled_from([None, *range(-array.ndim, array.ndim)]))
    keepdims = data.draw(st.booleans())
    lazy = tensor_of(array, chunks)
    with grids(merged=data.draw(st.booleans())):
        try:
            expected = getattr(np, name)(array, axis=axis, keepdims=keepdims)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)[:10]):
                getattr(mt, name)(lazy, axis=axis, keepdims=keepdims).compute()
            return
        assert_same(getattr(mt, name)(lazy, axis=axis, keepdims=keepdims), expected)


def test_ties_across_chunks_in_another_order() -> None:
    """The flat position is the smallest one, even when a later chunk holds it."""
    array = np.zeros((4, 4))
    array[0, 3] = array[1, 0] = 1.0
    assert int(tensor_of(array, ((2, 2), (2, 2))).argmax()) == 3


def test_no_elements_are_refused_at_the_call() -> None:
    """The position of nothing is an error."""
    with pytest.raises(ValueError, match="empty sequence"):
        mt.ones((0, 2)).argmax()
    with pytest.raises(np.exceptions.AxisError):
        mt.ones(2).argmin(axis=1)


def test_out() -> None:
    """``out=`` rebinds a tensor to the result."""
    target = mt.zeros(2, dtype=np.intp)
    assert mt.argmax(mt.eye(2), axis=0, out=target) is target
    assert_same(target, np.array([0, 1]))
