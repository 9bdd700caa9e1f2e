"""The keyword that was meant, in the errors of what users call: Python 3.13 names it by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, TypeVar

from marsdask.scheduler.errors import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T", bound=type)

_UNEXPECTED = re.compile(
    r"^(?:([\w.]+)\(\) )?got an unexpected keyword argument '(\w+)'(\. Did you mean '\w+'\?)?$"
)

#: How a name ends that says what a function is for, after whose it is.
_ROLE = re.compile(r"\.(__init__|node)$")


class HandsOn:
    """An object whose methods hand keywords on to those of another, of the same names."""

    __slots__ = ()

    def _taker(self, name: str) -> Any:
        """Return the method that a method hands its keywords on to."""
        del name


def suggesting(func: F) -> F:
    """Return a function whose error about a keyword names the one that was meant."""

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except TypeError as error:
            suggest(error, func, args, kwargs)
            raise

    return face  # type: ignore[return-value]


def suggesting_methods(cls: T) -> T:
    """Make the public methods of a class, and its constructor, name the keyword that was meant."""
    for name, func in list(vars(cls).items()):
        if isinstance(func, FunctionType) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, suggesting(func))
    return cls


def check_keywords(given: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuse a keyword that is not known; the face says of which function."""
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise TypeError(f"got an unexpected keyword argument {name!r}{hint}")


def suggest(
    error: TypeError, func: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]
) -> None:
    """Say in an error about a keyword of a call which function took it and what was meant."""
    match = _UNEXPECTED.match(str(error))
    if match is None or match[2] not in given:
        return
    title = (match[1] or "").rpartition(".")[2]
    if not title or title.startswith("_"):
        title = _ROLE.sub("", func.__qualname__).rpartition(".")[2]
    names = [name for name in _known(func, args) if name not in given]
    hint = did_you_mean(match[2], names) or match[3] or ""
    error.args = (f"{title}() got an unexpected keyword argument {match[2]!r}{hint}",)


def _known(func: Callable[..., Any], args: tuple[Any, ...]) -> Iterator[str]:
    """List the keywords of a function, with those of the pandas method it hands them on to."""
    own = signature(func).parameters.values()
    yield from (parameter.name for parameter in own if parameter.kind not in _STARRED)
    if args and any(parameter.kind is Parameter.VAR_KEYWORD for parameter in own):
        method = args[0]._taker(func.__name__) if isinstance(args[0], HandsOn) else None
        if isinstance(method, FunctionType):
            yield from list(signature(method).parameters)[1:]


_STARRED = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD, Parameter.POSITIONAL_ONLY)
