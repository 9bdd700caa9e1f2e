"""Results in shared memory: those of this worker, and those of others that it reads.

A result is copied into shared memory when the first worker requests it. From then on all processes
read that copy, including this one, so it is in memory once. Workers that hold it also send handles
of the same copy. :mod:`..storage.shared` describes how its memory is freed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Hashable, Mapping, MutableMapping
from typing import Any

from distributed.protocol import to_serialize
from distributed.sizeof import safe_sizeof
from distributed.spill import SpillBuffer

from ..storage.shared import Pool, SharedValue
from ..storage.shared_handle import OpenedValue, SharedHandle
from .connections import PeerConnections
from .shared_transfers import SharedTransfer, claim

#: Calls a function in another thread.
Run = Callable[..., "asyncio.Future[Any]"]


class SharedResults:
    """Tracks which of a worker's results ``data`` are in shared memory.

    ``moves`` are the results that are being written to disk.
    """

    def __init__(
        self,
        pool: Pool,
        data: MutableMapping[Any, Any],
        run: Run,
        moves: Mapping[Any, asyncio.Future[Any]],
    ) -> None:
        self.pool = pool
        self.data = data
        self._memory: Any = getattr(data, "fast", data)
        self._run = run
        self._moves = moves
        self._published: dict[Hashable, asyncio.Task[SharedValue | None]] = {}
        self._borrowed: dict[Hashable, SharedHandle] = {}
        if isinstance(data, SpillBuffer):
            data.weight = data.fast.weight = self._weigh
            data.fast_to_slow_callbacks.append(self._spilled)

    def borrows(self, key: Hashable) -> bool:
        """Return whether a result is in another process's memory."""
        return key in self._borrowed

    def received(self, key: Hashable, value: Any) -> None:
        """Record a result before it is stored."""
        handle = claim(value)
        if handle is not None:
            self._borrowed[key] = handle

    def forget(self, key: Hashable) -> None:
        """Forget a removed result; its memory is freed after its last reader."""
        self._published.pop(key, None)
        self._borrowed.pop(key, None)

    async def share(self, key: Hashable, value: Any) -> SharedValue | OpenedValue | None:
        """Return the shared value, which others can open, or ``None`` to send a copy."""
        if safe_sizeof(value) < self.pool.share_from:
            return None
        handle = None if key in self._published else self._borrowed.get(key)
        if handle is not None:
            with contextlib.suppress(OSError):  # its owner has ended, or no descriptor is free
                return await self._run(handle.open)  # type: ignore[no-any-return]
        published = self._published.get(key)  # a spilling thread may remove it at any time
        if published is None:
            published = self._published[key] = asyncio.create_task(self._publish(key, value))
        return await asyncio.shield(published)

    async def _publish(self, key: Hashable, value: Any) -> SharedValue | None:
        published: SharedValue | None = None
        try:
            published = await self._run(self.pool.publish, value)
            if published is not None:
                await self._replace(key, value, published)
        finally:
            # Without room, try again at the next request. A spilled result leaves shared memory.
            useless = published is None or key not in self._memory
            if useless and self._published.get(key) is asyncio.current_task():
                del self._published[key]
        return published

    async def _replace(self, key: Hashable, value: Any, shared: SharedValue) -> None:
        """Replace the stored value by the shared one."""
        try:
            copy = await self._run(shared.handle.load)
        except Exception:  # noqa: BLE001 - as without descriptors: the result is in memory twice
            return
        while (move := self._moves.get(key)) is not None:  # do not cancel the move
            await asyncio.wait([move])
        fast = self._memory
        if fast.get(key) is value and type(copy) is type(value):
            if self.pool.folder is None:
                self._borrowed.pop(key, None)
            else:  # mapped from a file, so it takes no memory
                self._borrowed[key] = shared.handle
            getattr(fast, "set_noevict", fast.__setitem__)(key, copy)

    def _weigh(self, key: Hashable, value: Any) -> int:
        """Return the bytes of this process's memory that a stored result takes."""
        nbytes = int(safe_sizeof(value))
        handle = self._borrowed.get(key)
        return nbytes if handle is None else max(0, nbytes - handle.nbytes)

    def _spilled(self, key: Hashable, value: Any) -> None:
        self.forget(key)


class SharedMemoryComm:
    """A connection that sends one response with handles instead of values."""

    def __init__(self, comm: Any, peers: PeerConnections, sharing: SharedResults) -> None:
        self._comm = comm
        self._peers = peers
        self._sharing = sharing
        self._sent: list[SharedValue | OpenedValue] = []
        """Values that are kept until the receiver has opened them."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    async def write(self, message: dict[str, Any], **options: Any) -> Any:
        """Send the response."""
        data = dict(message["data"])
        for key, payload in data.items():
            if key not in self._sharing.data:  # an actor
                continue
            published = await self._sharing.share(key, payload.data)
            if published is not None:
                self._sent.append(published)
                data[key] = to_serialize(SharedTransfer(published.handle))
        return await self._comm.write(message | {"data": data}, **options)

    async def read(self, **options: Any) -> Any:
        """Wait until the receiver has opened all values."""
        try:
            answer = await self._comm.read(**options)
            if self._sent:
                self._peers.succeed(self._comm)
            return answer
        except OSError:
            if self._sent:
                self._peers.fail(self._comm)
            raise
        finally:
            self._close()

    def _close(self) -> None:
        for opened in self._sent:
            if isinstance(opened, OpenedValue):
                opened.close()
        self._sent.clear()
