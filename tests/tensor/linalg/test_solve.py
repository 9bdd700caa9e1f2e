"""Solutions and functions of matrices equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.collection import wrap
from marsdask.tensor import linalg
from marsdask.tensor.operands import as_node
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
STACK = RNG.normal(size=(3, 4, 4))
POSITIVE = STACK @ STACK.transpose(0, 2, 1) + 4 * np.eye(4)


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "slogdet"])
@given(data=st.data())
def test_functions_of_matrices(name, data):
    """Single matrices and stacks, however they are cut."""
    for x in (POSITIVE, POSITIVE[0], POSITIVE.astype("f4"), POSITIVE[0, :0, :0]):
        found = getattr(linalg, name)(tensor(x, data.draw(chunkings(x.shape))))
        expected = getattr(np.linalg, name)(x)
        pairs = zip(found, expected, strict=True) if name == "slogdet" else [(found, expected)]
        for lazy, one in pairs:
            assert (lazy.shape, lazy.dtype) == (np.shape(one), np.asarray(one).dtype)
            np.testing.assert_allclose(lazy.compute(), one, rtol=1e-3)


@given(data=st.data())
def test_systems(data):
    """One right side and several, stacks that broadcast, and positive definite matrices."""
    for a, b in (
        (STACK[0], RNG.normal(size=4)),
        (STACK[0], RNG.normal(size=(4, 3)).astype("f4")),
        (STACK, RNG.normal(size=(4, 2))),
        (STACK[:1], RNG.normal(size=(3, 4, 2))),
        (POSITIVE[0], POSITIVE[0]),
    ):
        left, right = (tensor(x, data.draw(chunkings(x.shape))) for x in (a, b))
        lazy, expected = linalg.solve(left, right), np.linalg.solve(a, b)
        assert (lazy.shape, lazy.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-4)
    found = linalg.solve(tensor(POSITIVE[0], 3), np.ones(4), sym_pos=True)
    np.testing.assert_allclose(found.compute(), np.linalg.solve(POSITIVE[0], np.ones(4)))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("trans", [0, 1, "C"])
def test_triangles(lower, trans):
    """Only the triangle asked for is read."""
    for a, b in ((STACK[0] + 1j, RNG.normal(size=4)), (STACK[1], RNG.normal(size=(4, 3)))):
        options = {"lower": lower, "trans": trans, "unit_diagonal": b.ndim == 1}
        found = linalg.solve_triangular(tensor(a, 3), tensor(b, 2), **options)
        np.testing.assert_allclose(found.compute(), scipy.linalg.solve_triangular(a, b, **options))


@given(data=st.data())
def test_factors_with_pivots(data):
    """P, L and U are SciPy's, of any shape."""
    for x in (STACK[0], STACK[0, :2], STACK[:, :2], RNG.normal(size=(5, 3))):
        lazy = linalg.lu(tensor(x, data.draw(chunkings(x.shape))))
        for factor, expected in zip(lazy, scipy.linalg.lu(x), strict=True):
            assert (factor.shape, factor.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(factor.compute(), expected, atol=1e-12)


def test_the_upper_triangle():
    """With lower=False, or upper=True, the triangle is the other one, and only that one is read."""
    for options in ({"lower": False}, {"upper": True}):
        for matrix in (POSITIVE[0], np.triu(POSITIVE[0])):
            upper = linalg.cholesky(tensor(matrix, 2), **options)
            np.testing.assert_allclose(upper.compute(), np.linalg.cholesky(POSITIVE[0]).T)


def test_wrong_shapes_are_refused_at_the_call():
    """Matrices that are not square or do not fit are refused."""
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.inv(tensor(np.ones((2, 3))))
    with pytest.raises(np.linalg.LinAlgError, match="two-dimensional"):
        linalg.det(tensor(np.ones(3)))
    with pytest.raises(ValueError, match=r"core dimension 0.*shapes \(3,3\) \(2,\)"):
        linalg.solve(tensor(np.eye(3)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="0-dimensional"):
        linalg.solve(tensor(np.eye(3)), 1.0)
    with pytest.raises(ValueError, match="assume_a"):
        linalg.solve(tensor(np.eye(3)), np.ones(3), assume_a="banded")
    with pytest.raises(ValueError, match="trans"):
        linalg.solve_triangular(tensor(np.eye(3)), np.ones(3), trans=3)
    with pytest.raises(TypeError, match="float16"):
        linalg.inv(tensor(np.eye(3, dtype="f2")))


def test_singular_matrices_are_refused_when_they_are_met():
    """Whether a matrix is singular, only its values tell."""
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        linalg.solve(tensor(np.ones((3, 3)), 2), np.ones(3)).compute()
    assert linalg.det(tensor(np.ones((3, 3)), 2)).compute() == 0
