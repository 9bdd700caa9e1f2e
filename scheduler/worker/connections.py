"""Which workers see this process's memory."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

from ..storage.shared_handle import FORMAT, place

#: Seconds that a worker may take to say where it is.
_PATIENCE = 5

#: What a worker's identity says of it, and the name it says that by.
NAME = "marsdask"


def introduction() -> dict[str, Any]:
    """Return what a worker tells those that may share memory with it."""
    return {"place": place(), "format": FORMAT}


class PeerConnections:
    """The workers that this one sends to; ``rpc`` calls one by its address.

    Each connection's other end is asked once who it is, which stock workers answer as well: they
    are told nothing of shared memory. Whoever could not use what it was told of is not told again;
    a process that takes the place of one that died, with its address, is somebody else.
    """

    def __init__(self, rpc: Callable[[str], Any]) -> None:
        self._rpc = rpc
        self._near: weakref.WeakKeyDictionary[Any, str | None] = weakref.WeakKeyDictionary()
        self._failed: set[str] = set()

    async def near(self, comm: Any, address: str) -> bool:
        """Whether the worker at the other end can open what this process shares."""
        if address.startswith("inproc://"):
            return False
        if comm not in self._near:
            self._near[comm] = await self._ask(address)
        who = self._near[comm]
        return who is not None and who not in self._failed

    def fail(self, comm: Any) -> None:
        """Take note that who is there could not open something, for all that is known."""
        if (who := self._near.get(comm)) is not None:
            self._failed.add(who)

    async def _ask(self, address: str) -> str | None:
        """Return the name of a worker that can, ``None`` of any other."""
        try:
            async with asyncio.timeout(_PATIENCE):
                identity = await self._rpc(address).identity()
        except OSError:  # gone; or TimeoutError
            return None
        return str(identity.get("id")) if identity.get(NAME) == introduction() else None
