"""In-place operators and ``out=`` of tensors whose lengths are unknown."""

from __future__ import annotations

import operator

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import marsdask.tensor as mt
from tests.strategies import assert_like_numpy, chunkings, draws


def by_operator(xp, a, b):
    """Multiply in place."""
    del xp
    a *= b
    return a


def by_out(xp, a, b):
    """Add to the first operand."""
    return xp.add(a, b, out=a)


def by_copyto(xp, a, b):
    """Assign where a mask holds."""
    xp.copyto(a, b, where=a > 2)
    return a


@pytest.mark.parametrize("way", [by_operator, by_out, by_copyto])
@draws(20)
@given(st.data())
def test_lengths_are_compared_when_they_are_known(way, data):
    """That of the other operand may be unknown, too; one element repeats."""
    chosen = data.draw(st.integers(0, 4), label="chosen")
    size = data.draw(st.sampled_from([1, chosen, 3]), label="other")
    arrays = np.arange(chosen + 2.0), np.arange(size + 2.0)
    cases = [(array, data.draw(chunkings(array.shape))) for array in arrays]
    unknown = data.draw(st.booleans(), label="both unknown")
    assert_like_numpy(lambda xp, x, y: way(xp, x[x > 1], y[y > 1] if unknown else y[2:]), *cases)


def test_known_lengths_that_differ_are_refused_at_the_call():
    """So is another axis."""
    x = mt.ones((4, 3), chunk_size=2)
    some = x[x[:, 0] > 0]
    for part, other in ((some, np.ones((2, 4, 3))), (some[:, :1], np.ones((4, 3)))):
        with pytest.raises(ValueError, match="non-broadcastable output"):
            operator.iadd(part, other)
