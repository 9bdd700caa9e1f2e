"""Handles peers that disconnect before the TLS handshake; importing this patches distributed.

tornado raises ``ValueError`` for a stream that is closed by then. distributed handles only
``OSError``: a worker that fetches a value would fail instead of asking another worker.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from distributed.comm import CommClosedError
from distributed.comm.tcp import TLSConnector
from distributed.comm.ws import WSSConnector

_GONE = "IOStream is not idle"


@contextlib.contextmanager
def treat_closed_stream_as_closed() -> Iterator[None]:
    """Raise ``CommClosedError`` for tornado's error about a closed stream."""
    try:
        yield
    except ValueError as error:
        if _GONE not in str(error):
            raise
        raise CommClosedError(f"closed before the TLS handshake: {error}") from error


def _mended(connector: type[Any]) -> None:
    connect = connector.connect

    async def connected(self: Any, *args: Any, **options: Any) -> Any:
        with treat_closed_stream_as_closed():
            return await connect(self, *args, **options)

    connector.connect = connected


for _connector in (TLSConnector, WSSConnector):
    _mended(_connector)
