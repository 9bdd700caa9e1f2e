"""A client reconnects to a supervisor that has not noticed its broken connection."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import dask.config
import pytest
from dask.task_spec import Task, TaskRef
from distributed import Client
from distributed.comm import get_address_host_port

from marsdask.scheduler.remote.reconnect import ReconnectingClient
from tests.cluster.loop import HOST, Gates, pass_gate, reconnecting, run, supervised, until


class HalfOpen:
    """A proxy whose clients' connections can break without the other end's hearing of it."""

    def __init__(self, address):
        self.target = get_address_host_port(address)
        self.pairs = []
        self.tasks = []
        self.deaf = False

    async def __aenter__(self):
        self.server = await asyncio.start_server(self.forward, HOST, 0)
        self.address = f"tcp://{HOST}:{self.server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *error):
        self.server.close()
        for pair in self.pairs:
            self.end([pair, pair[::-1]])
        await asyncio.gather(*self.tasks)

    async def forward(self, reader, writer):
        self.tasks.append(asyncio.current_task())
        theirs, ours = await asyncio.open_connection(*self.target)
        self.pairs.append((writer, ours))
        await asyncio.gather(self.pump(reader, ours), self.pump(theirs, writer))

    async def pump(self, reader, writer):
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                writer.write(data)
                await writer.drain()
        if not self.deaf:
            writer.close()

    def tear(self):
        """Break the clients' ends of all connections; return what is left of them."""
        self.deaf = True
        torn = [*self.pairs]
        for client, _ in torn:
            client.transport.abort()
        return torn

    def end(self, pairs):
        """Break the other ends too."""
        for _, server in pairs:
            server.transport.abort()


def test_nothing_is_lost_when_the_old_connection_ends():
    """Neither results nor what was asked for since, though that one bears the client's name."""

    async def main():
        async with (
            supervised({}) as (server, _),
            HalfOpen(server.address) as door,
            reconnecting(door) as client,
        ):
            future = client.submit(abs, -42, pure=False)
            assert await future == 42
            old, stream = (
                server.unclaimed_results._connected[client.id],
                server.client_comms[client.id],
            )
            torn = door.tear()
            assert await client.resumed(0)
            door.end(torn)
            await old.wait()
            assert stream.comm is None or stream.comm.closed()
            assert await client.submit(abs, -7, pure=False) == 7
            assert await client.gather(future) == 42
            assert client.generation == 1
            server.unclaimed_results._drop()
            assert await client.gather(future) == 42, "it is the client's own again"

    run(main)


def test_a_graph_that_reads_a_result_before_its_client_has_requested_it_again(monkeypatch):
    """As a job does that its session submits while it reconnects: the result is kept."""

    async def main():
        async with (
            supervised({}) as (server, other),
            reconnecting(server) as client,
        ):
            future = client.submit(abs, -42, pure=False)
            assert await future == 42
            resume = client._resume

            async def late():
                graph = {"read": Task("read", abs, TaskRef(future.key))}
                (read,) = other.get(graph, ["read"], sync=False)
                assert await read == 42
                await resume()

            monkeypatch.setattr(client, "_resume", late)
            server.unclaimed_results.hold(client.id)
            server.tasks[future.key].run_spec = None  # as that of a result of an earlier supervisor
            client.scheduler_comm.abort()
            assert await client.resumed(0)
            assert await client.gather(future) == 42

    run(main)


@pytest.mark.parametrize("end", ["client", "supervisor"])
def test_nothing_is_lost_when_both_ends_notice(end, caplog):
    """A connection that breaks at once for client and supervisor, whichever of them ends it."""

    async def main():
        async with (
            supervised({}) as (server, _),
            reconnecting(server) as client,
        ):
            future = client.submit(abs, -42, pure=False)
            assert await future == 42
            stream = client.scheduler_comm if end == "client" else server.client_comms[client.id]
            stream.abort()
            assert await client.resumed(0)
            assert await client.gather(future) == 42
            server.unclaimed_results._drop()
            assert await client.gather(future) == 42, "it is the client's own again"

    run(main)
    assert all(record.levelno < logging.ERROR for record in caplog.records)


def test_a_client_that_does_not_return(monkeypatch):
    """Its tasks stop at once, and its results are dropped after a time."""

    async def main():
        gate, away = Gates.new("left"), asyncio.Event()
        async with (
            supervised({}, {}) as (server, _),
            reconnecting(server) as client,
        ):
            monkeypatch.setattr(client, "_reconnect", away.wait)
            result = client.submit(abs, -42, pure=False)
            assert await result == 42
            running = client.submit(pass_gate, "left", pure=False)
            await gate.started.acquire()
            server.client_comms[client.id].abort()
            await until(lambda: running.key not in server.tasks, server)
            assert server.tasks[result.key].state == "memory"
            (holder,) = server.unclaimed_results._dropping
            with dask.config.set({"marsdask.failover.keep": "10ms"}):
                server.unclaimed_results._drop_later(holder)
            await until(lambda: result.key not in server.tasks, server)
            assert holder not in server.clients
            gate.go.set()
            away.set()

    run(main)


def test_who_leaves_and_who_cannot_return():
    """Nothing is kept for a client that leaves, nor for one of Dask's."""

    async def main():
        async with supervised({}) as (server, _):
            for kind in (ReconnectingClient, Client):
                client = await kind(server.address, asynchronous=True, set_as_default=False)
                future = client.submit(abs, -42, pure=False)
                assert await future == 42
                if kind is Client:
                    server.client_comms[client.id].abort()
                else:
                    await client.close()
                await until(lambda future=future: future.key not in server.tasks, server)
                assert not server.unclaimed_results._dropping
                await client.close()

    run(main)
