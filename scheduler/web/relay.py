"""A web service in its own process: it relays connections and pages of the active supervisor.

The content is not parsed: messages of websockets are copied as bytes, so nothing is unpickled.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any, Final

from distributed.comm import get_address_host, unparse_host_port
from tornado import httpclient, httpserver, httputil, iostream, netutil, web
from tornado.simple_httpclient import HTTPTimeoutError, SimpleAsyncHTTPClient
from tornado.tcpclient import TCPClient
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    WebSocketHandler,
    websocket_connect,
)

from ..cluster.connections.roles import expecting
from ..cluster.connections.tls_handshake import treat_closed_stream_as_closed
from .authentication import Token, protect
from .rest import ApiError, write_json_error
from .websocket import is_page, watch

logger: Final = logging.getLogger(__name__)

#: Headers of one hop; all others are relayed.
_HOP = {
    "connection",
    "content-encoding",
    "content-length",
    "date",
    "host",
    "keep-alive",
    "server",
    "transfer-encoding",
    "upgrade",
}

#: Messages of websockets have the size that distributed chooses.
_UNLIMITED = 2**62

#: Timeout for a page, in seconds.
_PATIENCE = 120.0

#: Seconds for which the active supervisor is cached.
_FRESH = 1.0

#: Finds the active supervisor: its address and its identity.
Find = Callable[[], Coroutine[Any, Any, tuple[str, dict[str, Any]]]]


class Relay:
    """An HTTP server that relays the web service of the supervisor that ``find`` returns."""

    def __init__(
        self,
        find: Find,
        connection_args: dict[str, Any],
        ssl_options: Any = None,
        token: Token | None = None,
    ) -> None:
        self._find = find
        self.token = token
        self.ssl_context = connection_args.get("ssl_context")
        settings: dict[str, Any] = {"websocket_max_message_size": _UNLIMITED}
        application = web.Application([(r"/.*", _RelayHandler, {"relay": self})], **settings)
        self._server = httpserver.HTTPServer(application, ssl_options=ssl_options)
        protect(application, token, self._server)
        self._asked: asyncio.Future[tuple[str, dict[str, Any]]] | None = None
        self._until = 0.0
        self.port = 0

    def listen(self, host: str, port: int) -> None:
        """Listen on an address; port 0 stands for a free port."""
        sockets = netutil.bind_sockets(port, address=host.strip("[]"))
        self._server.add_sockets(sockets)
        self.port = sockets[0].getsockname()[1]

    def supervisors_only(self) -> AbstractContextManager[None]:
        """Have requests that begin meanwhile refuse certificates of other roles."""
        return expecting(self.ssl_context, ("scheduler",), "the web service of a supervisor")

    async def url(self, scheme: str) -> str:
        """Return the address of the supervisor's web service."""
        address, identity = await self._active()
        web_scheme = identity.get("marsdask", {}).get("web")
        encrypted = (
            web_scheme == "https" if web_scheme else address.startswith(("tls://", "wss://"))
        )
        secure = "s" if encrypted else ""
        port = identity["services"].get("dashboard")
        if port is None:
            raise ConnectionError(f"the supervisor at {address} has no web service")
        host = unparse_host_port(get_address_host(address), port)
        return f"{scheme}{secure}://{host}"

    async def _active(self) -> tuple[str, dict[str, Any]]:
        """Return the active supervisor, cached for the many requests of a page."""
        query = self._asked
        if query is None or (query.done() and time.monotonic() > self._until):
            query = self._asked = asyncio.ensure_future(self._find())
            query.add_done_callback(self._found)
        return await asyncio.shield(query)

    def _found(self, asked: asyncio.Future[Any]) -> None:
        self._until = time.monotonic() + _FRESH
        if asked.cancelled() or asked.exception() is not None:
            self.forget()

    def forget(self) -> None:
        """Forget the active supervisor, because it has not answered."""
        self._asked = None

    async def close(self) -> None:
        """Close all connections."""
        self._server.stop()
        await self._server.close_all_connections()


class _RelayRoute(TCPClient):
    """The connection of one request, which ends when its client disconnects."""

    def __init__(self) -> None:
        super().__init__()
        self.left = False
        self._stream: iostream.IOStream | None = None

    async def connect(self, *args: Any, **options: Any) -> iostream.IOStream:
        """Connect, or close at once if the client has disconnected."""
        self._stream = await super().connect(*args, **options)
        if self.left:
            self._stream.close()
        return self._stream

    def leave(self) -> None:
        """Close the connection."""
        self.left = True
        if self._stream is not None:
            self._stream.close()


