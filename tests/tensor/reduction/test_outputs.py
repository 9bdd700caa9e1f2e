"""Shapes of ``out`` that reductions refuse, or compare once they are known."""

from __future__ import annotations

import numpy as np
import pytest

import marsdask.tensor as mt

#: Shapes of an array and of outputs that do not hold its sum, with the axes and ``keepdims``.
CASES = [
    ((3, 4), (5,), 1, False),
    ((3, 4), (3,), 0, False),
    ((3, 4), (5, 1), 1, True),
    ((2, 3, 4), (2, 5), 1, False),
    ((2, 3, 4), (5,), (0, 2), False),
    ((3, 4), (2, 2), None, False),
    ((3, 4), (), 0, False),
]


@pytest.mark.parametrize(("shape", "out", "axis", "keepdims"), CASES)
@pytest.mark.parametrize("name", ["sum", "prod", "all"])
def test_the_whole_message_is_numpys(name, shape, out, axis, keepdims):
    """With the original shapes, the remapped ones, and the ufunc."""
    messages = []
    for xp in (np, mt):
        with pytest.raises(ValueError, match=r"output parameter|remapped") as refused:
            getattr(xp, name)(xp.ones(shape), axis=axis, keepdims=keepdims, out=xp.ones(out))
        messages.append(str(refused.value).rstrip())
    assert messages[0] == messages[1]


def test_unknown_lengths_are_compared_when_they_are_known():
    """At the call they may fit."""
    x = mt.ones((3, 4), chunk_size=2)
    some = x[:, x[0] > 0]
    assert mt.sum(some, axis=0, out=mt.zeros(4)).compute().tolist() == [3.0] * 4
    late = mt.sum(some, axis=0, out=mt.zeros(5))
    with pytest.raises(ValueError, match="broadcast"):
        late.compute()
