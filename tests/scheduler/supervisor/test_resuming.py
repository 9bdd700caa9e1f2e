"""A client that goes on with another supervisor."""

from __future__ import annotations

import asyncio

from marsdask.scheduler.supervisor import resuming
from tests.cluster.commands import DEADLINE
from tests.cluster.loop import run, supervised


def test_a_supervisor_that_stops_while_it_lets_a_client_in(monkeypatch):
    """It is not waited for for ever, and the connection that was begun is not used."""
    monkeypatch.setattr(resuming, "_WELCOME", 0.5)

    async def main():
        async with (
            supervised() as (supervisor, _),
            resuming.ResumingClient(
                supervisor.address, asynchronous=True, set_as_default=False
            ) as client,
        ):
            comms = [client.scheduler_comm]
            resume = client._resume

            async def silent_at_first(waiting):
                comms.append(client.scheduler_comm)
                if len(comms) == 2:
                    monkeypatch.setattr(resuming, "_WELCOME", DEADLINE)
                    await asyncio.Event().wait()
                await resume(waiting)

            monkeypatch.setattr(client, "_resume", silent_at_first)
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            assert len(set(map(id, comms))) == 3
            assert comms[1].comm.closed()
            assert client.status == "running"

    run(main)
