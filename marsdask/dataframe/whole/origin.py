"""What lazy groups, windows, indexers and accessors are made of.

They are no collections. Each remembers the collection, and the attributes and calls that led to it,
so that pandas's own object can be made of all rows in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple, Self

from marsdask.core.collection import Collection


class Access(NamedTuple):
    """An attribute that is read, and called if there are arguments."""

    name: str
    args: tuple[Any, ...] | None = None
    kwargs: dict[str, Any] | None = None

    def of(self, obj: Any) -> Any:
        """Return the attribute of an object of pandas, or the result of its call."""
        attribute = getattr(obj, self.name)
        return attribute if self.args is None else attribute(*self.args, **(self.kwargs or {}))


class Origin(NamedTuple):
    """A collection, and the accesses that lead from it to an object."""

    source: Any
    accesses: tuple[Access, ...] = ()

    def then(self, access: Access) -> Origin:
        """Return the origin of what another access leads to."""
        return Origin(self.source, (*self.accesses, access))

    def result(self) -> Any:
        """Return the object, where the source is an object of pandas."""
        obj = self.source
        for access in self.accesses:
            obj = access.of(obj)
        return obj


class MadeOfRows:
    """An object that is made of rows and is no collection."""

    __slots__ = ("_origin",)
    _origin: Origin | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return an object whose origin is not known yet."""
        del args, kwargs
        made = super().__new__(cls)
        made._origin = None
        return made

    def __repr__(self) -> str:
        return self._text(repr) or super().__repr__()

    def __str__(self) -> str:
        return self._text(str) or super().__str__()

    def _text(self, form: Callable[[Any], str]) -> str:
        """Return the text of pandas's own object of no rows, if it says more than the class."""
        if self._origin is None:
            return ""
        empty = self._origin._replace(source=self._origin.source.node.meta)
        with suppress(TypeError, ValueError, LookupError, AttributeError, NotImplementedError):
            text = form(empty.result())
            return "" if " object at 0x" in text else text
        return ""


def origin_of(obj: Any) -> Origin | None:
    """Return what an object is made of, ``None`` if that is unknown."""
    if isinstance(obj, Collection):
        return Origin(obj)
    return obj._origin if isinstance(obj, MadeOfRows) else None


def remember(made: Any, obj: Any, access: Access) -> None:
    """Let an object that is no collection remember the access that made it of another one.

    Later changes of a collection in place do not concern its groups and windows, but what indexers
    assign is assigned to the collection itself.
    """
    if not isinstance(made, MadeOfRows) or made._origin is not None:
        return
    is_call = isinstance(obj, Collection) and access.args is not None
    origin = origin_of(copy(obj) if is_call else obj)
    if origin is not None:
        made._origin = origin.then(access)
