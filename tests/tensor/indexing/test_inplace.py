"""Changes in place, against NumPy: what was made before keeps its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import arrays_and_chunks, assert_like_numpy, assert_same, draws


def changed(name: str, *args: Any, **kwargs: Any) -> Any:
    """Return a case: a function in place, whose result is the array, and what was made before."""

    def call(xp: Any, a: Any) -> Any:
        before = a + 0
        getattr(xp, name)(a, *(arg(xp, a) if callable(arg) else arg for arg in args), **kwargs)
        return a, before

    return call


def parted(name: str, value: Any, factor: complex = 1 + 2j) -> Any:
    """Return a case: one part of numbers, complex ones but for the factor 1, is assigned."""

    def call(xp: Any, a: Any) -> Any:
        numbers = a * factor
        before = numbers + 0
        setattr(numbers, name, value(xp, a) if callable(value) else value)
        return numbers, before

    return call


def above(xp: Any, a: Any) -> Any:
    return a > 1


def double(xp: Any, a: Any) -> Any:
    return a * 2


def ranked(xp: Any, a: Any) -> Any:
    return xp.argsort(a, 1, kind="stable")


def first_row(xp: Any, a: Any) -> Any:
    return a[:1]


CASES: dict[str, Any] = {
    "putmask": changed("putmask", above, double),
    "putmask few": changed("putmask", above, lambda xp, a: a[0, :2]),
    "putmask float": changed("putmask", above, 2.5),
    "putmask floats": changed("putmask", above, np.array([2.5, 1.5])),
    "putmask shape": changed("putmask", lambda xp, a: a[0] > 1, 3),
    "place": changed("place", above, lambda xp, a: a[0, :2] + 0),
    "place one": changed("place", above, [2]),
    "place nothing": changed("place", above, []),
    "place shape": changed("place", lambda xp, a: a[0] > 1, [1]),
    "put": changed("put", [0, -1], [7, 8]),
    "put few": changed("put", [[0, 1], [0, 2]], [7, 8, 9]),
    "put wrap": changed("put", [100, -7], 5, mode="wrap"),
    "put clip": changed("put", [100, -7], 5, mode="clip"),
    "put too far": changed("put", [100], 5),
    "put mode": changed("put", [0], 5, mode="nonsense"),
    "put nowhere": changed("put", [], 5),
    "put_along_axis": changed("put_along_axis", ranked, double, 1),
    "put_along_axis 0": changed("put_along_axis", lambda xp, a: ranked(xp, a)[:1], 9, 0),
    "put_along_axis known": changed("put_along_axis", np.array([[1, -1, 1]]), [[7, 8, 9]], 1),
    "put_along_axis known 0": changed("put_along_axis", np.array([[1, 0]]), first_row, 0),
    "put_along_axis too far": changed("put_along_axis", np.array([[9]]), 1, 0),
    "put_along_axis few": changed("put_along_axis", np.array([0, 1]), [1, 2, 3], None),
    "put_along_axis flat": changed("put_along_axis", lambda xp, a: xp.arange(2), 9, None),
    "put_along_axis axes": changed("put_along_axis", lambda xp, a: xp.arange(2), 9, 0),
    "put_along_axis floats": changed("put_along_axis", lambda xp, a: xp.ones((2, 2)), 9, 0),
    "fill_diagonal": changed("fill_diagonal", 4),
    "fill_diagonal several": changed("fill_diagonal", [4, 5]),
    "fill_diagonal wrap": changed("fill_diagonal", 4, wrap=True),
    "copyto": changed("copyto", double),
    "copyto row": changed("copyto", first_row),
    "copyto number": changed("copyto", 3),
    "copyto float": changed("copyto", 2.5),
    "copyto too much": changed("copyto", 2**40),
    "copyto unsafe": changed("copyto", 2.5, casting="unsafe"),
    "copyto where": changed("copyto", double, where=np.True_),
    "copyto shape": changed("copyto", lambda xp, a: xp.ones((9, 1, 1), a.dtype)),
    "resize": lambda xp, a: xp.resize(a, (3, 3)),
    "resize flat": lambda xp, a: xp.resize(a, 40),
    "resize to nothing": lambda xp, a: xp.resize(a, (0, 3)),
    "resize negative": lambda xp, a: xp.resize(a, (-1, 3)),
    "real": parted("real", lambda xp, a: a[0]),
    "imag": parted("imag", 2.5),
    "imag of reals": parted("imag", 1, factor=1),
    "real of reals": parted("real", lambda xp, a: a[0] + 0, factor=1),
    "real shape": parted("real", lambda xp, a: xp.ones((9, 1, 1))),
}


@pytest.mark.parametrize("name", CASES)
@draws(6)
@given(
    case=arrays_and_chunks(("i1", "i8", "f8"), min_dims=2, max_dims=2, min_side=2, nan=False),
    merged=st.booleans(),
)
def test_equals_numpy(name: str, case: Any, merged: bool) -> None:
    """Values, types and shapes, or the type of the error."""
    assert_like_numpy(CASES[name], case, rtol=1e-6, merged=merged)


@pytest.mark.parametrize("shape", [(3, 3, 3), (4, 2), (2, 4), (3, 3, 4), (3,)])
@pytest.mark.parametrize("wrap", [False, True])
def test_diagonals(shape: tuple[int, ...], wrap: bool) -> None:
    """Of arrays of any number of axes, tall ones again and again if asked."""
    call = changed("fill_diagonal", 4, wrap=wrap)
    assert_like_numpy(call, (np.zeros(shape), tuple((size,) for size in shape)))


def test_arrays_in_memory_are_numpys() -> None:
    """A change in place is of a tensor."""
    with pytest.raises(TypeError, match="NumPy"):
        mt.putmask(np.ones(3), [True] * 3, 0)


def test_a_shape_is_assigned_to() -> None:
    """As in NumPy the elements stay in their order; what was made before keeps its shape."""
    a = mt.arange(12, chunk_size=5)
    before = a + 0
    a.shape = (3, -1)
    assert a.shape == (3, 4)
    assert_same(a, np.arange(12).reshape(3, 4))
    assert before.shape == (12,)
    with pytest.raises(ValueError, match="reshape"):
        a.shape = 5


def test_nothing_to_place() -> None:
    """Is an error only if there is where to."""
    a = mt.arange(4, chunk_size=2)
    mt.place(a, a > 9, [])
    with pytest.raises(ValueError, match="empty"):
        mt.place(a, a > 2, [])


def test_unknown_lengths_say_so() -> None:
    """They have to be known to say where values go."""
    a = mt.arange(9, chunk_size=4)
    chosen = a[a > 3]
    with pytest.raises(ValueError, match=r"execute\(\)"):
        mt.putmask(chosen, chosen > 5, 0)
    chosen.execute()
    mt.putmask(chosen, chosen > 5, 0)
    assert_same(chosen, [4, 5, 0, 0, 0])


#: Writers of tuples into records: a tuple is one element.
RECORDS = {
    "setitem": lambda xp, x: x.__setitem__(0, (7, "zz")),
    "put": lambda xp, x: xp.put(x, [0, 2], [(7, "zz")]),
    "put several": lambda xp, x: xp.put(x, [0, 2], [(7, "zz"), (8, "y")]),
    "flat": lambda xp, x: x.flat.__setitem__(0, (7, "zz")),
    "flat slice": lambda xp, x: x.flat.__setitem__(slice(1, 3), [(7, "zz"), (8, "y")]),
    "insert": lambda xp, x: xp.insert(x, 1, (7, "zz")),
    "insert several": lambda xp, x: xp.insert(x, [0, 1], [(7, "zz"), (8, "y")]),
}


@pytest.mark.parametrize("name", RECORDS)
def test_tuples_are_records(name):
    """Whoever writes them."""
    x = np.array([(1, "a"), (2, "bb"), (3, "c")], [("n", "i4"), ("s", "U2")])
    mine = mt.tensor(x, chunk_size=1)
    found = RECORDS[name](mt, mine)
    expected = RECORDS[name](np, x)
    found, expected = (mine, x) if found is None else (found, expected)
    assert found.compute().tolist() == expected.tolist()
