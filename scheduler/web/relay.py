"""A web service in a process of its own: connections and pages are the active supervisor's.

What passes is not looked into: messages of websockets are copied as the bytes that they are, so
nothing is unpickled on the way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from distributed.comm import get_address_host
from tornado import httpclient, httpserver, httputil, netutil, web
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketHandler,
    websocket_connect,
)

logger = logging.getLogger(__name__)

#: Headers that belong to one hop; the rest is passed on.
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

#: Messages of websockets are as large as distributed makes them.
_UNLIMITED = 2**62

#: Finds the active supervisor: its address and what it says of itself.
Find = Callable[[], Awaitable[tuple[str, dict[str, Any]]]]


class Relay:
    """An HTTP server that shows the web service of whichever supervisor ``find`` returns."""

    def __init__(
        self, find: Find, connection_args: dict[str, Any], ssl_options: Any = None
    ) -> None:
        self._find = find
        self.ssl_context = connection_args.get("ssl_context")
        settings: dict[str, Any] = {"websocket_max_message_size": _UNLIMITED}
        application = web.Application([(r"/.*", _Passage, {"relay": self})], **settings)
        self._server = httpserver.HTTPServer(application, ssl_options=ssl_options)
        self.port = 0

    def listen(self, host: str, port: int) -> None:
        """Listen on an address; a port of 0 is chosen by the system."""
        sockets = netutil.bind_sockets(port, address=host)
        self._server.add_sockets(sockets)
        self.port = sockets[0].getsockname()[1]

    async def url(self, scheme: str) -> str:
        """Return where the supervisor's own web service is."""
        address, identity = await self._find()
        secure = "s" if address.startswith(("tls://", "wss://")) else ""
        host, port = get_address_host(address), identity["services"]["dashboard"]
        return f"{scheme}{secure}://{host}:{port}"

    async def close(self) -> None:
        """Hang up everywhere."""
        self._server.stop()
        await self._server.close_all_connections()


class _Passage(WebSocketHandler):
    """One request: a page that is fetched, or a websocket that is joined to another."""

    def initialize(self, relay: Relay) -> None:
        self._relay = relay
        self._other: WebSocketClientConnection | None = None
        self._pump: asyncio.Future[None] | None = None

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return subprotocols[0] if subprotocols else None

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open a websocket if that is what is asked for, else fetch the page."""
        try:
            if self.request.headers.get("Upgrade", "").lower() == "websocket":
                self._other = await self._join()
                await super().get(*args, **kwargs)
            else:
                self._show(await self._fetch())
        except (OSError, httpclient.HTTPError) as error:
            logger.warning("no supervisor for %s: %s", self.request.remote_ip, error)
            raise web.HTTPError(502, f"no supervisor: {error}") from None

    async def _join(self) -> WebSocketClientConnection:
        request = httpclient.HTTPRequest(
            await self._relay.url("ws") + (self.request.uri or "/"),
            headers=self._passed(besides="sec-websocket-"),
            ssl_options=self._relay.ssl_context,
        )
        protocols = self.request.headers.get("Sec-WebSocket-Protocol", "")
        return await websocket_connect(
            request,
            max_message_size=_UNLIMITED,
            subprotocols=[one.strip() for one in protocols.split(",")] if protocols else None,
        )

    async def _fetch(self) -> httpclient.HTTPResponse:
        request = httpclient.HTTPRequest(
            await self._relay.url("http") + (self.request.uri or "/"),
            headers=self._passed(),
            follow_redirects=False,
            ssl_options=self._relay.ssl_context,
        )
        answer = await httpclient.AsyncHTTPClient().fetch(request, raise_error=False)
        if answer.code == 599:  # tornado's own: nobody answered
            raise ConnectionError(str(answer.error))
        return answer

    def _passed(self, besides: str = "\0") -> httputil.HTTPHeaders:
        headers = httputil.HTTPHeaders()
        for name, value in self.request.headers.get_all():
            if name.lower() not in _HOP and not name.lower().startswith(besides):
                headers.add(name, value)
        return headers

    def _show(self, answer: httpclient.HTTPResponse) -> None:
        self.set_status(answer.code, answer.reason)
        self.clear_header("Content-Type")
        for name, value in answer.headers.get_all():
            if name.lower() not in _HOP:
                self.add_header(name, value)
        self.finish(answer.body or b"")

    def open(self, *args: str, **kwargs: str) -> None:
        """Begin to copy what comes back."""
        self.set_nodelay(True)
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
        """Copy; the next message is read when this one is written."""
        assert self._other is not None
        try:
            await self._other.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            self.close()

    def on_close(self) -> None:
        """Hang up on the other side too."""
        if self._other is not None:
            self._other.close()
