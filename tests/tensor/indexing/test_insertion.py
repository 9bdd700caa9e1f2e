"""Values put between elements, of whole arrays and of parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.grids import parts
from marsdask.tensor.manipulation import deletion
from tests.strategies import assert_same

#: Positions and values, of which a function makes some for a library.
CASES: dict[str, tuple[Any, Any]] = {
    "one": (1, lambda xp, a: 5),
    "end": (7, lambda xp, a: 5),
    "several": ([1, 0, 1], lambda xp, a: 3.7),
    "row": (1, lambda xp, a: a[0]),
    "slice": (slice(0, 2), lambda xp, a: 9),
    "steps": (slice(None, None, 3), lambda xp, a: 9),
    "backwards": (slice(4, 0, -2), lambda xp, a: xp.stack([a[0], a[1]])),
    "nested": (1, lambda xp, a: [[5]]),
    "rows": ([2], lambda xp, a: xp.stack([a[0], a[1], a[2]])),
    "unordered": ([5, 0, 5, 2], lambda xp, a: a[:4] + 100),
    "mask": (np.arange(7) % 3 == 0, lambda xp, a: 8),
    "nothing": ([], lambda xp, a: 8),
}

PARTS = [slice(None), slice(1, 4), slice(None, None, -1), slice(1, None, 4), slice(0)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("small", [0, math.inf], ids=["pushed", "whole"])
def test_results_and_their_parts_are_numpys(
    name: str, small: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Along both axes, for any chunks and parts."""
    monkeypatch.setattr(parts, "SMALL", small)
    monkeypatch.setattr(deletion, "SPARSE_RUN", 2)
    a, (places, values) = np.arange(49).reshape(7, 7), CASES[name]
    for chunk_size in (3, 7):
        x = mt.tensor(a, chunk_size=chunk_size)
        for part in PARTS:
            assert_same(
                mt.insert(x, places, values(mt, x), 0)[part],
                np.insert(a, places, values(np, a), 0)[part],
            )
    column = [[5], [6], [7], [8], [9], [10], [11]]
    assert_same(mt.insert(x, [2, 2, 0], column, 1), np.insert(a, [2, 2, 0], column, 1))
    assert_same(mt.insert(x, -3, 5), np.insert(a, -3, 5))


@pytest.mark.parametrize(
    "places", [8, -8, [1, 99], 1.5, [1.5, 2.0], [[1, 2]], np.ones((2, 2), bool)], ids=repr
)
def test_invalid_positions_raise_numpys_errors(places: Any) -> None:
    """At the call, with NumPy's type."""
    with pytest.raises((IndexError, ValueError, TypeError)) as theirs:
        np.insert(np.arange(7), places, 5)
    with pytest.raises(theirs.type):
        mt.insert(mt.arange(7), places, 5)


def test_every_chunk_is_lengthened_by_itself() -> None:
    """Chunks keep their elements: nothing is moved between them."""
    x = mt.insert(mt.arange(9, chunk_size=3), [0, 1, 9], 5)
    assert x.node.chunks == ((5, 3, 4),)
