"""Masked tensors share values and masks with others, as arrays of numpy.ma do."""

from __future__ import annotations

import gc
import pickle
import sys
import threading
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import marsdask.tensor as mt
from marsdask.core.collection import rebind
from marsdask.core.config import option_context
from tests.core.recording import recording_session
from tests.strategies import chunkings, draws

from .test_views import _key, listed

ma = mt.ma


def both(array: Any, chunks: Any = 2) -> tuple[Any, Any]:
    """Return a masked array, and the tensor of it."""
    return array.copy(), ma.from_masked(array, chunks)


def check(lazy: Any, expected: Any) -> None:
    """Compare values, those that are masked too, and masks."""
    found = lazy.compute()
    np.testing.assert_array_equal(np.ma.getdata(found), np.ma.getdata(expected))
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))


MATRIX = np.ma.masked_array(np.arange(12.0).reshape(3, 4), np.arange(12).reshape(3, 4) % 3 == 0)

VIEWS: dict[str, Any] = {
    "rows": lambda xp, m: m[1:],
    "steps": lambda xp, m: m[::-2, 1:3],
    "one row": lambda xp, m: m[1],
    "positions": lambda xp, m: m[[0, 1]],
    "T": lambda xp, m: m.T,
    "swapaxes": lambda xp, m: m.swapaxes(0, 1),
    "transpose": lambda xp, m: m.transpose(1, 0),
    "ravel": lambda xp, m: m.ravel(),
    "ravel of the transpose": lambda xp, m: m.T.ravel(),
    "flatten": lambda xp, m: m.flatten(),
    "reshape": lambda xp, m: m.reshape(2, 6),
    "squeeze": lambda xp, m: m[:1].squeeze(),
    "diagonal": lambda xp, m: m.diagonal(),
    "view": lambda xp, m: m.view(),
    "copy": lambda xp, m: m.copy(),
    "take": lambda xp, m: m.take([0], axis=0),
    "repeat": lambda xp, m: m.repeat(1, axis=0),
    "real": lambda xp, m: m.real,
    "rows in a loop": lambda xp, m: list(m),
    "astype": lambda xp, m: m.astype("f8"),
    "array": lambda xp, m: xp.array(m),
    "array with more masked": lambda xp, m: xp.array(m, mask=m.data > 7),
    "array copied": lambda xp, m: xp.array(m, copy=True),
    "masked by value": lambda xp, m: xp.masked_greater(m, 5),
    "masked by value in place": lambda xp, m: xp.masked_greater(m, 5, copy=False),
    "masked where": lambda xp, m: xp.masked_where(m.data > 5, m),
    "masked where in place": lambda xp, m: xp.masked_where(m.data > 5, m, copy=False),
    "getdata": lambda xp, m: xp.getdata(m),
    "getmaskarray": lambda xp, m: xp.getmaskarray(m),
    "data": lambda xp, m: m.data[1:],
    "mask": lambda xp, m: m.mask[1:],
    "filled": lambda xp, m: m.filled(0),
    "sum": lambda xp, m: m.sum(axis=0),
    "arithmetic": lambda xp, m: m + 0,
    "views of views": lambda xp, m: m[1:].T[::-1].reshape(4, 2)[1:],
}


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("name", VIEWS)
def test_writes_go_both_ways(name: str, *, executed: bool) -> None:
    """What is written to a view or to its base, values or masks, both see; copies do not."""
    array, tensor = both(MATRIX)
    theirs, ours = listed(VIEWS[name](np.ma, array)), listed(VIEWS[name](ma, tensor))
    if executed:
        mt.ExecutableTuple([tensor, *ours]).execute()
    for own, other in zip(ours, theirs, strict=True):
        assert np.shares_memory(tensor, own) == np.shares_memory(array, other)
    for target in (array, tensor):
        target[-1, 1:] = 70
        target[1:, 2] = np.ma.masked
    for own, other in zip(ours, theirs, strict=True):
        check(own, other)
        for item in (own, other):
            if other.flags.writeable:
                item[-1:] = 8
                if isinstance(other, np.ma.MaskedArray):
                    item[:1] = np.ma.masked
        check(tensor, array)
        check(own, other)


