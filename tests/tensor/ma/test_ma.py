"""Masked tensors, against numpy.ma."""

from __future__ import annotations

import itertools
from typing import Any

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, grids

ma = mt.ma


def assert_alike(lazy: Any, expected: Any, rtol: float = 1e-12) -> None:
    """Check masks, the values that are not masked, types and shapes."""
    check(lazy.compute(), expected, rtol)


def assert_all_alike(pairs: Any, rtol: float = 1e-12) -> None:
    """Check many pairs of tensors and results, computed in one graph."""
    lazies, expected = zip(*pairs, strict=True)
    for value, wanted in zip(mt.compute(*lazies), expected, strict=True):
        check(value, wanted, rtol)


def check(value: Any, expected: Any, rtol: float) -> None:
    assert np.shape(value) == np.shape(expected)
    if expected is np.ma.masked or value is np.ma.masked:
        assert value is expected
        return
    assert isinstance(value, np.ma.MaskedArray) == isinstance(expected, np.ma.MaskedArray)
    assert np.asarray(value).dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(np.ma.getmaskarray(value), np.ma.getmaskarray(expected))
    np.testing.assert_allclose(np.ma.filled(value, 0), np.ma.filled(expected, 0), rtol, rtol)


@st.composite
def masked_arrays(draw: Any, min_dims: int = 1, min_side: int = 0) -> Any:
    """Return a masked array, the tensor of it, and a plain array of the same shape."""
    dtypes = ("f8", "i4", "f4")
    array, chunks = draw(arrays_and_chunks(dtypes, min_dims, 2, min_side, nan=False))
    mask = draw(hnp.arrays(bool, array.shape, elements=st.booleans()))
    masked = np.ma.masked_array(array, mask=mask)
    return masked, mt.tensor(masked, chunks=chunks), array


OPERATIONS = {
    "add": lambda x, y: x + y,
    "divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "from_plain": lambda x, y: y - x,
    "with_number": lambda x, y: 2 * x,
    "greater": lambda x, y: x > y,
    "equal": lambda x, y: x == y,
    "negative": lambda x, y: -x,
    "absolute": lambda x, y: abs(x),
}
FUNCTIONS = ("exp", "sqrt", "log", "sin", "arccos", "floor", "isnan")


@pytest.mark.parametrize("merged", [True, False], ids=["merged", "as cut"])
@given(masked_arrays())
def test_elements(merged: bool, arrays: Any) -> None:
    """Arithmetic masks what either side masks, and what has no value."""
    masked, lazy, plain = arrays
    with grids(merged=merged), np.errstate(all="ignore"):
        pairs = [
            (op(lazy, plain), np.ma.asanyarray(op(masked, plain))) for op in OPERATIONS.values()
        ]
        for name in FUNCTIONS:
            form = getattr(np.ma, name, getattr(np, name))
            pairs.append((getattr(mt, name)(lazy), np.ma.asanyarray(form(masked))))
        pairs.append((lazy + lazy, masked + masked))
        pairs.append((np.square(lazy), np.ma.asanyarray(np.square(masked))))
        wide, narrow = lazy.astype("f8").clip(0, 2), masked.astype("f8").clip(0, 2)
        pairs.append((wide, np.ma.asanyarray(narrow)))
        assert_all_alike(pairs, 1e-6)


REDUCTIONS: dict[str, dict[str, Any]] = {
    **{key: {} for key in ("sum", "prod", "mean", "min", "max", "any", "all", "ptp")},
    **{key: {"ddof": 1} for key in ("var", "std")},
    "count": {},
}


@given(masked_arrays(min_side=1), st.data())
def test_reductions(arrays: Any, data: Any) -> None:
    """What is masked does not count; of nothing there is no result."""
    masked, lazy, _ = arrays
    axis = data.draw(st.none() | st.integers(0, masked.ndim - 1))
    keepdims = data.draw(st.booleans())
    pairs = []
    for name, options in REDUCTIONS.items():
        how = {"axis": axis, "keepdims": keepdims or name == "ptp", **options}
        pairs.append((getattr(lazy, name)(**how), getattr(masked, name)(**how)))
    assert_all_alike(pairs, 1e-5)


