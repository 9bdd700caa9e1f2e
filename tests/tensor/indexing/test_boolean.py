"""Conditions: nonzero and its kin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

WHERE = {
    "argwhere": lambda xp, a: xp.argwhere(a),
    "flatnonzero": lambda xp, a: xp.flatnonzero(a),
    "nonzero": lambda xp, a: xp.nonzero(a)[-1],
    "where": lambda xp, a: xp.where(a)[0],
    "extract": lambda xp, a: xp.extract(a > 0, a),
    "method": lambda xp, a: a.nonzero()[0],
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", WHERE)
@given(case=arrays_and_chunks(dtypes=("i8", "?"), min_dims=1))
def test_places_are_numpys(name, merged, case):
    """Indices come in C order, whatever the chunks."""
    array, chunks = case
    with grids(merged=merged):
        assert_same(WHERE[name](mt, tensor_of(array, chunks)), WHERE[name](np, array))


@given(data=st.data())
def test_compress(data):
    """Slices where a condition holds, which may be shorter than the axis."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8",), min_dims=1))
    x = tensor_of(array, chunks)
    axis = data.draw(st.integers(0, array.ndim - 1))
    n = data.draw(st.integers(0, array.shape[axis]))
    condition = np.arange(n) % 2
    assert_same(mt.compress(condition, x, axis), np.compress(condition, array, axis))
    assert_same(x.compress(condition > 0, axis), array.compress(condition > 0, axis))


def test_where_of_three():
    """With values to choose from where is elementwise; one alone is refused."""
    x = mt.arange(5, chunk_size=2)
    assert mt.where(x > 2, x, -1).compute().tolist() == [-1, -1, -1, 3, 4]
    with pytest.raises(ValueError, match="either both or neither"):
        mt.where(x > 2, x)


def test_masks_of_other_lengths_are_refused():
    """At the call if the lengths are known, when it runs if not."""
    x = mt.arange(6, chunk_size=2)
    with pytest.raises(IndexError, match="size of axis is 6 but size of corresponding"):
        x[mt.ones(5, dtype=bool)]
    lazy = x[x > 2][mt.ones(2, dtype=bool)]
    with pytest.raises(IndexError, match="size of axis is 3 but"):
        lazy.compute()


def test_filters_of_filters():
    """A filtered array may be filtered again by itself."""
    a = np.arange(100)
    x = mt.arange(100, chunk_size=9)
    y = x[x > 20]
    assert_same(y[y % 2 == 0][y[y % 2 == 0] < 60], a[(a > 20) & (a % 2 == 0) & (a < 60)])


def test_large_blocks_are_filtered_in_parts():
    """Blocks of several caches' length give every element once and in order."""
    array = np.random.default_rng(0).random((300, 400))
    x = mt.array(array)
    assert_same(x[x > 0.5], array[array > 0.5])
    assert_same(x.T[x.T > 0.5], array.T[array.T > 0.5])


@pytest.mark.parametrize("value", [0, 3])
def test_where_a_number_is(value):
    """A row without indices, if it is not zero."""
    assert_same(mt.argwhere(mt.tensor(value)), np.argwhere(value))


@pytest.mark.parametrize("key", [(0,), (0, 3), (2, 0), (0, 0)])
@pytest.mark.parametrize("lazy", [True, False])
def test_masks_without_elements_choose_nothing(key, lazy):
    """As in NumPy, where a length of zero fits every axis."""
    array, mask = np.arange(6).reshape(2, 3), np.zeros(key, bool)
    x = mt.tensor(array, chunk_size=2)
    where = mt.tensor(mask) if lazy else mask
    assert_same(x[where], array[mask])
    x[where] = 7
    assert_same(x, array)
    with pytest.raises(IndexError, match="did not match"):
        x[mt.zeros((0, 4), dtype=bool)]


@pytest.mark.parametrize("values", [(None, 1), (1, None), (None, None)])
def test_none_is_a_value(values):
    """Of a choice of two; only arguments that are not given are none."""
    mask = np.array([True, False, True])
    found = mt.where(mt.tensor(mask, chunk_size=1), *values).compute()
    assert found.tolist() == np.where(mask, *values).tolist()


@pytest.mark.parametrize("lazy", [False, True])
def test_compress_into_a_tensor(lazy: bool) -> None:
    """As numpy.take: what is written to is cast safely, and has the shape of the result."""
    array = np.arange(12).reshape(3, 4)
    condition = [True, False, True]
    for out in (np.zeros((2, 4), int), np.zeros((2, 4), "i4")):
        x, target = mt.tensor(array, chunk_size=2), mt.tensor(out)
        rows = mt.tensor(condition, chunk_size=2) if lazy else condition
        assert mt.compress(rows, x, 0, out=target) is target
        expected = np.compress(condition, array, 0, out=out)
        np.testing.assert_array_equal(target.compute(), expected)
        assert x.compress(rows, 0, target) is target
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        mt.compress(rows, x, 0, out=mt.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"does not match|could not broadcast"):
        mt.compress(rows, x, 0, out=mt.zeros((3, 4), int)).compute()


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0, 3), (2, 2, 0), (0,)])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_positions_that_nobody_compares(shape: tuple[int, ...], axis: int) -> None:
    """NumPy does not look at positions if an axis before has no elements."""
    array, condition = np.zeros(shape), [False, False, True]
    calls = {
        "compress": lambda xp, x: xp.compress(condition, x, axis),
        "take": lambda xp, x: xp.take(x, [7], axis),
        "clipped": lambda xp, x: xp.take(x, [7], axis, mode="clip"),
    }
    for call in calls.values():
        try:
            expected = call(np, array)
        except IndexError as error:
            with pytest.raises(type(error)):
                call(mt, mt.tensor(array)).compute()
        else:
            assert_same(call(mt, mt.tensor(array)), expected)
