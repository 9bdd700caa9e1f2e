"""Stand-ins take no memory, and lie in it as NumPy's arrays would."""

from __future__ import annotations

import resource
import tracemalloc
from typing import Any

import numpy as np
import pytest

import marsdask.tensor as mt
from marsdask.tensor.sharing import layout_arrays
from marsdask.tensor.sharing.views import array_of

KINDS = ("?", "i1", ">f8", "c16", "U3", "S2", "M8[s]", "O", "f4,i4", "V5")


@pytest.mark.parametrize("kind", KINDS)
def test_of_all_types(kind: str) -> None:
    """The strides of elements, slices and the transpose."""
    array = np.zeros((2, 3, 4), kind)
    tensor = mt.tensor(array, chunk_size=2)
    for ours, theirs in ((tensor, array), (tensor[1:, ::2].T, array[1:, ::2].T)):
        assert ours.strides == theirs.strides
        assert ours.itemsize == theirs.itemsize
        assert ours.nbytes == theirs.nbytes


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (), (1, 1), (4, 1, 2)])
def test_of_all_shapes(shape: Any) -> None:
    """Arrays without elements among them."""
    array, tensor = np.zeros(shape), mt.zeros(shape)
    for ours, theirs in (
        (tensor, array),
        (tensor.T, array.T),
        (tensor[..., None], array[..., None]),
    ):
        assert ours.flags.c_contiguous == theirs.flags.c_contiguous
        assert ours.flags.f_contiguous == theirs.flags.f_contiguous
        assert mt.shares_memory(ours, tensor) == np.shares_memory(theirs, array)


def test_without_memory() -> None:
    """Of tensors that no memory holds."""
    tensor = mt.ones((10**6, 10**6), chunk_size=(10**4, 10**4))
    view = tensor.T[5:, ::2]
    tracemalloc.start()
    try:
        stand_in = array_of(view)
        assert not view.flags.c_contiguous
        assert mt.shares_memory(view, tensor)
        assert not mt.shares_memory(tensor[:10], tensor[10:])
        assert tensor[:10].reshape(-1).base is tensor
        assert view.reshape(-1).base is None
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()
    assert stand_in.shape == view.shape


def test_of_others() -> None:
    """Tensors share elements with no arrays, and frames with nobody."""
    array = np.ones(3)
    tensor = mt.tensor(array)
    assert not mt.shares_memory(tensor, array)
    assert not np.may_share_memory(tensor, mt.ones(3))
    assert mt.shares_memory(tensor, tensor)
    assert mt.shares_memory(array, array[1:])
    shared = mt.from_array(array, copy=False)
    shared[0] = 5
    shared[1:][0] = 6
    assert array.tolist() == [1, 1, 1]
    assert shared.compute().tolist() == [5, 6, 1]


CHANGES: dict[str, Any] = {
    "new": lambda t: t,
    "transposed": lambda t: t.T[1:],
    "repeated": lambda t: mt.broadcast_to(t, (2, *t.shape)),
    "the diagonal": lambda t: t[:9].diagonal(),
    "windows": lambda t: mt.sliding_window_view(t, 2, axis=0),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_whoever_looks_at_them(change: Any) -> None:
    """A debugger that shows variables, or reads elements, ends no process."""
    for kind in ("f8", "O", "f4,i4"):
        array = array_of(change(mt.zeros((10**6, 10**6), dtype=kind, chunk_size=10**5)))
        assert repr(array) == str(array) == f"{array}"
        assert repr(array).startswith("StandIn(shape=(")
        corners = array[
            (slice(None, None, max(1, len(array) - 1)), *[slice(-2, None)] * (array.ndim - 1))
        ]
        assert not any(corners.tobytes())
    huge = array_of(change(mt.zeros((10**8, 10**8), chunk_size=10**7)))
    assert repr(huge).startswith("StandIn(shape=(")


def test_limited_addresses() -> None:
    """Where a process may have so many addresses, none of them are taken."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    layout_arrays._pages.cache_clear()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 50, hard))
        array = array_of(mt.zeros(2**20))
        assert layout_arrays._pages(20) is None
        assert array[1:].shape == (2**20 - 1,)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        layout_arrays._pages.cache_clear()


#: Views that functions make of a tensor whose length only running tells.
WAITING: dict[str, Any] = {
    "windows": lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2, axis=0),
    "windows of two axes": lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, (2, 2)),
    "repeated": lambda xp, x: xp.broadcast_to(x, (2, 6, 6)),
    "a diagonal": lambda xp, x: xp.diagonal(x, 1),
    "a diagonal of a matrix": lambda xp, x: xp.diag(x),
    "a part": lambda xp, x: xp.split(x, 2)[1],
    "columns": lambda xp, x: xp.split(x, 2, axis=1)[1],
    "some rows": lambda xp, x: xp.array_split(x, [2, 3])[0],
    "other bytes": lambda xp, x: x.ravel().view("int32"),
    "transposed windows": lambda xp, x: xp.lib.stride_tricks.sliding_window_view(x, 2, axis=0).T,
}


@pytest.mark.parametrize("name", WAITING)
def test_of_lengths_that_running_tells(name: str) -> None:
    """They lie as NumPy's do, and what NumPy copies is not refused as read-only."""
    array = np.arange(36).reshape(6, 6)
    tensor = mt.tensor(array, chunk_size=2)
    theirs = WAITING[name](np, array[array[:, 0] > -1])
    ours = WAITING[name](mt, tensor[tensor[:, 0] > -1])
    assert ours.flags.c_contiguous == theirs.flags.c_contiguous
    assert ours.flags.f_contiguous == theirs.flags.f_contiguous
    assert name == "repeated" or ours.strides == theirs.strides  # not known of an axis of one
    flat, wanted = ours.reshape(-1), theirs.reshape(-1)
    try:
        wanted[::2] = 2
    except ValueError:
        with pytest.raises(ValueError, match="read-only"):
            flat[::2] = 2
        return
    try:
        flat[::2] = 2
    except NotImplementedError:  # it may be a copy or not
        return
    np.testing.assert_array_equal(flat, wanted)
    np.testing.assert_array_equal(ours, theirs)
