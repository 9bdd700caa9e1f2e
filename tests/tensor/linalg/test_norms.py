"""Norms equal NumPy's; approximate vectors approximate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import wrap
from marsdask.tensor import linalg
from marsdask.tensor.operands import as_node
from tests.strategies import chunkings

RNG = np.random.default_rng(0)


def tensor(array, chunk_size=None):
    """Return an array as a tensor."""
    return wrap(as_node(array, chunk_size))


@pytest.mark.parametrize("order", [None, 0, 1, 2, 3, -2, np.inf, -np.inf])
@given(data=st.data())
def test_vector_norms(order, data):
    """Every order, along any axis, kept or not."""
    x = data.draw(st.sampled_from([RNG.normal(size=(4, 5)), np.arange(1, 21).reshape(4, 5) + 1j]))
    lazy = tensor(x, data.draw(chunkings(x.shape)))
    keepdims = data.draw(st.booleans())
    for axis in (0, -1):
        result = linalg.norm(lazy, order, axis, keepdims)
        expected = np.linalg.norm(x, order, axis, keepdims)
        assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
        np.testing.assert_allclose(result.compute(), expected)


@pytest.mark.parametrize("order", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
@given(chunks=chunkings((4, 6)), keepdims=st.booleans())
def test_matrix_norms(order, chunks, keepdims):
    """Every order of matrices."""
    x = np.random.default_rng(1).integers(-9, 9, (4, 6))
    result = linalg.norm(tensor(x, chunks), order, keepdims=keepdims)
    expected = np.linalg.norm(x, order, keepdims=keepdims)
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(result.compute(), expected)


def test_few_singular_vectors_of_a_matrix_of_low_rank():
    """A matrix of rank five is found again from five vectors."""
    x = RNG.normal(size=(60, 5)) @ RNG.normal(size=(5, 40))
    for u, s, v in (
        linalg.randomized_svd(tensor(x, 13), 5, random_state=0),
        linalg.svd_compressed(tensor(x.T, 13), 5, seed=0),
    ):
        product = u.compute() * s.compute() @ v.compute()
        np.testing.assert_allclose(product, x if len(product) == 60 else x.T, atol=1e-9)
        assert s.shape == (5,)
    single = linalg.svd_compressed(tensor(x.astype("f4"), 13), 5, seed=0)
    assert {part.dtype for part in single} == {np.dtype("f4")}
    np.testing.assert_allclose(single[1].compute(), s.compute(), rtol=1e-3)
    u = linalg.randomized_svd(tensor(x, 13), 5, flip_sign=True, random_state=0)[0].compute()
    assert (u.max(axis=0) > -u.min(axis=0)).all()


def test_wrong_arguments_are_refused_at_the_call():
    """Orders, axes and counts are checked where they are written."""
    lazy = tensor(np.ones((3, 4)))
    with pytest.raises(ValueError, match="norm order"):
        linalg.norm(lazy, 3)
    with pytest.raises(ValueError, match="norm order"):
        linalg.norm(lazy[0], "nuc")
    with pytest.raises(ValueError, match="n_components"):
        linalg.randomized_svd(lazy, 4)


@pytest.mark.parametrize("order", [1, 2, np.inf, "fro"])
def test_norms_of_nothing_are_zero(order: Any) -> None:
    """Where NumPy has a value; others raise its error."""
    x = np.zeros((0, 4))
    assert mt.linalg.norm(mt.tensor(x), order).compute() == np.linalg.norm(x, order) == 0
    if order != "fro":
        assert mt.linalg.norm(mt.tensor(x[:, 0]), order).compute() == 0
    with pytest.raises(ValueError, match="zero-size array"):
        mt.linalg.norm(mt.tensor(x), -np.inf).compute()


def test_small_floats_have_norms() -> None:
    """Only norms by singular values need types of LAPACK."""
    x = np.arange(6, dtype=np.float16).reshape(2, 3)
    found = mt.linalg.matrix_norm(mt.tensor(x, chunk_size=1)).compute()
    assert found == np.linalg.matrix_norm(x)
    assert found.dtype == np.float16
    with pytest.raises(TypeError, match="float16 is unsupported in linalg"):
        mt.linalg.matrix_norm(mt.tensor(x), ord=2)


@pytest.mark.parametrize("order", [0, 1, 2, 3.0, -1, np.inf])
@pytest.mark.parametrize("name", ["norm", "vector_norm", "matrix_norm"])
def test_orders_that_are_arrays(name: str, order: Any) -> None:
    """An order may be an array, or a tensor, without axes."""
    array = np.arange(1.0, 13).reshape(3, 4)
    if name == "matrix_norm" and order in (0, 3):
        with pytest.raises(ValueError, match="Invalid norm order"):
            mt.linalg.matrix_norm(array, ord=mt.tensor(order))
        return
    array = array[0] if name == "norm" else array
    expected = getattr(np.linalg, name)(array, ord=order)
    for given_order in (np.array(order), mt.tensor(order)):
        result = getattr(mt.linalg, name)(mt.tensor(array, chunk_size=2), ord=given_order)
        np.testing.assert_allclose(result.compute(), expected)
