"""Eigenvalues, and what singular values tell, equal NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor import linalg
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
TALL = RNG.normal(size=(12, 4))
DEFICIENT = TALL[:, [0, 1, 2, 0]]


def test_eigenvalues_of_any_matrix():
    """They are complex whatever their values, and the vectors belong to them."""
    for x in (TALL[:4], TALL[:4].astype("f4"), TALL[:4] + TALL[:4].T):
        values, vectors = linalg.eig(mt.tensor(x, chunk_size=3)).compute()
        assert values.dtype == vectors.dtype == np.result_type(x, np.complex64)
        np.testing.assert_allclose(x @ vectors, vectors * values, atol=1e-5)
        found = linalg.eigvals(mt.tensor(x, chunk_size=3)).compute()
        np.testing.assert_allclose(np.sort(found), np.sort(values), rtol=1e-5)


@given(data=st.data())
def test_least_squares(data):
    """Tall, wide and dependent columns; one right side and several; complex numbers."""
    for a, b in (
        (TALL, RNG.normal(size=12)),
        (TALL + 1j, RNG.normal(size=(12, 3))),
        (TALL.T, RNG.normal(size=4)),
        (DEFICIENT, RNG.normal(size=(12, 2))),
    ):
        left, right = (mt.tensor(x, chunks=data.draw(chunkings(x.shape))) for x in (a, b))
        found, expected = linalg.lstsq(left, right), np.linalg.lstsq(a, b)
        for i in (0, 2, 3) if a is DEFICIENT else range(4):
            assert found[i].shape == np.shape(expected[i])
            assert found[i].dtype == np.asarray(expected[i]).dtype
            np.testing.assert_allclose(found[i].compute(), expected[i], atol=1e-10)


@given(data=st.data())
def test_ranks_conditions_and_pseudo_inverses(data):
    """Of tall and wide matrices, with and without a limit of one's own."""
    for x in (TALL, TALL.T, DEFICIENT, np.zeros((3, 2))):
        t = mt.tensor(x, chunks=data.draw(chunkings(x.shape)))
        limits: list[dict[str, Any]] = [{}, {"tol": 1e-3}, {"rtol": 0.5}]
        for options in limits:
            assert linalg.matrix_rank(t, **options).compute() == np.linalg.matrix_rank(x, **options)
        limits = [{}, {"rcond": 0.5}, {"rtol": None}]
        for options in limits:
            found = linalg.pinv(t, **options).compute()
            np.testing.assert_allclose(found, np.linalg.pinv(x, **options), atol=1e-10)
    t = mt.tensor(TALL, chunks=data.draw(chunkings(TALL.shape)))
    for p in (None, 2, -2):
        np.testing.assert_allclose(linalg.cond(t, p).compute(), np.linalg.cond(TALL, p))


@given(data=st.data())
def test_pseudo_inverses_of_stacks_have_a_limit_each(data):
    """``rtol`` is one for each matrix, whatever the chunks; an array API program gives it so."""
    x = RNG.normal(size=(4, 3, 2)) + 1j * RNG.normal(size=(4, 3, 2))
    for stack in (x, x[:, :2], x.real, x[:0]):
        limits = np.linspace(0.01, 0.9, len(stack))
        t = mt.tensor(stack, chunks=data.draw(chunkings(stack.shape)))
        expected = np.linalg.pinv(stack, rtol=limits)
        for rtol in (limits, mt.tensor(limits, chunk_size=3)):
            found = linalg.pinv(t, rtol=rtol)
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found.compute(), expected, atol=1e-10)
    square = x[:, :2] + x[:, :2].conj().mT
    found = linalg.pinv(mt.tensor(square), hermitian=True, rtol=np.full(4, 1e-9))
    np.testing.assert_allclose(found.compute(), np.linalg.pinv(square), atol=1e-10)


def test_wrong_arguments_are_refused_at_the_call():
    """Sides, pairs of limits and empty matrices."""
    t = mt.tensor(np.eye(3))
    with pytest.raises(ValueError, match="UPLO"):
        linalg.eigh(t, "X")
    with pytest.raises(ValueError, match="both"):
        linalg.matrix_rank(t, tol=1, rtol=1)
    with pytest.raises(ValueError, match="both"):
        linalg.pinv(t, 1, rtol=1)
    with pytest.raises(np.linalg.LinAlgError, match="empty"):
        linalg.cond(mt.tensor(np.ones((0, 2))))
    with pytest.raises(np.linalg.LinAlgError, match="Incompatible"):
        linalg.lstsq(mt.tensor(np.ones((3, 2))), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.eig(mt.tensor(np.ones((3, 2))))


def test_conditions_of_singular_matrices():
    """Are infinite, also where nothing is divided by nothing."""
    x = np.stack([np.zeros((2, 2)), np.ones((2, 2)), np.eye(2)])
    for p in (None, 2, -2):
        with np.errstate(all="ignore"):
            expected = np.linalg.cond(x, p)
        np.testing.assert_allclose(linalg.cond(mt.tensor(x), p).compute() > 1e15, expected > 1e15)
    assert np.isinf(linalg.cond(mt.zeros((2, 2))).compute())


def test_least_squares_of_which_one_side_is_known():
    """Rows chosen by one mask fit together, whichever of the two has been executed."""
    x, y = np.arange(24.0).reshape(8, 3) ** 1.5, np.arange(8.0)
    chosen = mt.tensor(y, chunk_size=3) > 1
    rows, sides = mt.tensor(x, chunk_size=3)[chosen], mt.tensor(y, chunk_size=3)[chosen]
    assert len(rows) == 6
    expected = np.linalg.lstsq(x[2:], y[2:])[0]
    assert np.allclose(mt.linalg.lstsq(rows, sides)[0].compute(), expected)
