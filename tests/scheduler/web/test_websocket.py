"""Websockets of the web port: what is read of a connection that sends no messages."""

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import msgpack  # type: ignore[import-untyped]
import pytest
from distributed.comm.core import CommClosedError
from distributed.comm.utils import to_frames

from marsdask.scheduler.web.websocket import WebsocketComm


class QueuedParts:
    """What tornado has received, and whether the connection is still open."""

    ws_connection = object()
    request = SimpleNamespace(connection=SimpleNamespace(stream=None))

    def __init__(self, parts, *, closed):
        self.q: asyncio.Queue[Any] = asyncio.Queue()
        for part in parts:
            self.q.put_nowait(part)
        self.closed = closed

    def close(self):
        self.closed = True


async def read_parts(*parts, closed):
    """Read one message; return whether the connection is closed then, too."""
    handler: Any = QueuedParts(parts, closed=closed)
    try:
        return await WebsocketComm(handler).read(), handler.closed
    except CommClosedError:
        return None, handler.closed


@pytest.mark.parametrize("closed", [True, False])
def test_a_wrong_count_closes(closed):
    """Nobody could tell where the next message begins."""
    assert asyncio.run(read_parts(b"abc", closed=closed)) == (None, True)


def test_a_wrong_message_of_a_closed_connection():
    """Its error ends no task of the server: there is nobody to answer."""
    parts = (struct.pack("Q", 1), b"\xc1")
    assert asyncio.run(read_parts(*parts, closed=True)) == (None, True)


def test_a_wrong_message_of_an_open_connection():
    """Distributed sends the error to whom it concerns."""
    with pytest.raises(msgpack.exceptions.UnpackException):
        asyncio.run(read_parts(struct.pack("Q", 1), b"\xc1", closed=False))


def test_a_message():
    """Is read as ever."""

    async def main():
        frames = [bytes(frame) for frame in await to_frames({"op": "identity"})]
        return await read_parts(struct.pack("Q", len(frames)), *frames, closed=False)

    assert asyncio.run(main()) == ({"op": "identity"}, False)
