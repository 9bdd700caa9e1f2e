"""Indexing equals NumPy's for every kind of key, over chunkings."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.sizes import UnknownShapeError
from tests.strategies import arrays_and_chunks, assert_same, chunkings, grids, shapes, tensor_of
from tests.tensor.keys import keys, lazy_key, positions


@st.composite
def cases(draw: Any) -> tuple[Any, Any, Any]:
    """Return an array, its chunks and a key."""
    array, chunks = draw(arrays_and_chunks(dtypes=("i8", "f8"), min_side=0))
    return array, chunks, draw(keys(array.shape))


@pytest.mark.parametrize("merged", [True, False])
@given(case=cases())
def test_keys_choose_what_numpy_chooses(merged, case):
    """Slices, elements, new axes, one array or mask: values, shape and type are NumPy's."""
    array, chunks, key = case
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(IndexError):
            tensor_of(array, chunks)[key]
        return
    with grids(merged=merged):
        lazy = tensor_of(array, chunks)[key]
        if not np.isnan(lazy.shape).any():
            assert lazy.shape == expected.shape
        assert_same(lazy, expected)


@given(case=cases(), step=st.sampled_from([1, 2, 100]))
def test_tensors_are_keys_too(case, step):
    """Arrays of positions and masks may be computed themselves."""
    array, chunks, key = case
    if not any(isinstance(k, np.ndarray) for k in key):
        return
    try:
        expected = array[key]
    except IndexError:
        return
    assert_same(tensor_of(array, chunks)[lazy_key(key, step)], expected)


@given(data=st.data())
def test_several_arrays_are_broadcast(data):
    """Arrays on several axes choose point by point, beside slices or apart from each other."""
    shape = data.draw(shapes(3, 3, min_side=1))
    array = np.arange(np.prod(shape)).reshape(shape)
    x = tensor_of(array, data.draw(chunkings(shape)))
    first, last = ([data.draw(st.integers(-n, n - 1)) for _ in range(4)] for n in shape[::2])
    rows = np.array(first)[:, None]
    assert_same(x[first, :, last], array[first, :, last])
    assert_same(x[rows, 0, last], array[rows, 0, last])
    assert_same(x[:, :, last][first], array[:, :, last][first])
    assert_same(x[0, :, last], array[0, :, last])
    t = mt.array(np.array(first), chunk_size=2)
    assert_same(x[t, :, np.array(last)], array[first, :, last])


