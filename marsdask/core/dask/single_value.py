"""One value that Dask computes: of a Delayed, a bag, an array, or of a Future."""

from __future__ import annotations

from typing import Any

from dask.base import is_dask_collection
from dask.delayed import Delayed, delayed

from .context import is_future
from .source import DaskGraph, FromDask


def foreign_value(value: Any, meta: Any) -> FromDask | None:
    """Return the node of a foreign collection's value, ``None`` for what needs no computing."""
    if is_future(value):
        return _single(value.key, {value.key: value}, meta)
    if not is_dask_collection(value):
        return None
    lazy = value if isinstance(value, Delayed) else delayed(value)
    return _single(lazy.key, lazy, meta)


def _single(key: Any, source: Any, meta: Any) -> FromDask:
    return FromDask(f"value-{key}", meta, (), DaskGraph(source), {(): key})
