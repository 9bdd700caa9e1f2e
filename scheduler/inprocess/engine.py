"""Drives a :class:`State`: runs tasks, spills results, wakes threads, calls callbacks.

All operations of the process's threads on a scheduler go through :class:`Engine`. ``inline`` and
``threads`` differ only in the callers of :meth:`Engine.drive`. Slow operations run outside the
lock, and a finalizer of the garbage collector never blocks on the lock.
"""

from __future__ import annotations

import math
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from ..base import ChunkInfo, Hint, Key, TaskGraph, describe, running
from ..errors import FORKED, SchedulerClosed
from ..events import TaskDone
from ..storage.buffers import Charges, charges
from ..storage.compaction import compact
from ..storage.sizes import size_of
from ..storage.spill import SpillFile, SpillStore
from . import evaluate as evaluate_module
from .evaluate import evaluate
from .interrupts import allowed, shielded
from .native_threads import NativeShare, trim
from .records import ABSENT, ALL, DONE, LocalJob, Spill, TaskRecord
from .state import State
from .thread_frames import current_frames

_OWN_FILES = frozenset({__file__, evaluate_module.__file__})

#: The value of a result (``ABSENT`` if only on disk), its file and its description, if known.
Found = tuple[Any, SpillFile | None, ChunkInfo | None]


#: The allocator is asked to release memory after this many freed bytes.
_TRIM_FROM = 2**23


