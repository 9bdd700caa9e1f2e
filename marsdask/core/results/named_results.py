"""Collections that execute together, under the names of a namedtuple."""

from __future__ import annotations

from functools import cache
from operator import itemgetter
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class NamedItems(Protocol):
    """A namedtuple: items with names, and a way to make another."""

    _fields: tuple[str, ...]

    def _make(self, iterable: Any) -> Any:
        """Return one with other items."""


@cache
def named_kind(kind: Any, base: type) -> type:
    """Return the class ``base`` with the names of a namedtuple's class, whose values are fetched.

    Examples
    --------
    >>> from collections import namedtuple
    >>> named_kind(namedtuple("Both", "a b"), tuple)((1, 2))
    Both(a=1, b=2)
    """
    fields: tuple[str, ...] = kind._fields

    def text(self: Any) -> str:
        items = (f"{name}={item!r}" for name, item in zip(fields, self, strict=True))
        return f"{kind.__name__}({', '.join(items)})"

    def reduced(self: Any) -> Any:
        return base, (kind(*self),)

    members = {name: property(itemgetter(place)) for place, name in enumerate(fields)}
    own = {"_fields": fields, "_make": kind._make, "__repr__": text, "__reduce__": reduced}
    return type(kind.__name__, (base,), {"__slots__": (), **own, **members})