@given(data=st.data())
def test_masks_of_all_axes(data):
    """A mask over several axes chooses in C order however either is cut."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8",), min_dims=1))
    mask = array > 0
    m = tensor_of(mask, data.draw(chunkings(mask.shape)))
    assert_same(tensor_of(array, chunks)[m], array[mask])
    assert_same(tensor_of(array, chunks)[mask], array[mask])
    assert_same(tensor_of(array, chunks)[tensor_of(array, chunks) > 0], array[mask])


def test_masks_of_numpy_have_known_lengths():
    """What a mask in memory chooses is counted at once."""
    x = mt.ones((6, 4), chunk_size=2)
    assert x[np.array([True, False] * 3)].shape == (3, 4)
    assert np.isnan(x[x > 0].shape[0])


def test_equal_masks_choose_alike():
    """x[m] * y[m] needs no look at lengths."""
    x, y = mt.arange(10, chunk_size=3), mt.arange(10, chunk_size=3) * 2
    m = x > 4
    product = x[m] * y[m]
    assert product.chunks == x[m].chunks or np.isnan(product.shape[0])
    assert product.compute().tolist() == [2 * i * i for i in range(5, 10)]
    other = (x[m] * y.rechunk(4)[m]).compute()
    assert other.tolist() == [2 * i * i for i in range(5, 10)]


@pytest.mark.parametrize(
    "key",
    [5, -6, (0, 0, 0), (Ellipsis, Ellipsis), np.array([1.5]), "field", np.ones(3, bool), [0, 9]],
    ids=str,
)
def test_bad_keys_are_refused_at_the_call(key):
    """Keys that cannot be raise IndexError before anything runs."""
    with pytest.raises((IndexError, ValueError)):
        mt.ones((5, 4), chunk_size=2)[key]


def test_single_booleans_are_axes():
    """True adds an axis, False an empty one, computed or not."""
    array = np.arange(6).reshape(2, 3)
    x = mt.array(array, chunk_size=2)
    assert_same(x[True], array[True])
    assert_same(x[..., False], array[..., False])
    for limit in (0, 100):
        one = np.bool_(array.sum() > limit)
        assert_same(x[x.sum() > limit], array[one])
        assert_same(x[:, x.sum() > limit, None], array[:, one, None])
    with pytest.raises(NotImplementedError, match="single boolean"):
        x[[0, 1], x.sum() > 0]


def test_an_ellipsis_keeps_arrays_apart():
    """Even where it stands for no axis, as in NumPy."""
    array = np.arange(12).reshape(3, 4)
    x = mt.array(array, chunk_size=2)
    for key in ((None, [0, 1], ..., [2, 3]), (None, 1, ..., [2, 3]), (..., [0, 1], [2, 3])):
        assert_same(x[key], array[key])


@pytest.mark.parametrize("merged", [True, False])
def test_positions_of_several_axes_and_unknown_length(merged):
    """Rows of positions that a mask chose: they choose, and are assigned to."""
    x, rows = np.arange(20).reshape(10, 2), np.array([[1, 2], [9, 9], [3, 4]])
    chosen, lazy = rows != 9, mt.tensor(rows, chunk_size=2)
    keep = lazy[:, 0] != 9
    expected = x[rows[chosen[:, 0]]]
    with grids(merged=merged):
        found = mt.tensor(x, chunk_size=3)[lazy[keep]]
        np.testing.assert_array_equal(found.compute(), expected)
        for value in (-1, expected * 2, mt.tensor(expected * 2, chunk_size=1)):
            t, want = mt.tensor(x, chunk_size=3) + 0, x.copy()
            t[lazy[keep]] = value
            want[rows[chosen[:, 0]]] = np.asarray(value)
            np.testing.assert_array_equal(t.compute(), want)
        few = t[t[:, 0] > 4]
        with pytest.raises(UnknownShapeError, match="several axes"):
            few[:, lazy[keep]]


def test_keys_may_change_afterwards():
    """An array used as a key is read at the call."""
    x = mt.arange(5, chunk_size=2)
    where, mask = np.array([0, 1]), np.array([True, False, True, False, False])
    by_where, by_mask, taken = x[where], x[mask], x.take(where)
    where[:], mask[:] = 3, False
    assert by_where.compute().tolist() == taken.compute().tolist() == [0, 1]
    assert by_mask.compute().tolist() == [0, 2]


def test_arrays_that_do_not_fit_together():
    """IndexError, be they computed or not."""
    x, three = mt.ones((4, 4), chunk_size=2), mt.arange(3)
    for key in (([0, 1], [0, 1, 2]), ([0, 1], three)):
        with pytest.raises(IndexError, match="could not be broadcast"):
            x[key]


def test_fields_of_structures():
    """A name chooses a field."""
    array = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)])
    x = mt.array(array, chunk_size=1)
    assert_same(x["b"], array["b"])


def test_fields_that_are_arrays() -> None:
    """Add their own axes, and are views."""
    kind = np.dtype([("a", "f8"), ("b", "i4", (2, 3))])
    array = np.zeros(3, kind)
    array["a"], array["b"] = [1, 2, 3], np.arange(18).reshape(3, 2, 3)
    x = mt.tensor(array.copy(), chunk_size=2)
    assert_same(x["b"], array["b"])
    assert_same(x["b"].sum(axis=2), array["b"].sum(axis=2))
    assert_same(x[0]["b"], array[0]["b"])
    assert_same(x[["a", "b"]]["b"][:, 1], array["b"][:, 1])
    chosen = x[x["a"] > 1]["b"]
    assert np.array_equal(chosen.shape, (np.nan, 2, 3), equal_nan=True)
    np.testing.assert_array_equal(chosen.compute(), array["b"][1:])
    for whole in (array, x):
        whole["b"][1:, 0] = -1
        whole["b"][0] += 1
    np.testing.assert_array_equal(x.compute(), array, strict=True)


@given(data=st.data())
def test_take(data):
    """Positions along an axis, or of all elements."""
    shape = data.draw(shapes(1, 3, min_side=1))
    array = np.arange(np.prod(shape)).reshape(shape)
    x = tensor_of(array, data.draw(chunkings(shape)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    where = data.draw(positions(shape[axis]))
    assert_same(x.take(where, axis), np.take(array, where, axis))
    assert_same(mt.take(x, [0, -1]), np.take(array, [0, -1]))
    assert_same(mt.take(mt.ones((0, 0)), [0, -1], 1), np.take(np.ones((0, 0)), [0, -1], 1))
    assert_same(x[mt.array(0)], array[0])


@pytest.mark.parametrize(
    "key", [([0, 2], slice(None), [1, 1]), [0, 2], (slice(None), 1), (1, 2, [3, 0]), ([[0], [2]],)]
)
def test_points_one_by_one(key):
    """``vindex`` puts the axes of the points first, as dask.array does."""
    array = np.arange(60).reshape(3, 4, 5)
    expected = da.from_array(array, chunks=2).vindex[key]
    assert_same(mt.tensor(array, chunk_size=2).vindex[key], expected.compute(scheduler="sync"))


def test_points_beside_slices():
    """Slices are taken first; those of whole axes alone give the tensor itself."""
    array = np.arange(60).reshape(3, 4, 5)
    x = mt.tensor(array, chunk_size=2)
    assert_same(x.vindex[[0, 2], ::-1], array[[0, 2], ::-1])
    assert_same(x.vindex[1:, [0, 2], [1, 1]], np.moveaxis(array[1:, [0, 2], [1, 1]], -1, 0))
    assert x.vindex[:] is x
    assert x.vindex[:3, :, :5] is x


@pytest.mark.parametrize("key", [None, ..., slice(1), slice(None, None, -1), (0, 0, 0, 0)])
def test_what_points_are_not(key):
    """Refused at the call."""
    with pytest.raises(IndexError):
        mt.ones((3, 4, 5)).vindex[key]


def test_take_by_booleans():
    """They are the positions 0 and 1, not a mask."""
    mask = np.array([True, False, True])
    assert_same(mt.take(mt.arange(3, chunk_size=2) * 5, mask), np.take(np.arange(3) * 5, mask))