class Engine:
    """A state, its lock, the threads that drive it, and the idle threads."""

    def __init__(
        self,
        budget: float,
        store: SpillStore,
        *,
        nthreads: int = 0,
        native: NativeShare | None = None,
        keep_frames: bool = False,
    ) -> None:
        # Memory that was freed since the last request must fit beside the budget.
        spare = 0 if math.isinf(budget) else max(budget / 32, min(_TRIM_FROM, budget / 8))
        self.state = State(budget, spare)
        self.lock = threading.Lock()
        self.closed = False
        self.nthreads = nthreads
        self.pid = os.getpid()
        """The process of the threads."""
        self.threads: list[threading.Thread] = []
        self._native = native
        self._keep_frames = keep_frames
        self._store = store
        self._idle: list[Any] = []
        """Locks of idle workers."""
        self._helpers: list[Any] = []
        """Locks of other threads that drive their own submission."""
        self._released: deque[Sequence[Key] | None] = deque()
        """Keys to release when the lock is free; None means to close."""
        self._here = threading.local()
        self._trim_after = max(_TRIM_FROM, spare)
        self._untrimmed = 0
        """Freed bytes since the last request to the allocator; a lost update is harmless."""

    @property
    def level(self) -> int:
        """The nesting depth of the calling thread in this engine's tasks; 0 is outside."""
        level: int = getattr(self._here, "level", 0)
        return level

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, protected from Ctrl-C; on exit, propagate the changes."""
        with shielded():
            self.lock.acquire()
            try:
                yield
            finally:
                self.unlock()

    def submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        hints: Mapping[Key, Hint],
        job: LocalJob,
        *,
        drive: bool,
    ) -> None:
        """Add a submission, or raise and add nothing; run it in the calling thread if requested."""
        if self.nthreads and os.getpid() != self.pid:
            raise SchedulerClosed(FORKED)
        first = None
        with shielded():
            with self.locked():
                if self.closed:
                    raise SchedulerClosed("the scheduler is closed")
                self.state.submit(graph, keys, hints, job)
                if drive:  # before a woken thread can take it
                    first = self.state.next(job.bound)
            job.owner.flush()
            if drive:
                self.drive(job, first=first)

    def cancel(self, job: LocalJob) -> None:
        """End a submission unless it has ended."""
        with self.locked():
            self.state.cancel(job)
        job.owner.flush()

    def release(self, keys: Iterable[Key]) -> None:
        """Drop a reference of each key now, or when the current owner releases the lock."""
        self._released.append(tuple(keys))
        self._drain()

    def abandon(self) -> None:
        """Close without waiting, as a finalizer must."""
        self._released.append(None)
        self._drain()

    def _drain(self) -> None:
        with shielded():
            while self._released and self.lock.acquire(blocking=False):
                closing = False
                try:
                    while self._released:
                        keys = self._released.popleft()
                        if keys is not None:
                            self.state.release(keys)
                        else:
                            closing = True
                            self._shut()
                finally:
                    self.unlock()
                if closing:
                    self.dispose()

    def look(self, keys: Sequence[Key]) -> list[Found]:
        """Return value (``ABSENT`` if only on disk), file and known description of held keys."""
        with self.locked():
            if self.closed:
                raise SchedulerClosed("the scheduler is closed")
            results = []
            for key in keys:
                item = self.state.items.get(key)
                if item is None or item.status != DONE or not item.held:
                    raise KeyError(key)
                results.append((item.value, item.file, item.info))
            return results

    def close(self) -> None:
        """Cancel and forget everything, end the threads, remove the files."""
        with self.locked():
            self._shut()
        self.dispose()
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join()
        if self._native is not None:
            self._native.close()
        self.dispose()  # the rest of a task that was still running

    def dispose(self) -> None:
        """Release the resources outside this process's memory; may be called repeatedly."""
        self._store.close()

    def _shut(self) -> None:
        self.closed = True
        self.state.clear()
        for park in self._idle + self._helpers:
            park.release()
        self._idle, self._helpers = [], []

    def unlock(self) -> None:
        """Release the lock, wake affected threads, drop freed values."""
        state = self.state
        wake = None
        helpers, self._helpers = self._helpers, []
        try:
            if state.ready or state.memory.missing() > 0:
                if self._idle:
                    wake = self._idle.pop()
                elif len(self.threads) < self.nthreads and state.ready and not self.closed:
                    self._start_thread()
        finally:
            self._release_lock()
            if wake is not None:
                wake.release()
            for park in helpers:
                park.release()

    def _start_thread(self) -> None:
        if os.getpid() != self.pid:
            return  # a forked child would run its parent's tasks again
        # Under the lock, although it takes time: closing joins the threads in the list.
        name = f"marsdask-{len(self.threads)}"
        thread = threading.Thread(target=self.work, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system's thread limit is reached
            if not self.threads:
                raise
            self.nthreads = len(self.threads)
            return
        self.threads.append(thread)

    def _release_lock(self) -> None:
        """Release the lock and do the deferred work; wake no thread."""
        state = self.state
        ended: Sequence[LocalJob] = ()
        trash: list[Any] = []
        if state.ended:
            ended, state.ended = state.ended, []
        if state.trash:
            trash, state.trash = state.trash, trash
        freed, state.freed = state.freed, 0
        dropped: Sequence[TaskRecord] = ()
        if state.dropped:
            dropped, state.dropped = state.dropped, []
        self.lock.release()
        for item in dropped:
            if (stop := item.stop) is not None:
                stop()
        for job in ended:
            if job.observed:
                job.owner.flush()
            else:
                job.owner.end()
        if freed or trash:
            self._throw_away(trash, freed)
        if self._released:
            self._drain()

    def _throw_away(self, trash: list[Any], freed: int) -> None:
        # Memory first, because it may be promised already; removing files is slow.
        files = [entry for entry in trash if isinstance(entry, SpillFile)]
        trash.clear()
        self._untrimmed += freed
        memory = self.state.memory
        if self._untrimmed > self._trim_after and memory.missing() > -memory.budget / 2:
            self._untrimmed = 0
            trim()
        for file in files:
            file.remove()

    # Driving

    def work(self) -> None:
        """Run tasks until the engine closes; the body of a worker thread."""
        park = threading.Lock()
        park.acquire()
        while True:
            self.lock.acquire()
            if self.closed:
                self.lock.release()
                return
            instruction = self.state.next()
            if instruction is None:
                self._idle.append(park)
                self._release_lock()
                park.acquire()
            else:
                self.unlock()
                while instruction is not None:
                    instruction = self._perform(instruction, ALL)

    def neglected(self, job: LocalJob) -> bool:
        """Return whether nothing can run a submission but the thread that waits for it.

        All workers wait, perhaps for this thread, as tasks may have started it.
        """
        with self.locked():
            if job.state is not None or job.running or self._idle or not self.threads:
                return False
            frames = current_frames()
            if len(self.threads) < self.nthreads or not all(
                _waits(frames.get(thread.ident or 0)) for thread in self.threads
            ):
                return False
            self.state.promote(job)
            return True

    def drive(
        self,
        job: LocalJob,
        deadline: float | None = None,
        *,
        first: TaskRecord | Spill | None = None,
    ) -> None:
        """Run tasks in the calling thread until ``job`` ends, but none that is less urgent."""
        with shielded():
            self._drive(job, deadline, first)

    def _drive(
        self, job: LocalJob, deadline: float | None, first: TaskRecord | Spill | None
    ) -> None:
        level, task = self.level, getattr(running, "task", None)
        park = threading.Lock()
        park.acquire()
        if level:
            with self.locked():
                self.state.active -= 1  # so that memory goes to the tasks that it waits for
        try:
            while first is not None:
                first = self._perform(first, job.bound)
            while job.state is None and (deadline is None or remaining(deadline)):
                self.lock.acquire()
                instruction = self.state.next(job.bound) if job.state is None else None
                if instruction is None and job.state is None:
                    self._helpers.append(park)
                    self._release_lock()
                    with allowed:
                        if not park.acquire(timeout=_timeout(deadline)):
                            break  # possibly too early: the lock is still to be released
                else:
                    self.unlock()
                while instruction is not None:
                    instruction = self._perform(instruction, job.bound)
        finally:
            self._here.level, running.task = level, task
            with self.locked():
                if level:
                    self.state.active += 1
                elif self._native is not None:
                    self._native.rest(alone=not self.state.active)

    def _perform(self, instruction: TaskRecord | Spill, bound: int) -> TaskRecord | Spill | None:
        """Follow an instruction of the state and return the next one."""
        if isinstance(instruction, Spill):
            return self._spill(instruction, bound)
        return self._run(instruction, bound)

    def _run(self, item: TaskRecord, bound: int) -> TaskRecord | Spill | None:
        job = item.job
        self._here.level, running.task = job.level + 1, item
        event = None
        start = 0.0
        if job.observed:
            job.owner.flush()
            start = time.perf_counter()
        if self._native is not None:
            self._native.enter(alone=self.state.active <= 1 and not self.state.ready)
        error: BaseException | None = None
        value: Any = None
        cost: Charges = ()
        try:
            with allowed:
                evaluate = self.evaluate if job.observer is None else self._evaluate_observed
                value = compact(job.fresh_context().run(evaluate, item))
            cost = charges(value, self.state.memory.ledger)
            if job.observed:
                event = TaskDone(item.key, size_of(value), time.perf_counter() - start)
        except BaseException as raised:  # noqa: BLE001  (the handle raises it)
            error = raised.with_traceback(self._prune(raised.__traceback__))
        running.task = None
        self.lock.acquire()
        try:
            if error is None:
                self.state.finish(item, value, cost, event)
            else:
                self.state.fail(item, error)
            value = error = None  # the dropped values may be large
            following = self.state.next(bound) if not self.closed else None
            if not self.state.active and self._native is not None:
                self._native.rest()
        finally:
            self.unlock()
        if job.observed:
            job.owner.flush()
        return following

    def _evaluate_observed(self, item: TaskRecord) -> Any:
        observer = item.job.observer
        observer.before(item.key)
        value = self.evaluate(item)
        observer.after(item.key, self.shown(value))
        return value

    def shown(self, value: Any) -> Any:
        """Return the information about a result for a callback."""
        return value

    def evaluate(self, item: TaskRecord) -> Any:
        """Compute the value of a record whose inputs are done; processes.py overrides this."""
        assert item.node is not None
        if item.entry is not None:
            return item.inputs[0].file.load(item.entry)
        for source in item.inputs:
            if source.value is ABSENT:
                self._load(source)
        return evaluate(item.node, {source.key: source.value for source in item.inputs})

    def _load(self, source: TaskRecord) -> None:
        """Read a result from disk, once for all waiting tasks."""
        with source.file.loading:
            if source.value is ABSENT:
                value = source.file.load()
                cost = charges(value, self.state.memory.ledger)
                with self.locked():
                    self.state.loaded(source, value, cost)

    def _spill(self, spill: Spill, bound: int) -> TaskRecord | Spill | None:
        error: Exception | None = None
        try:
            info = describe(spill.item.value)
            file = self._store.write(spill.item.value)
        except Exception as raised:  # noqa: BLE001  (pickling may raise any exception)
            error = raised.with_traceback(None)
        with self.locked():
            if error is None:
                # A sample would keep the array in memory.
                self.state.spilled(spill, file, info if info.sample is None else None)
            else:
                self.state.not_spilled(spill, error)
            return self.state.next(bound) if not self.closed else None

    def _prune(self, trace: TracebackType | None) -> TracebackType | None:
        """Remove this package's frames and, unless requested, the variables of the others."""
        pruned = trace
        while pruned is not None and pruned.tb_frame.f_code.co_filename in _OWN_FILES:
            pruned = pruned.tb_next
        if not self._keep_frames:
            traceback.clear_frames(trace)
        return pruned if pruned is not None else trace


def _waits(frame: FrameType | None) -> bool:
    """Return whether a thread waits for another one, also while it helps a submission."""
    if frame is None:
        return False
    code = frame.f_code
    within = frame.f_globals.get("__name__")
    return code is _DRIVING or (within in _WAITING_IN and code.co_name in _WAITS)


_DRIVING = Engine._drive.__code__

#: The modules and functions in which threads wait for each other, and for their event loop.
_WAITING_IN = frozenset({"threading", "selectors"})
_WAITS = frozenset({"wait", "join", "_wait_for_tstate_lock", "select"})


def _timeout(deadline: float | None) -> float:
    return -1 if deadline is None else remaining(deadline)


def remaining(deadline: float) -> float:
    """Return the seconds until a moment of the monotonic clock, or none if it has passed."""
    return max(0.0, deadline - time.monotonic())
