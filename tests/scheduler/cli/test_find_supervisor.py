"""Which supervisor is joined of several that answer."""

import asyncio

import pytest
from distributed import Security

from marsdask.scheduler.cli import find_supervisor
from marsdask.scheduler.cluster import leader
from marsdask.scheduler.cluster.leader import SupervisorRole

NAMES = [f"tcp://host-{number}:1" for number in range(8)]


@pytest.mark.parametrize("named", [True, False])
def test_the_order_decides_among_equals(named, monkeypatch):
    """As it does for stock schedulers, which have no epochs; that of names, or of what came."""

    async def ask(address, *args):
        if address == "tcp://silent:1":
            raise ConnectionRefusedError
        return SupervisorRole(address, address)

    monkeypatch.setattr(leader, "query_role", ask)
    for first in range(len(NAMES)):
        order = NAMES[first:] + NAMES[:first]
        known, others = (order, []) if named else (["silent:1"], order)
        looking = find_supervisor.active_supervisor(known, Security(), others=others.copy)
        assert asyncio.run(looking) == order[0]
