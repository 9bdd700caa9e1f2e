"""Asking a scheduler who it is: quietly, and with a quick answer where there is none."""

from __future__ import annotations

import asyncio

import pytest
from distributed.core import Server

from marsdask.scheduler.cluster import leader
from tests.cluster.commands import DEADLINE, free_port


@pytest.mark.parametrize("slow", [False, True])
def test_who_answers_at_once_is_not_probed(slow, monkeypatch):
    """A connection that says nothing would be a line in the other's log, each second."""
    probed = []

    async def probe(address):
        probed.append(address)

    monkeypatch.setattr(leader, "probe", probe)
    monkeypatch.setattr(leader, "_PROMPT", 0 if slow else DEADLINE)

    async def asked():
        async with Server({"identity": lambda n_workers: {"id": "me"}}) as server:
            await server.listen("tcp://127.0.0.1:0")
            return await leader.identify(server.address, {}, DEADLINE)

    assert asyncio.run(asked()) == {"id": "me"}
    assert bool(probed) == slow


def test_nobody_listens():
    """It does not take as long as a connection is tried for."""
    with pytest.raises(ConnectionRefusedError):
        asyncio.run(leader.identify(f"127.0.0.1:{free_port()}", {}, DEADLINE))


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("ws://mars.example", ("mars.example", 80)),
        ("wss://mars.example/prefix", ("mars.example", 443)),
        ("ws://[::1]:7103/prefix", ("::1", 7103)),
        ("tls://127.0.0.1:7103", ("127.0.0.1", 7103)),
    ],
)
def test_where_somebody_has_to_listen(address, where):
    """Of a web address the port may go without saying, and a path may follow."""
    assert leader._host_and_port(address) == where
