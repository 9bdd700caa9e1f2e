"""Dask's current scheduler: an active client, or ``dask.config``'s scheduler."""

from __future__ import annotations

import sys
from typing import Any

import dask.config

#: Dask's names for "the active client".
_DISTRIBUTED = ("dask.distributed", "distributed")


def ambient() -> Any:
    """Return Dask's scheduler: a name, a ``get``, a client, or ``None`` if not configured."""
    scheduler = dask.config.get("scheduler", None)
    if scheduler is None or scheduler in _DISTRIBUTED:
        return active_client()
    return scheduler


def active_client() -> Any:
    """Return Dask's current synchronous client, ``None`` without one."""
    client = current_client()
    usable = client is not None and not client.asynchronous and client.status == "running"
    return client if usable else None


def current_client() -> Any:
    """Return Dask's current client, also to its own event loop, ``None`` without one."""
    # A client requires that distributed is imported, which takes half a second.
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def is_future(value: Any) -> bool:
    """Tell whether a value is a Future of a cluster."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(value, distributed.Future)
