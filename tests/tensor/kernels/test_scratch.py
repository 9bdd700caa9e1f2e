"""Working memory of a thread."""

from __future__ import annotations

import threading

import numpy as np

from marsdask.tensor.kernels.scratch import GATHERED, KEPT, LINE, in_tiles, scratch


def test_the_same_memory_again() -> None:
    """One purpose gets the same memory, two purposes different ones; large requests their own."""
    first = scratch("a", (4, 5), np.dtype("f8"))
    assert (first.shape, first.dtype) == ((4, 5), np.float64)
    assert np.shares_memory(first, scratch("a", (3,), np.dtype("i4")))
    assert not np.shares_memory(first, scratch("b", (4, 5), np.dtype("f8")))
    assert first.ctypes.data % LINE == 0
    large = (KEPT + 1,)
    assert not np.shares_memory(
        scratch("c", large, np.dtype("u1")), scratch("c", large, np.dtype("u1"))
    )


def test_threads_do_not_share() -> None:
    """Each thread has memory of its own."""
    mine = scratch("a", (4,), np.dtype("f8"))
    theirs: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: theirs.append(scratch("a", (4,), np.dtype("f8"))))
    thread.start()
    thread.join(10)
    assert not np.shares_memory(mine, theirs[0])


def test_buffers_are_as_before() -> None:
    """The size of NumPy's buffers is changed for tiles of long rows only."""
    before = np.getbufsize()
    with in_tiles(GATHERED - 1):
        assert np.getbufsize() == before
    with in_tiles(GATHERED):
        assert np.getbufsize() == GATHERED
    assert np.getbufsize() == before
