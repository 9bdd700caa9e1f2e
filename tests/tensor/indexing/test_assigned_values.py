"""Python's values become elements of the tensor's type, or raise, as NumPy's do."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.core.config import option_context


def _set(key: Any) -> Callable[..., None]:
    """Return an assignment to a key."""

    def assign(xp: Any, a: Any, value: Any) -> None:
        a[key] = value

    return assign


def _set_flat(xp: Any, a: Any, value: Any) -> None:
    a.flat[1:3] = value


#: Every way of giving values to elements, of a tensor of two axes.
WAYS: dict[str, Callable[..., Any]] = {
    "element": _set((0, 1)),
    "row": _set(0),
    "part": _set((slice(0, 2), slice(0, 2))),
    "positions": _set(([0, 1], [1, 0])),
    "mask": _set(np.array([True, False, True])),
    "flat": _set_flat,
    "fill": lambda xp, a, value: a.fill(value),
    "put": lambda xp, a, value: xp.put(a, [0, 2], value),
    "place": lambda xp, a, value: xp.place(a, np.ones((3, 2), bool), value),
    "putmask": lambda xp, a, value: xp.putmask(a, np.ones((3, 2), bool), value),
    "put_along_axis": lambda xp, a, value: xp.put_along_axis(a, np.zeros((3, 1), int), value, 1),
    "fill_diagonal": lambda xp, a, value: xp.fill_diagonal(a, value),
    "insert": lambda xp, a, value: xp.insert(a, [0, 1], value),
    "full": lambda xp, a, value: xp.full((2, 2), value, a.dtype),
    "full_like": lambda xp, a, value: xp.full_like(a, value),
}

TYPES = ["u1", "i8", "f4", "O", "?"]

#: Numbers that a type holds, cuts or cannot hold; missing ones, texts, and lists of them.
VALUES: dict[str, Any] = {
    "large": 300,
    "negative": -1,
    "huge": 2**70,
    "float": 2.7,
    "text": "7",
    "numpy": np.float32(1.5),
    "cast": np.int64(300),
    "large in a list": [300, 1],
    "huge in a list": [1, 2**70],
    "nan in a list": [np.nan, 1],
    "text in a list": ["7", "8"],
    "floats": (1.7, 2),
    "array": np.array([300, 1]),
}


def _result(xp: Any, a: Any, way: str, value: Any) -> Any:
    """Return what a way of giving values does: the array, or the kind of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # an array's cast that loses a value
        try:
            made = WAYS[way](xp, a, value)
            array = a if made is None else made
            return array if xp is np else array.compute()
        except (ValueError, TypeError, OverflowError) as error:
            return type(error)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("way", WAYS)
def test_values_that_a_type_cannot_hold_raise_as_in_numpy(way: str, name: str) -> None:
    """Integers are never wrapped, whatever assigns them; arrays are cast."""
    for dtype in TYPES:
        own = np.arange(6).reshape(3, 2).astype(dtype)
        want = _result(np, own.copy(), way, VALUES[name])
        with option_context({"coalesce": False}):
            value = _result(mt, mt.tensor(own, chunk_size=2), way, VALUES[name])
        if isinstance(want, type):
            assert isinstance(value, type), (dtype, value)
            assert issubclass(value, want) or {value, want} <= {TypeError, ValueError}, dtype
        else:
            assert not isinstance(value, type), (dtype, want, value)
            assert (value.dtype, repr(value.tolist())) == (want.dtype, repr(want.tolist()))


#: Assignments to objects: what an element holds, of which some are sequences.
OBJECTS: dict[str, tuple[Any, Any]] = {
    "list": ((0, 0), [1, 2]),
    "tuple": ((0, 0), (1, 2)),
    "short list": ((0, 1), [1]),
    "empty list": ((2, 1), []),
    "dict": ((-1, 0), {"a": 1}),
    "array": ((0, 0), np.array([1, 2])),
    "number of a type": ((0, 0), np.float32(1)),
    "row": (0, [1, [2]]),
    "ragged rows": (slice(0, 2), [[[1], 2], [3, "x"]]),
    "text and tuple": (0, ("a", (1, 2))),
    "column": ((slice(None), 0), [1, [2, 3], None]),
    "equal lists": (0, [[1, 2], [3, 4]]),
    "numbers": (slice(0, 2), [[1, 2], [3, 4]]),
    "new axis": ((None, slice(0, 2)), [[[1, [2]], [3, 4]]]),
    "none": (slice(None), None),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_elements_hold_any_object(case: str) -> None:
    """A list is one element where its axes are used up."""
    key, value = OBJECTS[case]
    want = np.zeros((3, 2), object)
    want[key] = value
    with option_context({"coalesce": False}):
        t = mt.zeros((3, 2), dtype=object, chunk_size=1)
        t[key] = value
        array = t.compute()
    assert repr(array) == repr(want)
    assert [type(item) for item in array.flat] == [type(item) for item in want.flat]


def test_fill_stores_one_object_and_later_changes_do_not_reach_it() -> None:
    """A list fills every element."""
    value = [1, 2]
    t = mt.zeros(2, dtype=object)
    t.fill(value)
    value.append(3)
    assert t.compute().tolist() == [[1, 2], [1, 2]]


@pytest.mark.parametrize("way", ["element", "fill"])
def test_a_masked_element_is_not_zero(way: str) -> None:
    """NumPy's masked constant becomes NaN, or raises."""
    t = mt.zeros((3, 2))
    with pytest.warns(UserWarning, match="converting a masked element to nan"):
        WAYS[way](mt, t, np.ma.masked)
    assert np.isnan(t.compute()[0, 1])
    with pytest.raises(np.ma.MaskError, match="Cannot convert masked element"):
        WAYS[way](mt, mt.zeros((3, 2), dtype=int), np.ma.masked)


#: Ways of giving a plain tensor masked elements.
MASKED: dict[str, Callable[..., Any]] = {
    "+=": lambda t, masked: t.__iadd__(masked),
    "out=": lambda t, masked: mt.add(mt.ma.array(masked), 1, out=t),
}


@pytest.mark.parametrize("way", MASKED)
def test_plain_tensors_do_not_become_masked(way: str) -> None:
    """What has no mask does not get one in silence."""
    masked = np.ma.array([1.0, 2, 3], mask=[True, False, False])
    with pytest.raises(NotImplementedError, match="a masked tensor in place of a plain one"):
        MASKED[way](mt.zeros(3), masked)
