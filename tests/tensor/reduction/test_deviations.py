"""Variances about given means, and of objects, against NumPy."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws


def about(
    name: str, axis: Any, mean: str, skipped: bool, options: dict[str, Any], xp: Any, a: Any
) -> Any:
    """Return a deviation about another function's result."""
    where = (a == a) if skipped else True
    middle = getattr(xp, mean)(a, axis=axis, keepdims=True)
    return getattr(xp, name)(a, axis=axis, mean=middle, where=where, **options)


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@draws(6)
@given(
    case=arrays_and_chunks(("i2", "f4", "f8", "c16"), min_dims=1, min_side=1),
    axis=st.sampled_from([None, 0, -1]),
    skipped=st.booleans(),
    options=st.sampled_from([{}, {"ddof": 1, "keepdims": True}, {"correction": 2}]),
)
def test_means_that_are_given(
    name: str, case: Any, axis: Any, skipped: bool, options: dict[str, Any]
) -> None:
    """Are those that are subtracted."""
    mean = "nanmean" if name.startswith("nan") else "mean"
    call = partial(about, name, axis, mean, skipped, options)
    assert_like_numpy(call, case, rtol=2e-3 if case[0].dtype == "f4" else 1e-9)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": 1, "ddof": 1, "keepdims": True}])
@pytest.mark.parametrize("name", ["var", "nanvar"])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("f8", "i8"),
        ("i8", "i8"),
        ("i8", "u1"),
        ("?", "i8"),
        ("c8", "f8"),
        ("c16", "f4"),
        ("c8", "i8"),
    ],
)
def test_types_that_lose_parts_of_the_mean(
    kind: str, dtype: Any, name: str, options: dict[str, Any]
) -> None:
    """Fractions and imaginary parts are lost where NumPy loses them, with its warning."""
    values = np.random.default_rng(0).normal(0, 20, (2, 5, 6))
    array = (values[0] + 1j * values[1] if kind[0] == "c" else values[0]).astype(kind)
    lazy = mt.tensor(array, chunk_size=3)
    if name == "nanvar" and array.dtype.kind in "fc" and dtype == "i8":
        with pytest.raises(TypeError, match="inexact"):
            mt.nanvar(lazy, dtype=dtype)
        return
    warned = array.dtype.kind == "c"
    watched = pytest.warns(np.exceptions.ComplexWarning) if warned else nullcontext()
    with watched:
        expected = getattr(np, name)(array, dtype=dtype, **options)
    watched = pytest.warns(np.exceptions.ComplexWarning) if warned else nullcontext()
    with watched:
        assert_same(getattr(mt, name)(lazy, dtype=dtype, **options), expected, rtol=1e-5)


def test_whole_numbers_of_deviations() -> None:
    """As in NumPy, one number is converted to an integer, and arrays are not."""
    array = np.random.default_rng(0).normal(0, 20, (5, 6))
    lazy = mt.tensor(array, chunk_size=3)
    assert lazy.std(dtype="i8").compute() == array.std(dtype="i8")
    for whole in (array, lazy):
        with pytest.raises(TypeError, match="sqrt"):
            whole.std(axis=0, dtype="i8")


@pytest.mark.parametrize("axis", [0, 1])
def test_objects(axis: int) -> None:
    """Sum and multiply by their own operators."""
    things = np.array([[1, 2.5, 4], [7, 8, 2**70]], object)
    case = (things, ((1, 1), (2, 1)))
    assert_like_numpy(lambda xp, a: xp.var(a, axis=axis, ddof=1), case)
    assert np.isclose(mt.tensor(things[:, :2], chunk_size=1).std().compute(), np.std(things[:, :2]))


def test_one_correction() -> None:
    """By either of its names."""
    for mean in ({}, {"mean": 0}):
        with pytest.raises(ValueError, match="simultaneously"):
            mt.var(mt.ones(3), ddof=1, correction=1, **mean)


def test_lengths_that_nobody_knows() -> None:
    """Are waited for."""
    x = np.arange(20.0)
    lazy = mt.tensor(x, chunk_size=6)
    found = mt.var(lazy[lazy > 4], mean=7, ddof=1).compute()
    assert np.isclose(found, np.var(x[5:], mean=7, ddof=1))
    assert np.isclose(mt.std(lazy.astype(object)[lazy > 4]).compute(), x[5:].std())
