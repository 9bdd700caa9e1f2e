"""The TLS handshake of connections that are made here; importing this patches distributed.

Peers with a certificate of another role are refused. For peers that disconnect before the handshake
tornado raises ``ValueError``, and distributed handles only ``OSError``: a worker that fetches a
value would fail instead of using another worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from distributed.comm import CommClosedError
from distributed.comm.tcp import TLSConnector
from distributed.comm.ws import WSSConnector

from .roles import checked

_CLOSED = "IOStream is not idle"


@contextlib.contextmanager
def treat_closed_stream_as_closed() -> Iterator[None]:
    """Raise ``CommClosedError`` for tornado's error about a closed stream."""
    try:
        yield
    except ValueError as error:
        if _CLOSED not in str(error):
            raise
        raise CommClosedError(f"closed before the TLS handshake: {error}") from error


def _patch(connector: type[Any]) -> None:
    connect = checked(connector.connect)

    async def connected(self: Any, *args: Any, **options: Any) -> Any:
        with treat_closed_stream_as_closed():
            return await connect(self, *args, **options)

    connector.connect = connected


for _connector in (TLSConnector, WSSConnector):
    _patch(_connector)
