"""Reductions of what a mask chooses are NumPy's, and no chunk of what is chosen is made."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask
import marsdask.tensor as mt
from marsdask.tensor.kernels import block_reduction, fused_ufuncs
from tests.strategies import chunkings, draws


@contextmanager
def small_tiles() -> Iterator[None]:
    """Cut blocks of a few numbers into tiles of fewer."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(fused_ufuncs, "TILE_BYTES", 32)
        patch.setattr(fused_ufuncs, "TILES_BYTES", 32)
        patch.setattr(block_reduction, "TILE_BYTES", 32)
        yield


def reduced(x: Any, mask: Any) -> list[Any]:
    """Return reductions of chains of what a mask chooses: NumPy's of arrays, ours of tensors."""
    y = x[mask]
    return [
        (y * 2 + 1).mean(),
        y.sum(),
        (y - 3).var(),
        (x[mask] * (x * 3)[mask]).sum(),
        (y == 3).any(),
        abs(y).sum(keepdims=True),
    ]


@draws(25)
@given(st.data())
def test_reductions_equal_numpys(data: st.DataObject) -> None:
    """Of one axis or two in any chunks, tile by tile, of what is not finite, and of nothing."""
    shape = data.draw(hnp.array_shapes(max_dims=2, min_side=0, max_side=9))
    dtype = data.draw(st.sampled_from(["f8", "f8", "f4", "i4"]))
    numbers = st.integers(-5, 5)
    if dtype != "i4":
        numbers |= st.sampled_from([0.5, np.nan, np.inf, -np.inf])
    array = data.draw(hnp.arrays(dtype, shape, elements=numbers))
    limit = data.draw(st.sampled_from([-9, 0, 2, 9]))
    with small_tiles():
        x = mt.tensor(array, chunk_size=data.draw(chunkings(shape)))
        got = marsdask.fetch(*marsdask.execute(*reduced(x, x > limit)))
        for one, wanted in zip(got, reduced(array, array > limit), strict=True):
            np.testing.assert_allclose(one, wanted, rtol=1e-5 if dtype == "f4" else 1e-12)
            assert one.dtype == wanted.dtype


def test_many_tiles() -> None:
    """Of blocks that are cut into tiles in earnest, some of which the mask leaves nothing of."""
    array = np.random.default_rng(0).random((700, 600))
    array[300:] -= 1
    x = mt.tensor(array, chunk_size=(400, 600))
    got = marsdask.fetch(*marsdask.execute(*reduced(x, x > 0.5), x[x > 0.5].max(), x[x < 9].var()))
    wanted = [*reduced(array, array > 0.5), array[array > 0.5].max(), array.var()]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_the_choice_is_part_of_the_reduction() -> None:
    """One node reads the array; nothing of unknown length is between."""
    x = mt.ones(100, chunk_size=10)
    plan = (x[x > 0.5] * 2 + 1).mean().explain()
    assert "choose" not in plan
    assert "reduce_block" in plan
    assert "choose" in x[x > 0.5].explain()


def test_what_is_not_chosen_raises_no_warning() -> None:
    """Functions are called of chosen elements only, or nobody hears about the others."""
    array = np.full(200_000, 1e300)
    array[::3] = 2.0
    x = mt.tensor(array, chunk_size=150_000)
    y = x[x < 9]
    assert (y * y).sum().execute().fetch() == 4 * len(array[::3])
    with pytest.warns(RuntimeWarning, match="overflow"):
        (x[x > 0] * 1e300).sum().execute()


def test_nothing_is_chosen() -> None:
    """What NumPy says of no elements is said."""
    x = mt.ones((300, 700), chunk_size=200)
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(x[x > 2].mean().execute().fetch())
    with pytest.raises(ValueError, match="zero-size array"):
        x[x > 2].max().execute()
