"""Connections whose peers say nothing."""

import asyncio
import socket
import urllib.request
from contextlib import ExitStack

import pytest
from distributed.comm import connect, listen
from tornado import httpserver, netutil, web

from marsdask.scheduler.cluster.connections import idle
from marsdask.scheduler.cluster.connections.idle import IdleConnections, limit_handshakes
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.commands import Command, free_port, running
from tests.cluster.loop import HOST, run


class Connection:
    """A connection that can be closed."""

    def __init__(self):
        self.end = asyncio.Event()

    @property
    def ended(self):
        return self.end.is_set()

    def closed(self):
        return self.ended

    def close(self):
        self.end.set()


def test_the_oldest_of_the_address_with_most_gives_way():
    """One address cannot take the place of others."""
    idle = IdleConnections(most=4)
    other, *many = [Connection() for _ in range(6)]
    idle.add(other, "b")
    for one in many[:3]:
        idle.add(one, "a")
    assert not any(one.ended for one in (other, *many))
    idle.add(many[3], "a")
    assert [one.ended for one in many] == [True, False, False, False, False]
    idle.remove(many[1])
    idle.add(many[4], "a")
    assert [one.ended for one in (other, *many)] == [False, True, False, False, False, False]
    assert len(idle) == 4


def test_closed_ones_go_first():
    """They need no place."""
    idle = IdleConnections(most=2)
    one, two, three = [Connection() for _ in range(3)]
    for connection in (one, two):
        idle.add(connection, "a")
    two.close()
    idle.add(three, "a")
    assert not one.ended
    assert len(idle) == 2


def test_each_has_its_time():
    """Those that are silent are closed, others are not."""

    async def check():
        idle = IdleConnections(patience=0.05)
        silent, busy = Connection(), Connection()
        idle.add(silent, "a")
        idle.add(busy, "a")
        idle.remove(busy)
        await silent.end.wait()
        assert not busy.ended
        assert not len(idle)

    run(check)


async def nothing(comm):
    """Serve a connection until it ends."""
    await comm.read()


@needs_openssl
@pytest.mark.parametrize("scheme", ["tcp", "tls"])
def test_a_handshake_has_its_time(scheme, monkeypatch, tmp_path):
    """A silent peer is disconnected; one that has introduced itself may be silent."""
    monkeypatch.setattr(idle, "PATIENCE", 0.1)
    security = make(tmp_path).security if scheme == "tls" else None
    options = security.get_listen_args("worker") if security else {}
    arguments = security.get_connection_args("worker") if security else {}

    async def check():
        listener = await listen(f"{scheme}://{HOST}", nothing, **options)
        limit_handshakes(listener)
        comm = await connect(listener.contact_address, **arguments)
        address = listener.contact_address.rpartition("://")[2].split(":")
        reader, writer = await asyncio.open_connection(*address)
        await reader.read()  # ends when the listener closes the connection
        writer.close()
        assert not comm.closed()
        await comm.close()
        listener.stop()

    run(check)


def test_requests(monkeypatch):
    """Connections without a request give way, be it the first one or the next; others do not."""
    monkeypatch.setattr(idle, "_LEAST", 2)
    monkeypatch.setattr(idle, "_SHARE", 0)
    going = asyncio.Event()

    class Page(web.RequestHandler):
        async def get(self):
            await going.wait()
            await self.finish("done")

    async def check():
        server = httpserver.HTTPServer(web.Application([("/", Page)]))
        idle.limit_idle_requests(server)
        sockets = netutil.bind_sockets(0, HOST)
        server.add_sockets(sockets)

        async def opened(request=b""):
            reader, writer = await asyncio.open_connection(HOST, sockets[0].getsockname()[1])
            writer.write(request)
            return reader, writer

        busy, writer = await opened(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        silent = [await opened() for _ in range(3)]
        assert await silent[0][0].read() == b""
        going.set()
        assert (await busy.readuntil(b"done")).startswith(b"HTTP/1.1 200")
        # Now it waits for a next request, as the newest; two more take the places.
        later = [await opened() for _ in range(2)]
        assert await silent[1][0].read() == await silent[2][0].read() == b""
        for _, one in [(busy, writer), *silent, *later]:
            one.close()
        server.stop()
        await server.close_all_connections()

    run(check)


def test_a_supervisor_with_300_silent_connections():
    """Each port answers others, with few descriptors, and the log does not grow."""
    port, web_port = free_port(), free_port()
    few = ("sh", "-c", 'ulimit -n 256; exec "$@"', "sh")
    with running() as commands, ExitStack() as stack:
        commands.append(
            supervisor := Command(f"mars-supervisor -H {HOST} -p {port} -w {web_port}", within=few)
        )
        supervisor.wait_for("Mars Web started")
        for target in (port, web_port):
            for _ in range(300):
                stack.enter_context(socket.create_connection((HOST, target), timeout=10))
        with urllib.request.urlopen(f"http://{HOST}:{web_port}/health", timeout=10) as answer:
            assert answer.read() == b"ok"
        assert sum(map(len, supervisor.said)) < 100_000