@given(masked_arrays(min_side=1), st.data())
def test_scans_and_places(arrays: Any, data: Any) -> None:
    """Masked elements are passed over."""
    masked, lazy, _ = arrays
    axis = data.draw(st.none() | st.integers(0, masked.ndim - 1))
    for name in ("cumsum", "cumprod"):
        assert_alike(getattr(lazy, name)(axis=axis), getattr(masked, name)(axis=axis), 1e-5)
    for name in ("argmin", "argmax"):
        found = getattr(lazy, name)(axis=axis).compute()
        np.testing.assert_array_equal(found, getattr(masked, name)(axis=axis))
    np.testing.assert_array_equal(lazy.compressed().compute(), masked.compressed())
    for ours, theirs in zip(ma.nonzero(lazy), np.ma.nonzero(masked), strict=True):
        np.testing.assert_array_equal(ours.compute(), theirs)


@given(masked_arrays())
def test_masking_by_value(arrays: Any) -> None:
    """Every function that masks, of plain tensors and of masked ones."""
    masked, lazy, plain = arrays
    pairs = []
    for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal", "values"):
        ours, theirs = getattr(ma, f"masked_{name}"), getattr(np.ma, f"masked_{name}")
        pairs.append((ours(lazy, 2), theirs(masked, 2)))
        pairs.append((ours(mt.tensor(plain, chunk_size=2), 2), theirs(plain, 2)))
    pairs.append((ma.masked_inside(lazy, 0, 2), np.ma.masked_inside(masked, 0, 2)))
    pairs.append((ma.masked_outside(lazy, 0, 2), np.ma.masked_outside(masked, 0, 2)))
    condition = plain > 1
    hidden = ma.masked_where(mt.tensor(condition, chunk_size=2), lazy)
    pairs.append((hidden, np.ma.masked_where(condition, masked)))
    pairs.append((ma.where(condition, lazy, 0), np.ma.where(condition, masked, 0)))
    pairs.append((mt.where(lazy > 1, 1, lazy), np.where(masked > 1, 1, masked)))
    pairs.append((mt.where(lazy)[0], np.where(masked)[0]))
    assert_all_alike(pairs)


def test_append_joins_masks() -> None:
    """What is appended is masked where it is, and either side may be masked."""
    array = np.ma.masked_array([[1.0, 2.0]], [[False, True]])
    lazy = mt.ma.masked_array(mt.tensor(array.data, chunk_size=1), np.ma.getmaskarray(array))
    pairs = [
        (mt.append(lazy, lazy), np.ma.append(array, array)),
        (mt.append(lazy, [-3.0, 0.0]), np.ma.append(array, [-3.0, 0.0])),
        (mt.append([-3.0], lazy), np.ma.append([-3.0], array)),
        (mt.append(lazy, [[5, 6]], axis=0), np.ma.append(array, [[5, 6]], axis=0)),
    ]
    assert_all_alike(pairs)
    for join in (mt.concatenate, mt.stack):
        with pytest.raises(NotImplementedError, match=r"out=.* of masked tensors"):
            join([lazy, lazy], out=mt.zeros((2, 2)))


def test_none_is_a_value_to_choose() -> None:
    """Only a missing argument asks for the positions."""
    condition, values = np.array([True, False, True]), np.arange(3)
    lazy = mt.tensor(condition, chunk_size=2)
    for choices in ((None, values), (values, None), (None, None)):
        chosen = ma.where(lazy, *choices).compute()
        assert chosen.tolist() == np.ma.where(condition, *choices).tolist()
    with pytest.raises(ValueError, match="Must provide both"):
        ma.where(lazy, values)


