"""The schedulers of one process: their handles, and the Scheduler protocol over an engine."""

from __future__ import annotations

import math
import os
import threading
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

from ..base import (
    Callback,
    Capabilities,
    ChunkInfo,
    Hint,
    Key,
    TaskGraph,
    describe,
)
from ..callbacks import Observer
from ..events import GraphEnded
from ..storage.spill import SpillFile
from .engine import Engine, Found, remaining
from .records import ABSENT, LocalJob
from .single_handle import Submission

#: Seconds between two looks of a waiting thread at whether others can work for it.
_PATIENCE = 0.5

_NO_HINTS: Mapping[Key, Hint] = {}


class LocalHandle(Submission):
    """The submitter's view of a submission; ``job`` is its record in the state."""

    def __init__(
        self,
        scheduler: LocalScheduler,
        keys: Collection[Key],
        callbacks: Iterable[Callback],
        level: int,
        observer: Observer | None,
    ) -> None:
        super().__init__(keys, callbacks)
        self.job = LocalJob(level=level, owner=self, observed=self.observed, observer=observer)
        # Keeps the scheduler open while this runs, also if the submitter holds only the handle.
        self._scheduler: LocalScheduler | None = scheduler
        self._engine = scheduler._engine
        self._emitting = threading.Lock()

    def wait(self, timeout: float | None = None) -> None:
        """Block until the submission ends and raise its error."""
        deadline = math.inf if timeout is None else time.monotonic() + timeout
        # A thread that runs a task helps instead of waiting: there may be no other thread.
        helps = self._engine.level > 0
        while not helps and not self.done() and (seconds := remaining(deadline)):
            if not self._ended.wait(min(_PATIENCE, seconds)):
                helps = self._engine.neglected(self.job)
        if helps and not self.done():
            self._engine.drive(self.job, None if timeout is None else deadline)
            self._ended.wait(None if timeout is None else remaining(deadline))
        if not self.done():
            raise TimeoutError(f"still running after {timeout} seconds")
        super().wait()

    def cancel(self) -> None:
        """Stop as soon as the running tasks end, and keep no result of the submission."""
        self._engine.cancel(self.job)

    def flush(self) -> None:
        """Call the callbacks with the queued events: in order, from one thread at a time."""
        events = self.job.events
        while events and self._emitting.acquire(blocking=False):
            try:
                while events:
                    event = events.popleft()
                    if isinstance(event, GraphEnded):
                        self.end()
                    else:
                        self.emit(event)
            finally:
                self._emitting.release()

    def end(self) -> None:
        """Wake the waiting threads."""
        job = self.job
        assert job.state is not None
        self._scheduler = None
        job.context = None  # the results stay, and must not keep the variables alive
        self.finish(job.state, job.error, job.failed)


def _value(value: Any, file: SpillFile | None) -> Any:
    """Return a value that leaves the scheduler; spilled values are mapped, not loaded."""
    if value is not ABSENT:
        return value
    assert file is not None
    return file.read()


class LocalScheduler:
    """The common base of the schedulers of one process: the Scheduler protocol over an engine."""

    name = "local"
    capabilities = Capabilities(shared_memory=True, locality=True, observers=True)

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        # The threads refer only to the engine, so an unreferenced scheduler is collected and
        # closed.
        self._finalizer = weakref.finalize(self, _close_in, os.getpid(), engine)

    def _submit(
        self,
        graph: TaskGraph,
        keys: Collection[Key],
        hints: Mapping[Key, Hint] | None,
        callbacks: Iterable[Callback],
        *,
        drive: bool,
    ) -> LocalHandle:
        callbacks = list(callbacks)
        observer = next(
            (callback for callback in callbacks if isinstance(callback, Observer)), None
        )
        if observer is not None:
            callbacks.remove(observer)
            graph = observer.begin(graph, keys)
        # At its own nesting level, a submission of this thread does not wait for others.
        handle = LocalHandle(self, keys, callbacks, self._engine.level + drive, observer)
        try:
            self._engine.submit(graph, handle.keys, hints or _NO_HINTS, handle.job, drive=drive)
        except BaseException:  # the caller gets no handle to release it
            if handle.job.wanted or handle.job.state is not None:
                handle.cancel()
                if handle.state == "done":
                    self.release(handle.keys)
            raise
        return handle

    def gather(self, keys: Sequence[Key]) -> list[Any]:
        with self._still_held(keys) as results:
            return [_value(value, file) for value, file, _ in results]

    def info(self, keys: Sequence[Key]) -> list[ChunkInfo]:
        with self._still_held(keys) as results:
            return [info or describe(_value(value, file)) for value, file, info in results]

    @contextmanager
    def _still_held(self, keys: Sequence[Key]) -> Iterator[list[Found]]:
        """Yield the known facts of results; a missing file raises the error that ended it."""
        try:
            yield self._engine.look(keys)
        except FileNotFoundError:
            self._engine.look(keys)
            raise

    def release(self, keys: Iterable[Key]) -> None:
        self._engine.release(keys)

    def close(self) -> None:
        self._finalizer.detach()
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _close_in(pid: int, engine: Engine) -> None:
    if os.getpid() == pid:  # the threads and files of a forked child belong to its parent
        engine.abandon()
