"""Names of types and questions about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from tests.strategies import assert_same


@pytest.mark.parametrize("dtype", ["i1", "f4", "c8", "?"])
def test_questions_of_type(dtype: str) -> None:
    """Are answered at once, from the type alone."""
    array = np.ones(3, dtype)
    lazy = mt.tensor(array, chunk_size=2)
    for name in ("iscomplexobj", "isrealobj", "min_scalar_type"):
        assert getattr(mt, name)(lazy) == getattr(np, name)(array)
    if dtype != "?":
        assert mt.common_type(lazy, array) == np.common_type(array, array)
    assert mt.min_scalar_type(300) == mt.min_scalar_type(mt.tensor(300)) == np.dtype("u2")


def test_layouts_are_blocks_own() -> None:
    """What asks for one gets the same tensor."""
    assert_same(mt.ascontiguousarray(3), np.ascontiguousarray(3))
    assert_same(mt.asfortranarray(mt.ones((2, 3)), dtype="f4"), np.ones((2, 3), "f4"))


def test_types_are_numpys() -> None:
    """The very same objects."""
    for name in ("float32", "bool", "integer", "datetime64", "longdouble", "generic"):
        assert getattr(mt, name) is getattr(np, name)
    assert mt.issubdtype(mt.int8, mt.integer)


def test_errors_are_treated_as_said_at_the_call() -> None:
    """However much later, and wherever, it is computed."""
    zeros = mt.zeros((4, 4), chunk_size=2)
    with mt.errstate(divide="ignore"):
        quiet: Any = (1 / zeros).sum()
    assert quiet.compute() == np.inf
    with mt.errstate(divide="raise"):
        loud = mt.log(zeros)
    with pytest.raises(FloatingPointError):
        loud.compute()
    with mt.errstate(invalid="ignore"):
        pair = mt.divmod(zeros, zeros)
    assert np.isnan(pair[1].compute()).all()
