"""Handles websockets that end early, open late or are left; importing this patches distributed.

tornado reads ``None`` at such an end, which distributed notices only in the first part of a
message. A client that listens to its supervisor would end by a ``TypeError``, and never connect to
another one.

A websocket opens even if its opening was cancelled. distributed cancels each attempt after some
seconds, while a web service may wait longer for a supervisor.

A websocket waits some seconds for its peer to confirm its end. An event loop that ends before
leaves it open, as it leaves one that its peer has not opened yet.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Awaitable
from typing import Any

from distributed.comm import CommClosedError
from distributed.comm.ws import WS, WSConnector, WSSConnector
from tornado.websocket import WebSocketClientConnection

_read = WS.read
_run = WebSocketClientConnection.run

#: Openings that nobody waits for, of which an event loop keeps no references.
_LATE: set[asyncio.Future[Any]] = set()


async def read(self: Any, deserializers: Any = None) -> Any:
    """Read a message; raise ``CommClosedError`` if the connection has ended within it."""
    try:
        return await _read(self, deserializers)  # type: ignore[no-untyped-call]
    except TypeError as error:
        # Without a closing frame, as of a process that was killed, closed() does not know of it.
        if not self.closed() and "NoneType" not in str(error):
            raise
        self.abort()
        raise CommClosedError(f"closed within a message: {error}") from error


def _close_late(opening: asyncio.Future[Any]) -> None:
    _LATE.discard(opening)
    if not opening.cancelled() and opening.exception() is None:
        comm = opening.result()
        comm.abort()
        comm.sock.stream.close()


async def _open(opening: Awaitable[Any]) -> Any:
    """Connect; once the garbage collector finds the connection's stream, close its socket."""
    comm = await opening
    stream = comm.sock.stream
    if stream.socket is not None:
        weakref.finalize(stream, stream.socket.close).atexit = False
    return comm


async def run(self: Any) -> None:
    """Ask for a websocket; close the socket if the event loop ends before the answer."""
    try:
        await _run(self)
    except asyncio.CancelledError:
        stream = getattr(self, "stream", None)
        if stream is not None:
            stream.close()
        raise


def _patch(connector: type[Any]) -> None:
    connect = connector.connect

    async def connected(self: Any, *args: Any, **options: Any) -> Any:
        """Connect, or close the connection that opens when nobody waits for it any more."""
        opening = asyncio.ensure_future(_open(connect(self, *args, **options)))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            _LATE.add(opening)
            opening.add_done_callback(_close_late)
            raise

    connector.connect = connected


WS.read = read  # type: ignore[method-assign]
WebSocketClientConnection.run = run  # type: ignore[method-assign]
for _connector in (WSConnector, WSSConnector):
    _patch(_connector)
