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


_SEALS: dict[type, Callable[[Any], Any]] = {}


def register_seal(meta_type: type, seal: Callable[[Any], Any]) -> None:
    """Register what makes a meta of ``meta_type`` one that nobody can write to."""
    _SEALS[meta_type] = seal


def sealed(meta: Any) -> Any:
    """Return a meta that nodes can share: objects that could be written to are sealed copies."""
    seal = _SEALS.get(type(meta))
    return meta if seal is None else seal(meta)


_PACKAGES: dict[str, Callable[[], Any]] = {}


def register_package(name: str, load: Callable[[], Any]) -> None:
    """Register the import of a package that lower packages need at run time."""
    _PACKAGES[name] = load


def package(name: str) -> Any:
    """Import a registered package and return it."""
    return _PACKAGES[name]()
