"""Sparse tensors equal SciPy's sparse arrays, and stay sparse where zeros stay zeros."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from tests.strategies import chunkings, grids

Case = tuple[Any, Any]

#: What is made of two matrices of one shape, and whether the result is sparse.
PAIRS: list[tuple[Callable[..., Any], bool]] = [
    (operator.add, True),
    (operator.sub, True),
    (operator.mul, True),
    (np.maximum, True),
    (operator.ne, True),
    (operator.ge, False),
    (lambda a, b: a.T @ b, True),
    (lambda a, b: np.tensordot(a, b, axes=([1], [1])), True),
    (lambda a, b: np.concatenate([a, b]), True),
    (lambda a, b: np.concatenate([a, b], axis=1), True),
    (lambda a, b: np.vstack([a, b]), True),
    (lambda a, b: np.sin(a * 2) - b, True),
    (lambda a, b: (a * b).sum(axis=0, keepdims=True), False),
]
#: What is made of one matrix.
SINGLE: list[tuple[Callable[..., Any], bool]] = [
    (np.sin, True),
    (np.cos, False),
    (operator.neg, True),
    (lambda a: a * 3 / 2, True),
    (lambda a: a + 1, False),
    (lambda a: a**2, True),
    (lambda a: a.astype("c16"), True),
    (lambda a: a.copy().T, True),
    (lambda a: a[::-1, 1:], True),
    (lambda a: a[0], True),
    (lambda a: np.tril(a, 1), True),
    (np.triu, True),
    (lambda a: np.repeat(a, 2, axis=1), True),
    (lambda a: np.repeat(a[0], 3, axis=0), True),
    (lambda a: np.repeat(a, 2), False),
    (np.zeros_like, True),
    (lambda a: np.array_split(a, 2, axis=1)[0], True),
    (lambda a: a[:, -1], True),
    (lambda a: a[0, 0], False),
    (lambda a: a[None], False),
    (lambda a: a[[0, -1]], True),
    (lambda a: a[:, [0, -1, 0]], True),
    (lambda a: a[[0, -1], [-1, 0]], True),
    (lambda a: a[0][[-1, 0]], True),
    (lambda a: a[1:, [0]][:, 0], True),
    (lambda a: a[[[0, -1]]], False),
    (lambda a: a[None, [0]], False),
    (lambda a: np.take(a, [0, 5], axis=1, mode="wrap"), True),
    (lambda a: np.compress([True], a, axis=0), True),
    (lambda a: a[a != 0], True),
    (lambda a: a[a[:, 0] != 0], True),
    (lambda a: a[0, a[0] == 0], True),
    (lambda a: a[0] @ a.T, True),
    (lambda a: np.arange(a.shape[0]) @ a, False),
    (lambda a: np.outer(a, a), False),
    (lambda a: a.sum(), False),
    (lambda a: a.sum(axis=1), False),
    (lambda a: a.mean(axis=0), False),
    (lambda a: a.max(axis=0), False),
    (lambda a: a.std(), False),
    (lambda a: np.sort(a, axis=0), False),
    (lambda a: np.cumsum(a, axis=1), False),
    (np.unique, False),
    (lambda a: np.modf(a.real / 2)[1], True),
    (lambda a: np.frexp(a.real)[0], True),
    (lambda a: np.frexp(a.real)[1], True),
    (lambda a: np.divmod(a.real, 2)[0], True),
]


@st.composite
def matrices(draw: Any, count: int) -> list[tuple[Any, Any]]:
    """Return matrices of one shape with many zeros, and sparse tensors of them."""
    shape = draw(hnp.array_shapes(min_dims=2, max_dims=2, max_side=5))
    dtype = draw(st.sampled_from(["f8", "f4", "i8", "c16"]))
    found = []
    for _ in range(count):
        array = draw(hnp.arrays(dtype, shape, elements=st.sampled_from([0, 0, 0, 1, -2, 3])))
        chunks = draw(chunkings(shape))
        whole = draw(st.booleans())
        made = mt.tensor(scipy.sparse.csr_array(array), chunks=chunks)
        found.append((array, made if whole else mt.tensor(array, chunks=chunks).tosparse()))
    return found


def assert_same(lazy: Any, expected: Any, sparse: bool) -> None:
    """Check values, type, shape and kind of blocks."""
    assert lazy.issparse() == sparse
    assert lazy.dtype == np.asarray(expected).dtype
    found = lazy.compute()
    assert scipy.sparse.issparse(found) == sparse
    if sparse:
        assert isinstance(found, scipy.sparse.csr_array)
        assert np.all(found.data != 0)
        found = found.toarray()
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("case", range(len(PAIRS)))
@given(data=st.data())
def test_two_matrices(case: int, data: st.DataObject) -> None:
    """Operators, products and joins equal NumPy's; one dense operand makes most results dense."""
    func, sparse = PAIRS[case]
    (a, first), (b, second) = data.draw(matrices(2))
    with np.errstate(all="ignore"), grids(merged=data.draw(st.booleans())):
        expected = func(a, b)
        assert_same(func(first, second), expected, sparse)
        assert_same(func(first.todense(), second.todense()), expected, sparse=False)
        mixed = func(first, second.todense())
        np.testing.assert_allclose(np.asarray(mixed), expected, rtol=1e-5)


