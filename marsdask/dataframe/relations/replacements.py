"""Values put in place of others, and types changed, where values do not decide the type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from .expression import Constant, Expression, FunctionCall, has_gaps, kind_of
from .functions import Operation, Translation, as_term
from .relation import Table


def _arguments(operation: Operation, *names: str) -> dict[str, Any] | None:
    """Return what arguments are called, ``None`` if there are others."""
    _, *values = operation.args
    if len(values) > len(names):
        return None
    kwargs = dict(zip(names, values, strict=False)) | operation.kwargs
    return kwargs if kwargs.keys() <= set(names) else None


def _each(table: Table, function: Callable[[int, Expression], Expression | None]) -> Table:
    """Apply a function to each column that is known and whose type is."""
    columns = tuple(
        None if column is None or has_gaps(column) else function(place, column)
        for place, column in enumerate(table.columns)
    )
    return Table(table.relation, columns, table.labels)


def _is_plain(column: Expression, value: Expression | None) -> bool:
    """Tell whether a value may stand among those of a column without changing its type."""
    if value is None or has_gaps(value):
        return False
    if not isinstance(value, Constant):
        return bool(value.dtype == column.dtype)
    kind = kind_of(column.dtype)
    if column.dtype == np.float64:
        return kind_of(value.dtype) in {"i", "f"}
    if column.dtype == np.int64:
        return kind_of(value.dtype) == "i"
    return kind in "sb" and kind_of(value.dtype) == kind


def fillna(operation: Operation) -> Table | None:
    """Translate ``fillna(value)`` with one value."""
    kwargs = _arguments(operation, "value")
    value = None if kwargs is None else as_term(kwargs.get("value"))
    if not isinstance(value, Constant) or pd.isna(value.value):
        return None

    def filled(_: int, column: Expression) -> Expression | None:
        if kind_of(column.dtype) in "biu":
            return column
        if not _is_plain(column, value):
            return None
        return FunctionCall("fillna", (column, value), column.dtype)

    return _each(operation.args[0], filled)


def chosen(*, kept: bool) -> Translation:
    """Return the translation of ``where`` (values that meet a condition are kept) or ``mask``."""

    def translate(operation: Operation) -> Table | None:
        kwargs = _arguments(operation, "cond", "other")
        if kwargs is None or not isinstance(kwargs.get("cond"), Table):
            return None
        table, condition, other = operation.args[0], kwargs["cond"], kwargs.get("other", np.nan)
        tables = [item for item in (condition, other) if isinstance(item, Table)]
        if any(len(item.columns) != len(table.columns) for item in tables):
            return None

        def choose(place: int, column: Expression) -> Expression | None:
            test = condition.columns[place]
            value = as_term(other.columns[place] if isinstance(other, Table) else other)
            if test is None or kind_of(test.dtype) != "b" or not _is_plain(column, value):
                return None
            pair = (column, value) if kept else (value, column)
            return FunctionCall("choose", (test, *pair), column.dtype)

        return _each(table, choose)

    return translate


def clip(operation: Operation) -> Table | None:
    """Translate ``clip(lower, upper)`` with constant bounds."""
    kwargs = _arguments(operation, "lower", "upper")
    if not kwargs:
        return None
    bounds = [as_term(kwargs.get(name)) for name in ("lower", "upper")]
    numbers = [term.value for term in bounds if isinstance(term, Constant)]
    if len(numbers) != sum(term is not None for term in kwargs.values()) or not numbers:
        return None
    if any(map(pd.isna, numbers)) or numbers != sorted(numbers):
        return None

    def clipped(_: int, column: Expression) -> Expression | None:
        result = column
        for name, limit in zip(("at_least", "at_most"), bounds, strict=True):
            if limit is not None:
                if kind_of(column.dtype) not in "if" or not _is_plain(column, limit):
                    return None
                result = FunctionCall(name, (result, limit), column.dtype)
        return result

    return _each(operation.args[0], clipped)


def astype(operation: Operation) -> Table | None:
    """Translate ``astype`` to int64 and float64, of numbers that fit."""
    kwargs = _arguments(operation, "dtype")
    if kwargs is None or isinstance(kwargs.get("dtype"), dict | pd.Series):
        return None
    dtype: Any = pd.api.types.pandas_dtype(kwargs["dtype"])

    def cast(_: int, column: Expression) -> Expression | None:
        kind = kind_of(column.dtype)
        fits = dtype == np.float64 and kind in "biuf"
        fits |= dtype == np.int64 and (kind in "bi" or (kind == "u" and column.dtype.itemsize < 8))
        return FunctionCall("cast", (column,), dtype) if fits else None

    return _each(operation.args[0], cast)


#: Methods by accessor and name.
REPLACEMENTS: dict[tuple[str | None, str], Translation] = {
    (None, "fillna"): fillna,
    (None, "where"): chosen(kept=True),
    (None, "mask"): chosen(kept=False),
    (None, "clip"): clip,
    (None, "astype"): astype,
}
