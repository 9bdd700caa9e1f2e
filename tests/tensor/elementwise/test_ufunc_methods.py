"""Methods of ufuncs, against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.elementwise.ufunc_methods import ASSOCIATIVE
from tests.strategies import arrays_and_chunks, assert_like_numpy, draws, grids

NAMES = sorted(ufunc.__name__ for ufunc in ASSOCIATIVE)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("name", NAMES)
@draws(10)
@given(
    case=arrays_and_chunks(("f8", "i8", "u1", "?", "f4"), min_dims=1),
    axis=st.integers(-1, 0),
    merged=st.booleans(),
)
def test_reductions_and_scans(name, method, case, axis, merged):
    """Of each associative ufunc, over types, nan and empty chunks; or NumPy's error."""

    def call(xp, a):
        return getattr(getattr(xp, name), method)(a, axis)

    assert_like_numpy(call, case, rtol=1e-5, merged=merged)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_running_extremes_of_dates(name, dtype):
    """Missing ones spread, or are skipped."""
    x = np.array([3, 5, -2, 9, 1, 7], "i8").astype(dtype)
    x[[0, 1, 4]] = "NaT"
    with grids(merged=False):
        lazy = getattr(mt, name).accumulate(mt.tensor(x, chunk_size=2))
        np.testing.assert_array_equal(lazy.compute(), getattr(np, name).accumulate(x))


@pytest.mark.parametrize("ufunc", ["add", "subtract", "arctan2", "less"])
def test_outer(ufunc):
    """All pairs of elements."""
    a, b = np.arange(6.0).reshape(2, 3), np.arange(4)
    want = getattr(np, ufunc).outer(a, b)
    for first in (a, mt.tensor(a, chunk_size=2)):
        found = getattr(mt, ufunc).outer(first, mt.tensor(b, chunk_size=3))
        np.testing.assert_array_equal(found.compute(), want)
        assert found.dtype == want.dtype


def test_facts_and_refusals():
    """What NumPy tells about a ufunc is told; what has no lazy form says what to do."""
    assert (mt.add.nin, mt.add.identity, mt.modf.nout) == (2, 0, 2)  # type: ignore[attr-defined]
    for call in (
        lambda: mt.subtract.reduce(mt.ones(3)),
        lambda: mt.subtract.accumulate(mt.ones(3)),
    ):
        with pytest.raises(NotImplementedError, match="compute"):
            call()


@pytest.mark.parametrize("name", NAMES)
def test_reductions_take_numpys_arguments(name: str) -> None:
    """In NumPy's order too, where functions with their own name have another."""
    x = -np.arange(6).reshape(2, 3) - 1
    ufunc, lazy = getattr(np, name), getattr(mt, name)
    cases: list[tuple[Any, dict[str, Any]]] = [
        ((0, None, None, True), {}),
        ((), {"axis": 1, "initial": 1, "dtype": None}),
        ((1, ufunc.reduce(x, 0).dtype), {"keepdims": True}),
    ]
    for args, how in cases:
        try:
            want = ufunc.reduce(x, *args, **how)
        except TypeError:  # of types
            continue
        with grids(merged=False):
            found = lazy.reduce(mt.tensor(x, chunk_size=1), *args, **how).compute()
        np.testing.assert_allclose(found, want, rtol=1e-12)
        assert found.dtype == want.dtype
    with pytest.raises(TypeError, match=f"{name}.reduce"):
        lazy.reduce(mt.tensor(x), *(0,) * 7)
    with pytest.raises(TypeError, match=f"{name}.reduce"):
        lazy.reduce(mt.tensor(x), 0, axis=0)
