"""Distinct elements and sets equal NumPy's."""

from __future__ import annotations

import importlib

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.core.config import option_context
from marsdask.tensor.operands import as_node
from tests.strategies import assert_same, chunkings

RNG = np.random.default_rng(0)
ARRAYS = {
    "few": RNG.integers(0, 5, 200),
    "many": RNG.permutation(200),
    "matrix": RNG.integers(0, 9, (6, 7)),
    "nan": np.where(RNG.random(100) < 0.3, np.nan, RNG.integers(0, 5, 100)),
    "text": RNG.integers(0, 9, 100).astype(str),
    "bool": RNG.random(50) < 0.5,
    "empty": np.empty(0),
    "complex": RNG.integers(0, 3, 50) + 1j,
    "complex nan": np.array([complex(np.nan, 1), 1 + 1j, complex(1, np.nan), complex(np.nan, 2)]),
}


@pytest.fixture(params=["one place", "parts"], autouse=True)
def _paths(request, monkeypatch):
    """Run each test where distinct elements meet in one place, and where they are shuffled."""
    if request.param == "parts":
        monkeypatch.setattr(importlib.import_module("marsdask.tensor.sorting.unique"), "FEW", 0)
    with option_context({"coalesce": request.param != "parts", "verify": True}):
        yield


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


NANS = {
    "floats": np.array([3.0, np.nan, 1.0, np.nan, np.nan, 3.0, -np.inf]),
    "complex": np.array([1 + 2j, complex(np.nan, 1), 1, complex(0, np.nan), 1, complex(np.nan, 0)]),
    "times": np.array(["2020-01-03", "NaT", "2020-01-01", "NaT"], "M8[D]"),
    "durations": np.array([5, "NaT", 1, "NaT", 5], "m8[s]"),
}


@pytest.mark.parametrize("name", ARRAYS)
@given(data=st.data())
def test_all_outputs(name, data):
    """Values, first positions, inverse and counts are NumPy's."""
    x = ARRAYS[name]
    flags = {"return_index": True, "return_inverse": True, "return_counts": True}
    lazy = mt.unique(tensor(x, data.draw(chunkings(x.shape))), **flags)
    for mine, theirs in zip(lazy, np.unique(x, True, True, True), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine.compute(), theirs)


@pytest.mark.parametrize("x", [*NANS.values(), np.zeros(7)], ids=[*NANS, "none"])
@pytest.mark.parametrize("size", [1, 3, 9])
def test_each_nan_has_its_own_index(x, size):
    """If NaNs are not equal, the inverse tells them apart."""
    given = mt.tensor(x, chunk_size=size)
    for mine, theirs in zip(mt.unique_all(given), np.unique_all(x), strict=True):
        np.testing.assert_array_equal(mine.compute(), theirs)
    inverse = mt.unique(given, return_inverse=True, equal_nan=False)[1].compute()
    np.testing.assert_array_equal(inverse, np.unique_all(x).inverse_indices)


@pytest.mark.parametrize("dtype", ["i8", "f4", "?", "U2", "c8", "M8[s]"])
@pytest.mark.parametrize("shape", [(9, 2), (4, 0), (0, 3), (4, 3, 2), (6, 1)])
def test_along_an_axis(dtype, shape):
    """Rows, columns and planes that are the same count once."""
    x = RNG.integers(0, 2, shape).astype("i8").astype(dtype)
    if x.size and x.dtype.kind in "fM":
        x[1] = x[3, ..., -1] = "nan" if x.dtype.kind == "f" else "NaT"
    for axis in range(-1, len(shape) - 1):
        try:
            expected = np.unique(x, True, True, True, axis=axis)
        except ValueError:  # NumPy's of nothing along other axes than the first
            continue
        lazy = mt.unique(tensor(x, 2), True, True, True, axis=axis)
        for mine, theirs in zip(lazy, expected, strict=True):
            np.testing.assert_array_equal(mine.compute(), theirs, strict=True)


