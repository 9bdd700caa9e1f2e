"""The messages between a client and a supervisor."""

from __future__ import annotations

import pytest

from marsdask.scheduler.dask import (
    PLACE,
    ROOM,
    can_share_memory,
    cluster_machine,
    combined_machine,
)
from marsdask.scheduler.supervisor.compilation.packing import packed, unpacked


def test_what_repeats_takes_no_room():
    """A million equal sizes come back, from a few kilobytes; a function of this module too."""
    value = (10,) * 1_000_000, packed
    data = packed(value)
    assert len(data) < 10_000
    assert unpacked(data) == value


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([], (1, None, None)),
        ([(2, 100), (1, 300)], (3, 300, 300)),
        ([(2, 100), (1, None)], (3, None, None)),
        ([(0, 0)], (1, None, None)),
    ],
)
def test_what_workers_are_together(workers, expected):
    """Memory is known if that of every worker is; three quarters of it are planned with."""
    machine = combined_machine(workers)
    assert (machine.threads, machine.memory, machine.largest) == expected


@pytest.mark.parametrize(
    ("places", "expected"),
    [([], False), (["a", "a"], True), (["a", "b"], False), (["a", None], False), ([None], False)],
)
def test_who_sees_each_others_results(places, expected):
    """Workers of one place do; stock workers do not."""
    assert (
        can_share_memory([{} if place is None else {PLACE: place} for place in places]) is expected
    )
    assert can_share_memory([{PLACE: place} for place in places]) is expected


def worker(host, disks=None, limit=None, memory=100):
    """Return what a worker has told; with disks, one that reports them."""
    room = {} if disks is None else {ROOM: {"disks": disks, "limit": limit}}
    return {"nthreads": 1, "memory_limit": memory, "host": host, "metrics": room}


@pytest.mark.parametrize(
    ("workers", "expected"),
    [
        ([worker("a", {"1": 10, "2": 20}), worker("a", {"1": 10}), worker("b", {"1": 5})], 35),
        ([worker("a", {"1": 10}, limit=3), worker("b", {"1": 9}, limit=4)], 7),
        ([worker("a", {"1": 10}, limit=3), worker("b", {"1": 9})], 19),
        ([worker("a", {})], 0),
        ([worker("a", {"1": 10}), worker("b")], None),
        ([worker("a", {"1": 10}, memory=None)], None),
        ([], None),
    ],
)
def test_what_workers_may_spill(workers, expected):
    """Each disk counts once; it is unknown with stock workers or without limits of memory."""
    assert cluster_machine(workers).spill == expected
