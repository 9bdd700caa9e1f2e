"""Results in shared memory: a worker's own, for others of its host, and others', which it reads.

A result is copied into shared memory when the first worker asks for it. From then on everybody
reads that copy, this process too, so it is in memory once; another worker that has it refers
further ones to it as well. See :mod:`..storage.shared` for how its memory is freed.
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
    """What of one worker's results, ``data``, lies in shared memory.

    ``moves`` are those that are being written to disk.
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
        """Whether a result takes no memory of this process's."""
        return key in self._borrowed

    def arrived(self, key: Hashable, value: Any) -> None:
        """Take note of a result that is about to be stored."""
        handle = claim(value)
        if handle is not None:
            self._borrowed[key] = handle

    def forget(self, key: Hashable) -> None:
        """Let go of a result that is stored no more; its memory is freed with its last reader."""
        self._published.pop(key, None)
        self._borrowed.pop(key, None)

    async def share(self, key: Hashable, value: Any) -> SharedValue | OpenedValue | None:
        """Return what others can open while it is kept; ``None`` if the value is to be sent."""
        if safe_sizeof(value) < self.pool.share_from:
            return None
        handle = None if key in self._published else self._borrowed.get(key)
        if handle is not None:
            with contextlib.suppress(OSError):  # its owner has ended, or there are no descriptors
                return await self._run(handle.open)  # type: ignore[no-any-return]
        published = self._published.get(key)  # which a thread that spills may take out just now
        if published is None:
            published = self._published[key] = asyncio.create_task(self._publish(key, value))
        return await asyncio.shield(published)

    async def _publish(self, key: Hashable, value: Any) -> SharedValue | None:
        shared: SharedValue | None = None
        try:
            shared = await self._run(self.pool.publish, value)
            if shared is not None:
                await self._replace(key, value, shared)
        finally:
            # There may be room the next time; and what has left memory stays in none of this kind.
            useless = shared is None or key not in self._memory
            if useless and self._published.get(key) is asyncio.current_task():
                del self._published[key]
        return shared

    async def _replace(self, key: Hashable, value: Any, shared: SharedValue) -> None:
        """Store the shared value in place of the one that was copied."""
        try:
            copy = await self._run(shared.handle.load)
        except OSError:  # no descriptors: it is in memory twice then
            return
        while (move := self._moves.get(key)) is not None:  # which would be called off
            await asyncio.wait([move])
        fast = self._memory
        if fast.get(key) is value and type(copy) is type(value):
            if self.pool.folder is None:
                self._borrowed.pop(key, None)
            else:  # a file's, which takes no memory either
                self._borrowed[key] = shared.handle
            getattr(fast, "set_noevict", fast.__setitem__)(key, copy)

    def _weigh(self, key: Hashable, value: Any) -> int:
        """Return what storing a result takes of this process's memory."""
        nbytes = int(safe_sizeof(value))
        handle = self._borrowed.get(key)
        return nbytes if handle is None else max(0, nbytes - handle.nbytes)

    def _spilled(self, key: Hashable, value: Any) -> None:
        self.forget(key)


class SharedMemoryComm:
    """A connection to a near worker, by which one answer goes with notes in place of values."""

    def __init__(self, comm: Any, peers: PeerConnections, sharing: SharedResults) -> None:
        self._comm = comm
        self._peers = peers
        self._sharing = sharing
        self._sent: list[SharedValue | OpenedValue] = []
        """Kept until the other end has opened it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._comm, name)

    async def write(self, message: dict[str, Any], **options: Any) -> Any:
        """Send the answer."""
        data = dict(message["data"])
        for key, wrapped in data.items():
            if key not in self._sharing.data:  # an actor
                continue
            shared = await self._sharing.share(key, wrapped.data)
            if shared is not None:
                self._sent.append(shared)
                data[key] = to_serialize(SharedTransfer(shared.handle))
        return await self._comm.write(message | {"data": data}, **options)

    async def read(self, **options: Any) -> Any:
        """Wait until the other end has everything."""
        try:
            return await self._comm.read(**options)
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
