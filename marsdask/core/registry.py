"""Which collection wraps which chunks, and what the core has to ask of their family."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .collection import Collection

_CLASSES: dict[type, type[Collection]] = {}


def register_collection(meta_type: type, kind: type[Collection]) -> None:
    """Say which collection wraps nodes whose meta is of ``meta_type``."""
    _CLASSES[meta_type] = kind


def class_of(meta: Any) -> type[Collection]:
    """Return the collection for nodes with this meta."""
    for kind in type(meta).__mro__:
        if kind in _CLASSES:
            return _CLASSES[kind]
    raise TypeError(f"no collection holds {type(meta).__name__} chunks")


_MUTABLE: list[Callable[..., Any]] = []


def register_mutable(maker: Callable[..., Any]) -> None:
    """Say what makes the arrays that a session lets be written in place."""
    _MUTABLE[:] = [maker]


def mutable(*args: Any) -> Any:
    """Make an array that is written in place."""
    if not _MUTABLE:
        # By name: the core imports nothing that stands on it.
        importlib.import_module("marsdask.tensor")
    return _MUTABLE[0](*args)
