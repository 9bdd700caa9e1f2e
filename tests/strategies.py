"""Hypothesis strategies that all families of tensor operations share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from marsdask.core.config import option_context

#: Types that NumPy treats differently: signed, unsigned, half, single, double, complex, bool.
DTYPES = ("i1", "u2", "i8", "f2", "f4", "f8", "c16", "?")


def _cuts(length: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Return ways to cut one axis: whole, in ones, ragged, with empty chunks."""
    borders = st.lists(st.integers(0, length), max_size=4).map(sorted)

    def sizes(inner: list[int]) -> tuple[int, ...]:
        stops = [*inner, length]
        return tuple(stop - start for start, stop in zip([0, *inner], stops, strict=True))

    ones = (1,) * length or (0,)
    return st.one_of(st.just((length,)), st.just(ones), borders.map(sizes))


def chunkings(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    """Return explicit chunk sizes for every axis of ``shape``."""
    return st.tuples(*map(_cuts, shape))


def shapes(min_dims: int = 0, max_dims: int = 3, min_side: int = 0) -> Any:
    """Return shapes of small arrays, empty ones among them."""
    return hnp.array_shapes(min_dims=min_dims, max_dims=max_dims, min_side=min_side, max_side=6)


def values(dtype: Any, shape: tuple[int, ...], *, nan: bool = True) -> st.SearchStrategy[Any]:
    """Return arrays of tame numbers, with ties and (if the type has it) nan."""
    dtype = np.dtype(dtype)
    elements: st.SearchStrategy[Any] = st.integers(0 if dtype.kind == "u" else -4, 5)
    if dtype.kind == "b":
        elements = st.booleans()
    elif dtype.kind in "fc":
        special = [st.just(np.nan)] if nan else []
        elements = st.one_of(st.integers(-4, 5), st.sampled_from([0.5, -1.25, 3.75]), *special)
    return hnp.arrays(dtype, shape, elements=elements)


@st.composite
def arrays_and_chunks(
    draw: Any,
    dtypes: Any = DTYPES,
    min_dims: int = 0,
    max_dims: int = 3,
    min_side: int = 0,
    *,
    nan: bool = True,
) -> tuple[Any, Any]:
    """Return an array and chunk sizes for it."""
    shape = draw(shapes(min_dims, max_dims, min_side))
    array = draw(values(draw(st.sampled_from(dtypes)), shape, nan=nan))
    return array, draw(chunkings(shape))


@contextmanager
def grids(*, merged: bool) -> Iterator[None]:
    """Run on the merged grid or on the user's own, every pass verified."""
    with option_context({"coalesce": merged, "verify": True}):
        yield


def assert_same(lazy: Any, expected: Any, rtol: float = 0.0) -> None:
    """Check a tensor against NumPy's array: values, type and shape, before and after running."""
    expected = np.asarray(expected)
    assert lazy.dtype == expected.dtype
    with np.errstate(all="ignore"):
        value = lazy.compute()
    assert np.asarray(value).dtype == expected.dtype
    assert np.shape(value) == expected.shape
    np.testing.assert_allclose(value, expected, rtol=rtol, atol=rtol)


def tensor_of(array: Any, chunks: Any) -> Any:
    """Return a tensor cut in explicit chunks."""
    return mt.tensor(array, chunks=chunks)
