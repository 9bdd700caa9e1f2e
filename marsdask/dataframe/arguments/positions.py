"""ArgumentPositions of arguments: those of pandas, whichever order and names our functions have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from itertools import takewhile
from types import CodeType
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


def code_of(func: Any) -> CodeType | None:
    """Return the code of a function, without its decorators; classes and built-ins have none."""
    return getattr(inspect.unwrap(func), "__code__", None) if callable(func) else None


def parameters_of(code: CodeType) -> tuple[str, ...]:
    """Return the names of all parameters of a function."""
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


@dataclass(frozen=True)
class ArgumentPositions:
    """What the arguments of a function are by their positions in pandas's function of that name.

    ``bound`` is one for methods, whose first argument is the object.
    """

    name: str
    own: tuple[str, ...]
    theirs: tuple[str, ...]
    shared: int
    ignores_copy: bool
    bound: int

    def named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return arguments for our function; those of other positions are named."""
        values = args[self.bound :]
        first = self.theirs[0] if self.theirs else ""
        if not values and first in kwargs and first not in self.own:
            kwargs = dict(kwargs)
            values = (kwargs.pop(first),)
        if self.shared < len(values) <= len(self.theirs):
            names = self.theirs[self.shared : len(values)]
            twice = [name for name in names if name in kwargs]
            if twice:
                raise TypeError(f"{self.name}() got multiple values for argument {twice[0]!r}")
            kwargs = {**kwargs, **dict(zip(names, values[self.shared :], strict=True))}
            values = values[: self.shared]
        if self.ignores_copy and "copy" in kwargs:  # pandas ignores it, too
            kwargs = {name: value for name, value in kwargs.items() if name != "copy"}
        return (*args[: self.bound], *values), kwargs


def positions(
    own: Callable[..., Any], theirs: Any, name: str, *, bound: int
) -> ArgumentPositions | None:
    """Return what to do with the arguments of our function, ``None`` if that is nothing."""
    mine, other = code_of(own), code_of(theirs)
    if mine is None or other is None:
        return None
    if (mine.co_flags | other.co_flags) & inspect.CO_VARARGS:
        return None
    names = mine.co_varnames[bound : mine.co_argcount]
    model = other.co_varnames[bound : other.co_argcount]
    # The first argument may have another name here.
    renamed = bool(names and model) and names[0] not in parameters_of(other)
    shared = int(renamed) + _alike(names[renamed:], model[renamed:])
    lacks_copy = "copy" in parameters_of(other) and "copy" not in parameters_of(mine)
    if shared == len(model) and not lacks_copy and not renamed:
        return None
    ignores_copy = lacks_copy and not mine.co_flags & inspect.CO_VARKEYWORDS
    return ArgumentPositions(name, parameters_of(mine), model, shared, ignores_copy, bound)


def _alike(names: tuple[str, ...], model: tuple[str, ...]) -> int:
    """Return how many names at the beginning are equal."""
    pairs = zip(names, model, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def in_positions_of(theirs: Any) -> Callable[[F], F]:
    """Let a function take its arguments in the positions of pandas's function."""

    def decorate(func: F) -> F:
        places = positions(func, theirs, func.__name__, bound=0)
        if places is None:
            return func

        @wraps(func)
        def face(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = places.named(args, kwargs)
            return func(*args, **kwargs)

        return cast("F", face)

    return decorate
