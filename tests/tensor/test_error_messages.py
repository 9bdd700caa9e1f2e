"""Calls that fail say so as NumPy does: its type of error, its words, and the shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt

Call = Callable[[Any, Any], Any]

#: Calls of a module and an array of shape (3, 4) that NumPy refuses, with the words of its message.
REFUSED: dict[str, tuple[Call, str]] = {
    "sorter of another size": (
        lambda xp, x: xp.searchsorted([1, 2, 3], 2, sorter=[0, 1]),
        "sorter.size must equal a.size",
    ),
    "sorter of floats": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[0.0, 1.0]),
        "sorter must only contain integers",
    ),
    "sorter that is a mask": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[True, False]),
        "sorter must only contain integers",
    ),
    "sorter of two axes": (
        lambda xp, x: xp.searchsorted([1, 2], 2, sorter=[[0, 1]]),
        "could not parse sorter argument",
    ),
    "searchsorted of a matrix": (
        lambda xp, x: xp.searchsorted(x, 2),
        "object too deep for desired array",
    ),
    "searchsorted of a number": (
        lambda xp, x: xp.searchsorted(np.array(1), 2),
        "object of too small depth for desired array",
    ),
    "position out of bounds": (
        lambda xp, x: xp.unravel_index([1, 99], (3, 4)),
        "index 99 is out of bounds for array with size 12",
    ),
    "count of negatives": (
        lambda xp, x: xp.bincount([1, -1]),
        "'list' argument must have no negative elements",
    ),
}

#: Calls of a module and a vector of which only the values tell that NumPy refuses them.
REFUSED_BY_VALUES: dict[str, tuple[Call, str]] = {
    "position out of bounds": (
        lambda xp, v: xp.unravel_index(v, (3, 4))[0],
        "index 99 is out of bounds for array with size 12",
    ),
    "count of negatives": (
        lambda xp, v: xp.bincount(v),
        "'list' argument must have no negative elements",
    ),
}

#: Our messages, where they tell the shapes or sizes that NumPy leaves out.
SHAPES: dict[str, tuple[Call, str]] = {
    "sorter of another size": (
        lambda xp, x: xp.searchsorted([1, 2, 3], 2, sorter=[0, 1]),
        r"sorter has 2 elements, a 3",
    ),
    "searchsorted of a matrix": (lambda xp, x: xp.searchsorted(x, 2), r"a has shape \(3,4\)"),
}


def matrix() -> np.ndarray:
    """Return the array of the calls."""
    return np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses(name):
    """The type of error and the words are NumPy's, before anything is computed."""
    call, words = REFUSED[name]
    with pytest.raises(Exception, match=words) as expected:
        call(np, matrix())
    with pytest.raises(expected.type, match=words):
        call(mt, mt.tensor(matrix(), chunk_size=2))


@pytest.mark.parametrize("name", REFUSED_BY_VALUES)
def test_what_numpy_refuses_by_values(name):
    """What only values tell is refused when they are computed, in NumPy's words."""
    call, words = REFUSED_BY_VALUES[name]
    values = np.array([1, 99, -1])
    with pytest.raises(Exception, match=words) as expected:
        call(np, values)
    lazy = call(mt, mt.tensor(values, chunk_size=1))
    with pytest.raises(expected.type, match=words):
        lazy.compute()


@pytest.mark.parametrize("name", SHAPES)
def test_messages_tell_shapes(name):
    """Where shapes do not fit the message has them."""
    call, words = SHAPES[name]
    with pytest.raises(ValueError, match=words):
        call(mt, mt.tensor(matrix(), chunk_size=2))
