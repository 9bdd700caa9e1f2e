"""Functions of the user that see whole columns: all rows meet in one task."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import total

from ..rows import empty_rows
from ..schemas.samples import labels_like, sample
from ..whole.calls import refuse_sample
from .fold import Assembly
from .reductions import collection_of


def call_with_columns(
    obj: Any, name: str, func: Any, *args: Any, meta: Any = None, **kwargs: Any
) -> Any:
    """Return what a method of pandas makes of all rows with a function of whole columns.

    A call with a few made-up rows, or with none of none, shows the type of the result, unless
    ``meta`` does.
    """
    like = meta if meta is not None else _guessed(obj.node, name, func, args, kwargs)
    by_column = isinstance(like, pd.Series) and obj.ndim == 2
    rows = len(like) if by_column and meta is None else None
    if isinstance(like, pd.DataFrame | pd.Series):
        like = like.iloc[:0]
    else:
        value, like = like, np.empty((), np.asarray(like).dtype)
        if like.dtype == object:
            like[()] = value
    how = {"name": name, "func": func, "args": args, "kwargs": tuple(kwargs.items())}
    options = tuple(how.items())
    node = Assembly(like, rows, by_column, name, (obj.node,), called, options, typed=False)
    return collection_of(node)


def _guessed(node: Any, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    meta = node.meta
    rows = sample(meta)
    rows = rows.set_axis(labels_like(meta.index), axis=0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if total(node.chunks[0]) == 0:
            with suppress(Exception):  # which is raised when it runs
                return getattr(empty_rows(meta), name)(func, *args, **kwargs)
        try:
            return getattr(rows, name)(func, *args, **kwargs)
        except Exception:  # noqa: BLE001 - of missing or infinite values, which may not be there
            rows = rows.iloc[:1]
        try:
            return getattr(rows, name)(func, *args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever the function raises
            error.add_note(
                f"{name}() called the function with a few rows of the columns' types to find the "
                "type of the result"
            )
            refuse_sample(error)


@kernel(scratch=3.0)
def called(
    block: Any, *, name: str, func: Any, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...]
) -> Any:
    """Call a method of pandas with a function."""
    return getattr(block, name)(func, *args, **dict(kwargs))
