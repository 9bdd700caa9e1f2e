"""Solutions and functions of matrices equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.collection import wrap
from marsdask.tensor import linalg
from marsdask.tensor.base import as_node
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
STACK = RNG.normal(size=(3, 4, 4))
POSITIVE = STACK @ STACK.transpose(0, 2, 1) + 4 * np.eye(4)


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


@pytest.mark.parametrize("name", ["inv", "det", "cholesky"])
@given(data=st.data())
def test_functions_of_matrices(name, data):
    """Single matrices and stacks, however they are cut."""
    for x in (POSITIVE, POSITIVE[0], POSITIVE.astype("f4")):
        lazy = getattr(linalg, name)(tensor(x, data.draw(chunkings(x.shape))))
        expected = getattr(np.linalg, name)(x)
        assert (lazy.shape, lazy.dtype) == (np.shape(expected), expected.dtype)
        np.testing.assert_allclose(lazy.compute(), expected, rtol=1e-3)


@given(data=st.data())
def test_systems(data):
    """Square systems and least squares, for one right side and for several."""
    tall = RNG.normal(size=(30, 4))
    for right in (RNG.normal(size=30), RNG.normal(size=(30, 3))):
        a = tensor(tall, data.draw(chunkings(tall.shape)))
        b = tensor(right, data.draw(chunkings(right.shape)))
        expected = np.linalg.lstsq(tall, right)[0]
        np.testing.assert_allclose(linalg.lstsq(a, b).compute(), expected)
        expected = np.linalg.solve(tall[:4], right[:4])
        np.testing.assert_allclose(linalg.solve(a[:4], b[:4]).compute(), expected)


def test_the_upper_triangle():
    """With lower=False the triangle is the other one."""
    upper = linalg.cholesky(tensor(POSITIVE[0], 2), lower=False)
    np.testing.assert_allclose(upper.compute(), np.linalg.cholesky(POSITIVE[0]).T)


def test_wrong_shapes_are_refused_at_the_call():
    """Matrices that are not square or do not fit are refused."""
    with pytest.raises(np.linalg.LinAlgError, match="square"):
        linalg.inv(tensor(np.ones((2, 3))))
    with pytest.raises(np.linalg.LinAlgError, match="two-dimensional"):
        linalg.det(tensor(np.ones(3)))
    with pytest.raises(ValueError, match="equations"):
        linalg.solve(tensor(np.eye(3)), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="Incompatible"):
        linalg.lstsq(tensor(np.ones((3, 2))), np.ones(2))
