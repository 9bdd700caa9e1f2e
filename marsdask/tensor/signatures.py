"""Signatures of functions: their keywords one by one, not ``**kwargs``.

``help()``, editors and the array API's tests of signatures read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Final, TypeVar, cast

__all__ = ["optional", "orders_at", "shows", "with_signature"]

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULTS = {"keepdims": False, "where": True, "ddof": 0}


def optional(names: Iterable[str], *, named: bool = False) -> list[Parameter]:
    """Return optional parameters; ``named`` ones are keyword-only."""
    kind = Parameter.KEYWORD_ONLY if named else Parameter.POSITIONAL_OR_KEYWORD
    return [Parameter(name, kind, default=_DEFAULTS.get(name)) for name in names]


def with_signature(func: F, parameters: Iterable[Parameter]) -> F:
    """Return the function with these parameters in its signature."""
    func.__signature__ = Signature(list(parameters))  # type: ignore[attr-defined]
    return func


def shows(*names: str) -> Callable[[F], F]:
    """Return a decorator that shows keywords in the place of ``**extra``."""

    def decorate(func: F) -> F:
        own = signature(func).parameters.values()
        plain = [parameter for parameter in own if parameter.kind is not Parameter.VAR_KEYWORD]
        return with_signature(func, [*plain, *optional(names, named=True)])

    return decorate


#: What NumPy calls the orders of memory.
ORDERS: Final = frozenset("CFAKcfak")


def orders_at(name: str) -> Callable[[F], F]:
    """Return a decorator that takes NumPy's ``order`` (and ``subok``, ``shape``) by position.

    In that position the function has ``name``, which is never the name of an order.
    """

    def decorate(func: F) -> F:
        place = list(signature(func).parameters).index(name)

        @wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) <= place or not isinstance(args[place], str) or args[place] not in ORDERS:
                return func(*args, **kwargs)
            named = dict(zip(("order", "subok", "shape"), args[place:], strict=False))
            named.pop("subok", None)  # all results are tensors
            return func(*args[:place], **named, **kwargs)

        return cast("F", call)

    return decorate
