"""Handles websockets that end within a message; importing this patches distributed.

tornado reads ``None`` then, which distributed notices only in the first part of a message. A client
that listens to its supervisor would end by a ``TypeError``, and never connect to another one.
"""

from __future__ import annotations

from typing import Any

from distributed.comm import CommClosedError
from distributed.comm.ws import WS

_read = WS.read


async def read(self: Any, deserializers: Any = None) -> Any:
    """Read a message; raise ``CommClosedError`` if the connection has ended within it."""
    try:
        return await _read(self, deserializers)  # type: ignore[no-untyped-call]
    except TypeError as error:
        if not self.closed():
            raise
        raise CommClosedError(f"closed within a message: {error}") from error


WS.read = read  # type: ignore[method-assign]
