"""Assignment to parts equals NumPy's, and leaves earlier expressions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, chunkings, grids, tensor_of
from tests.tensor.keys import keys, lazy_key


@st.composite
def cases(draw: Any) -> tuple[Any, ...]:
    """Return an array, its chunks, a key and a value that fits."""
    array, chunks = draw(arrays_and_chunks(dtypes=("i8", "f8"), min_side=1, nan=False))
    key = draw(keys(array.shape))
    shape = list(array[key].shape)
    shape = [1 if draw(st.integers(0, 3)) == 0 else n for n in shape]
    shape = shape[draw(st.integers(0, len(shape))) :]
    value = np.arange(np.prod(shape, dtype=int)).reshape(shape) + 100
    return array, chunks, key, value


@pytest.mark.parametrize("merged", [True, False])
@given(case=cases(), data=st.data())
def test_assignment_is_numpys(merged, case, data):
    """Any key, any value that broadcasts, either of them in memory or computed."""
    array, chunks, key, value = case
    expected = array.copy()
    expected[key] = value
    x = tensor_of(array, chunks)
    before = x + 0
    with grids(merged=merged):
        lazy = data.draw(st.booleans())
        new = tensor_of(value, data.draw(chunkings(value.shape))) if lazy else value
        x[lazy_key(key, 2) if data.draw(st.booleans()) else key] = new
        assert np.array_equal(x.compute(), expected)
        assert np.array_equal(before.compute(), array)


@given(data=st.data())
def test_masks_of_all_axes(data):
    """One value for all, or one for each place where the mask holds."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8",), min_dims=1))
    for value in (7, np.arange(np.count_nonzero(array > 0)) + 50):
        expected = array.copy()
        expected[array > 0] = value
        x = tensor_of(array, chunks)
        x[x > 0] = value
        assert np.array_equal(x.compute(), expected)


def test_values_take_the_arrays_type():
    """As in NumPy a float assigned to integers is cut."""
    x = mt.arange(4, chunk_size=3)
    x[1] = 7.9
    assert x.dtype == np.arange(1).dtype
    assert x.compute().tolist() == [0, 7, 2, 3]


def test_the_last_of_equal_positions_wins():
    """Values are assigned in their order."""
    x = mt.zeros(6, chunk_size=4)
    x[[1, 5, 1]] = [1.0, 2.0, 3.0]
    assert x.compute().tolist() == [0, 3, 0, 0, 0, 2]


def test_executed_arrays_are_not_written_to():
    """Assigning to a computed array leaves its chunks, which others may hold."""
    x = mt.ones(6, chunk_size=3).execute()
    y = x + 1
    x[2:] = 0
    assert y.compute().tolist() == [2] * 6
    assert x.compute().tolist() == [1, 1, 0, 0, 0, 0]


def test_unknown_lengths():
    """Parts of a filtered array may be assigned to."""
    a = np.arange(20)
    for key in (slice(2, 5), slice(-3, None), 4, slice(None), [0, -1]):
        x = mt.arange(20, chunk_size=6)
        x = x[x % 2 == 1]
        expected = a[a % 2 == 1].copy()
        x[key] = expected[key] = -1
        assert np.array_equal(x.compute(), expected)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        (0, [1, 2, 3], ValueError),
        (slice(2), np.ones((5, 4)), ValueError),
        (9, 0, IndexError),
        (np.ones(5, bool), np.ones((4, 4)), ValueError),
        ([0, 1], np.ones((3, 4)), ValueError),
        (np.ones(4, bool), 1, IndexError),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_at_the_call(key, value, error):
    """Values of other shapes and keys out of bounds raise before anything runs."""
    x = mt.ones((5, 4), chunk_size=2)
    with pytest.raises(error):
        x[key] = value
    assert x.sum().compute() == 20


def test_a_mask_that_turns_out_to_hold_more_or_less_often():
    """The number of values is compared when it runs."""
    x = mt.arange(6, chunk_size=2)
    x[x > 3] = [1, 2, 3]
    with pytest.raises(ValueError, match="cannot assign 3 input values to the 2 output values"):
        x.compute()
