"""TLS with a peer that goes away before the handshake; imported for its effect alone.

tornado raises ``ValueError`` for a stream that has closed by then. distributed knows ``OSError``
only: a worker that fetches a value would give its tasks up instead of looking elsewhere.
"""

from __future__ import annotations

from typing import Any

from distributed.comm.tcp import TLSConnector
from tornado.iostream import IOStream, StreamClosedError
from tornado.tcpclient import TCPClient


class _Client(TCPClient):
    async def connect(self, *args: Any, **options: Any) -> IOStream:
        try:
            return await super().connect(*args, **options)
        except ValueError as error:
            raise StreamClosedError(ConnectionResetError(str(error))) from error


TLSConnector.client = _Client(resolver=TLSConnector.client.resolver)