MOVES = {
    "getitem": lambda x, xp: x[1:, ::-1],
    "points": lambda x, xp: x[[2, 0]],
    "mask": lambda x, xp: x[np.array([True, False, True])],
    "transpose": lambda x, xp: x.T,
    "reshape": lambda x, xp: x.reshape(2, 6),
    "ravel": lambda x, xp: x.ravel(),
    "concatenate": lambda x, xp: xp.concatenate([x, x], axis=1),
    "stack": lambda x, xp: xp.stack([x, x]),
    "squeeze": lambda x, xp: x[:1].squeeze(),
    "swapaxes": lambda x, xp: x.swapaxes(0, 1),
    "repeat": lambda x, xp: x.repeat(2, axis=0),
    "take": lambda x, xp: x.take([1, 2], axis=1),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_moves_take_the_mask_along(move: Any) -> None:
    """As methods, under our names and under NumPy's."""
    masked = np.ma.masked_array(
        np.arange(12.0).reshape(3, 4), mask=np.arange(12).reshape(3, 4) % 5 < 2
    )
    lazy = mt.tensor(masked, chunk_size=2)
    expected = move(masked, np.ma)
    for module in (mt, mt.ma, np):
        if move not in (MOVES["concatenate"], MOVES["stack"]) or module is not np:
            assert_alike(move(lazy, module), expected)
    assert_alike(np.concatenate([lazy, lazy]), np.ma.concatenate([masked, masked]))
    parts = mt.split(lazy, 2, axis=1)
    assert_alike(parts[1], masked[:, 2:])


def test_fill_values_and_parts() -> None:
    """Data, mask, and what takes the place of masked values."""
    masked = np.ma.masked_array([1, 2, 3], mask=np.array([0, 1, 0], bool), fill_value=7)
    lazy = ma.array(masked, chunk_size=2)
    assert lazy.fill_value == 7
    assert lazy.compute().fill_value == 7
    assert (lazy + 1)[1:].filled().compute().tolist() == [7, 4]
    ma.set_fill_value(lazy, 9)
    np.testing.assert_array_equal(ma.filled(lazy).compute(), [1, 9, 3])
    np.testing.assert_array_equal(lazy.filled(0).compute(), [1, 0, 3])
    np.testing.assert_array_equal(lazy.data.compute(), [1, 2, 3])
    np.testing.assert_array_equal(lazy.mask.compute(), [False, True, False])
    np.testing.assert_array_equal(ma.getdata(masked).compute(), [1, 2, 3])
    np.testing.assert_array_equal(ma.getmaskarray(mt.ones(2)).compute(), [False, False])
    np.testing.assert_array_equal(ma.filled(np.ones(2)).compute(), [1, 1])
    with pytest.raises(ValueError, match="one value"):
        ma.set_fill_value(lazy, [1, 2])


def test_making_masked_tensors() -> None:
    """Of tensors and masks, and like others."""
    x, mask = np.arange(6.0).reshape(2, 3), np.array([[1, 0, 0], [0, 1, 0]], bool)
    expected = np.ma.masked_array(x, mask)
    lazy = ma.masked_array(mt.tensor(x, chunk_size=2), mt.tensor(mask, chunk_size=1), fill_value=3)
    assert_alike(lazy, expected)
    assert_alike(ma.masked_array(x), np.ma.masked_array(x))
    assert_alike(ma.masked_array(x, True), np.ma.masked_array(x, True))
    assert_alike(ma.masked_array(lazy, mask[:, ::-1]), np.ma.masked_array(expected, mask[:, ::-1]))
    assert_alike(ma.array(x, mask=mask, dtype="i4"), np.ma.array(x, mask=mask, dtype="i4"))
    assert_alike(ma.masked_array(x, mask, int), np.ma.masked_array(x, mask, int))
    assert_alike(ma.array(x, float, True), np.ma.array(x, float, True))
    assert_alike(ma.array(lazy, keep_mask=False), np.ma.array(expected, keep_mask=False))
    assert ma.array(x, ndmin=4).shape == (1, 1, 2, 3)
    with pytest.raises(NotImplementedError, match="hard_mask"):
        ma.array(x, hard_mask=True)
    for name in ("ones_like", "zeros_like"):
        assert_alike(getattr(ma, name)(lazy), getattr(np.ma, name)(expected))
    assert ma.empty_like(lazy, dtype=int).dtype == int
    assert_alike(ma.fix_invalid(mt.tensor([1, np.nan])), np.ma.fix_invalid([1, np.nan]))
    assert_alike(mt.from_array(expected, chunks=1), expected)
    with pytest.raises(np.ma.MaskError):
        ma.masked_array(x, mask[0])
    with pytest.raises(ValueError, match="scalar"):
        ma.masked_array(x, fill_value=[1, 2])
    with pytest.raises(IndexError, match="Inconsistent"):
        ma.masked_where(mask[0], x)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_averages(axis: Any) -> None:
    """With and without weights, along an axis too."""
    masked = np.ma.masked_array(
        np.arange(6).reshape(2, 3), mask=np.array([[1, 0, 0], [1, 1, 0]], bool)
    )
    lazy = mt.tensor(masked, chunk_size=2)
    weights = np.arange(6).reshape(2, 3)
    for given_weights in [
        None,
        weights,
        *([] if axis is None else [np.arange(masked.shape[axis]) + 1]),
    ]:
        ours = ma.average(lazy, axis, given_weights, returned=True)
        theirs = np.ma.average(masked, axis, given_weights, returned=True)
        assert_alike(ours[0], theirs[0])
        np.testing.assert_allclose(np.ma.filled(ours[1].compute(), 0), np.ma.filled(theirs[1], 0))


def test_assignment() -> None:
    """Of values, of masked ones, and of nothing."""
    masked = np.ma.masked_array(
        np.arange(6.0).reshape(2, 3), mask=np.array([[1, 0, 0], [0, 0, 0]], bool)
    )
    lazy = mt.tensor(masked.copy(), chunk_size=2)
    before = lazy + 0
    for array in (lazy, masked):
        array[1, 1:] = np.ma.masked
        array[0] = 5
    lazy[1] = mt.tensor(masked.copy(), chunk_size=2)[1] * 2
    masked[1] = masked[1] * 2
    assert_alike(lazy, masked)
    assert before.compute().mask.sum() == 1
    lazy += 1
    assert_alike(lazy, masked + 1)


def test_chunks_are_masked_arrays() -> None:
    """A user's function sees them, an executed tensor keeps them, Dask is given them."""
    masked = np.ma.masked_array(np.arange(5.0), mask=np.array([0, 1, 0, 0, 1], bool))
    lazy: Any = mt.tensor(masked, chunk_size=2)
    assert_alike(lazy.map_blocks(lambda block: block * 2), masked * 2)
    assert lazy.map_blocks(np.ma.filled, 0).compute().tolist() == [0, 0, 2, 3, 0]
    assert_alike(mt.reduction(lazy, np.ma.sum, np.ma.sum, axis=0, dtype=float), masked.sum())
    assert_alike(lazy.execute()[1:] + 1, masked[1:] + 1)
    theirs = lazy.to_dask()
    assert_alike(theirs + 1, masked + 1)
    kept = da.from_array(masked, chunks=2)
    assert mt.from_dask(kept).compute().mask.tolist() == masked.mask.tolist()
    longer = lazy[lazy.filled(0) >= 0]
    assert_alike(longer[1:3], masked[1:3])


def test_what_does_not_know_masks_says_so() -> None:
    """Nothing drops a mask in silence."""
    lazy: Any = mt.tensor(np.ma.masked_array([1.0, 2.0], mask=np.array([0, 1], bool)))
    add: Any = np.add  # whose stub knows of no tensors
    for call in (
        lambda: mt.sort(lazy),
        lambda: mt.median(lazy),
        lambda: mt.nanargmax(lazy),
        lambda: lazy.sum(where=lazy.mask),
        lambda: mt.add(lazy, 1, where=lazy.mask),
        lambda: add.reduce(lazy),
        lambda: mt.modf(lazy),
        lambda: lazy @ lazy,
    ):
        with pytest.raises(NotImplementedError):
            call()


@given(masked_arrays(min_side=1), st.data())
def test_order(arrays: Any, data: Any) -> None:
    """What is masked is sorted to an end, and is no median."""
    masked, lazy, _ = arrays
    axis = data.draw(st.integers(-1, masked.ndim - 1))
    pairs = [(ma.sort(lazy, axis), np.ma.sort(masked, axis))]
    if masked.dtype.kind == "i":
        how: Any = {"axis": axis, "endwith": False}
        pairs.append((ma.sort(lazy, **how), np.ma.sort(masked, **how)))
    pairs.append((ma.median(lazy, axis), np.ma.median(masked, axis)))
    pairs.append((ma.median(lazy), np.ma.median(masked)))
    assert_all_alike(pairs, 1e-6)
    lazy.sort(axis=axis)
    assert_alike(lazy, np.ma.sort(masked, axis))


def test_products() -> None:
    """Masked factors count as nothing; a result of nothing else is masked."""
    x = np.ma.masked_array([[1, 2, 3], [4, 5, 6]], mask=np.array([[1, 1, 1], [0, 1, 0]], bool))
    lazy = mt.tensor(x, chunk_size=2)
    assert_alike(ma.dot(lazy, lazy.T), np.ma.dot(x, x.T))
    assert_alike(lazy.dot(np.ones((3, 2))), np.ma.dot(x, np.ones((3, 2))))


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanmin", "nanmax", "nanvar"])
def test_nan_beside_the_mask(name: str) -> None:
    """Is passed over as well."""
    x = np.ma.masked_array(
        [[1, np.nan, 3], [4, 5, np.nan]], mask=np.array([[1, 0, 0], [0, 1, 0]], bool)
    )
    hidden = np.ma.masked_invalid(x)
    for axis in (None, 1):
        expected = getattr(hidden, name.removeprefix("nan"))(axis=axis)
        assert_alike(getattr(mt, name)(mt.tensor(x, chunk_size=2), axis=axis), expected)


@pytest.mark.parametrize("axes", [0, 1, 2, ((0, 1), (1, 0)), (-1, 0)])
def test_sums_over_pairs_of_axes(axes):
    """Masked values count as missing; a sum of none is masked, as in numpy.ma.dot."""
    x, y = np.arange(12).reshape(3, 4) % 5, np.arange(12).reshape(4, 3) % 4
    y = y.T if axes in (0, 2) else y
    first, second = np.ma.masked_equal(x, 2), np.ma.masked_less(y, 2)
    lazy = (mt.ma.masked_equal(mt.tensor(x, chunk_size=2), 2), mt.ma.masked_array(second))
    sums = mt.tensordot(*lazy, axes=axes).compute()
    values = np.tensordot(first.filled(0), second.filled(0), axes)
    seen = np.tensordot(~first.mask, ~second.mask, axes)
    np.testing.assert_array_equal(np.ma.filled(sums, -1), np.where(seen, values, -1))
    half = mt.tensordot(x, lazy[1], axes)
    np.testing.assert_array_equal(
        np.ma.filled(half.compute(), 0), np.tensordot(x, second.filled(0), axes)
    )
    assert mt.tensordot(x, y, axes).shape == values.shape
    with pytest.raises(NotImplementedError, match="sparse=False"):
        mt.tensordot(*lazy, axes, sparse=True)


@pytest.mark.parametrize("name", ["min", "max", "ptp", "median"])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex128"])
def test_values_below_masks(name, dtype):
    """Where a lane is masked, its values are those that NumPy puts there."""
    values, mask = np.array([[1, 0, 3], [1, 2, 3]]).astype(dtype), np.array([[1, 1, 1], [1, 0, 0]])
    results: list[Any] = []
    libraries: list[tuple[Any, Any]] = [(np, values), (mt, mt.tensor(values, chunk_size=2))]
    for xp, array in libraries:
        masked = xp.ma.masked_array(array, mask=mask.astype(bool))
        try:
            method = xp.ma.median if name == "median" else getattr(type(masked), name)
            results.append([method(masked, axis=axis) for axis in (0, 1)])
        except TypeError as error:  # truth values have no difference
            results.append(type(error))
    wanted, lazy = results
    if isinstance(wanted, type):
        assert lazy is wanted
    else:
        for reference, ours in zip(wanted, lazy, strict=True):
            np.testing.assert_array_equal(np.asarray(ours.compute()), np.asarray(reference))
            assert ours.compute().dtype == reference.dtype


def test_equal_values_that_are_not_masked():
    """Values below masks do not matter to whether all are close."""
    array = np.ma.masked_array([1.0, np.nan], mask=[False, True])
    lazy = mt.ma.from_masked(array, chunk_size=1)
    assert mt.allclose(lazy, lazy).compute() == np.allclose(array, array)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "median", "any", "all", "average"])
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value", "ignore:Degrees")
def test_of_no_values_nothing_is_masked(name):
    """Reductions of no values are NumPy's plain ones, also if only running tells the length."""
    for shape, axis in (((0,), None), ((2, 0), -1), ((0, 2), 0)):
        values = np.ones(shape)
        wanted = getattr(np.ma, name)(np.ma.masked_where(values > 0, values), axis=axis)
        lazy = mt.tensor(values, chunk_size=1)
        masked = mt.ma.masked_where(lazy > 0, lazy)
        reduction = getattr(mt.ma if name in ("median", "average") else mt, name)
        found = reduction(masked, axis=axis).compute()
        assert not np.ma.getmaskarray(found).any()
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
        assert found.dtype == np.asarray(wanted).dtype
    none = mt.arange(3, chunk_size=1)
    none = none[none > 5]
    found = mt.ma.masked_where(none > 1, none).sum().compute()
    assert not np.ma.getmaskarray(found)
    assert found.dtype == int