def test_sets_keep_each_nan():
    """As NumPy has it: none is the same as another."""
    x = np.array([1.0, np.nan, 2.0])
    assert_same(mt.setxor1d(tensor(x, 2), x[:2]), np.setxor1d(x, x[:2]))


def test_values_alone_have_a_length_that_running_tells():
    """The shape is nan before and known after."""
    lazy = mt.unique(tensor(ARRAYS["few"], 50))
    assert np.isnan(lazy.shape[0])
    lazy.execute()
    assert lazy.shape == (5,)
    np.testing.assert_array_equal((lazy + 1).compute(), np.arange(1, 6))


@given(data=st.data())
def test_sets(data):
    """Unions, intersections and differences are NumPy's."""
    x, y = RNG.integers(0, 30, 40), RNG.integers(20, 50, 30)
    lazy_x = tensor(x, data.draw(chunkings(x.shape)))
    lazy_y = tensor(y, data.draw(chunkings(y.shape)))
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"):
        result = getattr(mt, name)(lazy_x, lazy_y).compute()
        np.testing.assert_array_equal(result, getattr(np, name)(x, y))
    found = mt.intersect1d(lazy_x, lazy_y, return_indices=True).execute().fetch()
    for got, want in zip(found, np.intersect1d(x, y, return_indices=True), strict=True):
        np.testing.assert_array_equal(got, want)
    mixed = mt.intersect1d(lazy_x, mt.tensor(y.astype("f4")))
    assert mixed.dtype == np.intersect1d(x, y.astype("f4")).dtype
    with pytest.raises(ValueError, match="kind"):
        mt.isin(lazy_x, y, kind="hash")
    inverted = mt.isin(lazy_x, [25, 26], invert=True)
    np.testing.assert_array_equal(inverted.compute(), np.isin(x, [25, 26], invert=True))


def test_wrong_arguments_are_refused_at_the_call():
    """What is not supported names the alternative."""
    with pytest.raises(NotImplementedError, match="drop_duplicates"):
        mt.unique(tensor(np.zeros(2, [("a", int)])))
    with pytest.raises(TypeError, match="object"):
        mt.unique(tensor(np.array([[{}], [{}]])), axis=0)
    with pytest.raises(TypeError, match="bogus"):
        mt.unique(tensor(np.ones(2)), bogus=1)


def test_dask_finds_them_without_a_look():
    """A Dask graph, which cannot wait for counts, gives the same."""
    x = ARRAYS["few"]
    found = dask.compute(*mt.unique(tensor(x, 50), return_counts=True), scheduler="sync")
    for mine, theirs in zip(found, np.unique(x, return_counts=True), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_bytes_in_another_order():
    """Parts along an axis are what they are as numbers."""
    x = np.array([[2, 1], [0, 3], [2, 1]], ">f8")
    found = mt.unique(mt.tensor(x, chunk_size=2), axis=0)
    np.testing.assert_array_equal(found.compute(), np.unique(x, axis=0))


@pytest.mark.parametrize(
    ("elements", "among"),
    [
        (["x", None, "y"], ["x", None]),
        (["x", 1, 2.5], [2.5, "x"]),
        ([1, None, 2], [None, 2]),
        (["x", (1, 2)], ["x", 3]),
    ],
)
@pytest.mark.parametrize("invert", [False, True])
def test_isin_of_objects_without_an_order(
    elements: list[object], among: list[object], *, invert: bool
) -> None:
    """Objects that cannot be compared by size are compared for equality, as in NumPy."""
    rows, table = np.empty(len(elements), object), np.empty(len(among), object)
    rows[:], table[:] = elements, among
    with option_context({"coalesce": False}):
        t, others = mt.tensor(rows, chunk_size=1), mt.tensor(table, chunk_size=1)
        assert_same(mt.isin(t, others, invert=invert), np.isin(rows, table, invert=invert))