class MaskedProgram:
    """Pairs of a masked array and a tensor, to which the same is done."""

    def __init__(self, array: Any, chunks: Any) -> None:
        self.pairs: list[tuple[Any, Any]] = [both(array, chunks)]

    def step(self, draw: Any) -> None:
        """Do one thing to a pair."""
        array, tensor = draw(st.sampled_from(self.pairs))
        what = draw(st.sampled_from(["view", "view", "write", "write", "execute", "pickle"]))
        if what == "view":
            make = draw(st.sampled_from([self.viewed, self.viewed, self.part]))
            self.pairs.append(make(draw, array, tensor))
        elif what == "write":
            self.write(draw, array, tensor)
        elif what == "execute":
            tensor.execute()
        else:
            self.pairs.append((array.copy(), pickle.loads(pickle.dumps(tensor))))

    def viewed(self, draw: Any, array: Any, tensor: Any) -> tuple[Any, Any]:
        """Show a part."""
        key = (..., *_key(draw, array.shape)) if draw(st.booleans()) else ...
        axes = tuple(draw(st.permutations(range(array.ndim))))
        calls = [lambda m: m[key] if key is not ... else m.view(), lambda m: m.transpose(axes)]
        call = draw(st.sampled_from([*calls, lambda m: m.ravel(), lambda m: m[::-1]]))
        with suppress(IndexError):
            return call(array), call(tensor)
        return array, tensor

    def part(self, draw: Any, array: Any, tensor: Any) -> tuple[Any, Any]:
        """Show the values or the mask."""
        if not isinstance(array, np.ma.MaskedArray):
            return array, tensor
        return (array.data, tensor.data) if draw(st.booleans()) else (array.mask, tensor.mask)

    def write(self, draw: Any, array: Any, tensor: Any) -> None:
        """Write a number, a masked array or the masked constant."""
        key = _key(draw, array.shape)
        masks = isinstance(array, np.ma.MaskedArray)
        value = draw(st.sampled_from([7, 0, np.ma.masked, np.ma.masked_equal(3.0, 3.0)]))
        for item in (array, tensor):
            item[key] = value if masks else 1

    def check(self) -> None:
        """Compare all pairs."""
        for array, tensor in self.pairs:
            check(tensor, array)


