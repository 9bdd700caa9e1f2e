"""Spills a worker's results in threads, without blocking the event loop."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed.metrics import context_meter
from distributed.sizeof import safe_sizeof
from distributed.spill import (
    HandledError,
    MaxSpillExceeded,
    PickleError,
    Slow,
    SpillBuffer,
    SpilledSize,
)
from distributed.utils import nbytes as size

from .directories import Directories
from .shared_results import SharedResults

_MOST = "distributed.worker.memory.max-spill is reached"


class SpillWriter(Slow):
    """distributed's spilled results, in several directories and written by several threads."""

    def __init__(self, folder: str, limit: Any, directories: Directories) -> None:
        super().__init__(folder, limit)
        self.d = directories
        self._lock = threading.Lock()

    def __setitem__(self, key: Any, value: Any) -> None:
        try:
            frames = self.dump(value)
        except Exception as error:
            raise PickleError(key) from error
        weight = SpilledSize(safe_sizeof(value), sum(map(size, frames)))
        with self._lock:
            if self.max_weight is not False and (
                self.total_weight.disk + weight.disk > self.max_weight
            ):
                raise MaxSpillExceeded(key)
            self.total_weight += weight
            self.weight_by_key[key] = weight
        try:
            with context_meter.meter("disk-write", "seconds"):
                self.d[key] = frames
        except BaseException:
            self._forget(key)
            raise
        context_meter.digest_metric("disk-write", 1, "count")
        context_meter.digest_metric("disk-write", weight.disk, "bytes")

    def __delitem__(self, key: Any) -> None:
        del self.d[key]  # fails while it is being written: the writing thread deletes it afterwards
        self._forget(key)

    def _forget(self, key: Any) -> None:
        with self._lock:
            self.total_weight -= self.weight_by_key.pop(key)


class ConcurrentSpillBuffer(SpillBuffer):
    """distributed's buffer of results, while other threads move some of them to disk."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if key not in self:
                raise
            return super().__getitem__(key)  # it was moved between distributed's two look-ups


class SpillManager:
    """Frees a worker's memory in ``threads`` threads."""

    def __init__(self, data: Any, threads: int = 1) -> None:
        self.data = data
        if type(data) is SpillBuffer:
            data.__class__ = ConcurrentSpillBuffer  # distributed creates only its own class
        self.threads = threads
        self.shared_results: SharedResults | None = None
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="marsdask-io")
        self.moves: dict[Any, asyncio.Future[int]] = {}
        """Results that are being written: {key: bytes to free}."""
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.closed = False
        self.full: str | None = None
        """Why the last result could not be moved, if the disk is full."""
        self._refused: float = sys.maxsize
        """Bytes of the smallest result that did not fit on the disk in this round."""

    @property
    def limit(self) -> int | None:
        """Bytes that may still be written according to distributed's max-spill; None: no limit."""
        slow = self.data._slow_uncached
        if slow.max_weight is False:
            return None
        return max(0, int(slow.max_weight - slow.total_weight.disk))

    def run(self, function: Any, *args: Any) -> asyncio.Future[Any]:
        """Call a function in one of the threads."""
        return asyncio.get_running_loop().run_in_executor(self._pool, function, *args)

    async def free(self, nbytes: int) -> int:
        """Spill the least recently used results; return the freed bytes."""
        freed: int = await self.run(self._trim)
        if freed >= nbytes or not isinstance(self.data, SpillBuffer):
            return freed
        self._refused = sys.maxsize
        tried: set[Any] = set()
        moved = 0
        # Repeat for results that cannot be moved.
        while victims := self._victims(nbytes - freed - moved, tried):
            tried.update(victims)
            moved += sum(await asyncio.gather(*map(self._begin_move, victims)))
        if moved or not tried:
            self.full = None
        await self.run(self._trim)
        return freed + moved

    def take_over(self, directories: Directories, folder: str) -> None:
        """Write to these directories, and replace distributed's spilling in the event loop."""
        self._loop = asyncio.get_running_loop()
        data: SpillBuffer = self.data
        limit = data._slow_uncached.max_weight
        cache: Any = data.slow
        cache.data = SpillWriter(os.path.join(folder, "storage"), limit, directories)
        fast: Any = data.fast
        fast.evict_until_below_target = self._begin

    async def close(self) -> None:
        """Wait for running writes, and start no new ones."""
        self.closed = True
        if self._task is not None:
            await asyncio.wait([self._task])
        self._pool.shutdown(wait=False)

    def _begin(self, n: float | None = None) -> None:
        """Schedule spilling down to the target; zict would spill at once."""
        if self._loop is not None and not self.closed and self._excess() > 0:
            self._loop.call_soon_threadsafe(self._start)

    def _start(self) -> None:
        if (self._task is None or self._task.done()) and not self.closed:
            self._task = asyncio.create_task(self._until_few_enough())

    async def _until_few_enough(self) -> None:
        while not self.closed and (excess := self._excess()) > 0:
            if not await self.free(int(excess)):
                return  # the next result starts another attempt

    def _excess(self) -> float:
        fast: Any = self.data.fast
        return float(fast.total_weight + fast.offset - fast.n)

    def _victims(self, nbytes: int, tried: set[Any]) -> list[Any]:
        fast: Any = self.data.fast
        with fast.lock:
            order = [*fast.heavy, *(key for key in fast.order if key not in fast.heavy)]
            weights = {key: fast.weights[key] for key in order}
        chosen: list[Any] = []
        for key in order:
            if nbytes <= 0:
                break
            skipped = key in tried or weights[key] >= self._refused
            if not skipped and (
                self.shared_results is None or not self.shared_results.borrows(key)
            ):
                chosen.append(key)
                nbytes -= weights[key]
        return chosen

    def _begin_move(self, key: Any) -> asyncio.Future[int]:
        """Return the running move of a result, or start one."""
        move = self.moves.get(key)
        if move is None:
            move = self.moves[key] = self.run(self._evict, key)
            move.add_done_callback(lambda _: self.moves.pop(key))
        return move

    def _evict(self, key: Any) -> int:
        """Move a result; return the freed bytes, 0 if it cannot be moved."""
        data: SpillBuffer = self.data
        weight = data.fast.weights.get(key)
        if self.closed or weight is None or weight >= self._refused:
            return 0
        try:
            with data._capture_metrics(), data._handle_errors(None):
                return self._move(key, weight)
        except (KeyError, AssertionError, HandledError):
            # It was deleted meanwhile, which distributed does not expect if the write fails, or
            # distributed has logged the error.
            self._tidy(key)
            return 0

    def _tidy(self, key: Any) -> None:
        """Delete the file of a result that was removed after zict's last check."""
        data: Any = self.data
        with data.lock:
            if key not in data.fast:
                data.slow.discard(key)

    def _move(self, key: Any, weight: float) -> int:
        try:
            freed = int(self.data.fast.evict(key)[2])
        except (OSError, MaxSpillExceeded) as error:
            self._refused = min(self._refused, weight)
            self.full = str(error) if isinstance(error, OSError) else _MOST
            raise
        self.full = None
        return freed

    def _trim(self) -> int:
        return 0 if self.shared_results is None else self.shared_results.pool.trim()
