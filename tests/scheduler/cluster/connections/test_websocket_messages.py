"""Websockets that end within a message, open late, or are left open."""

import asyncio
import gc
import re
import socket
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.comm.core import CommClosedError
from distributed.comm.ws import WS, WSConnector, WSSConnector
from tornado.httpserver import HTTPServer
from tornado.ioloop import IOLoop
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketHandler, WebSocketProtocol13

from marsdask.scheduler.cluster import leader  # noqa: F401
from tests.cluster.certificates import make, needs_openssl
from tests.cluster.loop import HOST, run


class ReceivedParts:
    """What tornado has received: parts of a message, and then, perhaps, an end."""

    parsed = SimpleNamespace(netloc="host:1")

    def __init__(self, parts, code):
        self.parts, self.close_code = list(parts), code

    async def read_message(self):
        return self.parts.pop(0) if self.parts else None

    def close(self):
        """End."""


def read_parts(*parts, code=None):
    """Read the message of a websocket."""
    socket: Any = ReceivedParts(parts, code)
    return asyncio.run(WS(socket).read())


@pytest.mark.parametrize("code", [1006, None])
@pytest.mark.parametrize("parts", [[], [struct.pack("Q", 2)], [struct.pack("Q", 2), b"a"]])
def test_the_connection_has_ended(parts, code):
    """Whoever reads connects again, as after an end between two messages, announced or not."""
    with pytest.raises(CommClosedError):
        read_parts(*parts, code=code)


def test_other_errors_remain():
    """The connection is open, and something else is wrong."""
    with pytest.raises(TypeError):
        read_parts(struct.pack("Q", 1), 5)


def test_one_that_opens_late_is_closed():
    """Its caller has given up meanwhile, as distributed does after some seconds."""

    async def main():
        asked, answer, closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

        class SlowHandler(WebSocketHandler):
            async def prepare(self):
                asked.set()
                await answer.wait()

            def on_close(self):
                closed.set()

        server = HTTPServer(Application([("/", SlowHandler)]))
        sockets = bind_sockets(0, HOST)
        server.add_sockets(sockets)
        address = f"{HOST}:{sockets[0].getsockname()[1]}"
        attempt = asyncio.ensure_future(WSConnector().connect(address))
        await asked.wait()
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        answer.set()
        await closed.wait()
        server.stop()

    run(main)


def serve_one(server):
    """Open a websocket for one client, say nothing more, and return what it sends to its end."""
    connection, _ = server.accept()
    with connection:
        connection.settimeout(60)
        asked = b""
        while b"\r\n\r\n" not in asked:
            asked += connection.recv(4096)
        key = re.search(rb"Sec-Websocket-Key: (.*)\r", asked, re.IGNORECASE)
        assert key is not None
        accept = WebSocketProtocol13.compute_accept_value(key[1])
        connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + accept.encode() + b"\r\n\r\n"
        )
        sent = b""
        while part := connection.recv(4096):
            sent += part
        return sent


@pytest.mark.parametrize("closing", [False, True], ids=["open", "closing"])
def test_one_that_an_event_loop_leaves_is_closed(closing):
    """It is the garbage collector that closes it, and does not warn; the server may be slow."""

    async def main():
        comm = await WSConnector().connect(f"{HOST}:{server.getsockname()[1]}")
        if closing:
            await comm.close()

    async def forget():
        IOLoop.current()  # tornado forgets those that have ended

    with socket.create_server((HOST, 0)) as server, ThreadPoolExecutor(1) as pool:
        served = pool.submit(serve_one, server)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            asyncio.run(main())
            asyncio.run(forget())
            gc.collect()
        sent = served.result(60)
    assert sent[:1] == b"\x88"  # the frame that announces the end
    assert not [one.message for one in told if one.category is ResourceWarning]


def asked_of(server, context):
    """Read the request for a websocket, and do not answer."""
    connection, _ = server.accept()
    if context is not None:
        connection = context.wrap_socket(connection, server_side=True)
    asked = b""
    while b"\r\n\r\n" not in asked:
        asked += connection.recv(4096)
    return connection


@pytest.mark.parametrize("encrypted", [False, pytest.param(True, marks=needs_openssl)])
def test_one_that_an_event_loop_leaves_before_it_opens_is_closed(encrypted, tmp_path):
    """The server gets the end; the garbage collector finds nothing open."""
    connector: Any = WSConnector()
    context, options = None, {}
    if encrypted:
        connector, security = WSSConnector(), make(tmp_path).security
        context = security.get_listen_args("worker")["ssl_context"]
        options = security.get_connection_args("worker")

    async def main(served):
        address = f"{HOST}:{server.getsockname()[1]}"
        opening = asyncio.ensure_future(connector.connect(address, **options))
        connections.append(await asyncio.wrap_future(served))
        assert not opening.done()

    async def forget():
        IOLoop.current()  # tornado forgets those that have ended

    connections: list[socket.socket] = []
    with socket.create_server((HOST, 0)) as server, ThreadPoolExecutor(1) as pool:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            asyncio.run(main(pool.submit(asked_of, server, context)))
            asyncio.run(forget())
            gc.collect()
        with connections[0] as connection:
            connection.settimeout(60)
            assert connection.recv(1) == b""
    assert not [one.message for one in told if one.category is ResourceWarning]
