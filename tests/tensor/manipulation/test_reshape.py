"""Reshape in C and Fortran order, with as little moved as the chunks allow."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, chunkings, grids, tensor_of
from tests.tensor.stages import first_graph


@st.composite
def reshapes(draw):
    """Return two shapes of the same number of elements."""
    factors = draw(st.lists(st.sampled_from([1, 2, 3, 5]), max_size=4))
    old: list[int] = []
    new: list[int] = []
    for shape in (old, new):
        run = 1
        for factor in draw(st.permutations(factors)):
            run *= factor
            if draw(st.booleans()):
                shape.append(run)
                run = 1
        shape.append(run)
    if new and draw(st.booleans()):
        new[draw(st.integers(0, len(new) - 1))] = -1
    return tuple(old), tuple(new)


@pytest.mark.parametrize("merged", [True, False])
@given(data=st.data())
def test_any_shape_to_any_other(merged, data):
    """Values in C order, the shape known at the call."""
    old, new = data.draw(reshapes())
    array = np.arange(np.prod(old)).reshape(old)
    with grids(merged=merged):
        lazy = tensor_of(array, data.draw(chunkings(old))).reshape(new)
        assert lazy.shape == array.reshape(new).shape
        assert_same(lazy, array.reshape(new))


@given(data=st.data())
def test_fortran_order(data):
    """order="F" counts with the first axis fastest."""
    old, new = data.draw(reshapes())
    array = np.arange(np.prod(old)).reshape(old)
    x = tensor_of(array, data.draw(chunkings(old)))
    assert_same(mt.reshape(x, new, order="F"), array.reshape(new, order="F"))


@given(case=arrays_and_chunks(dtypes=("i8",)))
def test_ravel_and_flatten(case):
    """All elements in one axis, arrays without any and without axes too."""
    array, chunks = case
    x = tensor_of(array, chunks)
    assert_same(mt.ravel(x), array.ravel())
    assert_same(x.flatten("F"), array.flatten("F"))


def test_arrays_without_elements():
    """Lengths of zero may change places."""
    assert mt.ones((0, 4), chunk_size=2).reshape(2, 0, 7).compute().shape == (2, 0, 7)


def test_unknown_lengths():
    """-1 may be unknown until it runs."""
    a = np.arange(24).reshape(12, 2)
    x = mt.array(a, chunk_size=5)
    lazy = x[x[:, 0] > 6].reshape(-1, 4)
    assert np.isnan(lazy.shape[0])
    assert_same(lazy, a[a[:, 0] > 6].reshape(-1, 4))
    with pytest.raises(ValueError, match="cannot reshape array of size 16"):
        x[x[:, 0] > 6].reshape(5, 3).compute()


def test_chunks_that_fit_are_not_moved():
    """Merging leading axes and splitting at borders is one task a chunk."""
    x, y = mt.ones((8, 6), chunk_size=(2, 6)), mt.ones(48, chunk_size=12)
    assert len(first_graph(x.reshape(48))) == 4
    assert len(first_graph(y.reshape(8, 6))) == 4


@pytest.mark.parametrize("shape", [(7,), (-1, -1), (5, -1), (-2, 6)], ids=str)
def test_bad_shapes_are_refused_at_the_call(shape):
    """A number of elements that does not fit is a ValueError."""
    with pytest.raises(ValueError, match=r"reshape|unknown dimension"):
        mt.ones((3, 4)).reshape(shape)


#: Calls with an order that NumPy refuses.
BAD_ORDERS = {
    "reshape": lambda x: x.reshape(12, order="Z"),
    "reshape to order K": lambda x: x.reshape(12, order="K"),
    "ravel": lambda x: x.ravel(order="Z"),
    "ravel of a vector": lambda x: x[0].ravel(order="Z"),
    "flatten": lambda x: x.flatten(order="CC"),
    "astype": lambda x: x.astype("f4", order="Z"),
    "no text": lambda x: x.reshape(12, order=1),
}


@pytest.mark.parametrize("name", BAD_ORDERS)
def test_bad_order(name):
    """The error is NumPy's, with its whole message."""
    with pytest.raises((ValueError, TypeError)) as expected:
        BAD_ORDERS[name](np.ones((3, 4)))
    with pytest.raises(expected.type) as found:
        BAD_ORDERS[name](mt.ones((3, 4)))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("order", ["f", "c", "a", None])
