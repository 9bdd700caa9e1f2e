"""Elements left out, of whole arrays and of parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.grids import parts
from marsdask.tensor.manipulation import deletion
from tests.strategies import assert_same

PLACES: dict[str, Any] = {
    "one": 3,
    "last": -1,
    "list of one": [2],
    "several": [1, -2, 1],
    "nothing": [],
    "array": np.array([0, 5, 6]),
    "mask": np.arange(7) % 3 == 0,
    "slice": slice(2, 5),
    "steps": slice(None, None, 2),
    "long steps": slice(1, None, 3),
    "backwards": slice(5, 0, -2),
    "all": slice(None),
}

PARTS = [slice(None), slice(1, 4), slice(None, None, -1), slice(1, None, 3), slice(0)]


@pytest.fixture(params=[True, False], ids=["pushed", "whole"])
def pushed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make parts of the result of parts of its source, of small arrays too; or not."""
    monkeypatch.setattr(parts, "SMALL", 0 if request.param else math.inf)
    monkeypatch.setattr(deletion, "SPARSE_RUN", 2)


@pytest.mark.usefixtures("pushed")
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("chunk_size", [2, 7])
def test_the_remainder_and_its_parts_are_numpys(name: str, chunk_size: int) -> None:
    """Along both axes, whatever chunks and parts."""
    a = np.arange(49).reshape(7, 7)
    x = mt.tensor(a, chunk_size=chunk_size)
    for part in PARTS:
        assert_same(mt.delete(x, PLACES[name], 0)[part], np.delete(a, PLACES[name], 0)[part])
        assert_same(
            mt.delete(x, PLACES[name], 1)[1:3, part], np.delete(a, PLACES[name], 1)[1:3, part]
        )


@pytest.mark.parametrize(
    "places", [7, -8, [1, 7], [-8, 1], 1.5, [1.5, 2], np.ones(3, bool), "a"], ids=repr
)
def test_invalid_positions_raise_numpys_errors(places: Any) -> None:
    """At the call, with NumPy's type."""
    with pytest.raises((IndexError, ValueError)) as theirs:
        np.delete(np.arange(7), places)
    with pytest.raises(theirs.type):
        mt.delete(mt.arange(7), places)


@pytest.mark.parametrize("x", [np.arange(5), mt.arange(5, chunk_size=2)], ids=["array", "tensor"])
def test_what_is_deleted_may_be_a_tensor(x: Any) -> None:
    """Positions are computed at the call."""
    assert mt.delete(x, mt.tensor([1, 2])).compute().tolist() == [0, 3, 4]


def test_every_chunk_is_shortened_by_itself() -> None:
    """Chunks keep their elements: nothing is moved between them."""
    assert mt.delete(mt.arange(9, chunk_size=3), [0, 1, 8]).node.chunks == ((1, 3, 2),)
