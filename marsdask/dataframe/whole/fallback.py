"""Public methods and functions that pandas answers where they have no way by chunks."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from types import FunctionType
from typing import Any, TypeVar

import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from marsdask.core.collection import Collection
from marsdask.core.config import options
from marsdask.core.public import OPERATORS, REFLECTED

from ..arguments.positions import in_positions_of
from .calls import called_by_pandas, falls_back, function_by_pandas, set_by_pandas
from .missing_names import UnsupportedNameError, missing_name
from .object_types import with_types_for
from .origin import Access, remember

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])

#: Whether a public method or function is at work: only the one that the user calls falls back.
_at_work: ContextVar[bool] = ContextVar("marsdask_frame_call", default=False)

#: What runs functions of the user with lazy objects raises as it is.
EXCEPTIONS = {"pipe"}

#: Methods that return another form of the rows; others of that prefix write files.
CONVERSIONS = {"to_frame", "to_list", "to_numpy", "to_period", "to_series", "to_timestamp"}

#: The classes whose properties are those of all rows.
MODELS = (pd.DataFrame, pd.Series, pd.Index, DataFrameGroupBy)

#: Other methods that Python calls for the user.
SPECIAL = OPERATORS | REFLECTED | {"__call__", "__iter__"}


def with_fallback(cls: C) -> C:
    """Let pandas answer what the public methods and properties of a class refuse."""
    faces: dict[Any, Any] = {}
    for name, member in list(vars(cls).items()):
        if (name.startswith("_") and name not in SPECIAL) or name in EXCEPTIONS:
            continue
        if isinstance(member, FunctionType):
            if name.startswith("to_") and name not in CONVERSIONS:
                continue
            # Two names of one method stay names of one method.
            setattr(cls, name, faces.setdefault(member, _method(member, name)))
        elif isinstance(member, property) and any(hasattr(model, name) for model in MODELS):
            setattr(cls, name, _property(member, name))
    return cls


def function_with_fallback(func: F) -> F:
    """Let the function of pandas of that name answer what a function refuses."""

    @wraps(func)
    def face(*args: Any, **kwargs: Any) -> Any:
        def fall_back(refusal: NotImplementedError) -> Any:
            return function_by_pandas(func.__name__, args, kwargs, refusal)

        return _tried(func, func.__name__, args, kwargs, fall_back)

    return in_positions_of(getattr(pd, func.__name__, None))(face)  # type: ignore[return-value]


def missing_attribute(obj: Any, name: str, theirs: type, way: str) -> Any:
    """Return pandas's method or property of a name that an object does not have.

    ``theirs`` is the class of pandas that may have it, ``way`` what to use where it is not called.
    """
    error = missing_name(obj, name, theirs, way)
    if not isinstance(error, UnsupportedNameError) or not falls_back(obj) or _at_work.get():
        raise error
    member = getattr(theirs, name)
    if isinstance(member, type):
        getattr(obj.node.meta, name)  # raises for other types at once, as in pandas
    if not callable(member) or isinstance(member, type):
        return called_by_pandas(obj, Access(name), error)

    def call(*args: Any, **kwargs: Any) -> Any:
        return called_by_pandas(obj, Access(name, args, kwargs), error)

    call.__name__ = name
    return call


def _tried(func: Any, name: str, args: Any, kwargs: Any, fall_back: Callable[..., Any]) -> Any:
    if _at_work.get():
        return func(*args, **kwargs)
    token = _at_work.set(True)
    try:
        return func(*args, **kwargs)
    except NotImplementedError as error:
        refusal = error
    except TypeError as error:
        if not _lacks_parameter(func, name, args, kwargs):
            raise
        refusal = NotImplementedError(str(error))
    finally:
        _at_work.reset(token)
    return fall_back(refusal)


def _lacks_parameter(func: Any, name: str, args: Any, kwargs: Any) -> bool:
    """Tell whether pandas's function of that name takes arguments that ours does not take."""
    if options.dataframe.whole == "error" or _takes(func, args, kwargs):
        return False
    owner = type(args[0].node.meta) if args and isinstance(args[0], Collection) else pd
    theirs = getattr(owner, name, None)
    return theirs is not None and _takes(theirs, args, kwargs)


def _takes(func: Any, args: Any, kwargs: Any) -> bool:
    try:
        signature(func).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return False
    return True


def _method(method: Any, name: str) -> Any:
    @wraps(method)
    def face(*args: Any, **kwargs: Any) -> Any:
        if _at_work.get():
            return method(*args, **kwargs)
        obj, *rest = args
        obj, access = with_types_for(obj, Access(name, tuple(rest), kwargs))

        def fall_back(refusal: NotImplementedError) -> Any:
            if isinstance(obj, Collection) and not hasattr(obj.node.meta, name):
                raise refusal  # the method is Dask's or Mars's
            return called_by_pandas(obj, access, refusal)

        result = _tried(method, name, (obj, *(access.args or ())), kwargs, fall_back)
        remember(result, obj, access)
        return result

    return face


def _property(member: property, name: str) -> property:
    access = Access(name)

    def get(obj: Any) -> Any:
        def fall_back(refusal: NotImplementedError) -> Any:
            return called_by_pandas(obj, access, refusal)

        result = _tried(member.fget, name, (obj,), {}, fall_back)
        remember(result, obj, access)
        return result

    def put(obj: Any, value: Any) -> None:
        def fall_back(refusal: NotImplementedError) -> None:
            set_by_pandas(obj, name, value, refusal)

        _tried(member.fset, name, (obj, value), {}, fall_back)

    return property(
        wraps(member.fget)(get) if member.fget else None,
        wraps(member.fset)(put) if member.fset else None,
        member.fdel,
        member.__doc__,
    )
