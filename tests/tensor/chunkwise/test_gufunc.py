"""Generalised ufuncs, against NumPy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.tensor.chunkwise.gufunc import parse_signature
from tests.strategies import assert_same, chunkings

A = np.random.default_rng(0).random((3, 4, 5))
B = np.random.default_rng(1).random((4, 5))


def stats(x: Any) -> Any:
    return np.mean(x, axis=-1), np.std(x, axis=-1)


def outer(x: Any, y: Any) -> Any:
    return np.einsum("...i,...j->...ij", x, y)


@given(chunkings(A.shape), chunkings(B.shape), st.booleans())
def test_loop_axes_broadcast(cut: Any, other: Any, masked: bool) -> None:
    """However they are cut, and with lengths that nobody knows."""
    a, b = mt.tensor(A, chunks=cut), mt.tensor(B, chunks=other)
    if masked:
        a = a[mt.tensor([True, True, True], chunk_size=2) > 0]
    mean, std = mt.apply_gufunc(
        stats, "(i)->(),()", a, output_dtypes=2 * (float,), allow_rechunk=True
    )
    assert_same(mean, A.mean(axis=-1), rtol=1e-12)
    assert_same(std, A.std(axis=-1), rtol=1e-12)
    both = mt.apply_gufunc(outer, "(i),(j)->(i,j)", a, b, allow_rechunk=True, vectorize=False)
    assert_same(both, outer(A, B))


@pytest.mark.parametrize("options", [{"axis": 1}, {"axes": [(1,), ()]}, {"axes": [1]}])
@pytest.mark.parametrize("keepdims", [False, True])
def test_core_axes_anywhere(options: Any, keepdims: Any) -> None:
    """``axis``, ``axes`` and ``keepdims``."""
    if keepdims and options.get("axes") == [(1,), ()]:
        options = {"axes": [(1,)]}
    lazy = mt.tensor(A, chunk_size=(2, 4, 2))
    found = mt.apply_gufunc(
        lambda x: x.sum(-1), "(i)->()", lazy, keepdims=keepdims, output_dtypes=float, **options
    )
    assert_same(found, A.sum(axis=1, keepdims=keepdims), rtol=1e-12)


def test_axes_of_the_output() -> None:
    """Core axes of results are put where they are wanted."""
    lazy = mt.tensor(A, chunk_size=(2, 4, 5))
    found = mt.apply_gufunc(np.matmul, "(m,n),(n,p)->(m,p)", lazy, np.ones((5, 2)),
                            axes=[(1, 2), (0, 1), (0, 1)], output_dtypes=float)  # fmt: skip
    assert_same(found, np.moveaxis(A @ np.ones((5, 2)), (1, 2), (0, 1)))


def test_vectorize_and_new_core_axes() -> None:
    """A function of single cores; lengths that no input has are given."""

    def powers(x: Any) -> Any:
        return np.array([1.0, x, x * x])

    lazy = mt.tensor(B, chunk_size=2)
    found = mt.apply_gufunc(powers, "()->(k)", lazy, vectorize=True, output_sizes={"k": 3},
                            output_dtypes=float)  # fmt: skip
    assert found.shape == (4, 5, 3)
    assert_same(found, np.stack([B**0, B, B * B], axis=-1))


def test_gufunc_objects() -> None:
    """Made by calling or by decorating."""

    @mt.as_gufunc("(i)->()", output_dtypes=float)
    def total(x: Any) -> Any:
        """Add."""
        return x.sum(-1)

    lazy = mt.tensor(B, chunk_size=(2, 5))
    assert_same(total(lazy), B.sum(-1))
    assert total.__name__ == "total"
    narrow = mt.tensor(B, chunk_size=2)
    assert_same(total(narrow, allow_rechunk=True), B.sum(-1))
    assert_same(mt.gufunc(np.sin, signature="()->()")(narrow), np.sin(B))
    with pytest.raises(TypeError, match="nonsense"):
        mt.gufunc(np.sin, signature="()->()", nonsense=1)


@pytest.mark.parametrize("bad", ["(x)(y)->()", "(x),(y)->", "((x))->(x)", "x->y", ",(i)->()"])
def test_bad_signatures(bad: str) -> None:
    """Refused at the call."""
    with pytest.raises(ValueError, match="signature"):
        parse_signature(bad)


@pytest.mark.parametrize(
    ("signature", "args", "options", "error", "match"),
    [
        (3, (A,), {}, TypeError, "string"),
        ("(i),(i)->()", (A,), {}, ValueError, "requires 2"),
        ("(i)->()", (mt.tensor(A, chunk_size=2),), {}, ValueError, "allow_rechunk"),
        ("(i)->(k)", (A,), {}, ValueError, "output_sizes"),
        ("(i),(i)->()", (A, A[..., :3]), {}, ValueError, "different lengths"),
        ("(i)->()", (A,), {"axis": 0, "axes": [0]}, ValueError, "Only one"),
        ("(i,j)->()", (A,), {"axis": 0}, ValueError, "axis"),
        ("(i)->()", (A,), {"axis": "x"}, TypeError, "integer"),
        ("(i)->(i)", (A,), {"keepdims": True}, ValueError, "keepdims"),
        ("(i)->(),()", (A,), {}, ValueError, "2 items"),
        ("(i)->()", (A,), {"output_dtypes": (int, int)}, ValueError, "single item"),
        ("(i)->()", (A,), {"meta": A}, ValueError, "Only one of `meta`"),
        ("(i)->()", (A,), {"axes": [0, (), 1]}, ValueError, "axes"),
    ],
)
def test_bad_calls(signature: Any, args: Any, options: Any, error: Any, match: str) -> None:
    """Dask's errors."""
    with pytest.raises(error, match=match):
        mt.apply_gufunc(np.sum, signature, *args, **{"output_dtypes": float, **options})
