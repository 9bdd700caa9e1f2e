"""Clocks that are set back: no message and no heartbeat waits for the hour to come again."""

import time

import pytest

from marsdask.scheduler.remote.reconnect import ReconnectingClient
from tests.cluster.loop import run, supervised


@pytest.fixture
def clock(monkeypatch):
    """Return a list of one number: the seconds that the clock of this process is ahead."""
    real, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: real() + ahead[0])
    return ahead


async def heard(server, client):
    """Run tasks until each worker has sent another heartbeat."""
    before = {ws: ws.metrics for ws in server.workers.values()}
    start = 0
    while any(ws.metrics is old for ws, old in before.items()):
        numbers = range(start, start + 100)
        assert await client.gather(client.map(str, numbers)) == [str(n) for n in numbers]
        start += 100


def test_workers_are_heard_after_their_clock_was_set_back(clock):
    """Their heartbeats were due in an hour."""

    async def main():
        async with supervised({}, {}) as (server, client):
            clock[0] = 3600.0
            await heard(server, client)
            clock[0] = 0.0
            for _ in range(3):
                await heard(server, client)

    run(main)


STREAMS = {
    "to-worker": lambda server, client: next(iter(server.stream_comms.values())),
    "to-client": lambda server, client: server.client_comms[client.id],
    "from-worker": lambda server, client: server.test_workers[0].batched_stream,
    "from-client": lambda server, client: client.scheduler_comm,
    "from-jobs": lambda server, client: client.scheduler_comm,
}


@pytest.mark.parametrize("name", STREAMS)
def test_messages_are_sent_after_the_clock_was_set_back(clock, name):
    """The clock is set back during a write: the next message would wait for an hour."""

    async def main():
        async with (
            supervised({}, {}) as (server, _),
            ReconnectingClient(server.address, asynchronous=True, set_as_default=False) as own,
        ):
            client = await server.jobs._connected() if name == "from-jobs" else own
            clock[0] = 3600.0
            stream = STREAMS[name](server, client)
            write = stream.comm.write

            async def written(*args, **options):
                stream.comm.write = write
                stream.next_deadline, clock[0] = time.time(), 0.0
                return await write(*args, **options)

            stream.comm.write = written
            for start in range(0, 1000, 100):
                numbers = range(start, start + 100)
                assert await client.gather(client.map(str, numbers)) == [str(n) for n in numbers]
            assert clock[0] == 0.0

    run(main)
