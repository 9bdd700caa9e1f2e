"""Running sums by products are NumPy's, and say where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from marsdask.tensor.kernels.triangular_products import GROUP, SHORT, SLAB, add_down, is_summable

ROWS = (1, GROUP - 1, GROUP, 2 * GROUP + 3, SLAB, 2 * SLAB + GROUP + 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("starts", [False, True])
@pytest.mark.parametrize("rows", ROWS)
def test_sums(rows, starts, dtype):
    """Whole groups and what is left of them, slabs, blocks cut from wider arrays."""
    rng = np.random.default_rng(rows)
    block = rng.standard_normal((rows, SHORT + 7)).astype(dtype)[:, 2 : SHORT + 5]
    before = rng.standard_normal((1, block.shape[1])).astype(dtype)[0]
    out = np.empty((rows, block.shape[1]), dtype)
    assert is_summable(block, out)
    assert add_down(block, before if starts else None, out)
    expected = np.cumsum(block, axis=0, dtype=np.float64) + starts * before
    np.testing.assert_allclose(out, expected, rtol=0, atol=rows * np.finfo(dtype).eps * 8)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, GROUP + 1, SLAB + 1, SLAB + GROUP])
def test_not_finite(row, value):
    """Wherever it is, and without a warning."""
    block = np.ones((SLAB + GROUP + 1, SHORT))
    block[row, 3] = value
    assert not add_down(block, None, np.empty_like(block))


def test_overflow():
    """Finite numbers of which a sum is not."""
    block = np.full((GROUP, SHORT), 1e308)
    assert not add_down(block, None, np.empty_like(block))


@pytest.mark.parametrize(
    "block",
    [
        np.ones((4, SHORT), int),
        np.ones((4, SHORT), complex),
        np.ones((4, SHORT), ">f8"),
        np.ones((4, SHORT - 1)),
        np.ones((4, SHORT, 1)),
        np.ones((SHORT, 4)).T,
        np.ma.ones((5, SHORT)),
    ],
    ids=lambda block: f"{block.dtype}-{block.shape}-{block.strides}",
)
def test_not_summable(block):
    """Other types, short rows, other dimensions, columns in order, masks."""
    assert not is_summable(block, np.empty_like(block))
