"""Connections to workers that can open this process's shared memory."""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Callable
from typing import Any

from ..storage.shared_handle import FORMAT, place

#: Timeout for a worker's identity, in seconds.
_PATIENCE = 5

#: Seconds until a worker that failed to open a handle gets the next one: at first, and at most.
#: Each failure doubles them.
_FIRST, _MOST = 1.0, 300.0

#: The key in a worker's identity.
NAME = "marsdask"


def introduction() -> dict[str, Any]:
    """Return the entry of a worker's identity for workers that may share memory with it."""
    return {"place": place(), "format": FORMAT}


class PeerConnections:
    """The workers that receive results of this one; ``rpc`` calls one by its address.

    The identity of each connection's peer is requested once. Stock workers answer too, but get no
    handles. A worker that failed to open a handle gets none for a while: perhaps its connection
    broke for another reason. A restarted process with the same address has another id.
    """

    def __init__(
        self, rpc: Callable[[str], Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rpc = rpc
        self._clock = clock
        self._near: weakref.WeakKeyDictionary[Any, str | None] = weakref.WeakKeyDictionary()
        self._failed: dict[str, tuple[float, float]] = {}
        """When each failed worker gets the next handle, and the pause after the next failure."""

    async def near(self, comm: Any, address: str) -> bool:
        """Return whether the worker at the other end can open this process's shared memory."""
        if address.startswith("inproc://"):
            return False
        if comm not in self._near:
            self._near[comm] = await self._ask(address)
        worker = self._near[comm]
        return worker is not None and self._clock() >= self._failed.get(worker, (0.0, 0.0))[0]

    def introduce(self, comm: Any, who: str, told: Any) -> None:
        """Record what a client at the other end says of itself; it does not listen."""
        own = comm.peer_address.startswith("inproc://")
        self._near[comm] = who if told == introduction() and not own else None

    def fail(self, comm: Any) -> None:
        """Record that the worker at the other end may have failed to open a handle."""
        if (worker := self._near.get(comm)) is not None:
            _, pause = self._failed.get(worker, (0.0, _FIRST))
            self._failed[worker] = self._clock() + pause, min(2 * pause, _MOST)

    def succeed(self, comm: Any) -> None:
        """Record that the worker at the other end has opened its handles."""
        if self._failed and (worker := self._near.get(comm)) is not None:
            self._failed.pop(worker, None)

    async def _ask(self, address: str) -> str | None:
        """Return the id of a worker that can open shared memory, else ``None``."""
        try:
            async with asyncio.timeout(_PATIENCE):
                identity = await self._rpc(address).identity()
        except OSError:  # including TimeoutError
            return None
        return str(identity.get("id")) if identity.get(NAME) == introduction() else None
