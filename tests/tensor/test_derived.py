"""Functions that are short sums of others, against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

CASES: dict[str, Any] = {
    "diff": lambda xp, a: xp.diff(a),
    "diff twice": lambda xp, a: xp.diff(a, 2, axis=0),
    "diff none": lambda xp, a: xp.diff(a, 0),
    "diff edges": lambda xp, a: xp.diff(a, axis=0, prepend=a.dtype.type(1), append=a),
    "ediff1d": lambda xp, a: xp.ediff1d(a),
    "ediff1d edges": lambda xp, a: xp.ediff1d(a, to_begin=a[:1], to_end=a[-1:]),
    "trapezoid": lambda xp, a: xp.trapezoid(a.astype("f8")),
    "trapezoid x": lambda xp, a: xp.trapezoid(a.astype("f8"), x=a.astype("f8"), axis=0),
    "ndim": lambda xp, a: xp.ndim(a),
    "size": lambda xp, a: xp.size(a),
    "size axis": lambda xp, a: xp.size(a, 0),
    "shape": lambda xp, a: xp.shape(a),
    "copy": lambda xp, a: xp.copy(a),
    "array_equiv": lambda xp, a: xp.array_equiv(a, a[:1]),
    "concat": lambda xp, a: xp.concat([a, a]),
    "permute_dims": lambda xp, a: xp.permute_dims(a, tuple(range(a.ndim))[::-1]),
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", CASES)
@given(case=arrays_and_chunks(("i8", "f4", "f8", "?"), min_dims=1, max_dims=2, min_side=1))
def test_equals_numpy(name, merged, case):
    """Values, types and shapes, or the type of the error."""
    array, chunks = case
    with np.errstate(all="ignore"):
        try:
            expected = CASES[name](np, array)
        except Exception as error:  # noqa: BLE001 - ours must be of its type
            with pytest.raises(type(error)):
                CASES[name](mt, tensor_of(array, chunks))
            return
    with grids(merged=merged):
        found = CASES[name](mt, tensor_of(array, chunks))
        if isinstance(found, mt.Tensor):
            assert_same(found, expected, rtol=1e-6)
        else:
            assert found == expected


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.parametrize("func", ["cov", "corrcoef"])
@given(
    case=arrays_and_chunks(("i8", "f8", "c16"), min_dims=1, max_dims=2, min_side=2, nan=False),
    both=st.booleans(),
)
def test_covariances_equal_numpys(func, rowvar, case, both):
    """Of one or two sets of variables, in rows or in columns."""
    array, chunks = case
    other = (array * 2 + 1,) if both else ()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = getattr(np, func)(array, *other, rowvar=rowvar)
        found = getattr(mt, func)(tensor_of(array, chunks), *other, rowvar=rowvar)
        value = found.compute()
    assert found.dtype == expected.dtype
    assert np.shape(value) == expected.shape
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("settings", [{"bias": True}, {"ddof": 0}, {"ddof": 2}, {"dtype": "f4"}])
def test_degrees_of_freedom(settings):
    """As numpy.cov takes them."""
    array = np.random.default_rng(0).random((3, 20))
    found = mt.cov(mt.tensor(array, chunk_size=4), **settings)
    assert_same(found, np.cov(array, **settings), rtol=1e-5)


@pytest.mark.parametrize("settings", [{}, {"bias": True}, {"ddof": 0}, {"ddof": 3}])
@pytest.mark.parametrize("names", [("fweights",), ("aweights",), ("fweights", "aweights")])
def test_weights_of_observations(settings, names):
    """Counts and weights, of arrays and of tensors, as numpy.cov takes them."""
    rng = np.random.default_rng(0)
    array = rng.random((3, 20))
    given = {"fweights": rng.integers(0, 4, 20), "aweights": rng.random(20)}
    weights: Any = {name: given[name] for name in names}
    expected = np.cov(array, **weights, **settings)
    lazy = mt.tensor(array, chunk_size=(2, 7))
    assert_same(mt.cov(lazy, **weights, **settings), expected, rtol=1e-9)
    tensors = {name: mt.tensor(each, chunk_size=9) for name, each in weights.items()}
    assert_same(mt.cov(lazy, **tensors, **settings), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda xp, a: xp.diff(a, -1), ValueError),
        (lambda xp, a: xp.diff(a[0, 0]), ValueError),
        (lambda xp, a: xp.diff(a, axis=7), IndexError),
        (lambda xp, a: xp.ediff1d(a.astype(int), to_end=a), TypeError),
        (lambda xp, a: xp.cov(a[None]), ValueError),
        (lambda xp, a: xp.cov(a, ddof=1.5), ValueError),
        (lambda xp, a: xp.cov(a, fweights=[1.5, 1, 1, 1]), TypeError),
        (lambda xp, a: xp.cov(a, fweights=[1, 1]), RuntimeError),
        (lambda xp, a: xp.cov(a, aweights=[[1, 1, 1, 1]]), RuntimeError),
        (lambda xp, a: xp.cov(a, aweights=[-1, 1, 1, 1]), ValueError),
        (lambda xp, a: xp.copy(a, "X"), ValueError),
    ],
    ids=[
        *("order", "no axis", "axis", "end", "axes", "ddof"),
        *("frequencies", "few", "weights", "negative", "memory"),
    ],
)
def test_bad_arguments(call, error):
    """The errors are NumPy's."""
    array = np.ones((3, 4))
    for namespace, values in ((np, array), (mt, mt.tensor(array, chunk_size=2))):
        with pytest.raises(error):
            call(namespace, values)


