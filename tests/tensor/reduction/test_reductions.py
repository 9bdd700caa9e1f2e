"""Reductions equal NumPy's, whatever the chunks."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.config import option_context
from marsdask.tensor.reduction.reductions import reduction
from tests.strategies import DTYPES, arrays_and_chunks, assert_same, grids, tensor_of

NAMES = [
    "sum",
    "prod",
    "max",
    "min",
    "any",
    "all",
    "count_nonzero",
    "ptp",
    "mean",
    "var",
    "std",
    "nansum",
    "nanprod",
    "nanmax",
    "nanmin",
    "nanmean",
    "nanvar",
    "nanstd",
]
TOLERANCE = {"e": 2e-2, "f": 1e-5, "F": 1e-5}


def axes_of(ndim: int) -> st.SearchStrategy[Any]:
    """Return None, one axis of either sign, or several."""
    options: list[st.SearchStrategy[Any]] = [st.none()]
    if ndim:
        options.append(st.integers(-ndim, ndim - 1))
        options.append(st.sets(st.integers(0, ndim - 1), min_size=1).map(tuple))
    return st.one_of(*options)


def assert_as_numpy(name: str, array: Any, lazy: Any, **kwargs: Any) -> None:
    """Check one reduction: equal values, or the same kind of refusal."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = np.asarray(getattr(np, name)(array, **kwargs))
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                getattr(mt, name)(lazy, **kwargs).compute()
            return
        result = getattr(mt, name)(lazy, **kwargs)
        assert_same(result, expected, rtol=TOLERANCE.get(array.dtype.char, 1e-10))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_reductions_equal_numpy(name: str, data: st.DataObject) -> None:
    """Values, types and refusals are NumPy's over axes, dtypes, nan and empty chunks."""
    array, chunks = data.draw(arrays_and_chunks())
    axis = data.draw(axes_of(array.ndim))
    keepdims = data.draw(st.booleans())
    with grids(merged=data.draw(st.booleans())):
        assert_as_numpy(name, array, tensor_of(array, chunks), axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("name", NAMES)
@given(case=arrays_and_chunks(dtypes=("f8", "i8", "f4"), min_dims=1), data=st.data())
def test_reductions_of_expressions(name: str, case: tuple[Any, Any], data: st.DataObject) -> None:
    """A reduction that does the work of what it reduces gives the same result."""
    array, chunks = case
    axis = data.draw(axes_of(array.ndim))
    lazy = tensor_of(array, chunks)
    assert_as_numpy(name, array * 2 + array, lazy * 2 + lazy, axis=axis)


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), 2])
@pytest.mark.parametrize("name", NAMES)
def test_blocks_larger_than_a_tile(name: str, axis: Any) -> None:
    """Tiles inside a block are combined like blocks."""
    array = np.random.default_rng(1).normal(size=(40, 300, 7))
    array[3, 4, 5] = np.nan if name.startswith("nan") else 0.0
    lazy = tensor_of(array, ((30, 10), (300,), (7,)))
    assert_as_numpy(name, np.sin(array) * 0.1 + 1, mt.sin(lazy) * 0.1 + 1, axis=axis)
    assert_as_numpy(name, array.T * 0.1 + 1, lazy.T * 0.1 + 1, axis=axis)
    assert_as_numpy(name, array, lazy, axis=axis)


PLAIN = ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"]
SKIPPING = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]


@pytest.mark.parametrize("name", [*PLAIN, *SKIPPING])
@given(case=arrays_and_chunks(dtypes=("f8", "i8"), min_dims=1, nan=False), data=st.data())
def test_where(name: str, case: tuple[Any, Any], data: st.DataObject) -> None:
    """Only elements under the mask count."""
    array, chunks = case
    assume(array.size)
    if name in SKIPPING and array.dtype.kind == "f":
        array.flat[data.draw(st.integers(0, array.size - 1))] = np.nan
    mask = data.draw(st.sampled_from([array > 0, array.sum(axis=0) > 1, np.ones_like(array, bool)]))
    extra = {"initial": 2} if name.endswith(("max", "min")) else {}
    axis = data.draw(axes_of(array.ndim))
    assert_as_numpy(name, array, tensor_of(array, chunks), axis=axis, where=mask, **extra)


@pytest.mark.parametrize("name", ["mean", "var", "std", "nanmean", "nanvar", "nanstd"])
def test_bytes_in_another_order(name: str) -> None:
    """As files of other machines have them."""
    x = np.arange(12.0).reshape(4, 3).astype(">f8")
    for axis in (None, 0):
        found = getattr(mt, name)(mt.tensor(x, chunk_size=2), axis)
        assert_same(found, getattr(np, name)(x, axis), rtol=1e-12)


