"""What functions of users are given, and what they may return."""

from __future__ import annotations

from typing import Any

import dask
import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor.chunkwise.user_functions import NamedArguments, UserFunction


def test_chunks_take_their_places():
    """Between constants, in the user's order, with further constants by name."""
    call = UserFunction(lambda *args, **kwargs: (args, kwargs), (None, 1, None), (0, 2), ("place",))
    assert call("a", "b", 7, scale=2) == (("a", 1, "b"), {"place": 7, "scale": 2})
    named = NamedArguments(lambda x, *, y, z: (x, y, z), ("y", "z"))
    assert named(1, 2, 3) == (1, 2, 3)


@pytest.mark.parametrize("scheduler", ["threads", "sync"])
def test_delayed_arguments_are_computed_first(scheduler: str):
    """By place and by name, as in Dask; functions never see what is delayed."""
    x: Any = mt.arange(4, chunk_size=2)
    hundred, ten = dask.delayed(lambda: 100)(), dask.delayed(int)("10")

    def add(block, first, second=0):
        assert type(first) is type(second) is int
        return block + first + second

    for lazy in (
        mt.map_blocks(add, x, hundred, second=ten, dtype=x.dtype),
        mt.blockwise(add, "i", x, "i", hundred, None, second=ten, dtype=x.dtype),
    ):
        assert lazy.compute(scheduler=scheduler).tolist() == [110, 111, 112, 113]
    assert (np.asarray(x.map_blocks(np.add, ten)) == np.arange(4) + 10).all()
    made = mt.map_blocks(np.full, 2, ten, chunks=((2, 2),), dtype=int)
    assert made.compute(scheduler=scheduler).tolist() == [10] * 4


def test_names_of_tasks():
    """A name or a token of the user's begins the name of the tensor, whose values it leaves."""
    x: Any = mt.arange(4, chunk_size=2)
    for how in ({"name": "increment"}, {"token": "increment"}):
        assert x.map_blocks(np.negative, **how).name.startswith("increment-")
    assert x.map_blocks(np.negative).name.startswith("negative-")
