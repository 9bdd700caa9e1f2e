"""Masked tensors are assigned to as NumPy's masked arrays are, values and masks at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marsdask
import marsdask.tensor as mt
from marsdask.core.collection import rebind
from marsdask.tensor import ma
from marsdask.tensor.ma import assignment
from tests.strategies import chunkings, draws, grids

MASKED = np.ma.masked
EVEN = np.arange(12).reshape(3, 4) % 2 == 0


def given_array() -> Any:
    return np.ma.masked_array(
        np.arange(12.0).reshape(3, 4), mask=np.arange(12).reshape(3, 4) % 5 == 0
    )


def _row(values: Any) -> Any:
    return np.ma.masked_array(values, mask=[i % 2 == 1 for i in range(len(values))])


#: What is read.
READS: dict[str, Callable[[Any], Any]] = {
    "an element": lambda x: x.flat[3],
    "a masked element": lambda x: x.flat[5],
    "a run": lambda x: x.flat[2:7],
    "places": lambda x: x.flat[[1, 5, 5]],
    "a mask": lambda x: x[EVEN],
    "a masked mask": lambda x: x[x > 4],
    "a row of a masked mask": lambda x: x[:, x[0] > 0],
}

#: What is written: the assignment.
WRITES: dict[str, Callable[[Any], Any]] = {
    "an element": lambda x: x.flat.__setitem__(3, 7),
    "a masked element": lambda x: x.flat.__setitem__(5, 7),
    "a run": lambda x: x.flat.__setitem__(slice(1, 6), 0),
    "a run of masked values": lambda x: x.flat.__setitem__(slice(0, 4), _row([1, 2, 3, 4])),
    "masked": lambda x: x.flat.__setitem__(2, MASKED),
    "everything": lambda x: setattr(x, "flat", 5),
    "filled": lambda x: x.fill(3),
    "put": lambda x: x.put([0, 3], [9, 8]),
    "put masked values": lambda x: x.put([0, 3, 5, 6], _row([9, 8, 7, 6])),
    "put beyond": lambda x: x.put([0, 30], [9, 8], mode="clip"),
    "a mask": lambda x: x.__setitem__(EVEN, 1),
    "a mask, masked": lambda x: x.__setitem__(EVEN, MASKED),
    "a masked mask": lambda x: x.__setitem__(x > 4, 1),
    "a masked mask, masked": lambda x: x.__setitem__(x > 4, MASKED),
    "a masked mask, masked values": lambda x: x.__setitem__(x > 7, _row([1, 2, 3, 4])),
    "rows of itself": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "places": lambda x: x.__setitem__(([0, 1], [1, 2]), _row([5, 6])),
    "a view's": lambda x: x.T[1:].flat.__setitem__(slice(0, 5), _row([5, 6, 7, 8, 9])),
}


def plain(value: Any) -> Any:
    """Return values and masks of what is masked, and other values as they are."""
    if isinstance(value, marsdask.Collection):
        value = value.compute()
    if isinstance(value, np.ma.MaskedArray):
        return value.filled(-9).tolist(), np.ma.getmaskarray(value).tolist()
    return value


@pytest.mark.parametrize("name", READS)
@draws(3)
@given(data=st.data())
def test_reads(name: str, data: Any) -> None:
    """What is read is NumPy's, masked where it is."""
    array = given_array()
    lazy = mt.ma.from_masked(array, chunk_size=data.draw(chunkings(array.shape)))
    with grids(merged=data.draw(st.booleans())):
        assert plain(READS[name](lazy)) == plain(READS[name](array))
        assert [plain(item) for item in lazy.flat] == [plain(item) for item in array.flat]


@pytest.mark.parametrize("name", WRITES)
@draws(3)
@given(data=st.data())
def test_writes(name: str, data: Any) -> None:
    """Values and masks are NumPy's after it, seen by views, and not by what was made before."""
    array = given_array()
    lazy: Any = mt.ma.from_masked(array.copy(), chunk_size=data.draw(chunkings(array.shape)))
    before, seen = lazy + 0, lazy[1:]
    if data.draw(st.booleans()):
        lazy.execute()
    WRITES[name](array)
    WRITES[name](lazy)
    assert plain(lazy) == plain(array)
    assert plain(seen) == plain(array[1:])
    assert plain(before) == plain(given_array() + 0)


@pytest.mark.parametrize("eager", [False, True])
def test_a_write_is_whole_or_none(eager: bool) -> None:
    """Where the mask cannot be written, the values are not, either."""
    lazy: Any = mt.ma.from_masked(given_array(), chunk_size=2)
    with marsdask.option_context({"eager_mode": eager}):
        for wrong in (lambda: lazy.put([99], [1]), lambda: lazy.__setitem__(0, [1, 2])):
            with pytest.raises((IndexError, ValueError)):
                wrong()
        assert plain(lazy) == plain(given_array())
        lazy[0] = 1
        lazy.put([5], MASKED)
        lazy.fill(4)
    assert plain(lazy)[0] == [[4, 4, 4, 4], [4, -9, 4, 4], [4, 4, -9, 4]]


def test_nobody_sees_values_without_their_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write changes the tensor's node once."""
    lazy: Any = mt.ma.from_masked(given_array(), chunk_size=2)
    parts = (lazy.data, lazy.mask)
    seen = []

    def watched(collection: Any, node: Any) -> None:
        seen.append([plain(part) is not None for part in parts])
        rebind(collection, node)

    monkeypatch.setattr(assignment, "rebind", watched)
    lazy[0] = np.ma.masked_array([1, 2, 3, 4], mask=[True, False, False, True])
    assert len(seen) == 1
    assert parts[0][0].compute().tolist() == [1, 2, 3, 4]
    assert parts[1][0].compute().tolist() == [True, False, False, True]


@pytest.mark.parametrize("chunk_size", [1, 2, 6])
def test_functions_that_leave_masks_alone(chunk_size: int) -> None:
    """As in NumPy, ``copyto``, ``putmask`` and ``place`` write values, also below masks."""
    raw = np.ma.masked_array(np.arange(6.0), mask=[False, True, False, False, True, False])
    where = np.array([1, 1, 1, 0, 0, 0], bool)
    hidden = np.ma.masked_equal([1.0, 2, 2, 2, 2, 2], 1)
    for write in (
        lambda x, xp: xp.copyto(x, 7.0),
        lambda x, xp: xp.copyto(x, hidden, where=where),
        lambda x, xp: xp.putmask(x, where, 9.0),
        lambda x, xp: xp.place(x, where, [9.0, 8.0]),
    ):
        expected = raw.copy()
        lazy = mt.ma.from_masked(raw, chunk_size=chunk_size)
        write(expected, np)
        write(lazy, mt)
        found = lazy.compute()
        np.testing.assert_array_equal(found.data, expected.data)
        np.testing.assert_array_equal(found.mask, expected.mask)


@pytest.mark.parametrize("dtype", ["f4", "i2", "c8"])
def test_operators_that_keep_the_type(dtype: str) -> None:
    """What an operator makes is cast to the type of the tensor that it changes."""
    array = np.ma.masked_equal(np.arange(6, dtype=dtype).reshape(2, 3), 4)
    tensor = ma.from_masked(array).rechunk(2)
    array += 1
    tensor += 1
    assert tensor.dtype == array.dtype
    np.testing.assert_array_equal(tensor.compute().filled(0), array.filled(0))
    np.testing.assert_array_equal(ma.getmaskarray(tensor).compute(), np.ma.getmaskarray(array))
