"""Running sums and products equal NumPy's, whatever the chunks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.tensor.scan.cumulative import CumulativeBlock
from tests.strategies import arrays_and_chunks, assert_same, grids, tensor_of

NAMES = ["cumsum", "cumprod", "nancumsum", "nancumprod"]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_scans_equal_numpy(name: str, data: st.DataObject) -> None:
    """Values and types are NumPy's along every axis, and over the flat array."""
    array, chunks = data.draw(arrays_and_chunks(dtypes=("i1", "u2", "f4", "f8", "c16", "?")))
    axes = [None, *range(-array.ndim, array.ndim)]
    axis = data.draw(st.sampled_from(axes))
    with np.errstate(all="ignore"), grids(merged=data.draw(st.booleans())):
        expected = getattr(np, name)(array, axis=axis)
        assert_same(getattr(mt, name)(tensor_of(array, chunks), axis=axis), expected, rtol=1e-4)


@pytest.mark.parametrize("axis", [0, 1])
def test_long_rows(axis: int) -> None:
    """Blocks whose rows are added whole give the same as NumPy's walk down the columns."""
    array = np.random.default_rng(0).integers(0, 9, (40, 700))
    lazy = tensor_of(array, ((25, 0, 15), (300, 400)))
    assert_same(lazy.cumsum(axis), array.cumsum(axis))
    assert_same(lazy.cumsum(axis, dtype="f4"), array.cumsum(axis, dtype="f4"))


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("name", ["cumprod", "nancumprod"])
@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 1e200, 1e200],
        [1e200, 1e200, 1e-200, 1e-200],
        [1e-300, 1, 1e200, 1e200, 1e-50, 1],
        [1e-200, 1e-200, 1e200, 1e200, 3, 4],
    ],
)
def test_products_that_overflow_in_their_own_block_only(
    values: list[float], name: str, dtype: str
) -> None:
    """Are those of the whole array, zero and infinity included, in every layout."""
    array = np.array(values, dtype)
    with np.errstate(all="ignore"), grids(merged=False):
        for chunks in (2, ((0, 3, 0, len(values) - 3),)):
            lazy = mt.tensor(array, chunks=chunks)
            assert_same(getattr(mt, name)(lazy), getattr(np, name)(array))
        several = np.tile(array[:, None], (1, 3))
        lazy = mt.tensor(several, chunk_size=2)
        assert_same(getattr(mt, name)(lazy, axis=0), getattr(np, name)(several, axis=0))
        grown = mt.tensor(np.append(-1, array), chunk_size=1)
        found = getattr(mt, name)(grown[grown.real >= 0])
        np.testing.assert_array_equal(found.compute(), getattr(np, name)(array))


def test_sums_that_overflow_in_their_own_block_only() -> None:
    """Do not, after what is before."""
    array = np.array([-1e308, -1, 1e308, 1e308])
    with grids(merged=False):
        assert_same(mt.cumsum(mt.tensor(array, chunk_size=2)), np.cumsum(array))


def test_times() -> None:
    """Durations are added up, in their unit."""
    array = np.arange(6).astype("m8[s]").reshape(3, 2)
    for axis in (None, 0, 1):
        found = mt.cumsum(mt.tensor(array, chunk_size=2), axis)
        np.testing.assert_array_equal(found.compute(), np.cumsum(array, axis), strict=True)


@pytest.mark.parametrize("chunks", [6, 2, (0, 1, 5, 0)])
def test_texts(chunks: Any) -> None:
    """Are put together, though NumPy cannot reduce them."""
    x = np.array(["a", "", "bc", "d", "", "e"], np.dtypes.StringDType())
    lazy = mt.tensor(x, chunks=(chunks,))
    np.testing.assert_array_equal(mt.cumsum(lazy).compute(), np.cumsum(x))
    rows = lazy.reshape(3, 2)
    found = mt.add.accumulate(rows, 0).compute()
    np.testing.assert_array_equal(found, np.add.accumulate(x.reshape(3, 2), 0))
    with pytest.raises(TypeError):
        mt.cumprod(lazy)


def test_bad_axes_are_refused_at_the_call() -> None:
    """An axis that does not exist, or no axis where the array API wants one."""
    with pytest.raises(np.exceptions.AxisError):
        mt.ones(3).cumsum(1)
    with pytest.raises(ValueError, match="axis"):
        mt.cumulative_sum(mt.ones((3, 3)))
    assert_same(mt.cumulative_sum(mt.ones(3)), np.arange(1.0, 4))
    assert_same(mt.cumulative_prod(mt.ones(0), include_initial=True), np.ones(1))


def test_out() -> None:
    """``out=`` rebinds a tensor to the result."""
    target = mt.zeros(3)
    assert mt.cumsum(mt.ones(3), out=target) is target
    assert_same(target, np.arange(1.0, 4))


def test_tiles_of_a_running_block() -> None:
    """Tiles read in order continue each other, side by side too; others are refused."""
    block = np.arange(24.0).reshape(6, 4)
    start = np.full((1, 4), 10.0)
    lazy = CumulativeBlock(block, start, np.add, 0, np.dtype("f8"))
    expected = 10 + block.cumsum(0)
    for columns in (slice(0, 3), slice(3, 4)):
        for rows in (slice(0, 2), slice(2, 5), slice(5, 6)):
            assert np.array_equal(lazy[rows, columns], expected[rows, columns])
    with pytest.raises(ValueError, match="in order"):
        lazy[3:4, :]
    assert np.array_equal(np.asarray(lazy), expected)


SCANNED = np.array([1, 0, 2, 3, 0, 1, 100, 7])
TYPES = ("?", "i1", "u1", "i8", "u8", "e", "f", "d", "F", "O")
ACCUMULATED_BY = (
    *("add", "multiply", "maximum", "minimum", "fmax", "fmin", "logical_and", "logical_or"),
    *("logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "hypot"),
)


@pytest.mark.parametrize("chunk_size", [1, 3])
@pytest.mark.parametrize("wanted", TYPES)
@pytest.mark.parametrize("name", ACCUMULATED_BY)
def test_any_type_of_result_in_any_chunks(name: str, wanted: str, chunk_size: int) -> None:
    """Values are cast before they are accumulated, as in one chunk; the axes take turns."""
    turn = TYPES.index(wanted) + ACCUMULATED_BY.index(name) + chunk_size // 3
    for place, own in enumerate(TYPES, turn):
        shape, axis = (((8,), 0), ((4, 2), 0), ((4, 2), 1))[place % 3]
        values = SCANNED.astype(own).reshape(shape)
        lazy = mt.tensor(values, chunk_size=chunk_size)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = getattr(np, name).accumulate(values, axis, wanted)
            except (TypeError, AttributeError, ZeroDivisionError):  # of objects
                continue
            with option_context({"coalesce": False}):
                found = getattr(mt, name).accumulate(lazy, axis, wanted).compute()
        assert found.dtype == expected.dtype
        if found.dtype.kind in "fc":
            np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(found.dtype).eps)
        else:
            np.testing.assert_array_equal(found, expected)


def test_all_axes_are_refused() -> None:
    """As in NumPy."""
    with pytest.raises(ValueError, match="accumulate does not allow multiple axes"):
        mt.add.accumulate(mt.ones((2, 2)), None)
