"""Spills a worker's results in threads, without blocking the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
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
    """distributed's spilled results, in several directories and written by several threads.

    The file of a result that is read back stays, as its copy: nothing is written when the same
    value leaves memory again. Copies are deleted where their space is needed.
    """

    def __init__(self, folder: str, limit: Any, directories: Directories) -> None:
        super().__init__(folder, limit)
        self.d: Any = directories
        self._lock = threading.Lock()
        self._reading: set[Any] = set()
        """Keys of which the file becomes a copy when it is deleted."""
        self._copies: dict[Any, tuple[Callable[[], Any], SpilledSize]] = {}
        """References of values in memory and the weights of their copies, the oldest first."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._reuse(key, value):
            return
        try:
            frames = self.dump(value)
        except Exception as error:
            raise PickleError(key) from error
        weight = SpilledSize(safe_sizeof(value), sum(map(size, frames)))
        self._reserve(key, weight)
        try:
            with context_meter.meter("disk-write", "seconds"):
                self._write(key, frames)
        except BaseException:
            self._forget(key)
            raise
        context_meter.digest_metric("disk-write", 1, "count")
        context_meter.digest_metric("disk-write", weight.disk, "bytes")

    def __delitem__(self, key: Any) -> None:
        if key in self._reading:
            self.d.set_aside(key)
            with self._lock:
                weight = self.weight_by_key.pop(key)
                self.total_weight -= SpilledSize(weight.memory, 0)
                self._copies[key] = _nothing, weight
            return
        del self.d[key]  # fails while it is being written: the writing thread deletes it afterwards
        self._forget(key)

    @property
    def copied(self) -> int:
        """Bytes on disk of the copies of results that are in memory."""
        with self._lock:
            return sum(weight.disk for _, weight in self._copies.values())

    @contextlib.contextmanager
    def reading(self, key: Any) -> Iterator[Callable[[Any], None]]:
        """Keep the file of a key that moves to memory; yield a function to call with its value."""
        self._reading.add(key)
        try:
            yield lambda value: self._refer(key, value)
        except BaseException:
            self.drop(key)
            raise
        finally:
            self._reading.discard(key)

    def drop(self, key: Any) -> None:
        """Delete the copy of a result, if there is one."""
        with self._lock:
            entry = self._copies.pop(key, None)
            if entry is None:
                return
            self.total_weight -= SpilledSize(0, entry[1].disk)
            self.d.drop_aside(key)  # another thread may set the next file of this key aside

    def _refer(self, key: Any, value: Any) -> None:
        with self._lock:
            entry = self._copies.get(key)
            if entry is None:  # too large for memory: it has stayed on disk
                return
            with contextlib.suppress(TypeError):  # not every class has weak references
                self._copies[key] = weakref.ref(value), entry[1]
                return
        self.drop(key)

    def _reuse(self, key: Any, value: Any) -> bool:
        """Make the copy of a value the result again; drop that of an earlier value."""
        with self._lock:
            entry = self._copies.get(key)
            is_copy = entry is not None and entry[0]() is value
            if entry is not None and is_copy:
                del self._copies[key]
                self.d.restore(key)
                self.weight_by_key[key] = entry[1]
                self.total_weight += SpilledSize(entry[1].memory, 0)
        if not is_copy:
            self.drop(key)
        return is_copy

    def _reserve(self, key: Any, weight: SpilledSize) -> None:
        while True:
            with self._lock:
                most = self.max_weight
                if most is False or self.total_weight.disk + weight.disk <= most:
                    self.total_weight += weight
                    self.weight_by_key[key] = weight
                    return
            if not self._drop_oldest():
                raise MaxSpillExceeded(key)

    def _write(self, key: Any, frames: Any) -> None:
        while True:
            try:
                self.d[key] = frames
            except OSError:
                if not self._drop_oldest():
                    raise
            else:
                return

    def _drop_oldest(self) -> bool:
        """Delete the oldest copy; return whether there was one."""
        with self._lock:
            oldest = next(iter(self._copies), _nothing)
        if oldest is _nothing:
            return False
        self.drop(oldest)
        return True

    def _forget(self, key: Any) -> None:
        with self._lock:
            self.total_weight -= self.weight_by_key.pop(key)


def _nothing() -> None:
    """Stand in for a reference to a value, or for a key."""


class ConcurrentSpillBuffer(SpillBuffer):
    """distributed's buffer of results, while other threads move some of them to disk."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if key not in self:
                raise
            return super().__getitem__(key)  # it was moved between distributed's two look-ups

    def slow_to_fast(self, key: Any) -> Any:
        """Read a result back, and keep its file."""
        writer = self._slow_uncached
        if not isinstance(writer, SpillWriter):
            return super().slow_to_fast(key)
        with writer.reading(key) as refer:
            value = super().slow_to_fast(key)
            refer(value)
        return value

    def __delitem__(self, key: Any) -> None:
        super().__delitem__(key)
        writer = self._slow_uncached
        if isinstance(writer, SpillWriter):
            writer.drop(key)


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
        nbytes = slow.total_weight.disk
        if isinstance(slow, SpillWriter):
            nbytes -= slow.copied
        return max(0, int(slow.max_weight - nbytes))

    def run(self, function: Any, *args: Any) -> asyncio.Future[Any]:
        """Call a function in one of the threads."""
        return asyncio.get_running_loop().run_in_executor(self._pool, function, *args)

    async def free(self, nbytes: int) -> int:
        """Spill the least recently used results; return the freed bytes."""
        freed: int = await self.run(self._trim)
        if freed >= nbytes or not isinstance(self.data, SpillBuffer):
            return freed
        self._refused = sys.maxsize
        attempted_keys: set[Any] = set()
        spilled_bytes = 0
        # Repeat for results that cannot be moved.
        while victims := self._victims(nbytes - freed - spilled_bytes, attempted_keys):
            attempted_keys.update(victims)
            spilled_bytes += sum(await asyncio.gather(*map(self._begin_move, victims)))
        if spilled_bytes or not attempted_keys:
            self.full = None
        await self.run(self._trim)
        return freed + spilled_bytes

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
        keys: list[Any] = []
        for key in order:
            if nbytes <= 0:
                break
            skipped = key in tried or weights[key] >= self._refused
            if not skipped and (
                self.shared_results is None or not self.shared_results.borrows(key)
            ):
                keys.append(key)
                nbytes -= weights[key]
        return keys

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
