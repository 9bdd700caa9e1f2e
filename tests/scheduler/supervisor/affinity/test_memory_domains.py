"""Which workers share memory, and where tasks go that read what is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from marsdask.scheduler.dask import PLACE
from marsdask.scheduler.supervisor.affinity.memory_domains import MemoryDomains
from marsdask.scheduler.supervisor.placement import Policy, TaskView
from tests.cluster.loop import run, supervised

HERE, THERE = {"boot": 1, "pid": 1}, {"boot": 1, "pid": 2}


@dataclass(eq=False)
class Registered:
    """A worker of the one host, as it has registered."""

    address: str
    extra: dict[str, Any]
    host: str = "host"


def worker(name, place):
    """Return a worker with a place, or one that shares no memory."""
    return Registered(name, {} if place is None else {PLACE: place})


def test_workers_of_one_place_share():
    """Not those of another container, nor Dask's."""
    domains = MemoryDomains()
    a, b, apart, stock, other = (
        worker(name, place)
        for name, place in [("a", HERE), ("b", HERE), ("c", THERE), ("d", None), ("e", None)]
    )
    assert domains.of(a) == domains.of(b)
    assert len({domains.of(one) for one in (a, apart, stock, other)}) == 4
    assert list(domains.workers(domains.of(a))) == [a, b]
    domains.leave(a)
    domains.leave(a)
    assert list(domains.workers(domains.of(b))) == [b]
    domains.leave(b)
    assert not domains.workers(repr(HERE))


@pytest.mark.parametrize(("place", "moved"), [(HERE, 50), (THERE, 1000), (None, 1000)])
def test_only_what_is_shared_costs_little(place, moved):
    """On a host, too: another container's bytes are copied through a connection."""
    holder, neighbour = worker("a", HERE), worker("b", place)
    policy = Policy(domain=MemoryDomains().of)
    assert policy.moved(TaskView(0, ((1000, [holder]),)), neighbour) == pytest.approx(moved)


def test_workers_of_a_cluster():
    """Those of one process share; one that has left and returned is known once."""

    async def main():
        async with supervised({}, {}) as (server, client):
            a, b = server.workers.values()
            assert server.domains.of(a) == server.domains.of(b)
            await client.submit(abs, -1)
            await server.remove_worker(a.address, stimulus_id="test", expected=True)
            assert list(server.domains.workers(server.domains.of(b))) == [b]

    run(main)
