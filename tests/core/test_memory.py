"""Projected memory and the check of the budget."""

from __future__ import annotations

import pytest

import marsdask.tensor as mt
from marsdask.core.errors import MemoryBudgetError
from marsdask.core.passes import Plan
from marsdask.core.tiling import Compilation


def test_the_error_names_operation_chunk_bytes_and_a_size_that_fits():
    """A refusal says what to do, and doing it works."""
    x = mt.ones((1000, 1000), chunk_size=1000)
    y = mt.sin(x)
    with pytest.raises(
        MemoryBudgetError, match=r"sin.*chunks of \((\d+), \1\) would fit"
    ) as caught:
        Compilation([y.node], plan=Plan(budget=4 * 2**20)).advance({})
    error = caught.value
    assert error.budget == 4 * 2**20
    assert error.chunk == (0, 0)
    assert error.nbytes >= 8_000_000
    fitting = int(error.suggestion.split("(")[1].split(",")[0])
    small = mt.sin(mt.ones((1000, 1000), chunk_size=fitting))
    Compilation([small.node], plan=Plan(budget=4 * 2**20)).advance({})


def test_the_error_shows_the_users_line():
    """The line that wrote the operation is part of the message."""
    x = mt.sin(mt.ones((1000, 1001), chunk_size=1001))  # the guilty line
    with pytest.raises(MemoryBudgetError, match="the guilty line"):
        Compilation([x.node], plan=Plan(budget=2**20)).advance({})
