"""Values that one worker sends to another as a handle to shared memory.

The handle replaces the value in distributed's response. It becomes the value when the receiver
unpickles the response, so only the sender needs this module.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ..storage.shared_handle import SharedHandle

_lock = threading.Lock()
#: Received values that are not claimed yet: {mapping: (identity of the value, handle)}.
_unclaimed: weakref.WeakKeyDictionary[Any, tuple[int, SharedHandle]] = weakref.WeakKeyDictionary()


class SharedTransfer:
    """A value that its receiver, another process of this host, opens in shared memory."""

    def __init__(self, handle: SharedHandle) -> None:
        self.handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return _arrive, (self.handle,)


def _arrive(handle: SharedHandle) -> Any:
    """Open the value, or copy it if descriptors are scarce.

    Raises ``OSError`` if that fails. distributed treats this as a lost connection and repeats the
    request.
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
    """Return and forget the handle of a value that was just received, else ``None``."""
    with _lock:
        for mapping, (identity, handle) in _unclaimed.items():
            if identity == id(value):
                del _unclaimed[mapping]
                return handle
    return None
