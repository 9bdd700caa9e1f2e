"""Products of many matrices, and equations over several axes, equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor import linalg

RNG = np.random.default_rng(0)


def test_chains_of_products():
    """Matrices, and vectors at either end."""
    shapes = [(7, 2), (2, 9), (9, 3), (3, 5)]
    arrays = [RNG.normal(size=shape) for shape in shapes]
    for chain in (arrays, arrays[:2], [arrays[0][:, 0], *arrays], [*arrays, RNG.normal(size=5)]):
        found = linalg.multi_dot([mt.tensor(x, chunk_size=4) for x in chain])
        np.testing.assert_allclose(found.compute(), np.linalg.multi_dot(chain))
    out = mt.zeros((7, 5))
    assert linalg.multi_dot([mt.tensor(x) for x in arrays], out=out) is out
    np.testing.assert_allclose(out.compute(), np.linalg.multi_dot(arrays))
    with pytest.raises(ValueError, match="two arrays"):
        linalg.multi_dot(arrays[:1])
    with pytest.raises(np.linalg.LinAlgError, match="matrices"):
        linalg.multi_dot([arrays[0], RNG.normal(size=2), arrays[1]])


def test_tensors_as_matrices():
    """Inverses and solutions over several axes."""
    x = RNG.normal(size=(4, 6, 8, 3))
    found = linalg.tensorinv(mt.tensor(x, chunk_size=3))
    np.testing.assert_allclose(found.compute(), np.linalg.tensorinv(x), atol=1e-10)
    a, b = RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 3))
    found = linalg.tensorsolve(mt.tensor(a, chunk_size=2), mt.tensor(b))
    np.testing.assert_allclose(found.compute(), np.linalg.tensorsolve(a, b))
    a = a.transpose(0, 2, 1)[..., np.newaxis]
    lazy = linalg.tensorsolve(mt.tensor(a, chunk_size=2), mt.tensor(b), axes=(1,))
    np.testing.assert_allclose(lazy.compute(), np.linalg.tensorsolve(a, b, axes=(1,)))
    with pytest.raises(np.linalg.LinAlgError, match="requirement"):
        linalg.tensorsolve(mt.tensor(a), mt.tensor(b[:1]))
