"""Websockets that end within a message, or open late."""

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.comm.core import CommClosedError
from distributed.comm.ws import WS, WSConnector
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application
from tornado.websocket import WebSocketHandler

from marsdask.scheduler.cluster import leader  # noqa: F401
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
