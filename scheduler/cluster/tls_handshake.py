"""Handles peers that disconnect before the TLS handshake; importing this patches distributed.

tornado raises ``ValueError`` for such a closed stream, and distributed handles only ``OSError``. A
worker that fetches a value would fail instead of using another worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from distributed.comm import CommClosedError
from distributed.comm.tcp import TLSConnector
from distributed.comm.ws import WSSConnector

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
    connect = connector.connect

    async def connected(self: Any, *args: Any, **options: Any) -> Any:
        with treat_closed_stream_as_closed():
            return await connect(self, *args, **options)

    connector.connect = connected


for _connector in (TLSConnector, WSSConnector):
    _patch(_connector)
