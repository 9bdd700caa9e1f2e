"""Websockets that end within a message."""

import asyncio
import struct
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.comm.core import CommClosedError
from distributed.comm.ws import WS

from marsdask.scheduler.cluster import leader  # noqa: F401


class ReceivedParts:
    """What tornado has received: parts of a message, and then, perhaps, an end."""

    parsed = SimpleNamespace(netloc="host:1")

    def __init__(self, parts, code):
        self.parts, self.close_code = list(parts), code

    async def read_message(self):
        return self.parts.pop(0) if self.parts else None

    def close(self):
        """End."""


def read(*parts, code=None):
    """Read the message of a websocket."""
    socket: Any = ReceivedParts(parts, code)
    return asyncio.run(WS(socket).read())


@pytest.mark.parametrize("parts", [[], [struct.pack("Q", 2)], [struct.pack("Q", 2), b"a"]])
def test_the_connection_has_ended(parts):
    """Whoever reads connects again, as after an end between two messages."""
    with pytest.raises(CommClosedError):
        read(*parts, code=1006)


def test_other_errors_remain():
    """The connection is open, and something else is wrong."""
    with pytest.raises(TypeError):
        read(struct.pack("Q", 1), None)
