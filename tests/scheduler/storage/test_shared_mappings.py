"""Mappings that a process keeps for later values in the same memory."""

from __future__ import annotations

import os
import resource
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marsdask.scheduler.storage import shared_mappings
from marsdask.scheduler.storage.shared import Pool
from marsdask.scheduler.storage.shared_mappings import KEEP_FROM, MAPPINGS
from marsdask.scheduler.storage.shared_segment import problem
from tests.scheduler import shared_actions as actions
from tests.scheduler.peer import peers

pytestmark = pytest.mark.skipif(problem() is not None, reason=str(problem()))

#: Numbers of an array that is large enough.
N = KEEP_FROM // 8
STEPS = ("publish", "load", "modify", "drop", "trim", "tidy")


@pytest.fixture
def mappings(monkeypatch):
    monkeypatch.setattr(MAPPINGS, "most", 2)
    yield MAPPINGS
    MAPPINGS.close()
    assert MAPPINGS._used == 0


@pytest.fixture
def pool(mappings):
    pool = Pool(16 * KEEP_FROM)
    yield pool
    pool.close()


def faults():
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def is_all(array, number):
    return array[0] == array[-1] == number and bool((array[:: N // 64] == number).all())


def place(array):
    return array.ctypes.data // KEEP_FROM


def test_the_next_value_in_the_same_memory_is_there(pool, mappings):
    """Its pages are mapped; a process that keeps nothing maps each anew."""
    shared = pool.publish(np.ones(N))
    first = shared.handle.load()
    assert first.sum() == N
    where = place(first)
    del first, shared
    shared = pool.publish(np.full(N, 2.0))
    value = shared.handle.load()
    before = faults()
    assert value.sum() == 2 * N
    assert faults() - before < 16  # 64 if the kernel maps 16 pages at a time
    assert place(value) == where
    assert pool.nbytes < 2 * KEEP_FROM
    mappings.most = 0
    other = shared.handle.load()
    assert place(other) != where
    assert other.sum() == 2 * N


@pytest.mark.parametrize("position", [0, N // 2, -1])
def test_modified_pages_are_not_kept(position, pool, mappings):
    """A task that writes into its input does not change what comes later."""
    shared = pool.publish(np.ones(N))
    value = shared.handle.load()
    value[position] = -1
    del value, shared
    assert len(mappings) == 0
    shared = pool.publish(np.full(N, 2.0))
    assert (shared.handle.load() == 2).all()


def test_arrays_keep_the_lease(pool):
    """As long as one is left, its memory gets no other value."""
    shared = pool.publish(np.arange(float(N)))
    part = shared.handle.load()[5:8]
    del shared
    other = pool.publish(np.ones(N))
    assert part.tolist() == [5, 6, 7]
    assert pool.nbytes > 2 * KEEP_FROM
    assert pool.trim() == 0
    del other, part
    assert pool.trim() > 2 * KEEP_FROM


def test_freed_segments_are_empty(pool, mappings):
    """An owner that frees memory frees it, although others keep mappings."""
    shared = pool.publish(np.ones(N))
    descriptor = os.dup(shared.handle.descriptor)
    try:
        shared.handle.load()
        del shared
        mappings.tidy()
        assert len(mappings) == 1
        assert os.fstat(descriptor).st_blocks > 0
        assert pool.trim() > 0
        assert os.fstat(descriptor).st_blocks == 0
        mappings.tidy()
        assert len(mappings) == 0
    finally:
        os.close(descriptor)


def test_mappings_of_ended_owners_are_dropped(mappings):
    """What a killed process has shared is in memory only while it is read."""
    with peers(1) as (owner,):
        handle = owner.call(actions.publish, "x", N)
        assert handle.load().sum() == N
        mappings.tidy()
        assert len(mappings) == 1
    mappings.tidy()
    assert len(mappings) == 0


def test_idle_mappings_are_dropped(pool, mappings, monkeypatch):
    """Those that nobody has used for a while."""
    shared = pool.publish(np.ones(N))
    shared.handle.load()
    mappings.tidy()
    assert len(mappings) == 1
    monkeypatch.setattr(shared_mappings, "_IDLE", 0.0)
    mappings.tidy()
    assert len(mappings) == 0


def test_mappings_are_limited(pool, mappings):
    """More are mapped as without any, and of those that are idle the oldest goes."""
    shared = [pool.publish(np.full(N, float(i))) for i in range(4)]
    values = [one.handle.load() for one in shared]
    assert [value[-1] for value in values] == [0, 1, 2, 3]
    del values
    assert len(mappings) == 2
    assert shared[3].handle.load()[0] == 3
    assert len(mappings) == 2


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 2))))
def test_histories(steps):
    """Whatever happened to memory before, a value is what its owner wrote."""
    MAPPINGS.most = 2
    pool = Pool(8 * KEEP_FROM)
    shared: dict[int, tuple[Any, float]] = {}
    read: dict[int, tuple[Any, float]] = {}
    number = 0.0
    try:
        for step, i in steps:
            if step == "publish":
                number += 1
                shared.pop(i, None)
                shared[i] = pool.publish(np.full(N, number)), number
            elif step == "load" and i in shared and shared[i][0] is not None:
                read[i] = shared[i][0].handle.load(), shared[i][1]
            elif step == "modify" and i in read:
                read[i][0][:: N // 3] = read[i][1]  # its own pages
            elif step == "drop":
                shared.pop(i, None)
                read.pop(i, None)
            elif step == "trim":
                pool.trim()
            elif step == "tidy":
                MAPPINGS.tidy()
            assert all(is_all(*values) for values in read.values())
    finally:
        MAPPINGS.close()
        pool.close()
