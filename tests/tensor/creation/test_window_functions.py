"""Window functions against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


@pytest.mark.parametrize("points", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
def test_equals_numpy(name: str, points: int) -> None:
    """Of no points, of one, of even and odd numbers."""
    more: tuple[Any, ...] = (3.5,) if name == "kaiser" else ()
    assert_same(getattr(mt, name)(points, *more), getattr(np, name)(points, *more), rtol=1e-14)