def test_masks_are_of_booleans() -> None:
    """A list of numbers is one, an array of them is refused at the call."""
    where: Any = [1, 0, 1]
    assert_same(mt.sum(mt.arange(3), where=where), np.sum(np.arange(3), where=where))
    with pytest.raises(TypeError, match="boolean"):
        mt.sum(mt.arange(3), where=np.array([1, 0, 1]))


def test_where_without_an_identity_is_refused_at_the_call() -> None:
    """``max(where=)`` needs ``initial=``, as in NumPy."""
    with pytest.raises(ValueError, match="initial"):
        mt.max(mt.ones(3), where=np.array([True, False, True]))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("shape", [(0,), (5,), (3, 0)])
def test_initial(name: str, shape: tuple[int, ...]) -> None:
    """``initial`` counts once, and is what nothing reduces to."""
    array = np.arange(np.prod(shape, dtype=int), dtype="f8").reshape(shape)
    assert_as_numpy(name, array, mt.tensor(array, chunk_size=2), initial=3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("wanted", ["i4", "f4", "f8", "c16"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var"])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_dtype(name: str, wanted: str, dtype: str) -> None:
    """``dtype=`` is what is accumulated in and returned."""
    array = np.array([[1, 0, 1], [1, 1, 0]], dtype)
    if name in ("mean", "var") and (wanted == "i4" or (dtype == "c16" and wanted != "c16")):
        pytest.skip("NumPy's own result drops parts of the numbers")
    assert_as_numpy(name, array, tensor_of(array, ((1, 1), (2, 1))), axis=0, dtype=wanted)


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("ddof", [0, 1, 2, 0.5])
def test_ddof(name: str, ddof: float) -> None:
    """``ddof`` and its other name, ``correction``, are subtracted from the count."""
    array = np.arange(12.0).reshape(3, 4)
    lazy = tensor_of(array, ((2, 1), (1, 3)))
    assert_as_numpy(name, array, lazy, axis=0, ddof=ddof)
    if not name.startswith("nan"):
        assert_same(getattr(mt, name)(lazy, correction=ddof), getattr(np, name)(array, ddof=ddof))


def test_variance_far_from_zero() -> None:
    """The variance does not suffer from a large mean."""
    array = np.random.default_rng(0).normal(1e8, 1.0, 100_000)
    assert float(mt.tensor(array, chunk_size=1000).var()) == pytest.approx(array.var(), rel=1e-9)


def test_sums_stay_accurate() -> None:
    """Rounding errors of many blocks and tiles do not pile up."""
    array = np.full(3_000_000, 0.1, "f4")
    lazy = mt.tensor(array, chunk_size=500_000)
    assert float(lazy.sum()) == pytest.approx(3e5, rel=1e-6)
    assert float((lazy * 1).mean()) == pytest.approx(0.1, rel=1e-6)


def test_no_elements_are_refused_at_the_call() -> None:
    """Where NumPy has no value for nothing, the call raises its error."""
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        mt.max(mt.ones((0, 3)))
    with pytest.raises(ValueError, match="zero-size array"):
        mt.ones((3, 0)).min(axis=1)
    assert mt.ones((0, 3)).max(axis=1).compute().shape == (0,)


def test_all_nan_warns() -> None:
    """A slice of nothing but nan warns as in NumPy."""
    lazy = mt.full((4, 2), np.nan, chunk_size=2)
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert np.isnan(mt.nanmax(lazy, axis=0).compute()).all()


def test_bad_arguments_are_refused_at_the_call() -> None:
    """Axes that do not exist, types that do not add, unknown words."""
    with pytest.raises(np.exceptions.AxisError):
        mt.ones(3).sum(axis=1)
    with pytest.raises(ValueError, match="duplicate value"):
        mt.ones((3, 3)).sum(axis=(0, 0))
    with pytest.raises(TypeError):
        mt.tensor(np.array(["a"])).sum()
    with pytest.raises(TypeError, match="wat"):
        mt.ones(3).sum(wat=1)


def test_out_of_a_reduction() -> None:
    """``out=`` rebinds a tensor to the result."""
    target = mt.zeros(3)
    assert mt.ones((2, 3)).sum(axis=0, out=target) is target
    assert_same(target, np.full(3, 2.0))


@given(case=arrays_and_chunks(dtypes=("f8", "i8"), min_dims=1, min_side=1, nan=False))
def test_average(case: tuple[Any, Any]) -> None:
    """Weighted averages equal NumPy's, with weights of the whole shape or of one axis."""
    array, chunks = case
    lazy = tensor_of(array, chunks)
    weights = np.arange(1, array.size + 1).reshape(array.shape)
    assert_same(mt.average(lazy), np.average(array), rtol=1e-12)
    got = mt.average(lazy, weights=weights, returned=True)
    for mine, other in zip(got, np.average(array, weights=weights, returned=True), strict=True):
        assert_same(mine, other, rtol=1e-12)
    along = np.arange(1, array.shape[0] + 1)
    assert_same(
        mt.average(lazy, axis=0, weights=along), np.average(array, 0, weights=along), rtol=1e-12
    )


def test_averages_of_nothing() -> None:
    """Are no number: without elements at the call, without weight when it runs."""
    for shape, axis in (((0, 3), 1), ((3, 0), 0)):
        with pytest.raises(ZeroDivisionError):
            mt.average(mt.ones(shape), axis=axis)
    with pytest.raises(ZeroDivisionError, match="sum to zero"):
        mt.average(mt.ones((0, 3)), axis=0, weights=np.ones((0, 3)))
    nothing = mt.ones((0, 0))
    assert mt.average(nothing, axis=-1, weights=np.ones((0, 0))).compute().shape == (0,)
    for along in ((0, 3), (3,)):  # with weights there is an average of each of no rows
        given: Any = {"axis": 1, "weights": np.ones(along)}
        assert_same(mt.average(mt.ones((0, 3)), **given), np.average(np.ones((0, 3)), **given))
    with pytest.raises(ZeroDivisionError, match="sum to zero"):
        mt.average(mt.ones((2, 2), chunk_size=1), axis=0, weights=mt.tensor([1, -1])).compute()


@pytest.mark.parametrize("dtype", ["i8", "?", "f8"])
@pytest.mark.parametrize("name", ["nanvar", "nanstd", "var"])
def test_more_degrees_than_elements(name: str, dtype: str) -> None:
    """Infinite or nan as NumPy has it for the type, and warned of."""
    array = np.array([[1, 0], [1, 1]]).astype(dtype)
    for axis, ddof in ((None, 4), (0, 2), (1, 5)):
        with pytest.warns(RuntimeWarning, match="Degrees of freedom"), np.errstate(all="ignore"):
            expected = getattr(np, name)(array, axis=axis, ddof=ddof)
        with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
            found = getattr(mt, name)(
                mt.tensor(array, chunk_size=1), axis=axis, ddof=ddof
            ).compute()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["sum", "max", "any", "ptp"])
def test_numbers_have_an_axis(name: str) -> None:
    """The first and the last one, as NumPy lets them."""
    for axis in (0, -1, None):
        assert_same(getattr(mt, name)(mt.tensor(3.0), axis=axis), getattr(np, name)(3.0, axis=axis))
    with pytest.raises(np.exceptions.AxisError):
        getattr(mt, name)(mt.tensor(3.0), axis=1)


def test_what_has_no_range() -> None:
    """Nothing comes before the type, as in NumPy."""
    with pytest.raises(ValueError, match="zero-size"):
        mt.ptp(mt.zeros((0, 3), dtype=bool), axis=0)
    with pytest.raises(TypeError, match="boolean subtract"):
        mt.ptp(mt.zeros((0, 3), dtype=bool), axis=1)


def test_comparisons_of_whole_tensors() -> None:
    """``allclose`` and ``array_equal`` equal NumPy's."""
    array = np.array([1.0, np.nan, 3.0])
    lazy = mt.tensor(array, chunk_size=2)
    for equal_nan in (False, True):
        assert bool(mt.allclose(lazy, array, equal_nan=equal_nan)) == equal_nan
        assert bool(mt.array_equal(lazy, array, equal_nan=equal_nan)) == equal_nan
    assert not bool(mt.array_equal(lazy, array[:2]))


def square_sum(block: Any, axis: Any, keepdims: Any) -> Any:
    """Return the sum of squares of a block."""
    return np.sum(block * block, axis=axis, keepdims=keepdims)


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (2, 0), (0,)])
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
def test_averages_of_empty_lanes(shape, weights):
    """They are refused where there is a lane of no values, as in NumPy."""
    values = np.ones(shape)
    for axis in range(values.ndim):
        results: list[Any] = []
        for xp, array in ((np, values), (mt, mt.tensor(values, chunk_size=1))):
            try:
                average = xp.average(array, axis=axis, weights=array if weights else None)
                results.append(np.asarray(average).shape)
            except ZeroDivisionError:
                results.append(None)
        assert results[0] == results[1], axis


