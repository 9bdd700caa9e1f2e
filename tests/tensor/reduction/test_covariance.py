"""Covariances equal NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, tensor_of


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


@pytest.mark.parametrize("func", ["cov", "corrcoef"])
def test_one_row_of_columns(func: str) -> None:
    """Is one observation of each variable; a second set of one row stays one variable."""
    row = np.array([[1.0, 2, 4]])
    lazy = mt.tensor(row, chunk_size=2)
    with pytest.warns(RuntimeWarning):
        expected = getattr(np, func)(row, rowvar=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(getattr(mt, func)(lazy, rowvar=False), expected)
    both = getattr(np, func)(row.T, row[:, ::-1], rowvar=False)
    assert_same(getattr(mt, func)(lazy.T, lazy[:, ::-1], rowvar=False), both, rtol=1e-12)
    for second in (row, row[0]):
        for xp, first in ((np, row), (mt, lazy)):
            with pytest.raises(ValueError, match="must match exactly"):
                getattr(xp, func)(first, second, rowvar=False)


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
    assert_same(mt.cov(lazy, **tensors, **settings), expected, rtol=1e-9)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["i4", "?", "U3", object])
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_types_without_means(name: str, dtype: Any) -> None:
    """NumPy refuses to subtract means in them."""
    array = np.arange(6.0).reshape(2, 3)
    with pytest.raises((TypeError, AttributeError)) as theirs:
        getattr(np, name)(array, dtype=dtype)
    with pytest.raises(theirs.type):
        getattr(mt, name)(mt.tensor(array, chunk_size=2), dtype=dtype)


@pytest.mark.parametrize("dtype", [complex, np.float32])
def test_no_variables(dtype: Any) -> None:
    """NumPy returns float64 then, whatever the type."""
    array = np.zeros((0, 4), dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("cov", "corrcoef"):
            assert_same(getattr(mt, name)(mt.tensor(array)), getattr(np, name)(array))
