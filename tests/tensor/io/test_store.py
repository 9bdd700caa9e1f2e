"""Tensors written into arrays, zarr arrays and HDF5 datasets."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same

X = np.arange(30.0).reshape(5, 6)


def tensor(chunks: Any = (2, 4)) -> Any:
    return mt.tensor(X, chunk_size=chunks)


@given(arrays_and_chunks(("f8", "i4")), st.booleans())
def test_store_fills_what_takes_slices(array_and_chunks: Any, masked: bool) -> None:
    """Whatever the chunks, and with lengths that nobody knows."""
    array, chunks = array_and_chunks
    lazy = mt.tensor(array, chunks=chunks)
    if masked and array.ndim:
        lazy = lazy[mt.tensor(np.ones(len(array), bool), chunk_size=2) > 0]
    target = np.zeros_like(array)
    assert mt.store(lazy, target) is None
    np.testing.assert_array_equal(target, array)


def test_several_tensors_and_regions() -> None:
    """In one computation; ``regions`` says where in the targets."""
    a, b = np.zeros((10, 12)), np.zeros((5, 6))
    region = (slice(1, 10, 2), slice(6, 12))
    mt.store([tensor(), tensor() + 1], [a, b], regions=[region, None], lock=False)
    np.testing.assert_array_equal(a[region], X)
    assert a.sum() == X.sum()
    np.testing.assert_array_equal(b, X + 1)
    tensor().store(a, regions=(slice(5), slice(6)), scheduler="sync")
    np.testing.assert_array_equal(a[:5, :6], X)


def test_storing_later_and_what_was_stored() -> None:
    """Dask's ``compute`` and ``return_stored``; writing again writes again."""
    target = np.zeros((5, 6))
    later = tensor().store(target, compute=False)
    assert not target.any()
    later.execute()
    np.testing.assert_array_equal(target, X)
    target[...] = 0
    tensor().store(target)
    np.testing.assert_array_equal(target, X)
    stored = tensor().store(target, return_stored=True)
    target[0, 0] = 7
    assert stored[0, 0].compute() == 7
    other = np.zeros((5, 6))
    both = mt.store([tensor(), tensor()], [target, other], compute=False, return_stored=True)
    assert_same(both[0] + both[1], 2 * X)
    mt.store(tensor(), dask.delayed(lambda: other)())


@pytest.mark.parametrize(
    ("args", "options", "match"),
    [
        ((X, X), {}, "tensors"),
        (([tensor()], [X, X]), {}, "Different number"),
        (([tensor()], [X]), {"regions": [None, None]}, "regions"),
        ((tensor(), np.zeros((5, 5))), {}, "shape"),
        ((tensor(), np.zeros((5, 6))), {"regions": (slice(2), slice(6))}, "shape"),
        ((tensor(), np.zeros((5, 6))), {"regions": (1, 2)}, "slices"),
        ((tensor(), np.zeros((5, 6))), {"regions": (slice(-5, None),)}, "start"),
    ],
)
def test_what_does_not_fit_is_refused_at_the_call(args: Any, options: Any, match: str) -> None:
    """With the numbers."""
    with pytest.raises(ValueError, match=match):
        mt.store(*args, **options)
