"""Patterns of elements: diagonals and triangles."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, chunkings, grids, tensor_of

PATTERNS = {
    "tril": lambda xp, a: xp.tril(a),
    "triu": lambda xp, a: xp.triu(a, -1),
    "tril of a vector": lambda xp, a: xp.tril(a[0], 1),
    "diag": lambda xp, a: xp.diag(a, 1),
    "diag below": lambda xp, a: xp.diag(a, -2),
    "diag of a vector": lambda xp, a: xp.diag(a[0]),
    "diag above": lambda xp, a: xp.diag(a[0], 2),
    "diagflat": lambda xp, a: xp.diagflat(a, -1),
    "diagonal": lambda xp, a: a.diagonal(1),
    "diagonal axes": lambda xp, a: xp.diagonal(xp.expand_dims(a, 1), 0, 0, 2),
    "trace": lambda xp, a: xp.trace(a),
}


@pytest.mark.parametrize("name", PATTERNS)
@given(case=arrays_and_chunks(dtypes=("i8", "f4"), min_dims=2, max_dims=2, min_side=1))
def test_patterns_are_numpys(name, case):
    """Each function gives NumPy's values over any chunks."""
    array, chunks = case
    assert_same(PATTERNS[name](mt, tensor_of(array, chunks)), PATTERNS[name](np, array))


@pytest.mark.parametrize("merged", [True, False])
@given(data=st.data())
def test_take_along_axis(data, merged):
    """Each line is chosen from by its own positions."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i8",), min_dims=1, min_side=1))
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    where = np.argsort(array, axis=axis)[..., :]
    x, w = tensor_of(array, chunks), tensor_of(where, data.draw(chunkings(where.shape)))
    with grids(merged=merged):
        assert_same(mt.take_along_axis(x, w, axis), np.take_along_axis(array, where, axis))
    one = np.zeros((1,) * array.ndim, int)
    assert_same(mt.take_along_axis(x, one, axis), np.take_along_axis(array, one, axis))


def test_triangles_of_unknown_length():
    """Those of a filtered array are cut when it is known."""
    x = mt.arange(10, chunk_size=3)
    assert_same(mt.tril(mt.ones((4, 2), chunk_size=3)[x[:4] > 1]), np.tril(np.ones((2, 2))))


BAD = {
    "tril": lambda x: mt.tril(x.sum()),
    "diag": lambda x: mt.diag(x.sum()),
    "diagonal": lambda x: mt.diagonal(x[0]),
    "take": lambda x: mt.take_along_axis(x, mt.zeros(3, dtype=int), 0),
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_refused_at_the_call(name):
    """Each is a ValueError before anything runs."""
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy's texts are many
        BAD[name](mt.ones((3, 4), chunk_size=2))


@given(data=st.data())
def test_diagonals_are_cut_where_they_enter_a_block(data):
    """Of any chunks and any offset; those of sparse tensors are sparse."""
    shape = tuple(data.draw(st.lists(st.integers(0, 6), min_size=2, max_size=3)))
    array = np.arange(math.prod(shape)).reshape(shape) % 3
    x = tensor_of(array, data.draw(chunkings(shape)))
    offset = data.draw(st.integers(-7, 7))
    first, second = data.draw(st.permutations(range(len(shape))))[:2]
    found = mt.diagonal(x, offset, first, second)
    expected = np.diagonal(array, offset, first, second)
    assert found.shape == expected.shape
    assert np.array_equal(found.compute(), expected)
    if len(shape) == 2 and array.size:
        sparse = mt.diagonal(x.tosparse(), offset)
        assert sparse.issparse()
        assert np.array_equal(sparse.compute().toarray(), np.diagonal(array, offset))


def test_the_diagonal_of_a_huge_tensor_is_no_list():
    """Only where it enters another block is made out, and only what is wanted computed."""
    x = mt.arange(10**8, chunk_size=10**6)[:, None] + mt.zeros((1, 10**8), "i1", chunk_size=10**7)
    found = mt.diagonal(x, 5)
    assert found.shape == (10**8 - 5,)
    assert 100 < found.npartitions < 300
    assert found[10**7 : 10**7 + 2].node.chunks == ((2,),)
    assert len(pickle.dumps(found)) < 10_000


def test_texts_are_put_on_a_diagonal():
    """Beside them stands what NumPy has for zero: nothing."""
    texts = np.array(["a", "bb"])
    np.testing.assert_array_equal(mt.diag(mt.tensor(texts), 1).compute(), np.diag(texts, 1))
