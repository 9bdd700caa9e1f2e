"""Tensors from what Python holds, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_like_numpy, assert_same

CASES: dict[str, Any] = {
    "bytes": lambda xp: xp.frombuffer(b"1234567", "u1", offset=2),
    "iterable": lambda xp: xp.fromiter(range(5), float),
    "text": lambda xp: xp.fromstring("1 2 3", sep=" "),
}


@pytest.mark.parametrize("name", CASES)
def test_equals_numpy(name: str) -> None:
    """Values and types, or the type of the error."""
    assert_like_numpy(CASES[name])


def test_scalars() -> None:
    """Are tensors without axes; what has axes is refused."""
    assert_same(mt.scalar(3), np.array(3))
    assert_same(mt.scalar(mt.tensor(3), dtype="f4"), np.array(3, "f4"))
    with pytest.raises(TypeError, match="shape"):
        mt.scalar([1])
    assert mt.fromiter(range(5), int, chunk_size=2).chunks == ((2, 2, 1),)
