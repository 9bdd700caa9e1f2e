"""Values that travel from worker to worker as a note of where they lie.

The note takes the value's place in the answer that distributed sends, and turns into the value when
the receiver reads that answer, whatever the receiver is. Only who sends notes has to know of them.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..storage.shared_handle import SharedHandle

_lock = threading.Lock()
#: What has come and was not claimed yet, by its memory: the value's identity and where it lies.
_unclaimed: weakref.WeakKeyDictionary[Any, tuple[int, SharedHandle]] = weakref.WeakKeyDictionary()


class Arriving:
    """A value that another process of this host opens instead of being sent it."""

    def __init__(self, handle: SharedHandle) -> None:
        self.handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, (self.handle,)


def _arrive(handle: SharedHandle) -> Any:
    """Open the value, or copy it where descriptors are scarce.

    Raises ``OSError`` if that fails, which distributed takes for a lost connection: it asks again.
    """
    opened = handle.open()
    scarce = opened.scarce
    opened.close()
    if scarce:
        return opened.copied()
    with _lock:
        _unclaimed[opened.mapping] = id(opened.value), handle
    return opened.value


def claim(value: Any) -> SharedHandle | None:
    """Return where a value lies that has come just now, ``None`` for any other; tell it once."""
    with _lock:
        for mapping, (identity, handle) in _unclaimed.items():
            if identity == id(value):
                del _unclaimed[mapping]
                return handle
    return None
