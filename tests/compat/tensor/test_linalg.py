"""Defaults of Mars where NumPy has others."""

from __future__ import annotations

import numpy as np

import marsdask.tensor as mt
from marsdask.compat.tensor import linalg

MATRIX = np.array([[4.0, 2.0], [2.0, 3.0]])


def test_cholesky_returns_the_upper_factor() -> None:
    """And the lower one where it is asked for; NumPy has it the other way round."""
    lower = np.linalg.cholesky(MATRIX)
    assert np.allclose(linalg.cholesky(MATRIX).compute(), lower.T)
    assert np.allclose(linalg.cholesky(MATRIX, lower=True).compute(), lower)
    assert np.allclose(mt.linalg.cholesky(MATRIX).compute(), lower)


def test_all_else_is_numpys() -> None:
    """The other names are those of ``marsdask.tensor.linalg``."""
    assert linalg.__all__ == mt.linalg.__all__
    for name in linalg.__all__:
        assert (getattr(linalg, name) is getattr(mt.linalg, name)) == (name != "cholesky")