def test_from_array_is_dasks():
    """The same arguments give the same chunks and values."""
    array = np.arange(20.0).reshape(4, 5)
    ours, theirs = (f(array, chunks=(2, 3), lock=False) for f in (mt.from_array, da.from_array))
    assert ours.chunks == theirs.chunks
    for name in ("numblocks", "npartitions", "chunksize"):
        assert getattr(ours, name) == getattr(theirs, name)
    np.testing.assert_array_equal(ours.compute(), array)
    with pytest.raises(TypeError, match="nonsense"):
        mt.from_array(array, nonsense=1)


def test_missing_values():
    """Under Dask's names."""
    x = mt.tensor([1.0, np.nan])
    np.testing.assert_array_equal(mt.isnull(x).compute(), [False, True])
    np.testing.assert_array_equal(mt.notnull(x).compute(), [True, False])


def test_a_copy_is_its_own():
    """What is written into one is not in the other."""
    x = mt.ones(3)
    y = x.copy()
    y[0] = 5
    np.testing.assert_array_equal(x.compute(), [1, 1, 1])
    np.testing.assert_array_equal(y.compute(), [5, 1, 1])
    assert not mt.array_equiv(mt.ones(3), mt.ones(4)).compute()


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_moments_are_dasks(order):
    """Along any axis, of integers too."""
    x = np.arange(12).reshape(3, 4) ** 2
    ours, theirs = mt.tensor(x, chunk_size=2), da.from_array(x, chunks=2)
    for axis in (None, 0, 1):
        expected = da.reductions.moment(theirs, order, axis=axis, ddof=1).compute(scheduler="sync")
        assert_same(mt.moment(ours, order, axis=axis, ddof=1), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="Order"):
        mt.moment(ours, -1)


def test_a_shape_is_executed_and_fetched():
    """As Mars's documents do; it is a tuple of integers all the same."""
    found = mt.shape(mt.ones((4, 3), chunk_size=2))
    assert found == (4, 3)
    assert found.execute() == found.fetch() == found.compute() == found.to_object() == (4, 3)
    assert dask.compute(found) == ((4, 3),)
    assert found.execute(wait=False).result() == (4, 3)
