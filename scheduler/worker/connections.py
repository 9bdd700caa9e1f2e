"""Connections to workers that can open this process's shared memory."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

from ..storage.shared_handle import FORMAT, place

#: Timeout for a worker's identity, in seconds.
_PATIENCE = 5

#: The key in a worker's identity.
NAME = "marsdask"


def introduction() -> dict[str, Any]:
    """Return the entry of a worker's identity for workers that may share memory with it."""
    return {"place": place(), "format": FORMAT}


class PeerConnections:
    """The workers that receive results of this one; ``rpc`` calls one by its address.

    The identity of each connection's peer is requested once. Stock workers answer too, but get no
    handles. A worker that failed to open a handle gets no further ones. A restarted process with
    the same address has another id.
    """

    def __init__(self, rpc: Callable[[str], Any]) -> None:
        self._rpc = rpc
        self._near: weakref.WeakKeyDictionary[Any, str | None] = weakref.WeakKeyDictionary()
        self._failed: set[str] = set()

    async def near(self, comm: Any, address: str) -> bool:
        """Return whether the worker at the other end can open this process's shared memory."""
        if address.startswith("inproc://"):
            return False
        if comm not in self._near:
            self._near[comm] = await self._ask(address)
        who = self._near[comm]
        return who is not None and who not in self._failed

    def fail(self, comm: Any) -> None:
        """Record that the worker at the other end probably failed to open a handle."""
        if (who := self._near.get(comm)) is not None:
            self._failed.add(who)

    async def _ask(self, address: str) -> str | None:
        """Return the id of a worker that can open shared memory, else ``None``."""
        try:
            async with asyncio.timeout(_PATIENCE):
                identity = await self._rpc(address).identity()
        except OSError:  # including TimeoutError
            return None
        return str(identity.get("id")) if identity.get(NAME) == introduction() else None
