"""Values that one worker sends to another as a handle to shared memory.

The handle replaces the value in distributed's response. It becomes the value when the receiver
unpickles the response, so only the sender needs this module.
"""

from __future__ import annotations

import weakref
from typing import Any

from ..storage.shared_handle import SharedHandle

#: Received values that are not claimed yet, by identity; forgotten with their memory.
_unclaimed: dict[int, tuple[SharedHandle, weakref.finalize[Any, Any]]] = {}


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
    try:
        if opened.scarce:
            return opened.copied()
        value = opened.value
    finally:
        opened.close()
    identity = id(value)
    forget = weakref.finalize(opened.memory, _unclaimed.pop, identity, None)
    forget.atexit = False
    _unclaimed[identity] = handle, forget
    return value


def claim(value: Any) -> SharedHandle | None:
    """Return and forget the handle of a value that was just received, else ``None``."""
    arrived = _unclaimed.pop(id(value), None)
    if arrived is None:
        return None
    handle, forget = arrived
    forget.detach()
    return handle
