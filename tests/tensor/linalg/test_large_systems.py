"""Matrices factored in panels: LAPACK's factors, and errors within its bounds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.collection import wrap
from marsdask.tensor import linalg
from marsdask.tensor.linalg import blocked_lu
from marsdask.tensor.operands import as_node
from tests.strategies import chunkings
from tests.tensor.stages import first_graph

RNG = np.random.default_rng(0)
MATRIX = RNG.normal(size=(11, 11))
POSITIVE = MATRIX @ MATRIX.T + np.eye(11)


@pytest.fixture(autouse=True)
def _panels_of_three_columns(monkeypatch):
    monkeypatch.setattr(blocked_lu, "SMALL_MATRIX", 0)
    monkeypatch.setattr(blocked_lu, "WIDTH", 3)


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


@given(data=st.data())
def test_factors_are_lapacks(data):
    """The pivots are those of whole columns, so the factors are the same; of any shape and cut."""
    for x in (MATRIX, MATRIX[:, :7], MATRIX[:7], MATRIX.astype("f4"), MATRIX + 1j * MATRIX.T):
        chunks = data.draw(chunkings(x.shape))
        tolerance = 1e-4 if x.itemsize < 8 else 1e-12
        for lazy, expected in zip(linalg.lu(tensor(x, chunks)), scipy.linalg.lu(x), strict=True):
            assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(lazy.compute(), expected, atol=tolerance)
    lower = linalg.cholesky(tensor(POSITIVE, data.draw(chunkings(MATRIX.shape))))
    np.testing.assert_allclose(lower.compute(), np.linalg.cholesky(POSITIVE), atol=1e-12)


@given(data=st.data())
def test_systems(data):
    """Solutions, inverses and determinants, from whatever chunks; equal operands too."""
    a = tensor(MATRIX, data.draw(chunkings(MATRIX.shape)))
    positive = tensor(POSITIVE + 0j, data.draw(chunkings(MATRIX.shape)))
    for b in (RNG.normal(size=11), RNG.normal(size=(11, 4)), MATRIX):
        right = tensor(b, data.draw(chunkings(b.shape)))
        found = linalg.solve(a, a if b is MATRIX else right).compute()
        np.testing.assert_allclose(found, np.linalg.solve(MATRIX, b), atol=1e-10)
        found = linalg.solve(positive, right, assume_a="pos").compute()
        np.testing.assert_allclose(found, np.linalg.solve(POSITIVE, b), atol=1e-10)
    inverse = linalg.inv(a)
    assert inverse.chunks == a.chunks
    np.testing.assert_allclose(inverse.compute(), np.linalg.inv(MATRIX), atol=1e-10)
    np.testing.assert_allclose(linalg.det(a).compute(), np.linalg.det(MATRIX))
    for x in (a, positive):
        for lazy, one in zip(linalg.slogdet(x), np.linalg.slogdet(x.compute()), strict=True):
            np.testing.assert_allclose(lazy.compute(), one)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit_diagonal", [True, False])
def test_triangles(lower, unit_diagonal):
    """Substitution, from either side, a panel at a time."""
    options = {"lower": lower, "unit_diagonal": unit_diagonal}
    for trans in (0, 1):
        found = linalg.solve_triangular(tensor(POSITIVE, 4), MATRIX[0], trans=trans, **options)
        expected = scipy.linalg.solve_triangular(POSITIVE, MATRIX[0], trans=trans, **options)
        np.testing.assert_allclose(found.compute(), expected)


@pytest.mark.parametrize("kind", ["random", "graded", "wilkinson"])
def test_the_backward_error_is_within_the_bound(kind):
    """LU and the solution are exact for a matrix within n eps and the growth factor (Higham, 9.3).

    Wilkinson's matrix has the largest growth there is, 2 ** (n - 1).
    """
    n = 30
    x = RNG.normal(size=(n, n))
    if kind == "graded":
        x = np.logspace(0, -12, n)[:, np.newaxis] * x
    elif kind == "wilkinson":
        x = np.tril(-np.ones((n, n)), -1) + np.eye(n)
        x[:, -1] = 1
    p, lower, upper = (item.compute() for item in linalg.lu(tensor(x, 7)))
    eps = np.finfo(float).eps
    error = np.abs(p @ lower @ upper - x)
    assert np.all(error <= 2 * n * eps * (p @ np.abs(lower) @ np.abs(upper)))
    assert np.abs(lower).max() == 1
    b = RNG.normal(size=n)
    found = linalg.solve(tensor(x, 7), b).compute()
    growth = np.abs(upper).max() / np.abs(x).max()
    bound = 3 * n**2 * eps * growth * np.abs(x).max() * np.abs(found).sum()
    assert np.abs(x @ found - b).max() <= bound


def test_matrices_without_an_inverse():
    """A pivot of zero is an error of solutions, and a determinant of zero."""
    singular = tensor(np.outer(np.arange(11.0), np.ones(11)), 4)
    for lazy in (linalg.solve(singular, np.ones(11)), linalg.inv(singular)):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            lazy.compute()
    assert linalg.det(singular).compute() == 0
    assert [item.compute() for item in linalg.slogdet(singular)] == [0, -np.inf]
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        linalg.cholesky(tensor(-POSITIVE, 4)).compute()


@pytest.mark.parametrize("count", [4, 8])
def test_the_graph_of_a_solution(count):
    """Tasks: half the square of the panels for the factors, and two a panel for the solution."""
    n = 3 * count
    graph = first_graph(linalg.solve(tensor(RNG.normal(size=(n, n)), n), np.ones(n)))
    assert len(graph) <= count * (count + 1) / 2 + 2 * count + count + 4
