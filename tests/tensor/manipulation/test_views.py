"""A tensor's elements in a row, and their bytes as other types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


def test_flat() -> None:
    """Elements in C order: read, assigned to, iterated over."""
    x: Any = np.arange(12).reshape(3, 4)
    lazy = mt.tensor(x.copy(), chunk_size=2)
    before = lazy + 0
    assert_same(lazy.flat[5:8], x.flat[5:8])
    assert [int(item) for item in lazy.flat][:3] == [0, 1, 2]
    for key, value in ((3, 50), (slice(4, 9), [1, 2]), ([0, -1], 9), ([1, 2], [7, 8])):
        lazy.flat[key] = value
        x.flat[key] = value
        assert_same(lazy, x)
    for several in ([1.5, 2], [7]):
        lazy.flat[(lazy > 4).ravel()] = several
        x.flat[(x > 4).ravel()] = several
        assert_same(lazy, x)
    lazy.flat = [1, 2, 3]
    x.flat = [1, 2, 3]
    assert_same(lazy, x)
    assert_same(before, np.arange(12).reshape(3, 4))
    assert len(lazy.flat) == 12
    assert lazy.flat.base is lazy


@pytest.mark.parametrize("chunks", [((2, 1), (8,)), ((3,), (1, 3, 4)), ((1, 1, 1), (4, 4))])
@pytest.mark.parametrize("dtype", ["f4", "i8", "u1", "i2", "c16", "u4"])
def test_bytes_as_another_type(dtype: str, chunks: Any) -> None:
    """Wider, narrower and equally wide."""
    x = np.random.default_rng(0).integers(0, 2**31, (3, 8), dtype="i4")
    assert_same(mt.tensor(x, chunks=chunks).view(dtype), x.view(dtype))


def test_views_that_cannot_be() -> None:
    """NumPy's errors; without a type there is nothing to do."""
    with pytest.raises(ValueError, match="last axis"):
        mt.ones((2, 3), dtype="f4").view("f8")
    with pytest.raises(ValueError, match="0d"):
        mt.tensor(1.0).view("f4")
    assert_same(mt.ones(3).view(), np.ones(3))


def test_bytes_turned_around() -> None:
    """A copy, or in place."""
    x = np.arange(5, dtype="i4")
    lazy = mt.tensor(x, chunk_size=2)
    assert_same(lazy.byteswap(), x.byteswap())
    lazy.byteswap(inplace=True)
    assert_same(lazy, x.byteswap())


def test_methods_in_place() -> None:
    """Fill, put, resize and the operator of products."""
    lazy, x = mt.ones((3, 3), chunk_size=2), np.ones((3, 3))
    lazy.put([0, 4], [5, 6])
    x.put([0, 4], [5, 6])
    assert_same(lazy, x)
    lazy @= lazy
    x @= x
    assert_same(lazy, x)
    lazy.resize((2, 6))
    assert_same(lazy, np.r_[x.ravel(), 0, 0, 0].reshape(2, 6))
    lazy.resize(2, 2)
    assert_same(lazy, x.ravel()[:4].reshape(2, 2))
    lazy.fill(7)
    assert_same(lazy, np.full((2, 2), 7.0))
    assert_same(mt.tensor([0, 1]).choose([[5, 6], [7, 8]]), [5, 8])
    assert_same(mt.arange(5, chunk_size=2).searchsorted([2, 3]), [2, 3])
    assert lazy.flags.c_contiguous


def test_bytes_of_the_first_axis() -> None:
    """Dask's ``order="F"``: what follows an element is the next of its column."""
    x = np.asfortranarray(np.arange(48).reshape(8, 6))
    lazy = mt.tensor(x, chunk_size=(2, 3))
    for dtype in ("i4", "i2", "f8"):
        assert_same(lazy.view(dtype, order="F"), x.T.view(dtype).T)
    with pytest.raises(ValueError, match="'C' or 'F'"):
        lazy.view("i4", order="A")
