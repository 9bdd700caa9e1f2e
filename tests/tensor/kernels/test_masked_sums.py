"""Sums weighed by a mask, where that gives what picking does."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.tensor.kernels.fused_ufuncs import UfuncProgram, UfuncStep
from marsdask.tensor.kernels.masked_sums import masked_program, weighed_sum, weighed_total
from marsdask.tensor.kernels.tile_selection import places, take_elements

DOUBLE, INDEX = np.dtype("f8"), np.dtype(np.intp)


def choosing(*after: np.ufunc) -> UfuncProgram:
    """Return a program that chooses by its second operand and calls functions of the result."""
    steps = [
        UfuncStep(places, (1,), (), (), INDEX),
        UfuncStep(take_elements, (0, 2), (), (("purpose", "test"),), DOUBLE),
    ]
    for func in after:
        steps.append(UfuncStep(func, (1 + len(steps), -1)[: func.nin], (2.0,), (), DOUBLE))
    return UfuncProgram(2, tuple(steps))


def test_sums_are_those_of_what_is_picked() -> None:
    """Of tiles of one axis and of two."""
    block = np.random.default_rng(0).random((50, 100))
    for value, mask in [(block, block > 0.3), (block.ravel(), block.ravel() > 0.3)]:
        program = choosing(np.multiply, np.add)
        chosen = masked_program(program)
        assert chosen is not None
        total, count = weighed_total(*chosen(value, mask))
        np.testing.assert_allclose(total.item(), program(value, mask).sum(), rtol=1e-13)
        assert count.item() == mask.sum()
        assert total.ndim == value.ndim


def test_what_cannot_be_weighed() -> None:
    """Much work is not done for nothing, and what is not finite gives no sum."""
    assert masked_program(choosing(np.sin)) is None
    assert masked_program(choosing(*[np.negative] * 9)) is None
    assert masked_program(UfuncProgram(1, (UfuncStep(np.negative, (0,), (), (), DOUBLE),))) is None
    block = np.array([1.0, np.inf])
    with np.errstate(invalid="ignore"):
        assert np.isnan(weighed_sum(block, np.array([True, False])))
    with pytest.raises(FloatingPointError), np.errstate(invalid="raise"):
        weighed_sum(block, np.array([True, False]))
