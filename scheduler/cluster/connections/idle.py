"""Connections whose peers say nothing: there are few of them, so that others find a free one.

Whoever reaches a port can open connections and stay silent, without any secret. Before a request or
the handshake of distributed is complete, a connection gives way to newer ones: the oldest one of
the address that has most of them is closed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any, Final

from distributed.comm import get_address_host
from tornado import httputil
from tornado.ioloop import IOLoop

from . import descriptors

#: The share of a process's open files for the idle connections of one port, and its bounds.
_SHARE, _LEAST, _MOST = 1 / 4, 16, 4096

#: Seconds for a handshake.
PATIENCE: Final = 30.0

#: Parts of that time: only those count in which the event loop ran.
_PARTS: Final = 5


class IdleConnections:
    """The connections of a port that have yet to send a request, or to complete a handshake.

    With a ``patience`` in seconds, each is closed after it.
    """

    def __init__(self, patience: float | None = None, most: int | None = None) -> None:
        bounded = min(_MOST, max(_LEAST, int(descriptors.limit() * _SHARE)))
        self.most = bounded if most is None else most
        self._patience = patience
        self._waiting: dict[Any, tuple[str, int]] = {}
        self._round = 0
        self._ticking = False

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, connection: Any, host: str) -> None:
        """Add a stream or comm from ``host``; another one is closed if there are too many."""
        self._waiting[connection] = (host, self._round)
        if len(self._waiting) > self.most:
            self._give_way()
        if self._patience is not None and not self._ticking:
            self._ticking = True
            IOLoop.current().call_later(self._patience / _PARTS, self._tick)

    def remove(self, connection: Any) -> None:
        """Remove a connection that has said something, or has ended."""
        self._waiting.pop(connection, None)

    def _give_way(self) -> None:
        for connection in [connection for connection in self._waiting if connection.closed()]:
            self.remove(connection)
        if len(self._waiting) <= self.most:
            return
        hosts = Counter(host for host, _ in self._waiting.values())
        (most, _), *_ = hosts.most_common(1)
        self._close(
            next(connection for connection, (host, _) in self._waiting.items() if host == most)
        )

    def _tick(self) -> None:
        assert self._patience is not None
        self._round += 1
        for connection, (_, since) in list(self._waiting.items()):
            if self._round - since <= _PARTS:
                break
            self._close(connection)
        self._ticking = bool(self._waiting)
        if self._ticking:
            IOLoop.current().call_later(self._patience / _PARTS, self._tick)

    def _close(self, connection: Any) -> None:
        self.remove(connection)
        getattr(connection, "abort", connection.close)()


def limit_idle_requests(server: Any) -> None:
    """Limit the connections to an HTTP server that wait for a request."""
    idle, start_request = IdleConnections(), server.start_request

    def started(server_conn: Any, request_conn: Any) -> httputil.HTTPMessageDelegate:
        stream = request_conn.stream
        idle.add(stream, request_conn.context.remote_ip)
        return _Request(start_request(server_conn, request_conn), lambda: idle.remove(stream))

    server.start_request = started


class _Request(httputil.HTTPMessageDelegate):
    """What reads a request; calls ``heard`` once there are headers."""

    def __init__(self, reader: httputil.HTTPMessageDelegate, heard: Callable[[], None]) -> None:
        self._reader, self._heard = reader, heard

    def headers_received(
        self,
        start_line: httputil.RequestStartLine | httputil.ResponseStartLine,
        headers: httputil.HTTPHeaders,
    ) -> Awaitable[None] | None:
        """Handle the headers."""
        self._heard()
        return self._reader.headers_received(start_line, headers)

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Handle a part of the body."""
        return self._reader.data_received(chunk)

    def finish(self) -> None:
        """Handle the end of the request."""
        self._reader.finish()

    def on_connection_close(self) -> None:
        """Handle the end of the connection."""
        self._heard()
        self._reader.on_connection_close()


def limit_handshakes(listener: Any) -> None:
    """Limit the connections to a listener of distributed that have not completed the handshake."""
    idle, on_connection = IdleConnections(PATIENCE), listener.on_connection

    async def shaken(comm: Any, *args: Any, **options: Any) -> None:
        # The stream is that of TCP, added before the handshake of TLS; a websocket has none.
        connection = getattr(comm, "stream", comm)
        idle.add(connection, _host(comm.peer_address))
        try:
            await on_connection(comm, *args, **options)
        finally:
            idle.remove(connection)

    listener.on_connection = shaken
    server = getattr(listener, "tcp_server", None)
    if server is None:
        return
    handle_stream = server.handle_stream

    async def opened(stream: Any, address: tuple[Any, ...]) -> None:
        idle.add(stream, address[0])
        try:
            await handle_stream(stream, address)
        finally:
            idle.remove(stream)

    server.handle_stream = opened


def _host(address: str) -> str:
    """Return the host of a peer; distributed cannot parse those of websockets of IPv6."""
    try:
        return get_address_host(address)
    except ValueError:
        return address


class LimitedServer:
    """The part of a server of distributed that limits silent connections; comes before it."""

    listeners: list[Any]

    def __init__(self, *args: Any, **options: Any) -> None:
        descriptors.raise_limit()
        super().__init__(*args, **options)

    async def listen(self, *args: Any, **options: Any) -> None:
        """Listen, for a limited number of handshakes at a time."""
        await super().listen(*args, **options)  # type: ignore[misc]
        limit_handshakes(self.listeners[-1])
