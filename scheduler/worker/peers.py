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


class Peers:
    """The workers that this one sends to; ``rpc`` calls one by its address.

    Each connection's other end is asked once who it is, which stock workers answer as well: they
    are told nothing of shared memory. Whoever could not use what it was told of is not told again.
    """

    def __init__(self, rpc: Callable[[str], Any]) -> None:
        self._rpc = rpc
        self._near: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._failed: set[str] = set()

    async def near(self, comm: Any, address: str) -> bool:
        """Whether the worker at the other end can open what this process shares."""
        if address in self._failed or address.startswith("inproc://"):
            return False
        if comm not in self._near:
            self._near[comm] = await self._ask(address)
        return self._near[comm]

    def fail(self, address: str) -> None:
        """Take note that a worker could not open something, for all that is known."""
        self._failed.add(address)

    async def _ask(self, address: str) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                identity = await self._rpc(address).identity()
        except OSError:  # gone; or TimeoutError
            return False
        return bool(identity.get(NAME) == introduction())
