"""Functions of stacks of matrices equal NumPy's, whatever the chunks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor import linalg
from tests.strategies import chunkings

RNG = np.random.default_rng(0)
STACK = RNG.normal(size=(3, 4, 3))
SQUARE = STACK[:, :3] + STACK[:, :3].transpose(0, 2, 1)

#: Function, matrices, options.
CALLS = [
    ("qr", STACK, {}),
    ("qr", STACK, {"mode": "r"}),
    ("qr", STACK[0], {"mode": "complete"}),
    ("svd", STACK, {"full_matrices": False}),
    ("svd", STACK[0], {"full_matrices": True}),
    ("svd", STACK.astype("f4"), {"full_matrices": True}),
    ("svdvals", STACK, {}),
    ("eigh", SQUARE, {}),
    ("eigvalsh", SQUARE, {"UPLO": "U"}),
    ("pinv", STACK, {}),
    ("matrix_rank", STACK, {}),
    ("matrix_norm", STACK, {"ord": 2}),
    ("matrix_norm", STACK, {"ord": "nuc", "keepdims": True}),
    ("cond", SQUARE, {"p": 1}),
    ("cond", STACK, {}),
    ("trace", STACK, {"offset": 1}),
    ("diagonal", STACK, {"offset": -1}),
    ("matrix_power", SQUARE, {"n": 3}),
    ("matrix_power", SQUARE, {"n": -2}),
    ("matrix_power", SQUARE, {"n": 0}),
    ("vector_norm", STACK, {"axis": (0, 2)}),
    ("cross", STACK, {"x2": STACK[0] + 1}),
    ("vecdot", STACK + 1j, {"x2": STACK[0]}),
    ("matrix_transpose", STACK, {}),
]


@pytest.mark.parametrize(("name", "x", "options"), CALLS)
@given(data=st.data())
def test_stacks(name, x, options, data):
    """Values, types and shapes are NumPy's; several results have its names."""
    options = dict(options)
    more = [options.pop(key) for key in ("x2", "n") if key in options]
    expected = getattr(np.linalg, name)(x, *more, **options)
    t = mt.tensor(x, chunks=data.draw(chunkings(x.shape)))
    found = getattr(linalg, name)(t, *more, **options)
    several = isinstance(expected, tuple)
    if several:
        assert found._fields == expected._fields
    for lazy, one in zip(found, expected, strict=True) if several else [(found, expected)]:
        assert (lazy.shape, lazy.dtype) == (np.shape(one), np.asarray(one).dtype)
        np.testing.assert_allclose(lazy.compute(), one, rtol=1e-4, atol=1e-6)


def test_results_have_names_before_and_after_they_run():
    """A decomposition is a namedtuple of tensors, and one of arrays when fetched."""
    found = linalg.eigh(mt.tensor(SQUARE[0]))
    assert found.execute() is found
    values = found.fetch()
    np.testing.assert_array_equal(values.eigenvalues, found.eigenvalues.compute())
    assert type(values).__name__ == "EighResult"


def test_the_smaller_of_an_unknown_length_and_another_is_neither() -> None:
    """Rows that may be more or fewer than columns are not told to be as many as values."""
    lazy = mt.tensor(np.ones((2, 8, 3)), chunk_size=4)
    rows = lazy[:, mt.arange(8, chunk_size=4) % 2 == 0]
    u, s, _ = mt.linalg.svd(rows)
    assert s.node.shape[-1] not in (rows.node.shape[1], 3)
    assert u.node.shape[-1] == s.node.shape[-1]
    assert u.node.shape[1] == rows.node.shape[1]
    assert s.compute().shape == (2, 3)
    others = lazy[:, mt.arange(8, chunk_size=4) < 5]
    assert mt.linalg.svd(others)[0].node.shape[1] != u.node.shape[1]