MASKS: dict[str, Any] = {
    "some": lambda ma, x: ma.masked_where(x > -1, x),
    "none": lambda ma, x: ma.masked_where(x > 99, x),
    "equal": lambda ma, x: ma.masked_equal(x, 1),
    "invalid": lambda ma, x: ma.masked_invalid(x),
    "given": lambda ma, x: ma.masked_array(x, x > 1),
    "given none": lambda ma, x: ma.masked_array(x, x > 99),
    "part": lambda ma, x: ma.masked_array(x, x > 1).T[:2],
    "written": lambda ma, x: _written(ma.masked_where(x > 99, x)),
}


def _written(x: Any) -> Any:
    x[:1] = np.ma.masked
    return x


@pytest.mark.parametrize(
    ("mask", "kind"), [*((name, "f8") for name in MASKS), ("equal", "i4"), ("some", "c16")]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_with_and_without_a_mask(mask, kind):
    """NumPy omits the mask of a condition that masks nothing, which some results tell."""
    pairs: list[Any] = []
    for shape in ((3, 2), (1,), (2, 0)):
        x = (np.arange(np.prod(shape)) - 3).reshape(shape).astype(kind)
        if kind != "i4" and x.size == 6:
            x[1:] = [[np.inf, np.nan], [np.inf, 2]]
        whole, parts = MASKS[mask](np.ma, x.copy()), MASKS[mask](ma, mt.tensor(x, chunk_size=1))
        for name, axis in itertools.product(("sum", "any", "mean", "var"), (None, -1)):
            pairs.append([getattr(part, name)(axis=axis) for part in (parts, whole)])
        pairs += [(parts.var(-1, ddof=1), whole.var(-1, ddof=1))]
        pairs += [(parts.std(-1, ddof=1), whole.std(-1, ddof=1))]
        how: dict[str, Any] = {"axis": -1, "weights": np.ones(whole.shape)}
        pairs.append((ma.average(parts, **how), np.ma.average(whole, **how)))
        if kind != "c16":
            pairs.append((ma.median(parts, -1), np.ma.median(whole, -1)))
    assert_all_alike(pairs)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_fill_values_of_reductions() -> None:
    """Variances have the fill value of the values; below a masked extreme is the fill value."""
    x = np.ma.masked_array([[1.0, 2], [3, 4]], mask=[[True, False], [True, False]], fill_value=7)
    lazy = mt.tensor(x, chunk_size=1)
    for name in ("var", "std", "mean", "sum", "max", "min", "ptp"):
        found, expected = (getattr(array, name)(axis=0) for array in (lazy, x))
        assert found.fill_value == found.compute().fill_value == expected.fill_value
        if name in ("max", "min", "ptp"):
            np.testing.assert_array_equal(found.compute().data, expected.data)
    half = np.ma.masked_array(np.full(5, 3e4, "f2"), mask=False)
    assert mt.ma.masked_array(half, chunk_size=2).mean().compute() == half.mean()
    assert mt.allclose(lazy, 2).compute() == np.allclose(x, 2)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
def test_means_that_are_not_finite(name):
    """NumPy masks such means, and takes their variances for 0; of unmasked values all are nan."""
    array = np.array([[1.0, 2, np.nan], [4, 5, 6], [np.inf, 1, 9]])
    ways: list[dict[str, Any]] = [{}, {"axis": 0}, {"axis": -1}, {"axis": 0, "keepdims": True}]
    ways += [{"axis": 0, "ddof": 1}] if name != "mean" else []
    pairs = []
    for values in (array, array[0], array[2], array.astype(complex)):
        for border in (4, 99):
            whole = np.ma.masked_where(abs(values) > border, values)
            lazy = mt.tensor(values, chunk_size=2)
            parts = ma.masked_where(abs(lazy) > border, lazy)
            pairs += [(getattr(parts, name)(**how), getattr(whole, name)(**how)) for how in ways]
    with np.errstate(all="ignore"):
        assert_all_alike(pairs)


@pytest.mark.parametrize("key", [..., 0, (0, 1), (slice(None), 1)])
def test_lists_have_none_for_masked_elements(key: Any) -> None:
    """As those of NumPy's masked arrays."""
    rows = np.ma.masked_equal(np.arange(6.0).reshape(2, 3) % 4, 1)
    assert mt.ma.array(rows)[key].tolist() == rows[key].tolist()
