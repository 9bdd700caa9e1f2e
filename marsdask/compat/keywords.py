"""Keywords that libraries have given up, or that are Mars's own, and what becomes of them.

A keyword that only had its default is left out, one that has another name is renamed, and one that
chose something else does that. What has no counterpart raises ``NotImplementedError``. A warning
tells what to write today, if that is something else.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final, Protocol


def _is_among(value: Any, values: Sequence[Any]) -> bool:
    return any(value is item or value == item for item in values)


@dataclass(frozen=True)
class LeftOut:
    """A keyword that means nothing with some values."""

    word: str
    values: tuple[Any, ...] = (None,)
    library: str = "pandas"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if not _is_among(value, self.values):
            raise NotImplementedError(f"{name}={value!r} is gone from {self.library}: {self.word}")
        return method(owner, *args, **kwargs)


@dataclass(frozen=True)
class Renamed:
    """A keyword that has another name today."""

    new: str

    @property
    def word(self) -> str:
        return f"use {self.new}="

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        return method(owner, *args, **{**kwargs, self.new: value})


@dataclass(frozen=True)
class Grouped:
    """The level of an index by whose labels to reduce."""

    word: str = "use groupby(level=)"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if value is None:
            return method(owner, *args, **kwargs)
        axis = kwargs.pop("axis", 0)
        if args or axis not in (0, None, "index") or kwargs.pop("skipna", True) is not True:
            raise NotImplementedError(
                f"{name}= with axis= or skipna= is not supported: {self.word}"
            )
        return getattr(owner.groupby(level=value), method.__name__)(**kwargs)


@dataclass(frozen=True)
class Filled:
    """The way to fill missing values."""

    word: str = "use ffill() or bfill()"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        keywords = {key: item for key, item in kwargs.items() if item is not None}
        if value is None:
            return method(owner, *args, **kwargs)
        if "value" in keywords or any(argument is not None for argument in args):
            raise ValueError("Cannot specify both 'value' and 'method'.")
        if value not in _WAYS:
            raise ValueError(f"Invalid fill {name}: {value!r}; use one of {', '.join(_WAYS)}")
        return getattr(owner, _WAYS[value])(**keywords)


_WAYS: Final = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}


@dataclass(frozen=True)
class Ignored:
    """A keyword that changed nothing, whatever its value."""

    word: str = "it had no effect"

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name, value
        return method(owner, *args, **kwargs)


@dataclass(frozen=True)
class Way:
    """A keyword of Mars's that says how to compute: one of some values, without effect."""

    values: tuple[Any, ...] = ()
    """What it may be, anything if there is none."""
    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if self.values and not _is_among(value, self.values):
            choices = ", ".join(map(repr, self.values))
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
        return method(owner, *args, **kwargs)


@dataclass(frozen=True)
class Only:
    """A keyword of Mars's of which some values are not supported."""

    values: tuple[Any, ...]
    instead: str
    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        if not _is_among(value, self.values):
            raise NotImplementedError(f"{name}={value!r} is not supported; {self.instead}")
        return method(owner, *args, **kwargs)


@dataclass(frozen=True)
class Named:
    """A keyword of Mars's that has another name here."""

    new: str
    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        return method(owner, *args, **({} if value is None else {self.new: value}), **kwargs)


@dataclass(frozen=True)
class Typed:
    """The type that the result of a method is converted to."""

    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        result = method(owner, *args, **kwargs)
        return result if value is None else result.astype(value)


@dataclass(frozen=True)
class InSession:
    """The session that computes what a method returns at once."""

    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        rows = owner if value is None else owner.execute(session=value)
        return method(rows, *args, **kwargs)


@dataclass(frozen=True)
class Waits:
    """Whether to wait for the value, or to get a future of it."""

    word: str = ""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        del name
        return method(owner, *args, **kwargs) if value else owner.to_object(wait=False)


class Keyword(Protocol):
    """The fate of an old keyword."""

    @property
    def word(self) -> str:
        """Advice on what to write today; empty if there is nothing else to write."""

    def call(self, method: Any, owner: Any, args: Any, kwargs: Any, name: str, value: Any) -> Any:
        """Call a method whose first argument is ``owner``, without the keyword."""


def taking(
    method: Callable[..., Any], title: str, old: Mapping[str, Keyword], library: str = "pandas"
) -> Callable[..., Any]:
    """Return a method that takes old keywords, one after the other."""
    first = next(iter(inspect.signature(method).parameters))

    @wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [name for name in old if name in kwargs]
        if not given:
            return method(*args, **kwargs)
        for name in given:
            if word := old[name].word:
                words = f"{title}({name}=) is gone from {library}: {word}"
                warnings.warn(words, DeprecationWarning, stacklevel=2)
        if not args and first in kwargs:
            args = (kwargs.pop(first),)
        return apply(given, *args, **kwargs)

    def apply(given: Sequence[str], self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not given:
            return method(self, *args, **kwargs)
        name, *rest = given
        value = kwargs.pop(name)
        following = wraps(method)(partial(apply, rest))
        return old[name].call(following, self, args, kwargs, name, value)

    return call