@pytest.mark.parametrize("case", range(len(SINGLE)))
@given(data=st.data())
def test_one_matrix(case: int, data: st.DataObject) -> None:
    """Functions, slices and reductions equal NumPy's, and are sparse where zeros stay zeros."""
    func, sparse = SINGLE[case]
    ((a, lazy),) = data.draw(matrices(1))
    with np.errstate(all="ignore"), grids(merged=data.draw(st.booleans())):
        try:
            expected = func(a)
        except TypeError:
            with pytest.raises(TypeError):
                func(lazy)
            return
        assert_same(func(lazy), expected, sparse)


def test_errstate_changes_no_kind() -> None:
    """A product with a dense tensor is sparse, whatever NumPy does with floating-point errors."""
    sparse, whole = mt.eye(3, sparse=True), mt.ones((3, 3))
    with np.errstate(all="ignore"):
        assert_same(sparse * whole, np.eye(3), sparse=True)
    assert_same(sparse * whole, np.eye(3), sparse=True)


@given(data=st.data())
def test_chunks_are_cut_anew(data: st.DataObject) -> None:
    """``rechunk`` keeps blocks sparse."""
    ((a, lazy),) = data.draw(matrices(1))
    assert_same(lazy.rechunk(data.draw(chunkings(a.shape))), a, sparse=True)


def test_fetch_gives_scipys_type() -> None:
    """What was executed is SciPy's, and says so; NumPy's functions see an array."""
    array = scipy.sparse.eye_array(4, format="csr")
    lazy = mt.tensor(array, chunk_size=3).execute()
    assert isinstance(lazy.fetch(), scipy.sparse.csr_array)
    assert "Compressed Sparse Row" in repr(lazy)
    assert "(0, 0)" in str(lazy)
    np.testing.assert_array_equal(np.asarray(lazy), np.eye(4))
    np.testing.assert_array_equal(np.asarray(array + lazy), 2 * np.eye(4))
    lazy[0, 0] = 5
    assert not lazy.issparse()
    assert lazy[0, 0].compute() == 5


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: mt.eye(4, k=1, sparse=True, chunk_size=3), np.eye(4, k=1)),
        (lambda: mt.identity(3, sparse=True), np.eye(3)),
        (lambda: mt.zeros((3, 2), sparse=True, chunk_size=2), np.zeros((3, 2))),
        (lambda: mt.diag(mt.arange(3, chunk_size=2), sparse=True), np.diag(np.arange(3))),
        (lambda: mt.diagflat([1, 2], 1, sparse=True), np.diagflat([1, 2], 1)),
        (lambda: mt.tensor([[0, 1], [2, 0]], sparse=True), np.array([[0, 1], [2, 0]])),
        (lambda: mt.fromdense(np.eye(2)), np.eye(2)),
        (lambda: mt.tensor([[7, 1], [2, 7]]).tosparse(missing=7), np.array([[0, 1], [2, 0]])),
        (lambda: mt.tensor([np.nan, 1]).tosparse(missing=np.nan), np.array([0.0, 1])),
    ],
    ids=range(9),
)
def test_making(make: Callable[[], Any], expected: Any) -> None:
    """``sparse=True``, ``tosparse`` and SciPy's arrays make sparse tensors."""
    assert_same(make(), expected, sparse=True)


