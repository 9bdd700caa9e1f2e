"""Bits and bytes, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.config import option_context
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws

CASES: dict[str, Any] = {
    "pack": lambda xp, a: xp.packbits(xp.concatenate([a, a]) > 1),
    "pack axis": lambda xp, a: xp.packbits(a, axis=1),
    "pack little": lambda xp, a: xp.packbits(a, axis=0, bitorder="little"),
    "pack floats": lambda xp, a: xp.packbits(a * 1.5),
    "pack order": lambda xp, a: xp.packbits(a, bitorder="nonsense"),
    "unpack": lambda xp, a: xp.unpackbits(a),
    "unpack axis": lambda xp, a: xp.unpackbits(a, axis=1, bitorder="little"),
    "unpack some": lambda xp, a: xp.unpackbits(a, axis=1, count=5),
    "unpack more": lambda xp, a: xp.unpackbits(a, axis=0, count=60),
    "unpack all but": lambda xp, a: xp.unpackbits(a, count=-3),
    "unpack floats": lambda xp, a: xp.unpackbits(a * 1.5),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(case=arrays_and_chunks(("u1",), min_dims=2, max_dims=2, min_side=1), merged=st.booleans())
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


def test_chunks_of_any_size() -> None:
    """Bytes do not end where chunks end."""
    x = np.random.default_rng(0).random(100) > 0.5
    packed = mt.packbits(mt.tensor(x, chunk_size=13))
    assert_same(packed, np.packbits(x))
    assert_same(mt.unpackbits(packed, count=100), x.astype(np.uint8))


@pytest.mark.parametrize("coalesce", [False, True])
def test_bits_of_other_chunks_than_declared(coalesce: bool) -> None:
    """Sorted elements come in chunks that only the run tells: no byte is cut."""
    array = np.random.default_rng(0).integers(0, 50, (3, 5, 4)).astype(float)
    with option_context({"coalesce": coalesce}):
        order = mt.argsort(mt.tensor(array, chunk_size=4), axis=None, kind="stable")
        result = mt.packbits(order > 25).compute()
    expected = np.packbits(np.argsort(array, axis=None, kind="stable") > 25)
    np.testing.assert_array_equal(result, expected)
