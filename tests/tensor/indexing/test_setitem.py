"""Assignment to parts equals NumPy's, and leaves earlier expressions alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, chunkings, grids, tensor_of
from tests.tensor.keys import assignments, lazy_key


@pytest.mark.parametrize("merged", [True, False])
@given(case=assignments(), data=st.data())
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


@pytest.mark.parametrize("key", [1, slice(1, 3), [0, 2], np.array([True, False, True, False])])
@pytest.mark.parametrize("dtype", ["i1", "f8", "?", "U3", "O", "M8[s]"])
def test_scalars_are_held_as_numpy_holds_them(dtype, key):
    """Texts, None, large integers and objects among them; what cannot be held is refused."""
    for value in (2, 1.5, "ab", "12", None, 2**70, 1j, True, b"x", -300):
        array = np.arange(4).astype(dtype)
        lazy = mt.tensor(array.copy(), chunk_size=3)
        try:
            array[key] = value
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                lazy[key] = value
        else:
            lazy[key] = value
            np.testing.assert_array_equal(lazy.compute(), array, strict=True)


def test_no_integer_is_made_of_nan():
    """NumPy says so for one element, and stores nonsense with a warning for several."""
    x = mt.zeros(4, dtype=int, chunk_size=2)
    for key in (1, [0, 2]):
        with pytest.raises(ValueError, match="NaN"):
            x[key] = np.nan


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


ARRAYS: dict[str, Any] = {
    "apart": lambda m: ([0, 2], slice(None), [1, 0]),
    "beside": lambda m: (slice(None), [[0], [1]], [1, 0]),
    "element": lambda m: (1, slice(1, None), [1, 0, 1]),
    "new": lambda m: (None, [0, 2], ..., [1, 0]),
    "ellipsis": lambda m: (None, [0, 2], slice(1), ..., [1, 0]),
    "mask and positions": lambda m: (m, [0], slice(None, None, -1)),
    "mask and slice": lambda m: (m, slice(1, None)),
    "mask and element": lambda m: (m, 0, 1),
    "masks": lambda m: (m, slice(None), m[1:]),
    "element and mask": lambda m: (1, m),
    "mask and one": lambda m: (m, slice(None), m[:2]),
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", ARRAYS)
def test_several_arrays(name, merged):
    """Arrays on several axes, with values for each place or one for all."""
    array = np.arange(18).reshape(3, 3, 2)
    mask = np.array([True, False, True])
    key = ARRAYS[name](mask)
    places = array[key]
    for value in (-1, 50 + np.arange(places.size).reshape(places.shape), 70 + places[..., :1]):
        expected = array.copy()
        expected[key] = value
        for own in (key, ARRAYS[name](mt.array(mask, chunk_size=2) | False)):
            x = mt.array(array, chunk_size=2)
            np.testing.assert_array_equal(x[own].compute(), places)
            with grids(merged=merged):
                x[own] = value
                assert np.array_equal(x.compute(), expected)


def test_values_of_unknown_length():
    """They fit or not when it runs: none is cut to fit."""
    a = np.arange(10)
    x = mt.arange(10, chunk_size=3)
    big, part = x[x > 4], x[x > 7]
    for key in (slice(0, 2), [1, 0], slice(None, -3, -1)):
        y = x + 0
        y[key] = part
        expected = a.copy()
        expected[key] = [8, 9]
        with grids(merged=False):
            assert np.array_equal(y.compute(), expected)
    wholes: list[Any] = [slice(None), slice(0, 3), [0, 1, 2], mt.array(a > 3) | False]
    for key in wholes:
        y = x + 0
        y[key] = big
        with pytest.raises(ValueError, match=r"could not broadcast|cannot assign"):
            y.compute()
    y, twice = mt.stack([big, big], 1), mt.stack([part, part], 1)
    y[:, mt.array([True, False]) | False] = twice[:, :1]
    with pytest.raises(ValueError, match="length 2 into the 5"):
        y.compute()
    big[[0]] = 1  # so that its length is known by the time that the mask is looked at
    short = mt.array([True, False, True]) | False
    with pytest.raises(IndexError, match="boolean index did not match"):
        big[short].compute()
    big[short] = [1, 2]
    with pytest.raises(IndexError, match="boolean index did not match"):
        big.compute()


def test_values_may_change_afterwards():
    """An array in memory is read at the call."""
    value = np.ones(3)
    x = mt.zeros(3, chunk_size=2)
    x[:] = value
    value[:] = 7
    assert x.compute().tolist() == [1, 1, 1]


def test_many_assignments():
    """A loop may be longer than Python's stack is deep."""
    x = mt.zeros(3, chunk_size=2)
    for i in range(1100):
        x[i % 3] = i
    assert x.shape == (3,)
    assert x.compute().tolist() == [1098, 1099, 1097]


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


def test_masks_that_hold_unequally_often():
    """Do not fit together, and neither does what has several axes."""
    x = mt.arange(12, chunk_size=5).reshape(4, 3)
    with pytest.raises(ValueError, match="could not be broadcast"):
        x[x[:, 0] > 0, x[0] > 0].compute()
    with pytest.raises(NotImplementedError, match="several axes"):
        x[x[:, 0] > 0, [[0], [1]]] = 1


def test_a_mask_that_turns_out_to_hold_more_or_less_often():
    """The number of values is compared when it runs."""
    x = mt.arange(6, chunk_size=2)
    x[x > 3] = [1, 2, 3]
    with pytest.raises(ValueError, match="cannot assign 3 input values to the 2 output values"):
        x.compute()
