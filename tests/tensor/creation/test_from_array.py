"""from_array is Dask's, and copies are apart."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

import marsdask.tensor as mt


def test_from_array_is_dasks():
    """The same arguments give the same chunks and values."""
    array = np.arange(20.0).reshape(4, 5)
    ours, theirs = (f(array, chunks=(2, 3), lock=False) for f in (mt.from_array, da.from_array))
    assert ours.chunks == theirs.chunks
    for name in ("numblocks", "npartitions", "chunksize"):
        assert getattr(ours, name) == getattr(theirs, name)
    np.testing.assert_array_equal(ours.compute(), array)
    with pytest.raises(TypeError, match="nonsense"):
        mt.from_array(array, nonsense=1)


def test_a_copy_is_its_own():
    """What is written into one is not in the other."""
    x = mt.ones(3)
    y = x.copy()
    y[0] = 5
    np.testing.assert_array_equal(x.compute(), [1, 1, 1])
    np.testing.assert_array_equal(y.compute(), [5, 1, 1])
    assert not mt.array_equiv(mt.ones(3), mt.ones(4)).compute()


def test_an_array_is_copied_or_shared():
    """What is shared follows the array; no operation on the tensor writes to it."""
    values = np.arange(6.0)
    copied, shared = mt.from_array(values, 3), mt.from_array(values, 3, copy=False)
    values[0] = 9
    assert copied[0].compute() == 0
    assert shared[0].compute() == 9
    assert values.flags.writeable
    mt.map_blocks(zeroed, shared, dtype=float).compute()
    changed = shared.execute()
    changed[1:] = 0
    assert changed.compute().tolist() == [9, 0, 0, 0, 0, 0]
    assert values.tolist() == [9, 1, 2, 3, 4, 5]


def zeroed(block):
    """Write to what it is given, if that is allowed."""
    if block.flags.writeable:
        block[...] = 0
    return block


def test_require():
    """What meets the requirements is the tensor itself, anything else a copy that does."""
    both = [(np, np.arange(6.0).reshape(2, 3)), (mt, mt.arange(6.0).reshape(2, 3))]
    for package, x in both:
        assert package.require(x, requirements=["C", "O", "W", "ALIGNED"][::3]) is x
        columns = package.require(x, "f4", ["F_CONTIGUOUS"])
        assert columns.flags.f_contiguous
        assert columns.dtype == "f4"
        part = x[:, 1:]
        assert package.require(part, requirements="A") is part
        owned = package.require(part, requirements=["O", "E"])
        assert owned is not part
        assert owned.flags.owndata
        fixed = package.broadcast_to(x, (2, 2, 3))
        assert package.require(fixed, requirements="W").flags.writeable
        assert package.require([[1]], requirements="C").shape == (1, 1)
        with pytest.raises(ValueError, match="Cannot specify both"):
            package.require(x, requirements="CF")
        with pytest.raises(KeyError):
            package.require(x, requirements="Z")


class Sliced:
    """Has a shape and takes slices; NumPy would ask it for each of its items."""

    def __init__(self, values):
        self.values, self.asked = values, []
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, key):
        self.asked.append(key)
        return self.values[key]


class Lock:
    """Counts."""

    count = 0
    free = True

    def acquire(self):
        if not self.free:
            raise RuntimeError("locked")
        self.count, self.free = self.count + 1, False

    def release(self):
        self.free = True


def test_objects_are_asked_for_their_chunks():
    """Once each, when they are computed; with a function of the user's in place of [], too."""
    values = np.arange(12.0).reshape(4, 3)
    given = Sliced(values)
    lazy = mt.from_array(given, chunks=(2, 3))
    assert not given.asked
    assert (lazy + 1).sum().compute() == (values + 1).sum()
    assert len(given.asked) == 2
    calls = []

    def getitem(x, key):
        calls.append(key)
        return x[key]

    assert (mt.from_array(given, 2, getitem=getitem).compute() == values).all()
    assert len(calls) == 4
    assert (mt.from_array(values, 2, getitem=getitem).compute() == values).all()
    assert len(calls) == 4
    del given.dtype
    assert mt.from_array(given, chunks=(2, 3)).dtype == values.dtype
    assert mt.from_array(Sliced(np.array(3)), 1).compute() == 3


def test_a_lock_is_held_while_a_chunk_is_read():
    """Also if the reading fails."""
    lock = Lock()
    lazy = mt.from_array(np.arange(10), chunks=5, lock=lock)
    assert lazy.sum().compute() == 45
    assert lock.count == 2
    lock.free = False
    with pytest.raises(RuntimeError, match="locked"):
        lazy.compute()
    lock.free = True

    def fails(x, key):
        raise OSError(key)

    with pytest.raises(OSError, match="slice"):
        mt.from_array(Sliced(np.arange(3)), getitem=fails, lock=lock).compute()
    assert lock.free
    assert mt.from_array([1, 2], lock=True).sum().compute() == 3
