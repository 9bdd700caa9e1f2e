"""Differences and what is short for other functions equal NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

CASES: dict[str, Any] = {
    "diff": lambda xp, a: xp.diff(a),
    "diff twice": lambda xp, a: xp.diff(a, 2, axis=0),
    "diff none": lambda xp, a: xp.diff(a, 0),
    "diff edges": lambda xp, a: xp.diff(a, axis=0, prepend=a.dtype.type(1), append=a),
    "ediff1d": lambda xp, a: xp.ediff1d(a),
    "ediff1d edges": lambda xp, a: xp.ediff1d(a, to_begin=a[:1], to_end=a[-1:]),
    "trapezoid": lambda xp, a: xp.trapezoid(a.astype("f8")),
    "trapezoid x": lambda xp, a: xp.trapezoid(a.astype("f8"), x=a.astype("f8"), axis=0),
    "ndim": lambda xp, a: xp.ndim(a),
    "size": lambda xp, a: xp.size(a),
    "size axis": lambda xp, a: xp.size(a, 0),
    "shape": lambda xp, a: xp.shape(a),
    "copy": lambda xp, a: xp.copy(a),
    "array_equiv": lambda xp, a: xp.array_equiv(a, a[:1]),
    "concat": lambda xp, a: xp.concat([a, a]),
    "permute_dims": lambda xp, a: xp.permute_dims(a, tuple(range(a.ndim))[::-1]),
}


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("name", CASES)
@given(case=arrays_and_chunks(("i8", "f4", "f8", "?"), min_dims=1, max_dims=2, min_side=1))
def test_equals_numpy(name, merged, case):
    """Values, types and shapes, or the type of the error."""
    array, chunks = case
    with np.errstate(all="ignore"):
        try:
            expected = CASES[name](np, array)
        except Exception as error:  # noqa: BLE001 - ours must be of its type
            with pytest.raises(type(error)):
                CASES[name](mt, tensor_of(array, chunks))
            return
    with grids(merged=merged):
        found = CASES[name](mt, tensor_of(array, chunks))
        if isinstance(found, mt.Tensor):
            assert_same(found, expected, rtol=1e-6)
        else:
            assert found == expected


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda xp, a: xp.diff(a, -1), ValueError),
        (lambda xp, a: xp.diff(a[0, 0]), ValueError),
        (lambda xp, a: xp.diff(a, axis=7), IndexError),
        (lambda xp, a: xp.ediff1d(a.astype(int), to_end=a), TypeError),
        (lambda xp, a: xp.cov(a[None]), ValueError),
        (lambda xp, a: xp.cov(a, ddof=1.5), ValueError),
        (lambda xp, a: xp.cov(a, fweights=[1.5, 1, 1, 1]), TypeError),
        (lambda xp, a: xp.cov(a, fweights=[1, 1]), RuntimeError),
        (lambda xp, a: xp.cov(a, aweights=[[1, 1, 1, 1]]), RuntimeError),
        (lambda xp, a: xp.cov(a, aweights=[-1, 1, 1, 1]), ValueError),
        (lambda xp, a: xp.copy(a, "X"), ValueError),
    ],
    ids=[
        *("order", "no axis", "axis", "end", "axes", "ddof"),
        *("frequencies", "few", "weights", "negative", "memory"),
    ],
)
def test_bad_arguments(call, error):
    """The errors are NumPy's."""
    array = np.ones((3, 4))
    for namespace, values in ((np, array), (mt, mt.tensor(array, chunk_size=2))):
        with pytest.raises(error):
            call(namespace, values)