def test_a_declaration_is_one_line() -> None:
    """``reduction(map, combine, finalize)`` is the whole of a new reduction."""
    norm = reduction(square_sum, np.add, np.sqrt)
    array = np.arange(12.0).reshape(3, 4)
    assert_same(
        norm(tensor_of(array, ((2, 1), (4,))), axis=0), np.linalg.norm(array, axis=0), rtol=1e-12
    )


OBJECTS = [
    np.array([0.5, 1], object),
    np.array([[1, 2.5], [Fraction(1, 3), 4]], object),
    np.array(["b", "aaaa", "c"], object),
    np.array(["b", "aaaa", "c"], np.dtypes.StringDType()),
]


@pytest.mark.parametrize("array", OBJECTS, ids=["numbers", "fractions", "texts", "strings"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "ptp", "nansum", "nanmax"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_objects_stay_what_they_are(array: Any, name: str, keepdims: bool) -> None:
    """What all elements together give has the type that the elements decide, no other."""
    lazy = mt.tensor(array, chunk_size=1)
    try:
        expected = getattr(np, name)(array, keepdims=keepdims)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(mt, name)(lazy, keepdims=keepdims).compute()
        return
    np.testing.assert_array_equal(getattr(mt, name)(lazy, keepdims=keepdims).compute(), expected)


#: Reductions that take ``out``, the positions aside.
OUT = """sum prod max min amax amin any all mean var std ptp median nanmedian nansum nanprod nanmax
nanmin nanmean nanvar nanstd"""


@pytest.mark.parametrize("name", OUT.split())
def test_results_go_into_other_types_as_numpys_do(name):
    """What NumPy casts into ``out`` is cast, and what it refuses is refused."""
    values = np.array([1.5, 2.7, 3.0])
    whole, lazy = np.array(0), mt.tensor(0)
    try:
        getattr(np, name)(values, out=whole)
    except TypeError:
        with pytest.raises(TypeError, match="Cannot cast"):
            getattr(mt, name)(mt.tensor(values, chunk_size=2), out=lazy)
    else:
        assert getattr(mt, name)(mt.tensor(values, chunk_size=2), out=lazy) is lazy
        assert lazy.compute() == whole


@pytest.mark.parametrize("name", ["cumsum", "nancumprod", "cumulative_sum"])
def test_running_totals_go_into_other_types(name):
    """As NumPy's do."""
    values = np.array([1.5, 2.7, 3.0])
    whole, lazy = np.zeros(3, int), mt.zeros(3, int)
    getattr(np, name)(values, out=whole)
    getattr(mt, name)(mt.tensor(values, chunk_size=2), out=lazy)
    np.testing.assert_array_equal(lazy.compute(), whole)


DEVIATIONS = ("var", "std", "nanvar", "nanstd", "mean", "nanmean", "sum", "nansum")


@pytest.mark.parametrize("chunk_size", [1, 7, 50])
@pytest.mark.parametrize("dtype", ["f2", "f4", "c8"])
@pytest.mark.parametrize("name", DEVIATIONS)
def test_short_numbers_about_large_means(name: str, dtype: str, chunk_size: int) -> None:
    """Parts are merged with more digits than the numbers have: NumPy's value of long numbers."""
    offset = 200 if dtype == "f2" else 1e6
    drawn = np.random.default_rng(5).standard_normal((60, 2)) * 4 + offset
    values = (drawn * (1 + 1j) if dtype == "c8" else drawn).astype(dtype)
    long = values.astype("c16" if dtype == "c8" else "f8")
    with option_context({"coalesce": False}):
        lazy = mt.tensor(values, chunks=(chunk_size, 1))
        for axis in (None, 0):
            found = getattr(mt, name)(lazy, axis=axis).compute()
            assert found.dtype == getattr(np, name)(values, axis=axis).dtype
            expected = getattr(np, name)(long, axis=axis)
            limit = 8 * np.finfo(found.dtype).eps
            np.testing.assert_allclose(found.astype(long.dtype), expected, rtol=limit)


def test_objects_stay_objects() -> None:
    """Truth values as well: they are counted, as by NumPy."""
    truths = np.array([True, False, True, True])
    with option_context({"coalesce": False}):
        lazy = mt.tensor(truths, chunk_size=1)
        assert mt.sum(lazy, dtype=object).compute() == 3
        found = mt.logical_and.reduce(mt.tensor([1, 2, 3], dtype=object, chunk_size=1))
        assert found.compute() == np.logical_and.reduce(np.array([1, 2, 3], dtype=object)) == 3


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum"])
def test_the_initial_element_is_one_element(name: str) -> None:
    """A lazy one is computed; several raise as in NumPy."""
    rows = np.arange(6.0).reshape(2, 3)
    t = mt.tensor(rows, chunk_size=1)
    want = getattr(np, name)(rows, axis=0, initial=rows[1, 1], where=rows > 2)
    assert_same(getattr(mt, name)(t, axis=0, initial=t[1, 1], where=t > 2), want)
    for initial in ([1.0, 2.0], np.ones(3), mt.ones(3)):
        with pytest.raises((TypeError, ValueError)):
            getattr(mt, name)(t, axis=0, initial=initial)


def test_the_initial_element_may_be_a_lazy_date() -> None:
    """Dates are compared with it where a mask holds."""
    days = np.array(["2001-01-03", "2001-01-01"], "M8[D]")
    t = mt.tensor(days, chunk_size=1)
    assert mt.max(t, initial=t[1], where=t > days[1]).compute() == days[0]
