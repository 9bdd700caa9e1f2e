"""Accepts connections of clients and workers (``ws://``) at the path ``/`` of an HTTP port.

At the same path a browser gets the first page. A stock scheduler redirects it to the dashboard.
"""

from __future__ import annotations

import logging
import struct
from typing import Any, Final

from distributed.comm import CommClosedError
from distributed.comm.tcp import set_tcp_timeout
from distributed.comm.ws import WSHandler, WSHandlerComm

from ..cluster.connections.idle import limit_idle_requests
from . import home
from .head_requests import answer_head_requests

logger: Final = logging.getLogger(__name__)

#: A proxy may serve this page at ``/prefix`` without a final slash and request ``/`` here. Only the
#: browser knows the prefix.
_REDIRECT = """<!doctype html><meta charset="utf-8"><title>marsdask</title>
<script>location.replace(location.pathname.replace(/\\/?$/, "/") + "status")</script>
<noscript><a href="status">status</a></noscript>"""

#: Maximum bytes of a request. Requests without a valid token are read, too.
BODY = 2**20

#: Timeouts for a request's body and for an idle connection, in seconds.
_BODY_TIME, _IDLE = 60.0, 600.0


class WebsocketServer(WSHandler):
    """Accepts websockets as distributed does, and serves a page to browsers."""

    def initialize(self, has_home: bool) -> None:
        """Store whether our page has data to show."""
        self._has_home = has_home

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open a websocket if requested, else serve the page."""
        if self.request.headers.get("Upgrade", "").lower() == "websocket":
            if is_page(self.request.headers):
                self.set_status(403)
                await self.finish("Web pages cannot open this websocket.")
                return
            await super().get(*args, **kwargs)
        elif self._has_home:
            text = home.page(drawn=home.has_charts(self.application))
            for name, value in home.headers(text).items():
                self.set_header(name, value)
            await self.finish(text)
        elif "text/html" in self.request.headers.get("Accept", ""):
            await self.finish(_REDIRECT)
        else:
            # Relative, because a proxy may show us below a prefix that we do not see.
            self.set_status(302)
            self.set_header("Location", "status")
            await self.finish()

    async def open(self, *args: str, **kwargs: str) -> None:
        """Start the connection; keepalive detects a client whose host disappears."""
        watch(self.ws_connection)
        await super().open()  # type: ignore[no-untyped-call]
        # Before on_open, which uses it and is scheduled.
        self.comm = WebsocketComm(self, self.deserialize, self.allow_offload)

    async def on_open(self) -> None:
        """Serve the connection; close it if what comes is no message of distributed."""
        try:
            await super().on_open()  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - bytes may be wrong in any way
            logger.info("closing a websocket of %s: %r", self.request.remote_ip, error)
            self.close()  # type: ignore[no-untyped-call]


class WebsocketComm(WSHandlerComm):
    """A connection that is closed by a part that begins no message."""

    async def read(self, deserializers: Any = None) -> Any:
        """Read a message; raise ``CommClosedError`` after a part that begins none.

        Other errors of an open connection are raised: distributed sends them to the client.
        """
        try:
            return await super().read(deserializers)  # type: ignore[no-untyped-call]
        except Exception as error:
            was_closed = self.closed()  # type: ignore[no-untyped-call]
            if not was_closed and not isinstance(error, struct.error):
                raise
            self.abort()  # type: ignore[no-untyped-call]
            raise CommClosedError(f"closed within a message: {error!r}") from error


def is_websocket(comm: Any) -> bool:
    """Return whether a connection came to the web port, where clients show no certificate."""
    return isinstance(comm, WSHandlerComm)


def is_page(headers: Any) -> bool:
    """Return whether a browser page sent the request, also one of this site.

    Pages must not open this websocket, because it can run code. DNS rebinding can make a foreign
    page look like one of this site.
    """
    return "Origin" in headers or "Sec-Fetch-Site" in headers


def watch(connection: Any) -> None:
    """Let the system check one end of a websocket by keepalive, as distributed does for TCP.

    Application-level messages would not work: a computing client may not answer for minutes.
    """
    if connection is not None and connection.stream is not None:
        set_tcp_timeout(connection.stream)


def limit(server: Any) -> None:
    """Limit the size, the duration and the number of requests that an HTTP server waits for."""
    parameters = server.conn_params
    parameters.max_body_size = BODY
    parameters.body_timeout = _BODY_TIME
    parameters.header_timeout = _IDLE
    limit_idle_requests(server)


def serve_websockets(application: Any, server: Any) -> None:
    """Let ``server`` accept connections at the root of its HTTP server.

    Call this before its ``ws://`` listener starts, which would accept only websockets there.
    """

    def listener() -> Any:
        return next(one for one in server.listeners if one.prefix in ("ws://", "wss://"))

    # A stock scheduler lacks the interface that the page needs.
    ours = hasattr(server, "sessions")
    settings = {"handler": server.handle_comm, "deserialize": False, "listener": listener}
    application.add_handlers(r".*", [(r"/", WebsocketServer, {**settings, "has_home": ours})])
    if ours:
        answer_head_requests(application)