def test_orders_in_small_letters(order):
    """They are NumPy's too, and None is C."""
    array = np.arange(12).reshape(3, 4)
    x = mt.tensor(array, chunk_size=2)
    assert_same(x.reshape(2, 6, order=order), array.reshape(2, 6, order=order))
    assert_same(x.ravel(order), array.ravel(order))


def test_an_axis_of_empty_chunks_goes():
    """Its one element is in one of several chunks."""
    array = np.arange(2).reshape(2, 1)
    lazy = tensor_of(array, ((0, 1, 1), (0, 1))).reshape(2, merge_chunks=False)
    assert_same(lazy, array.reshape(2))


@given(data=st.data())
def test_axes_are_merged_without_joining_chunks(data):
    """With ``merge_chunks=False`` chunks are those of dask.array, and values NumPy's."""
    shape = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=4))
    chunks = data.draw(chunkings(tuple(shape)))
    first = data.draw(st.integers(0, len(shape) - 2))
    last = data.draw(st.integers(first + 2, len(shape)))
    new = (*shape[:first], int(np.prod(shape[first:last])), *shape[last:])
    array = np.arange(np.prod(shape)).reshape(shape)
    lazy = tensor_of(array, chunks).reshape(new, merge_chunks=False)
    theirs = da.from_array(array, chunks=chunks).reshape(new, merge_chunks=False)
    if all(length > 1 for length in shape):  # of axes of length one theirs merge others
        assert lazy.chunks == theirs.chunks
    assert_same(lazy, array.reshape(new))
    assert_same(lazy.reshape(shape, merge_chunks=False), array)


#: Functions of an axis that NumPy calls on scalars, too.
OF_SCALARS = {
    "argsort": lambda m, x: m.argsort(x),
    "argsort of an axis": lambda m, x: m.argsort(x, axis=0),
    "argpartition": lambda m, x: m.argpartition(x, 0),
    "compress": lambda m, x: m.compress([True, False], x, axis=-1),
    "take": lambda m, x: m.take(x, [0, 0], axis=0),
    "take one": lambda m, x: m.take(x, 0, axis=-1),
    "repeat": lambda m, x: m.repeat(x, 2, axis=-1),
    "packbits": lambda m, x: m.packbits(x, axis=0),
    "unpackbits": lambda m, x: m.unpackbits(x.astype("u1"), axis=-1),
    "cumsum": lambda m, x: m.cumsum(x, axis=0),
    "cumulative_sum": lambda m, x: m.cumulative_sum(x),
    "cumulative_prod": lambda m, x: m.cumulative_prod(x, include_initial=True),
    "squeeze": lambda m, x: m.squeeze(x, axis=0),
}


@pytest.mark.parametrize("name", OF_SCALARS)
def test_axes_of_scalars(name):
    """A scalar has an axis where NumPy gives it one."""
    scalar = np.array(3)
    result, wanted = OF_SCALARS[name](mt, mt.tensor(scalar)), OF_SCALARS[name](np, scalar)
    np.testing.assert_array_equal(result.compute(), wanted, strict=isinstance(wanted, np.ndarray))


@pytest.mark.parametrize("name", ["sort", "flip", "diff", "cumsum", "take", "compress", "squeeze"])
def test_other_axes_of_scalars_are_none(name):
    """The errors are NumPy's."""
    args = {"take": ([0],), "compress": ([True],)}.get(name, ())
    for module, scalar in ((np, np.array(3)), (mt, mt.tensor(np.array(3)))):
        positional = (*args, scalar) if name == "compress" else (scalar, *args)
        with pytest.raises((np.exceptions.AxisError, ValueError)):
            getattr(module, name)(*positional, axis=1)
