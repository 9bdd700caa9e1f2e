"""A scheduler that runs everything at once and remembers what was asked of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from marsdask.core.session import Session
from marsdask.scheduler.base import ChunkInfo, Handle, Hint
from marsdask.scheduler.inprocess.inline import InlineScheduler


class RecordingScheduler:
    """Counts tasks, references and bytes gathered; runs ``before()`` at each submit."""

    name = "recording"
    capabilities = InlineScheduler.capabilities

    def __init__(self, before: Callable[[], object] = int) -> None:
        self.inner = InlineScheduler()
        self.tasks = 0
        self.held: Counter[Any] = Counter()
        self.gathered = 0
        self.closed = False
        self.before = before

    def submit(
        self,
        graph: Mapping[Any, Any],
        keys: Collection[Any],
        *,
        hints: Mapping[Any, Hint] | None = None,
        callbacks: Iterable[Any] = (),
    ) -> Handle:
        self.before()
        self.tasks += len(graph)
        handle = self.inner.submit(graph, keys, hints=hints, callbacks=callbacks)
        if handle.failed is None:
            self.held.update(keys)
        return handle

    def gather(self, keys: Sequence[Any]) -> list[Any]:
        values = self.inner.gather(keys)
        self.gathered += sum(getattr(value, "nbytes", 0) for value in values)
        return values

    def info(self, keys: Sequence[Any]) -> list[ChunkInfo]:
        return self.inner.info(keys)

    def release(self, keys: Iterable[Any]) -> None:
        keys = list(keys)
        self.held.subtract(keys)
        self.inner.release(keys)

    def close(self) -> None:
        self.closed = True
        self.inner.close()

    @property
    def results(self) -> set[Any]:
        """The keys that are held."""
        assert all(count >= 0 for count in self.held.values()), "released more often than held"
        return set(+self.held)


@contextmanager
def recording_session(before: Callable[[], object] = int) -> Iterator[tuple[Session, Any]]:
    """Give a session that is the default one, and its recording scheduler."""
    scheduler = RecordingScheduler(before)
    with Session(scheduler) as session:
        yield session, scheduler
