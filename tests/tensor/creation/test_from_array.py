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
