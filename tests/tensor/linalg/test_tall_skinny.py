"""Factors multiply to the matrix, are orthogonal, and have NumPy's singular values."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marsdask.core.collection import wrap
from marsdask.core.config import option_context
from marsdask.tensor import linalg
from marsdask.tensor.linalg import tall_skinny
from marsdask.tensor.operands import as_node
from tests.strategies import chunkings

RNG = np.random.default_rng(0)


def conditioned(rows, columns, condition, dtype="f8"):
    """Return a matrix of a given condition."""
    q = np.linalg.qr(RNG.normal(size=(rows, columns)))[0]
    v = np.linalg.qr(RNG.normal(size=(columns, columns)))[0]
    return ((q * np.geomspace(1, 1 / condition, columns)) @ v).astype(dtype)


MATRICES = {
    "tall": RNG.normal(size=(60, 7)),
    "hard": conditioned(60, 7, 1e5),
    "worse": conditioned(60, 7, 1e12),
    "deficient": np.repeat(RNG.normal(size=(60, 3)), 2, axis=1),
    "zero": np.zeros((20, 4)),
    "square": RNG.normal(size=(9, 9)),
    "wide": RNG.normal(size=(5, 30)),
    "ints": RNG.integers(-9, 9, (30, 4)),
    "float32": RNG.normal(size=(60, 7)).astype("f4"),
    "complex": RNG.normal(size=(40, 5)) + 1j * RNG.normal(size=(40, 5)),
    "one column": RNG.normal(size=(40, 1)),
}


@pytest.fixture(params=["one block", "cut"], autouse=True)
def _paths(request, monkeypatch):
    """Run each test on LAPACK alone and on the blocked ways."""
    if request.param == "cut":
        monkeypatch.setattr(tall_skinny, "SMALL_MATRIX", 0)
        monkeypatch.setattr(tall_skinny, "PIECE", 8)
    with option_context({"coalesce": request.param != "cut", "verify": True}):
        yield


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


def tolerance(x):
    """Return what rounding may change."""
    return {"atol": (1e-4 if x.dtype.itemsize == 4 else 1e-9) * max(1.0, np.abs(x).max())}


@pytest.mark.parametrize("name", MATRICES)
@given(data=st.data())
def test_singular_values_and_vectors(name, data):
    """U and V are orthonormal, s is NumPy's, and the product is the matrix."""
    x = MATRICES[name]
    u, s, v = linalg.svd(tensor(x, data.draw(chunkings(x.shape)))).execute()
    expected = np.linalg.svd(x, compute_uv=False)
    assert (u.dtype, s.dtype) == (np.linalg.qr(x)[0].dtype, expected.dtype)
    np.testing.assert_allclose(s.fetch(), expected, **tolerance(x))
    left, right = u.fetch(), v.fetch()
    np.testing.assert_allclose(left * s.fetch() @ right, x, **tolerance(x))
    unit = np.eye(len(expected))
    np.testing.assert_allclose(left.conj().T @ left, unit, **tolerance(unit.astype(x.dtype)))
    np.testing.assert_allclose(right @ right.conj().T, unit, **tolerance(unit.astype(x.dtype)))


@pytest.mark.parametrize("name", MATRICES)
@given(data=st.data())
def test_qr(name, data):
    """Q is orthonormal, R is upper with no negative diagonal, and the product is the matrix."""
    x = MATRICES[name]
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    q, r = (item.fetch() for item in linalg.qr(lazy).execute())
    k = min(x.shape)
    assert (q.shape, r.shape) == ((len(x), k), (k, x.shape[1]))
    np.testing.assert_allclose(q @ r, x, **tolerance(x))
    np.testing.assert_allclose(q.conj().T @ q, np.eye(k), **tolerance(np.eye(k, dtype=q.dtype)))
    np.testing.assert_array_equal(np.tril(r, -1), 0)
    assert not np.signbit(np.tril(r, -1).real).any(), "a zero is negative"
    assert (np.diagonal(r).real >= -1e-9).all()
    alone = linalg.qr(lazy, mode="r").compute()
    np.testing.assert_allclose(alone, r, **tolerance(x))


def test_only_values():
    """Without vectors there is one tensor, and svdvals is the same."""
    x = MATRICES["tall"]
    expected = np.linalg.svd(x, compute_uv=False)
    np.testing.assert_allclose(linalg.svd(tensor(x, 9), compute_uv=False).compute(), expected)
    np.testing.assert_allclose(linalg.svdvals(tensor(x, 9)).compute(), expected)


def test_what_is_not_finite_is_refused():
    """NumPy's error comes out of the singular values of NaN."""
    x = MATRICES["tall"].copy()
    x[3, 2] = np.nan
    with pytest.raises(np.linalg.LinAlgError):
        linalg.svd(tensor(x, 9))[1].compute()


def test_wrong_arguments_are_refused_at_the_call():
    """Ranks, dtypes, modes and methods are checked where they are written."""
    with pytest.raises(np.linalg.LinAlgError, match="1-dimensional"):
        linalg.qr(tensor(np.ones(3)))
    with pytest.raises(TypeError, match="float16"):
        linalg.svd(tensor(np.ones((3, 3), "f2")))
    with pytest.raises(NotImplementedError, match="reduced"):
        linalg.qr(tensor(np.ones((3, 3))), mode="raw")
    with pytest.raises(NotImplementedError, match="tsqr"):
        linalg.svd(tensor(np.ones((4, 3))), "jacobi")


def test_dask_factors_without_a_look():
    """A Dask graph, which cannot wait for the condition, takes the stable way."""
    x = MATRICES["worse"]
    q, r = dask.compute(*linalg.qr(tensor(x, (9, 7))), scheduler="sync")
    np.testing.assert_allclose(q @ r, x, atol=1e-12)
    np.testing.assert_allclose(q.T @ q, np.eye(7), atol=1e-12)
