"""Results by key with reference counts, for schedulers that keep them in this process."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from ..base import Key

T = TypeVar("T")


class ReferenceTable(Generic[T]):
    """A table with one entry for each reference of a key.

    :meth:`release` never waits for a lock, because a finalizer may call it on a thread that holds
    any lock. It drops the rest when the lock is released.
    """

    def __init__(self, drop: Callable[[T], object] | None = None) -> None:
        self._entries: dict[Key, list[T]] = {}
        self._released: deque[Key] = deque()
        self._lock = threading.Lock()
        self._drop = drop

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[dict[Key, list[T]]]:
        """Lock the table for one thread."""
        try:
            with self._lock:
                self._drop_released()
                yield self._entries
        finally:
            self._settle()

    def get(self, keys: Sequence[Key]) -> list[T]:
        """Return an entry of each key; ``KeyError`` names a missing key."""
        with self.exclusive() as entries:
            return [entries[key][-1] for key in keys]

    def held(self, keys: Sequence[Key]) -> list[T]:
        """Do the same without the lock, for who holds the keys: within :meth:`exclusive`, too."""
        return [self._entries[key][-1] for key in keys]

    def add(self, key: Key, entry: T) -> None:
        """Add a reference; only within :meth:`exclusive`."""
        self._entries.setdefault(key, []).append(entry)

    def release(self, keys: Iterable[Key]) -> None:
        """Drop one reference of each key, now or very soon; unknown keys are ignored."""
        self._released.extend(keys)
        self._settle()

    def clear(self) -> None:
        """Drop every reference."""
        with self.exclusive() as entries:
            everything = [key for key, references in entries.items() for _ in references]
        self.release(everything)

    def _settle(self) -> None:
        while self._released and self._lock.acquire(blocking=False):
            try:
                self._drop_released()
            finally:
                self._lock.release()

    def _drop_released(self) -> None:
        while self._released:
            key = self._released.popleft()
            references = self._entries.get(key)
            if references:
                entry = references.pop()
                if not references:
                    del self._entries[key]
                if self._drop is not None:
                    self._drop(entry)
