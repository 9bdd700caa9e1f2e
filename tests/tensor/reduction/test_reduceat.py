"""Runs of an axis reduced one by one, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws
from tests.tensor.stages import first_graph


@pytest.mark.parametrize("name", ["add", "subtract", "logical_and", "fmax", "hypot"])
@draws(16)
@given(case=arrays_and_chunks(("i1", "f8", "f4", "?"), min_dims=1), data=st.data())
def test_reduceat_is_numpys(name, case, data):
    """Of runs in order and of others, of chunks without elements too; or NumPy's error."""
    axis = data.draw(st.integers(-case[0].ndim, case[0].ndim - 1))
    length = case[0].shape[axis]
    starts = data.draw(st.lists(st.integers(0, length - 1), max_size=5)) if length else []
    starts = sorted(starts) if data.draw(st.booleans()) else starts
    dtype = data.draw(st.sampled_from([None, None, "f4", "i4"]))

    def call(xp, a):
        return getattr(xp, name).reduceat(a, starts, axis, dtype)

    assert_like_numpy(call, case, rtol=1e-5, merged=data.draw(st.booleans()))


def test_long_runs_are_no_chunks_of_their_own():
    """Of an associative ufunc, what is in each chunk is reduced first."""
    x = mt.arange(100, chunk_size=5)
    lazy: Any = np.add.reduceat(x, [3, 90])
    largest = max(len(task.dependencies) for task in first_graph(lazy).values())
    assert largest <= 20
    assert_same(lazy, np.add.reduceat(np.arange(100), [3, 90]))
    assert_same(np.subtract.reduceat(x, [3, 90]), np.subtract.reduceat(np.arange(100), [3, 90]))


def test_lengths_that_nobody_knows():
    """And results that go where they should."""
    x = mt.arange(10, chunk_size=3)
    rest, out = x[x > 2], mt.zeros(3, dtype=int)
    np.add.reduceat(rest, mt.tensor([0, 2, 5]), out=out)  # type: ignore[arg-type]
    assert_same(out, np.add.reduceat(np.arange(3, 10), [0, 2, 5]))
    with pytest.raises(IndexError, match="out-of-bounds"):
        mt.add.reduceat(rest, [0, 7]).compute()


def test_what_cannot_be():
    """Is refused as NumPy refuses it, at the call."""
    for call in (
        lambda xp: xp.add.reduceat(xp.ones(3), [0, 3]),
        lambda xp: xp.add.reduceat(xp.ones(3), [-1]),
        lambda xp: xp.add.reduceat(xp.ones(3), [[0]]),
        lambda xp: xp.add.reduceat(xp.ones(3), np.array([0.5])),
        lambda xp: xp.add.reduceat(xp.ones(()), [0]),
        lambda xp: xp.add.reduceat(xp.ones((2, 3)), [0], axis=None),
        lambda xp: xp.add.reduceat(xp.ones((2, 3)), [0], axis=2),
        lambda xp: xp.negative.reduceat(xp.ones(3), [0]),
        lambda xp: xp.divmod.reduceat(xp.ones(3), [0]),
        lambda xp: xp.less.reduceat(xp.ones(3), [0]),
    ):
        with pytest.raises(Exception) as expected:  # noqa: PT011 - whichever it is
            call(np)
        with pytest.raises(expected.type):
            call(mt)
