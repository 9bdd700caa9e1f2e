"""Tensors from nothing equal NumPy's, element for element."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.sizes import UnknownShapeError
from tests.strategies import assert_same, chunkings, grids, shapes

RANGES: list[tuple[Any, ...]] = [
    (10,),
    (1, 10),
    (0, 1, 0.1),
    (0, 1000, 3),
    (5.0, 0, -0.7),
    (np.float32(0), np.float32(10), np.float32(0.3)),
    (0, 10, 2, "f4"),
    (5, 1),
    (2, 11, 4, "f2"),
    (0, 5, 1, "c16"),
    (0.1, 1e3, 0.1),
    (3, -4, -2),
    (0,),
    (10.5,),
    (5, None),
    (5, None, 2),
]


@pytest.mark.parametrize("args", RANGES)
@given(step=st.integers(1, 50))
def test_arange(args: tuple[Any, ...], step: int) -> None:
    """Every value is NumPy's exactly, since it comes from the formula of the whole range."""
    with grids(merged=False):
        assert_same(mt.arange(*args, chunk_size=step), np.arange(*args))


def test_arange_by_name_and_of_dates() -> None:
    """Named arguments and dates work; what is missing or given twice is refused."""
    assert_same(mt.arange(start=1, stop=9, step=2), np.arange(1, 9, 2))
    days = np.datetime64("2020-01-01"), np.datetime64("2020-02-01")
    assert mt.arange(*days).compute().tolist() == np.arange(*days).tolist()
    bad: dict[str, int]
    for bad in ({}, {"start": 1}):
        with pytest.raises(TypeError):
            mt.arange(**bad)
    with pytest.raises(TypeError):
        mt.arange(1, 2, stop=3)
    with pytest.raises(ZeroDivisionError):
        mt.arange(0, 5, 0)


@pytest.mark.parametrize("name", ["ones", "zeros"])
@given(data=st.data())
def test_constants(name: str, data: st.DataObject) -> None:
    """Constants of every shape, type and chunking."""
    shape = data.draw(shapes())
    dtype = data.draw(st.sampled_from(["f8", "i4", "?", "c8", "U3"]))
    chunks = data.draw(chunkings(shape))
    lazy = getattr(mt, name)(shape, dtype=dtype, chunk_size=chunks)
    expected = getattr(np, name)(shape, dtype=dtype)
    assert lazy.chunks == chunks
    assert lazy.dtype == expected.dtype
    assert np.array_equal(lazy.compute(), expected)


def test_full_and_its_likes() -> None:
    """``full`` takes the type of its value; the ``_like`` functions take shape, type and chunks."""
    assert_same(mt.full((2, 3), 7, chunk_size=2), np.full((2, 3), 7))
    assert_same(mt.full(3, [1, 2, 3]), np.full(3, [1, 2, 3]))
    assert_same(mt.full(3, 2, dtype="f4"), np.full(3, 2, dtype="f4"))
    like = mt.ones((4, 2), dtype="i4", chunk_size=3)
    for name in ("ones_like", "zeros_like"):
        lazy = getattr(mt, name)(like)
        assert lazy.chunks == like.chunks
        assert_same(lazy, getattr(np, name)(np.ones((4, 2), "i4")))
    assert_same(mt.full_like(like, 5), np.full((4, 2), 5, "i4"))
    assert mt.empty_like(like, shape=(2,)).shape == (2,)
    assert mt.empty((3, 2)).dtype == np.float64


@pytest.mark.parametrize(
    "call",
    [
        lambda x: mt.zeros(x.shape),
        lambda x: mt.random.normal(size=x.shape),
        lambda x: x.reshape(x.shape),
        lambda x: mt.polyfit(x, x, 1),
        lambda x: mt.linalg.svd_compressed(x[:, None], 1),
    ],
    ids=["zeros", "normal", "reshape", "polyfit", "svd"],
)
def test_where_a_length_is_needed_the_error_names_the_remedy(call: Any) -> None:
    """A length of nan is one that only running can tell."""
    x = mt.arange(5, chunk_size=2)
    with pytest.raises(UnknownShapeError, match=r"execute\(\)"):
        call(x[x > 2])


@pytest.mark.parametrize("k", [-9, -2, 0, 1, 8])
@pytest.mark.parametrize("name", ["eye", "tri"])
def test_matrices(name: str, k: int) -> None:
    """Diagonals run through all chunks."""
    expected = getattr(np, name)(7, 5, k)
    assert_same(getattr(mt, name)(7, 5, k, chunk_size=((3, 0, 4), (2, 3))), expected)


def test_grids_of_indices() -> None:
    """``indices``, ``meshgrid``, ``fromfunction`` and ``identity`` equal NumPy's."""
    assert_same(mt.indices((4, 3), chunk_size=2), np.indices((4, 3)))
    assert mt.indices((4, 3), chunks=(2, 3)).chunks == ((1, 1), (2, 2), (3,))
    assert_same(mt.indices((4, 3), chunks=(2, 3)), np.indices((4, 3)))
    second: Any = (2, 4)  # Dask has chunks here
    assert mt.eye(4, second).chunks == ((2, 2), (4,))
    second = "auto"
    assert_same(mt.eye(4, second), np.eye(4))
    for mine, other in zip(
        mt.indices((4, 3), sparse=True), np.indices((4, 3), sparse=True), strict=True
    ):
        assert_same(mine, other)
    for indexing in ("xy", "ij"):
        for sparse in (False, True):
            vectors: list[Any] = [np.arange(3), np.arange(4.0), np.arange(2)]
            grids_here = mt.meshgrid(*vectors, indexing=indexing, sparse=sparse)
            theirs: Any = np.meshgrid(*vectors, indexing=indexing, sparse=sparse)
            for a, b in zip(grids_here, theirs, strict=True):
                assert_same(a, b)
    assert_same(mt.fromfunction(np.hypot, (4, 5), chunk_size=3), np.fromfunction(np.hypot, (4, 5)))
    assert_same(mt.identity(3), np.identity(3))


def test_bad_arguments_are_refused_at_the_call() -> None:
    """Shapes, chunk sizes and words that mean nothing."""
    with pytest.raises(ValueError, match="negative"):
        mt.ones(-1)
    with pytest.raises(TypeError):
        mt.ones(2.5)
    with pytest.raises(TypeError, match="wat"):
        mt.ones(3, wat=1)
    with pytest.raises(TypeError, match="one of them"):
        mt.ones(3, chunk_size=1, chunks=1)
