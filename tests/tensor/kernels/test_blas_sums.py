"""Sums by BLAS are NumPy's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from marsdask.tensor.kernels import blas_sums
from tests.strategies import draws

#: Ways in which a block may lie in memory: BLAS reads the first three.
VIEWS: dict[str, Callable[[Any], Any]] = {
    "whole": lambda a: a,
    "columns": lambda a: a[..., : a.shape[-1] // 2],
    "rows": lambda a: a[::2],
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[..., ::-1],
    "steps": lambda a: a[..., ::2],
    "repeated": lambda a: np.broadcast_to(a[:1], a.shape),
}


@draws(40)
@given(st.data())
def test_sums_equal_numpys(data: st.DataObject) -> None:
    """Along any axes, of views too, of single precision, and of what is not finite."""
    shape = data.draw(hnp.array_shapes(max_dims=2, max_side=9).map(lambda s: (*s[:-1], s[-1] * 5)))
    numbers = st.one_of(st.integers(-9, 9), st.sampled_from([0.5, np.nan, np.inf, -np.inf]))
    dtype = data.draw(st.sampled_from(["f8", "f8", "f4"]))
    block = data.draw(hnp.arrays(dtype, shape, elements=numbers))
    block = VIEWS[data.draw(st.sampled_from(sorted(VIEWS)))](block)
    axis = data.draw(st.sampled_from([(), (0,), (1,), (0, 1)] if block.ndim == 2 else [(), (0,)]))
    with pytest.MonkeyPatch.context() as patch, np.errstate(invalid="ignore"):
        patch.setattr(blas_sums, "WORTH", 1)
        patch.setattr(blas_sums, "ROW", 4)
        patch.setattr(blas_sums, "ROWS", 3)
        found = blas_sums.add_reduce(block, axis, np.dtype("f8"), keepdims=True)
        np.testing.assert_array_equal(found, block.sum(axis, np.dtype("f8"), keepdims=True))


@pytest.mark.parametrize("axis", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("columns", [3, 1000, 9000, 70000])
def test_sums_lose_no_digits(axis: tuple[int, ...], columns: int) -> None:
    """Errors are of a few ulps of the numbers' sizes, however long the axes are."""
    block = np.random.default_rng(0).random((70000 // columns + 1, columns)) + 1e6
    found = blas_sums.add_reduce(block, axis, block.dtype, keepdims=True)
    lines: Any = {(0,): block.T, (1,): block, (0, 1): block.reshape(1, -1)}[axis]
    exact = np.array([math.fsum(line) for line in lines[:50]])
    np.testing.assert_allclose(found.ravel()[:50], exact, rtol=2e-13 if axis == (0,) else 1e-14)
    flat = block.ravel()
    found = blas_sums.add_reduce(flat, (0,), flat.dtype, keepdims=True)
    np.testing.assert_allclose(found, [math.fsum(flat)], rtol=1e-14)
