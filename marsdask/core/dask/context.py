"""What Dask says about where to compute: an active client, or ``dask.config``'s scheduler."""

from __future__ import annotations

import sys
from typing import Any

import dask.config

#: Dask's words for "the active client".
_DISTRIBUTED = ("dask.distributed", "distributed")


def ambient() -> Any:
    """Return what Dask would compute on now: a name, a ``get``, a client, ``None`` for no wish."""
    chosen = dask.config.get("scheduler", None)
    if chosen is None or chosen in _DISTRIBUTED:
        return active_client()
    return chosen


def active_client() -> Any:
    """Return Dask's current synchronous client, ``None`` without one."""
    client = current_client()
    usable = client is not None and not client.asynchronous and client.status == "running"
    return client if usable else None


def current_client() -> Any:
    """Return Dask's current client, also to its own event loop, ``None`` without one."""
    # Nobody can have a client without having imported distributed, which costs half a second.
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None