@settings(parent=draws(25), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_programs(data: Any) -> None:
    """Of views of masked tensors, their values and their masks, and writes to all of them."""
    shape = data.draw(st.sampled_from([(4, 3), (6,), (2, 2, 2)]))
    values = np.arange(float(np.prod(shape))).reshape(shape)
    array = np.ma.masked_array(values, mask=values % data.draw(st.integers(2, 4)) == 0)
    program = MaskedProgram(array, data.draw(chunkings(shape)))
    for _ in range(data.draw(st.integers(2, 7))):
        program.step(data.draw)
    program.check()


ORDERS: dict[str, Any] = {
    "last": {},
    "first": {"endwith": False},
    "among the others": {"fill_value": 2},
}


@settings(parent=draws(25), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_masks_of_tensors(data: Any) -> None:
    """Masks of one element and conditions are made masks of all; sorting moves what is hidden."""
    shape = data.draw(st.sampled_from([(4,), (2, 3), (1,)]))
    values = np.arange(float(np.prod(shape))).reshape(shape)[..., ::-1] % 4
    many = np.arange(values.size).reshape(shape) % 3
    mask = data.draw(st.sampled_from([True, [True], [0], 2, many, many == 2, many > 5]))
    lazy = data.draw(st.booleans())
    tensor = mt.tensor(values, chunk_size=data.draw(chunkings(shape)))
    in_place = data.draw(st.booleans()) and np.ndim(mask) in (0, values.ndim)
    in_place = in_place and np.shape(mask) in ((), shape)
    array, own = values.copy(), mt.tensor(mask) if lazy else mask
    pairs: list[tuple[Any, Any]] = []
    for xp, x, hidden in ((np.ma, array, np.array(mask)), (ma, tensor, own)):
        made = xp.masked_where(hidden, x, copy=False) if in_place else xp.array(x, mask=hidden)
        pairs.append((x, made))
    key, how = data.draw(_keys(shape)), data.draw(st.sampled_from(list(ORDERS.values())))
    for x, m in pairs:
        m.sort(axis=0, **how)
        x[-1:] = 9
        m[key] = 5
        m[:1] = np.ma.masked
    assert pairs[1][1].mask.dtype == bool
    assert pairs[1][1].mask.shape == shape
    for theirs, ours in zip(*pairs, strict=True):
        check(ours, theirs)


def _keys(shape: tuple[int, ...]) -> Any:
    return st.sampled_from([0, ..., slice(1, None), (-1,) * len(shape)])


def test_sorted_in_place() -> None:
    """What is hidden moves with its mask, also in those that share it."""
    for how in ORDERS.values():
        for values in ([3, 2, 9, 1], [3.0, np.nan, 9.0, 1.0]):
            array, tensor = np.array(values), mt.tensor(values, chunk_size=3)
            for xp, x in ((np.ma, array), (ma, tensor)):
                xp.masked_array(x, mask=[0, 0, 1, 0]).sort(**how)
            np.testing.assert_array_equal(tensor.compute(), array)


def test_masks_of_one_element_can_be_written_to() -> None:
    """They are made masks of all elements, and nobody shares those."""
    own = mt.tensor([True])
    for mask in (True, [True], [[True]], np.True_, own):
        x = mt.arange(4, chunk_size=2)
        m = ma.masked_array(x, mask=mask)
        m[0] = 5
        assert m.compute().tolist() == [5, None, None, None]
        assert x.compute().tolist() == [5, 1, 2, 3]
    assert own.compute().tolist() == [True]


def test_conditions_become_masks() -> None:
    """Of numbers, of one element, of masked ones."""
    hidden = np.ma.masked_array([0, 0, 0, 1], mask=[False, True, False, False])
    for condition in ([0, 2, 0, 1], mt.tensor([0, 2, 0, 1]), True, hidden, ma.from_masked(hidden)):
        m = ma.masked_where(condition, mt.arange(4, chunk_size=2), copy=False)
        assert (m.mask.dtype, m.mask.shape) == (bool, (4,))
        m[0] = 7
        found = [7, None, None, None] if condition is True else [7, None, 2, None]
        assert m.compute().tolist() == found


def test_readers_see_writes_of_other_threads_whole() -> None:
    """Values and mask are of one write, and the last write is not lost."""
    m: Any = ma.masked_array(mt.zeros(4, chunk_size=4), mask=[False] * 4)
    m[1:]  # from now on it is made of parts
    even = ma.masked_array(mt.zeros(4, chunk_size=4), mask=[False] * 4)
    odd = ma.masked_array(mt.ones(4, chunk_size=4), mask=[True] * 4)
    pairs = {tuple(part.name for part in item.node.args): item for item in (even, odd)}
    split: list[Any] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            split.append(tuple(part.name for part in m.node.args))

    readers = [threading.Thread(target=read) for _ in range(3)]
    rebind(m, even.node)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for reader in readers:
            reader.start()
        for count in range(400):
            rebind(m, (odd if count % 2 else even).node)
        done.set()
        for reader in readers:
            reader.join()
    finally:
        done.set()
        sys.setswitchinterval(interval)
    assert set(split) <= set(pairs)
    check(m, odd.compute())


def test_the_mask_and_the_fill_value_are_set() -> None:
    """A mask that is set is everybody's; a fill value is one tensor's own."""
    array, tensor = both(MATRIX)
    for m in (array, tensor):
        view = m[1:]
        view.mask = [[True, False, False, True]] * 2
        m[0] = 5
        m.mask[0, 0] = True
        m.data[2] += 1
    view.fill_value = 9
    assert (view.fill_value, tensor.fill_value) == (9, 1e20)
    check(tensor, array)
    check(view, array[1:])
    tensor[2, 1] = 70
    assert view.filled().compute()[1].tolist() == [9, 70, 11, 9]
    plain = mt.arange(4, chunk_size=3)
    masked = ma.masked_array(plain, [True, False, False, False])
    masked[:2] = 8
    assert plain.compute().tolist() == [8, 8, 2, 3]
    with pytest.raises(NotImplementedError, match="use copy=True"):
        ma.fix_invalid(plain, copy=False)


def test_a_loop_of_masked_views_holds_one_result() -> None:
    """An executed view of what nobody else has needs nothing else."""
    with recording_session() as (_, scheduler):
        m: Any = ma.from_masked(MATRIX, 2)
        for _ in range(3):
            m = (m + 1).T
            m.execute()
            gc.collect()
            assert len(scheduler.results) == len(m.node.result.layout.keys)
        base: Any = m + 1
        view = base[1:]
        mt.ExecutableTuple([base, view]).execute()
        del base
        gc.collect()
        own = len(m.node.result.layout.keys) + len(view.node.result.layout.keys)
        assert len(scheduler.results) == own
        view[0, 0] = 3
        view.execute()
        assert (view.compute()[0, 0], view.base) == (3, None)


def test_eager_writes() -> None:
    """In eager mode all who see a write are computed again."""
    with option_context({"eager_mode": True}):
        array, tensor = both(MATRIX)
        for m in (array, tensor):
            view, values = m[1:], m.data
            values[1, 1] = 50
            view[1, :2] = np.ma.masked
            view -= 1
        view.fill_value = 4
        for own, other in ((tensor, array), (view, array[1:])):
            assert own.fetch().tolist() == other.tolist()
        assert values.fetch().tolist() == array.data.tolist()


def test_read_only_and_refused() -> None:
    """Values that are read-only stay as they are, with their mask."""
    m = ma.from_masked(MATRIX, 2)
    for view in (mt.broadcast_to(m, (2, 3, 4)), m.diagonal()):
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 1
    m.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        m[0] = 1
    check(m, MATRIX)


def test_sparse_tensors_share_too() -> None:
    """A write to a view makes the base dense, and it is seen."""
    dense = np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, 0, 1]])
    for change in (
        lambda a: a[:2],
        lambda a: a.T,
        lambda a: a.reshape(4, 3),
        lambda a: a[1],
        lambda a: a[::-1].T[1:],
        lambda a: a[1:, ::2],
    ):
        array, tensor = dense.copy(), mt.tensor(dense, chunk_size=2).tosparse()
        theirs, ours = change(array), change(tensor)
        theirs[1:] = 7
        ours[1:] = 7
        theirs *= 2
        ours *= 2
        array[0] = tensor[0] = 4
        np.testing.assert_array_equal(tensor.todense().compute(), array)
        np.testing.assert_array_equal(ours.todense().compute(), theirs)
    apart = tensor.tosparse().todense().copy()
    apart[0, 0] = 99
    assert tensor[0, 0].compute() == 4


def test_rechunked_tensors_and_blocks_are_copies() -> None:
    """A write to them, or to a view of them, does not change the tensor, as in Dask and Mars."""
    tensor = mt.zeros((4, 6), chunk_size=2)
    masked = ma.from_masked(MATRIX, 2)
    blocks = [tensor.blocks[0, 1:], tensor.blocks[::2]]
    for source, copies in ((tensor, blocks), (masked, [])):
        before = source.compute()
        cut = source.rechunk(3)
        for own in (source.rechunk((3, 4)), source.rechunk(2), source[1:].rechunk(3), *copies):
            assert not mt.shares_memory(own, source)
            own[0] = 5
            own.T[1:] += 1
            assert own[0, 0].compute() == 5
        check(source, before)
        source[...] = 8
        check(cut, before)
