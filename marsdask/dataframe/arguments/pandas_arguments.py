"""Arguments of pandas's methods: unknown names, and changes in place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from functools import partial, wraps
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from pandas.api.types import is_dict_like

from marsdask.scheduler.errors import did_you_mean

from .positions import code_of, parameters_of, positions

T = TypeVar("T", bound=type)

_KEYWORDS = inspect.CO_VARKEYWORDS


def checked_arguments(*models: type) -> Callable[[T], T]:
    """Let the methods of a class take ``inplace=``, and refuse names that pandas's do not take.

    ``models`` are the classes of pandas whose methods have the same names.
    """

    def decorate(cls: T) -> T:
        faces: dict[Any, Any] = {}
        for name, member in list(vars(cls).items()):
            if name.startswith("_") or not isinstance(member, FunctionType):
                continue
            theirs = [getattr(model, name, None) for model in models]
            if any(map(code_of, theirs)):
                # Two names of one method stay names of one method.
                face = faces.setdefault(member, _checked(member, name, theirs))
                setattr(cls, name, face)
        return cls

    return decorate


def _checked(method: Any, name: str, models: list[Any]) -> Any:
    own = code_of(method)
    codes = [code for code in map(code_of, models) if code is not None]
    theirs = frozenset[str]().union(*map(parameters_of, codes))
    forwarding = own is not None and bool(own.co_flags & _KEYWORDS)
    anything = not forwarding or any(code.co_flags & _KEYWORDS for code in codes)
    names = theirs if own is None else theirs.union(parameters_of(own))
    in_place = "inplace" in theirs
    tells = own is not None and "inplace" in parameters_of(own)  # its result depends on that
    by_axes = [positions(method, model, name, bound=1) for model in models]

    @wraps(method)
    def face(*args: Any, **kwargs: Any) -> Any:
        changes = False
        places = by_axes[-1 if args and type(args[0]).__name__ == "Series" else 0]
        if places is not None:
            args, kwargs = places.named(args, kwargs)
        if kwargs:
            if in_place and "inplace" in kwargs:
                changes = kwargs["inplace"] if tells else kwargs.pop("inplace")
                check_boolean("inplace", changes)
            if not anything and not kwargs.keys() <= names:
                _refuse_unknown(name, kwargs, names)
        result = method(*args, **kwargs)
        if not changes:
            return result
        _change(name, args[0], result)
        return args[0] if _returns_itself(name, *args, **kwargs) else None

    return face


def _refuse_unknown(name: str, given: Collection[str], known: Collection[str]) -> None:
    for key in given:
        if key not in known:
            hint = did_you_mean(key, sorted(set(known) - set(given)))
            raise TypeError(f"{name}() got an unexpected keyword argument '{key}'{hint}")


def check_names(name: str, given: Collection[str], model: Any) -> None:
    """Raise for names of arguments that a function of pandas does not take."""
    code = code_of(model)
    if code is not None:
        _refuse_unknown(name, given, parameters_of(code))


#: Methods that return the object which they change in place; others return nothing.
RETURNING = {"bfill", "clip", "ffill", "fillna", "interpolate", "mask", "replace", "where"}


def _returns_itself(name: str, obj: Any, /, index: Any = None, *_: Any, **__: Any) -> bool:
    """Tell whether a method returns the object: rename does if it is given a name."""
    if name == "rename" and type(obj).__name__ == "Series":
        return not (callable(index) or is_dict_like(index))
    return name in RETURNING


def _change(name: str, obj: Any, found: Any) -> None:
    """Let an object be the result of its method."""
    if type(found) is not type(obj):
        if name == "eval":
            raise ValueError("Cannot operate inplace if there is no assignment")
        kinds = f"a {type(obj).__name__} to create a {type(found).__name__}"
        raise TypeError(f"Cannot {name} inplace on {kinds}")
    obj._become(found)


def check_no_axes(axes: tuple[Any, ...]) -> None:
    """Raise for axes of what has only one."""
    if any(axis is not None for axis in axes):
        raise ValueError(
            "the 'axes' parameter is not supported in the pandas implementation of transpose()"
        )


def check_boolean(name: str, value: Any, *, none: bool = True) -> None:
    """Raise pandas's error for what is no boolean, nor ``None`` where that may stand for one."""
    if none and value is None:
        return
    if not isinstance(value, bool | np.bool_):
        raise ValueError(
            f'For argument "{name}" expected type bool, received type {type(value).__name__}.'
        )


def called_with(rows: Any, func: Any, args: Any, kwargs: Any) -> Any:
    """Return what a function returns of rows and arguments."""
    return func(rows, *args, **kwargs)


def named_pairs(pairs: dict[str, Any]) -> dict[str, Any]:
    """Return columns and their functions by the name of the result, those with arguments called."""
    named: dict[str, Any] = {}
    kind: Any = pd.NamedAgg
    for name, pair in pairs.items():
        if isinstance(pair, list | tuple):
            named[name] = tuple(pair)
        elif isinstance(pair, kind):
            func = pair.aggfunc
            if pair.args or pair.kwargs:
                func = partial(called_with, func=func, args=pair.args, kwargs=pair.kwargs)
            named[name] = (pair.column, func)
        else:
            named[name] = pair
    return named
