"""Which collection wraps which chunks, and the functions of their family for the core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .collection import Collection

_CLASSES: dict[type, type[Collection]] = {}


def register_collection(meta_type: type, kind: type[Collection]) -> None:
    """Register the collection of nodes whose meta is of ``meta_type``."""
    _CLASSES[meta_type] = kind


def class_of(meta: Any) -> type[Collection]:
    """Return the collection for nodes with this meta."""
    for kind in type(meta).__mro__:
        if kind in _CLASSES:
            return _CLASSES[kind]
    raise TypeError(f"no collection holds {type(meta).__name__} chunks")


_PACKAGES: dict[str, Callable[[], Any]] = {}


def register_package(name: str, load: Callable[[], Any]) -> None:
    """Register the import of a package that lower packages need at run time."""
    _PACKAGES[name] = load


def package(name: str) -> Any:
    """Import a registered package and return it."""
    return _PACKAGES[name]()