class _RelayHandler(WebSocketHandler):
    """One request: for a page, or for a websocket."""

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Report an error in the format of the interface."""
        write_json_error(self, status_code, **kwargs)

    def initialize(self, relay: Relay) -> None:
        self._relay = relay
        self._other: WebSocketClientConnection | None = None
        self._pump: asyncio.Future[None] | None = None
        self._way = _RelayRoute()

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return subprotocols[0] if subprotocols else None

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open a websocket if requested, else fetch the page."""
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            await self._answered(self._fetch())
            return
        if self.request.path == "/" and is_page(self.request.headers):
            raise ApiError(403, "web pages cannot open this websocket")
        await self._answered(self._join())
        try:
            await super().get(*args, **kwargs)
        finally:
            self.on_close()  # a request of another site's page has been refused

    async def _answered(self, asked: Awaitable[None]) -> None:
        """Wait for the supervisor, or report that it does not answer."""
        try:
            with treat_closed_stream_as_closed():
                await asked
        except (OSError, httpclient.HTTPError, WebSocketError) as error:
            if self._way.left:
                raise web.Finish from None
            if isinstance(error, httpclient.HTTPError) and error.code == 401:
                raise ApiError(401, "the supervisor requires its own token") from None
            self._relay.forget()
            logger.warning("no supervisor for %s: %s", self.request.remote_ip, error)
            if isinstance(error, HTTPTimeoutError):
                raise ApiError(504, f"the supervisor did not answer: {error}") from None
            raise ApiError(502, f"no supervisor: {error}") from None

    async def _join(self) -> None:
        request = httpclient.HTTPRequest(
            await self._relay.url("ws") + (self.request.uri or "/"),
            headers=self._passed(besides="sec-websocket-"),
            ssl_options=self._relay.ssl_context,
        )
        protocols = self.request.headers.get("Sec-WebSocket-Protocol", "")
        with self._relay.supervisors_only():
            self._other = await websocket_connect(
                request,
                max_message_size=_UNLIMITED,
                subprotocols=[name.strip() for name in protocols.split(",")] if protocols else None,
            )

    async def _pass_on(self, *args: Any, **kwargs: Any) -> None:
        await self._answered(self._fetch())

    post = put = patch = delete = head = _pass_on

    async def _fetch(self) -> None:
        method = self.request.method or "GET"
        request = httpclient.HTTPRequest(
            await self._relay.url("http") + (self.request.uri or "/"),
            method=method,
            body=self.request.body if method in ("POST", "PUT", "PATCH") else None,
            headers=self._passed(),
            follow_redirects=False,
            request_timeout=_PATIENCE,
            ssl_options=self._relay.ssl_context,
        )
        client = SimpleAsyncHTTPClient(force_instance=True)
        client.tcp_client = self._way
        try:
            with self._relay.supervisors_only():
                answer = await client.fetch(request, raise_error=False)
        finally:
            client.close()
        self._show(answer)

    def _passed(self, besides: str = "\0") -> httputil.HTTPHeaders:
        headers = httputil.HTTPHeaders()
        for name, value in self.request.headers.get_all():
            if name.lower() not in _HOP and not name.lower().startswith(besides):
                headers.add(name, value)
        if self._relay.token is not None:
            # The request has shown the token; supervisors of one cluster share it.
            headers["Authorization"] = self._relay.token.header
        # To the supervisor, a page of another port is a page of another site. The names of the
        # request have been compared here, and the supervisor's name may look like another site's.
        headers.pop("Origin", None)
        headers["Host"] = "localhost"
        return headers

    def on_connection_close(self) -> None:
        """Cancel the request of a client that has disconnected."""
        self._way.leave()
        super().on_connection_close()

    def compute_etag(self) -> str | None:
        """Return the supervisor's Etag, also for responses without a body."""
        return self._headers.get("Etag")

    def _show(self, answer: httpclient.HTTPResponse) -> None:
        self.set_status(answer.code, answer.reason)
        self.clear_header("Content-Type")
        for name, value in answer.headers.get_all():
            if name.lower() not in _HOP:
                self.add_header(name, value)
        if self.request.method == "HEAD" and (length := answer.headers.get("Content-Length")):
            self.set_header("Content-Length", length)
        self.finish(answer.body or None)  # not b"": a 304 has no body, not even an empty one

    def open(self, *args: str, **kwargs: str) -> None:
        """Start to copy the answers."""
        assert self._other is not None
        self.set_nodelay(True)
        # One side may disappear without closing; the other would stay open forever.
        for connection in (self.ws_connection, self._other.protocol):
            watch(connection)
        self._pump = asyncio.ensure_future(self._copy_back())

    async def _copy_back(self) -> None:
        assert self._other is not None
        try:
            while (message := await self._other.read_message()) is not None:
                await self.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            self._other.close()
        finally:
            self.close()

    async def on_message(self, message: str | bytes) -> None:
        """Copy messages; the next message is read after this one is written."""
        assert self._other is not None
        try:
            await self._other.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            self.close()

    def on_close(self) -> None:
        """Close the other side, too."""
        if self._other is not None:
            self._other.close()
