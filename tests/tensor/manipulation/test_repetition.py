"""Elements repeated, all as often or each by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.grids import parts
from marsdask.tensor.manipulation import deletion
from tests.strategies import assert_same

REPEATS: dict[str, Any] = {
    "alike": 3,
    "none": 0,
    "each": [2, 0, 1, 3, 0],
    "list of one": [2],
    "nothing": np.zeros(5, int),
    "floats": [1.9, 0.0, 2.0, 1.0, 1.0],
    "unsigned": np.arange(5, dtype="u1"),
}

PARTS = [slice(None), slice(1, 4), slice(None, None, -2), slice(0, None, 5), slice(0)]


@pytest.mark.parametrize("name", REPEATS)
@pytest.mark.parametrize("small", [0, math.inf], ids=["pushed", "whole"])
def test_repetitions_and_their_parts_are_numpys(
    name: str, small: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along both axes and of all elements, for any chunks and parts."""
    monkeypatch.setattr(parts, "SMALL", small)
    monkeypatch.setattr(deletion, "SPARSE_RUN", 2)
    a, repeats = np.arange(25).reshape(5, 5), REPEATS[name]
    for chunk_size in (2, 5):
        x = mt.tensor(a, chunk_size=chunk_size)
        for part in PARTS:
            assert_same(mt.repeat(x, repeats, 0)[part], np.repeat(a, repeats, 0)[part])
            assert_same(mt.repeat(x, repeats, 1)[:2, part], np.repeat(a, repeats, 1)[:2, part])
    assert_same(mt.repeat(x[0], repeats), np.repeat(a[0], repeats))


def test_repeats_of_unknown_length() -> None:
    """A filtered array is repeated without looking."""
    a = np.arange(10)
    x = mt.arange(10, chunk_size=3)
    assert_same(mt.repeat(x[x > 4], 2), np.repeat(a[a > 4], 2))


REFUSED = [-1, [1, -1, 1], [1, 2], np.ones(3), [[1, 2, 3]], np.ones(3, "u8"), np.array(2.0), None]


@pytest.mark.parametrize("repeats", REFUSED, ids=repr)
def test_invalid_repeats_raise_numpys_errors(repeats: Any) -> None:
    """At the call, with NumPy's type."""
    with pytest.raises((TypeError, ValueError)) as theirs:
        np.repeat(np.arange(3), repeats)
    with pytest.raises(theirs.type):
        mt.repeat(mt.arange(3), repeats)
    if isinstance(repeats, np.ndarray):
        with pytest.raises(theirs.type):
            mt.repeat(mt.arange(3), mt.tensor(repeats, chunk_size=2))


@pytest.mark.parametrize(
    "repeats", [2.5, [2.5], [1.9, 0.0, 3.1], np.float64(2), "2", True], ids=repr
)
def test_repeats_that_are_cut(repeats: Any) -> None:
    """NumPy casts what is no array to integers."""
    assert_same(mt.repeat(mt.arange(3, chunk_size=2), repeats), np.repeat(np.arange(3), repeats))
