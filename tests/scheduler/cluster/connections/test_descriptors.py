"""Ports of a process that has no free descriptors."""

import asyncio
import errno
import logging
import socket
from typing import Any

import pytest
from tornado.tcpserver import TCPServer

from marsdask.scheduler.cluster.connections import descriptors
from tests.cluster.loop import HOST, run


class Greeter(TCPServer):
    """Says a word to each connection."""

    async def handle_stream(self, stream, address):
        await stream.write(b"hello\n")
        stream.close()


@pytest.fixture
def scarce(monkeypatch):
    """Have so many calls of accept fail."""
    accept, left = socket.socket.accept, [0]
    failed: list[asyncio.Event] = []

    def accepted(self):
        if left[0]:
            left[0] -= 1
            if failed:
                failed.pop().set()
            raise OSError(errno.EMFILE, "Too many open files")
        return accept(self)

    monkeypatch.setattr(socket.socket, "accept", accepted)
    monkeypatch.setattr(descriptors, "PAUSE", 0.01)
    return left, failed


async def greeting(port):
    """Connect and return what is said."""
    reader, writer = await asyncio.open_connection(HOST, port)
    word = await reader.read()
    writer.close()
    await writer.wait_closed()
    return word


def test_a_port_pauses_and_says_so_once(scarce, caplog):
    """Without a free descriptor it neither spins nor fills the log; then it goes on."""
    left, _ = scarce

    async def check():
        server = Greeter()
        server.listen(0, HOST)
        (listening,) = server._sockets.values()
        port = listening.getsockname()[1]
        for _ in range(2):
            left[0] = 5
            assert await greeting(port) == b"hello\n"
            assert left[0] == 0
        server.stop()

    with caplog.at_level(logging.WARNING, "marsdask"):
        run(check)
    assert [record.getMessage().partition(" ")[2][:25] for record in caplog.records] == [
        "accepts no connections un"
    ] * 2


def test_a_port_that_stops_while_it_pauses(scarce):
    """It does not listen again."""
    left, failed = scarce

    async def check():
        server = Greeter()
        server.listen(0, HOST)
        (listening,) = server._sockets.values()
        address = listening.getsockname()
        loop: Any = asyncio.get_running_loop()
        timers = list(loop._scheduled)
        left[0] = 1
        failed.append(paused := asyncio.Event())
        _, writer = await asyncio.open_connection(*address)
        await paused.wait()
        server.stop()
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection(*address)
        assert loop._scheduled == timers

    run(check)


def test_the_limit_is_raised():
    """As far as the system permits."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
        assert descriptors.limit() == 256
        descriptors.raise_limit()
        assert descriptors.limit() == min(descriptors.MOST, before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