def test_what_is_not_stored_may_stand_for_something() -> None:
    """``todense(fill_value)`` fills the gaps."""
    lazy = mt.tensor([[0, 1], [2, 0]], sparse=True)
    assert lazy.todense(fill_value=0.5).compute().tolist() == [[0.5, 1], [2, 0.5]]
    assert mt.fromsparse(lazy, fill_value=9).compute().tolist() == [[9, 1], [2, 9]]
    assert mt.tensor([1]).todense().compute().tolist() == [1]
    assert lazy.tosparse() is lazy


def test_more_axes_are_refused() -> None:
    """Sparse blocks are vectors and matrices."""
    with pytest.raises(NotImplementedError, match="dimensions are not supported"):
        mt.ones((2, 2, 2)).tosparse()


def test_large_sparse_arrays_are_cut_by_what_they_store() -> None:
    """A matrix too large to be dense costs what it stores, not what it spans."""
    diagonal = scipy.sparse.eye_array(200_000, format="csr")
    lazy = mt.tensor(diagonal)
    assert lazy.numblocks == (1, 1)
    assert (lazy * 2 + lazy).sum().compute() == 600_000


def test_kernels_meet_sparse_blocks_only_if_they_say_so() -> None:
    """A function that knows nothing of sparse blocks is given arrays."""
    kinds = []

    def look(block: Any) -> Any:
        kinds.append(type(block))
        return block

    lazy = mt.eye(4, sparse=True, chunk_size=2)
    mt.map_blocks(look, lazy, dtype=float).compute()
    assert set(kinds) == {np.ndarray}


@pytest.mark.parametrize("dtype", ["c16", "f8"])
@pytest.mark.parametrize("value", [9, [9, 0, 7], 0])
def test_parts_of_numbers_are_assigned(dtype, value):
    """Real parts of all elements, and imaginary ones where there are any; it stays sparse."""
    array = np.array([[1, 3, 0], [0, 0, 0]], dtype)
    for part in ("real", "imag"):
        sparse, expected = mt.tensor(scipy.sparse.csr_array(array), chunk_size=2), array.copy()
        if (part, dtype) == ("imag", "f8"):
            with pytest.raises(TypeError, match="imaginary part"):
                sparse.imag = value
            continue
        setattr(sparse, part, value)
        setattr(expected, part, value)
        assert sparse.issparse()
        np.testing.assert_array_equal(sparse.execute().fetch().toarray(), expected)


def test_sums_of_many_stay_sparse():
    """As those of two."""
    arrays = [scipy.sparse.random_array((5, 4), density=0.3, rng=seed) for seed in range(3)]
    lazy = [mt.tensor(array, chunk_size=2) for array in arrays]
    for func, expected in (
        (mt.tree_add, sum(array.toarray() for array in arrays)),
        (mt.tree_multiply, np.multiply.reduce([array.toarray() for array in arrays])),
    ):
        assert func(*lazy).issparse()
        np.testing.assert_allclose(func(*lazy).compute().toarray(), expected)


@pytest.mark.parametrize("call", [mt.add, mt.multiply, mt.matmul])
def test_dense_outputs_stay_dense(call):
    """In their memory order, whatever they are given."""
    sparse = mt.tensor(np.eye(2), chunk_size=1).tosparse()
    out = mt.zeros((2, 2), order="F", chunk_size=1)
    call(sparse, sparse, out=out)
    assert not out.issparse()
    assert out.order == out.order.value == "F"
    expected = {mt.add: np.eye(2) * 2}.get(call, np.eye(2))
    np.testing.assert_array_equal(out.compute(), expected)
    out *= sparse
    assert not out.issparse()
