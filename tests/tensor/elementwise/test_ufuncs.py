"""Elementwise functions equal NumPy's, whatever the chunks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import marsdask.tensor as mt
from marsdask.tensor.elementwise import ufuncs
from tests.strategies import (
    DTYPES,
    arrays_and_chunks,
    assert_same,
    chunkings,
    grids,
    tensor_of,
    values,
)

UFUNCS = sorted(
    name
    for name in np.__all__  # others add names of theirs to the module
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).signature is None
)
OTHERS = [
    "isclose",
    "nan_to_num",
    "isneginf",
    "isposinf",
    "real",
    "imag",
    "angle",
    "isreal",
    "iscomplex",
    "i0",
    "sinc",
    "fix",
    "around",
]


def test_every_ufunc_has_its_line() -> None:
    """No ufunc of NumPy is missing from the table."""
    assert [name for name in UFUNCS if not hasattr(mt, name)] == []


def operand_count(name: str) -> int:
    func = getattr(np, name)
    return func.nin if isinstance(func, np.ufunc) else 2 if name == "isclose" else 1


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # by NumPy 2.5, which still has it
@pytest.mark.parametrize("name", UFUNCS + OTHERS)
@given(data=st.data())
def test_functions_equal_numpy(name: str, data: st.DataObject) -> None:
    """Values, types and refusals are NumPy's, with operands that broadcast and differ in chunks."""
    count = operand_count(name)
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=2, max_side=4))
    dtypes = [data.draw(st.sampled_from(DTYPES)) for _ in range(count)]
    arrays = [
        data.draw(values(dtype, shape))
        for dtype, shape in zip(dtypes, shapes.input_shapes, strict=True)
    ]
    tensors = [tensor_of(array, data.draw(chunkings(array.shape))) for array in arrays]
    with np.errstate(all="ignore"), grids(merged=data.draw(st.booleans())):
        try:
            expected = getattr(np, name)(*arrays)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(mt, name)(*tensors)
            return
        except (ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                np.asarray(getattr(mt, name)(*tensors))
            return
        results = getattr(mt, name)(*tensors)
    several = expected if isinstance(expected, tuple) else (expected,)
    results = results if isinstance(results, tuple) else (results,)
    for result, value in zip(results, several, strict=True):
        assert_same(result, value, rtol=1e-3 if value.dtype.char in "eF" else 1e-6)


@pytest.mark.parametrize("scalar", [2, 2.5, 1j, True, np.float32(2), np.int8(3), np.float64(1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars_promote_as_in_numpy(dtype: str, scalar: complex) -> None:
    """Python scalars are weak, NumPy scalars are not."""
    array = np.ones((3, 2), dtype)
    lazy = tensor_of(array, ((2, 1), (2,)))
    assert_same(mt.add(lazy, scalar), array + scalar)
    assert_same(mt.multiply(scalar, lazy), scalar * array)


def test_an_int_that_does_not_fit_is_refused_at_the_call() -> None:
    """A Python int out of the type's range raises OverflowError, as in NumPy 2."""
    with pytest.raises(OverflowError):
        mt.add(mt.ones(3, dtype="u1"), 300)


def test_shapes_that_do_not_fit_are_refused_at_the_call() -> None:
    """Shapes that do not broadcast raise ValueError before anything runs."""
    with pytest.raises(ValueError, match="could not be broadcast together with shapes"):
        mt.add(mt.ones(3), mt.ones(4))


@given(arrays_and_chunks(dtypes=("f8", "i8"), max_dims=2))
def test_clip_round_where_and_astype(case: tuple[np.ndarray, tuple[tuple[int, ...], ...]]) -> None:
    """The functions that are no ufuncs equal NumPy's."""
    array, chunks = case
    lazy = tensor_of(array, chunks)
    assert_same(mt.clip(lazy, 0, 2), np.clip(array, 0, 2))
    assert_same(mt.clip(lazy, None, 2), np.clip(array, None, 2))
    assert_same(lazy.clip(max=2), array.clip(max=2))
    assert_same(lazy.round(1), array.round(1))
    assert_same(mt.where(lazy > 0, lazy, -1), np.where(array > 0, array, -1))
    assert_same(lazy.astype("f4"), array.astype("f4"))
    assert lazy.astype(array.dtype, copy=False) is lazy


def test_out_rebinds_the_tensor() -> None:
    """``out=`` gives the tensor a new value in its own type; what was made from it stays."""
    target = mt.zeros(4, dtype="f4", chunk_size=2)
    before = target + 1
    assert mt.add(mt.arange(4), 0.5, out=target) is target
    assert_same(target, np.arange(4, dtype="f4") + np.float32(0.5))
    assert_same(before, np.ones(4, "f4"))


def test_out_of_a_lesser_kind_or_another_shape_is_refused() -> None:
    """``out=`` casts as NumPy does, and does not broadcast the output."""
    with pytest.raises(TypeError, match="same_kind"):
        mt.add(mt.ones(3), 0.5, out=mt.zeros(3, dtype="i4"))
    with pytest.raises(ValueError, match="output operand"):
        mt.add(mt.ones(3), 0.5, out=mt.zeros(1))
    with pytest.raises(ValueError, match="could not be broadcast together with shapes"):
        mt.add(mt.ones(3), 0.5, out=mt.zeros(4))
    with pytest.raises(TypeError, match="tensor"):
        mt.add(mt.ones(3), 0.5, out=np.zeros(3))


def test_where_keeps_what_out_held() -> None:
    """Where the mask is False, the result is what ``out`` held, or zero."""
    mask = np.array([True, False, True, False])
    held = mt.full(4, 7.0, chunk_size=3)
    assert_same(mt.sqrt(mt.full(4, 9.0), where=mask), np.array([3.0, 0, 3, 0]))
    assert_same(mt.sqrt(mt.full(4, 9.0), out=held, where=mask), np.array([3.0, 7, 3, 7]))
    with pytest.raises(TypeError, match="boolean"):
        mt.sqrt(held, where=mt.ones(4))


MASK = np.array([True, False, True])

#: Keywords of ufuncs, and the shape and type of what ``out=`` is given, if it is.
KEYWORDS: dict[str, tuple[dict[str, Any], Any]] = {
    "where and out": ({"where": MASK}, ((3,), "f8")),
    "a list": ({"where": [1, 0, 1]}, ((3,), "f8")),
    "no mask": ({"where": MASK.astype(int)}, ((3,), "f8")),
    "a wider mask": ({"where": MASK[:, None]}, ((3, 3), "f8")),
    "a mask too wide": ({"where": MASK[:, None]}, ((3,), "f8")),
    "a mask that does not fit": ({"where": MASK[:2]}, ((3,), "f8")),
    "a wider out": ({}, ((2, 3), "f8")),
    "a wider out and a mask": ({"where": MASK}, ((2, 3), "c16")),
    "a narrower out": ({}, ((1,), "f8")),
    "a lesser out": ({}, ((3,), "i1")),
    "a lesser out by force": ({"casting": "unsafe"}, ((3,), "i1")),
    "a type": ({"dtype": "f4"}, None),
    "a type by force": ({"dtype": "i2", "casting": "unsafe"}, None),
    "a type by force and a mask": (
        {"dtype": "f4", "casting": "unsafe", "where": MASK},
        ((3,), "f4"),
    ),
    "objects": ({"dtype": object}, None),
    "no cast": ({"dtype": "f8", "casting": "no"}, None),
    "no casting": ({"casting": "nonsense"}, None),
}


#: Ufuncs of all shapes: of one operand and two, of one output and two, of floats, bits and truth.
_SOME = "add sqrt divmod modf frexp ldexp less logical_not left_shift isnan gcd power spacing clip"
SOME = _SOME.split()


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("keywords", KEYWORDS)
def test_keywords_of_ufuncs(keywords: str) -> None:
    """Of each kind, and of ``clip``: NumPy's values and types, or its kind of error."""
    options, target = KEYWORDS[keywords]
    x = np.array([0.25, 0.5, 1.0])
    for name in SOME:
        func = getattr(np, name)
        count, outputs = (func.nin, func.nout) if name != "clip" else (3, 1)
        for operands in ((x, x, x + 1)[:count], (np.arange(1, 4), 2, np.int8(3))[:count]):
            expected = _with_keywords(func, operands, options, np, target, outputs)
            lazy = (mt.tensor(operands[0], chunk_size=2), *operands[1:])
            found = _with_keywords(getattr(mt, name), lazy, options, mt, target, outputs)
            if isinstance(expected, type):
                assert found is expected, (name, operands)
                continue
            for own, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(own.astype("c16"), other.astype("c16"), 1e-6)
                assert own.dtype == other.dtype, name


def _with_keywords(
    func: Any, operands: Any, options: Any, xp: Any, target: Any, outputs: int
) -> Any:
    """Return the results, which are those that were given if any were; or the type of the error."""
    given = {}
    if target is not None:
        given = {"out": tuple(xp.full(target[0], 9, dtype=target[1]) for _ in range(outputs))}
    try:
        with np.errstate(all="ignore"):
            found = func(*operands, **options, **given)
        results = found if isinstance(found, tuple) else (found,)
        assert all(own is out for own, out in zip(results, given.get("out", results), strict=True))
        return [np.asarray(own) for own in results]
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError


def test_several_outputs() -> None:
    """Go where each should; those without a place are new."""
    x, kept = np.array([0.5, 1.25, -2.75]), mt.zeros(3)
    for out in ((kept, None), (kept,)):
        found = mt.modf(mt.tensor(x, chunk_size=2), *out)
        assert found[0] is kept
        assert_same(found[1], np.modf(x)[1])
    assert_same(kept, np.modf(x)[0])
    for wrong, error in ((kept, TypeError), ((kept,), ValueError), ((kept,) * 3, ValueError)):
        with pytest.raises(error, match="out"):
            mt.modf(mt.tensor(x), out=wrong)
    for place in ({"out": kept}, {"out": (kept,)}):
        assert np.positive(mt.tensor(x), **place) is kept  # type: ignore[comparison-overlap]


def test_operands_are_not_written_to() -> None:
    """Neither those in memory nor results that others hold."""
    x, gone = np.array([1.0, np.nan]), mt.tensor(np.ones(2)).execute()
    lazy = mt.tensor(x)
    assert_same(mt.nan_to_num(lazy, copy=False, nan=5), np.array([1.0, 5]))
    assert np.isnan(x[1])
    before = gone + 0
    assert mt.isposinf(lazy, gone) is gone
    assert_same(before, np.ones(2))
    assert_same(gone, np.zeros(2))


def test_arrays_keep_what_no_mask_holds_for() -> None:
    """Those that ufuncs of tensors are told to fill."""
    kept = np.full(3, 9.0)
    assert np.sqrt(mt.full(3, 4.0), out=kept, where=mt.tensor(MASK)) is kept
    assert kept.tolist() == [2, 9, 2]


def test_dtype_and_casting_go_to_the_ufunc() -> None:
    """``dtype=`` and ``casting=`` mean what they mean in NumPy."""
    ones = np.ones(3, "i4")
    assert_same(mt.add(ones, ones, dtype="f4"), np.add(ones, ones, dtype="f4"))
    with pytest.raises(TypeError):
        mt.add(mt.ones(3), 1, dtype="i4", casting="same_kind")
    with pytest.raises(TypeError, match="nonsense"):
        mt.add(mt.ones(3), 1, nonsense=1)
    with pytest.raises(TypeError, match="positional"):
        mt.add(mt.ones(3))


def test_types_are_known_at_once() -> None:
    """``result_type`` and ``can_cast`` answer for tensors without running."""
    assert mt.result_type(mt.ones(3, dtype="f4"), 1) == np.float32
    assert np.result_type(mt.ones(3, dtype="f4"), np.float64) == np.float64
    assert not mt.can_cast(mt.ones(3), "i4")


def test_lists_and_arrays_are_operands() -> None:
    """Whatever NumPy takes for an array is an operand, and the result is lazy."""
    assert_same(mt.add([1, 2], np.array([3, 4])), np.array([4, 6]))
    assert_same(mt.add(1, 2), np.array(3))


def test_strings_dates_and_objects() -> None:
    """Types that are no numbers work as far as NumPy lets them."""
    days = np.array(["2020-01-01", "2021-01-01"], "M8[D]")
    assert_same(mt.tensor(days, chunk_size=1) > np.datetime64("2020-06-01"), [False, True])
    texts = np.array(["a", "b"])
    assert (mt.tensor(texts, chunk_size=1) == "a").compute().tolist() == [True, False]
    things = np.array([1, "a", None], object)
    assert (mt.tensor(things, chunk_size=2) == "a").compute().tolist() == [False, True, False]


def test_a_declaration_is_one_line() -> None:
    """``elementwise(ufunc)`` is the whole of a new function."""
    hypot = ufuncs.elementwise(np.hypot)
    assert_same(hypot(mt.arange(6, chunk_size=4), 2), np.hypot(np.arange(6), 2))
