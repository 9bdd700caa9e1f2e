"""Elements changed by ufuncs in place, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask.tensor as mt
from tests.strategies import assert_same, chunkings, draws, grids, tensor_of
from tests.tensor.keys import assignments, lazy_key


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("name", ["add", "subtract", "negative", "maximum", "less"])
@draws(10)
@given(case=assignments(("i1", "f4", "f8", "?")), data=st.data())
def test_at_is_numpys(name, case, data):
    """Of any key, elements that come twice among them; earlier expressions keep their values."""
    array, chunks, key, value = case
    ufunc = getattr(np, name)
    kind = data.draw(st.sampled_from(["i8", "f8", "c16", "u1"]))
    value = (value / 7).astype(kind)
    values = () if ufunc.nin == 1 else (value,)
    expected = array.copy()
    x = tensor_of(array, chunks)
    before = x + 0
    lazy = data.draw(st.booleans())
    new = [tensor_of(v, data.draw(chunkings(v.shape))) if lazy else v for v in values]
    own = lazy_key(key, 2) if data.draw(st.booleans()) else key
    at = data.draw(st.sampled_from([ufunc.at, getattr(mt, name).at]))
    with grids(merged=data.draw(st.booleans())):
        try:
            ufunc.at(expected, key, *values)
        except TypeError:
            with pytest.raises(TypeError):
                at(x, own, *new)
            return
        at(x, own, *new)
        assert_same(x, expected)
        assert_same(before, array + 0)


def test_elements_that_come_twice():
    """Are changed twice, by what Python's numbers are as arrays, in the order given."""
    part: Any = slice(1, None)
    for dtype in ("f4", "u1", "i8"):
        x = np.array([1, 2, 3], dtype)
        t = mt.tensor(x.copy(), chunk_size=2)
        for a in (x, t):
            np.add.at(a, [0, 2, 0], 300)
            np.subtract.at(a, ([2, 2, 0],), [1, 2, 3])
            np.multiply.at(a, part, 2)
            np.negative.at(a, [0, 0, 1])
        assert_same(t, x)


def test_arrays_in_memory_are_numpys_to_change():
    """By indices and values that are computed."""
    x = np.zeros(4)
    mt.add.at(x, mt.tensor([1, 1, 3]), mt.tensor([1.0, 2, 3]))
    np.add.at(x, [0], mt.ones(1))
    assert x.tolist() == [1, 3, 0, 3]


def test_lengths_that_nobody_knows():
    """Of the tensor, of the indices and of the values."""
    x = mt.arange(10, chunk_size=3)
    where = x[x % 3 == 0]
    np.add.at(x, where, where * 2)
    rest = x[x > 4]
    np.add.at(rest, [0, 0, -1], 1)
    assert x.compute().tolist() == [0, 1, 2, 9, 4, 5, 18, 7, 8, 27]
    assert rest.compute().tolist() == [11, 5, 18, 7, 8, 28]


def test_what_cannot_be():
    """Is refused as NumPy refuses it, at the call."""
    for call in (
        lambda xp: xp.modf.at(xp.ones(3), 0),
        lambda xp: xp.add.at(xp.ones(3), [0]),
        lambda xp: xp.negative.at(xp.ones(3), [0], 1),
        lambda xp: xp.add.at(xp.ones(3), [0, 3], 1),
        lambda xp: xp.add.at(xp.ones(3), [0.5], 1),
        lambda xp: xp.add.at(xp.ones(3), [0, 1], [1, 2, 3]),
        lambda xp: xp.add.at(xp.ones(3), [0], "a"),
        lambda xp: xp.bitwise_and.at(xp.ones(3), [0], 1),
        lambda xp: xp.add.at([1, 2], [0], 1),
    ):
        with pytest.raises(Exception) as expected:  # noqa: PT011 - whichever it is
            call(np)
        with pytest.raises(expected.type):
            call(mt)
