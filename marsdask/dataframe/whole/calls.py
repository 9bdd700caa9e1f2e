"""One call of pandas with all rows: the last resort of what has no way by chunks."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import pandas as pd

from marsdask.core.arguments import with_values
from marsdask.core.call_site import caller
from marsdask.core.collection import rebind
from marsdask.core.config import options
from marsdask.scheduler.errors import MemoryBudgetError, ResultsTooLarge

from .origin import Access, Origin, origin_of
from .results import from_rows, lazy_result

#: Methods that change the object itself, as setters do.
IN_PLACE = {"__setitem__", "__delitem__", "insert", "isetitem", "pop", "update"}

#: What was warned of already.
_warned: set[str] = set()


def refuse_sample(error: Exception) -> NoReturn:
    """Refuse a function of the user that fails for a made-up row, if pandas may have all rows.

    These may be others. Raise the error itself if pandas must not have them.
    """
    if options.dataframe.whole == "error" or isinstance(error, NotImplementedError):
        raise error
    raise NotImplementedError(*getattr(error, "__notes__", [])) from error


def falls_back(obj: Any) -> bool:
    """Tell whether pandas is called for what an object has no way for."""
    return options.dataframe.whole != "error" and origin_of(obj) is not None


def called_by_pandas(obj: Any, access: Access, refusal: NotImplementedError) -> Any:
    """Return the result of pandas's method, which has all rows, or raise why there is no other.

    It runs at once: only values tell the types of what pandas returns.
    """
    origin = origin_of(obj)
    name = access.name
    if origin is None or options.dataframe.whole == "error":
        raise refusal
    _warn(f"{type(obj).__name__}.{name}", refusal)
    if access.kwargs and "inplace" in access.kwargs:  # the public method changes the object
        access = access._replace(kwargs={**access.kwargs, "inplace": False})
    (source, accesses), call = _in_memory((origin, access), refusal)
    owner = Origin(source, accesses).result()
    if not hasattr(owner, name):
        raise refusal
    result = call.of(owner)
    if name in IN_PLACE:
        rebind(origin.source, from_rows(source).node)
    return result if result is None else lazy_result(result, name)


def set_by_pandas(obj: Any, name: str, value: Any, refusal: NotImplementedError) -> None:
    """Set an attribute of all rows, as pandas does, or raise why there is no other way."""
    if options.dataframe.whole == "error":
        raise refusal
    _warn(f"{type(obj).__name__}.{name}", refusal)
    rows, value = _in_memory((obj, value), refusal)
    setattr(rows, name, value)
    rebind(obj, from_rows(rows).node)


def function_by_pandas(name: str, args: Any, kwargs: Any, refusal: NotImplementedError) -> Any:
    """Return the result of a function of pandas with all rows, or raise why there is no other."""
    if options.dataframe.whole == "error":
        raise refusal
    _warn(name, refusal)
    args, kwargs = _in_memory((args, kwargs), refusal)
    return lazy_result(getattr(pd, name)(*args, **kwargs), name)


def _in_memory(arguments: Any, refusal: NotImplementedError) -> Any:
    """Return arguments with the values of lazy objects."""
    try:
        return with_values(arguments)
    except (MemoryBudgetError, ResultsTooLarge) as error:
        error.add_note(f"pandas needs all rows at once: {refusal}")
        raise


def _warn(name: str, refusal: NotImplementedError) -> None:
    """Warn once of a function, with the line of the user that calls it."""
    if options.dataframe.whole != "warn" or name in _warned:
        return
    _warned.add(name)
    text = f"pandas computes {name}() from all rows at once: {refusal}"
    site = caller()
    where = ("<unknown>", 1) if site is None else (site.code.co_filename, site.lineno)
    warnings.warn_explicit(text, pd.errors.PerformanceWarning, *where)
