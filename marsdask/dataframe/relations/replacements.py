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
    _, *rest = operation.args
    if len(rest) > len(names):
        return None
    given = dict(zip(names, rest, strict=False)) | operation.kwargs
    return given if given.keys() <= set(names) else None


def _each(table: Table, function: Callable[[int, Expression], Expression | None]) -> Table:
    """Apply a function to each column that is known and whose type is."""
    columns = tuple(
        None if one is None or has_gaps(one) else function(place, one)
        for place, one in enumerate(table.columns)
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
    given = _arguments(operation, "value")
    value = None if given is None else as_term(given.get("value"))
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
        given = _arguments(operation, "cond", "other")
        if given is None or not isinstance(given.get("cond"), Table):
            return None
        table, condition, other = operation.args[0], given["cond"], given.get("other", np.nan)
        tables = [one for one in (condition, other) if isinstance(one, Table)]
        if any(len(one.columns) != len(table.columns) for one in tables):
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
    given = _arguments(operation, "lower", "upper")
    if not given:
        return None
    bounds = [as_term(given.get(name)) for name in ("lower", "upper")]
    numbers = [one.value for one in bounds if isinstance(one, Constant)]
    if len(numbers) != sum(one is not None for one in given.values()) or not numbers:
        return None
    if any(map(pd.isna, numbers)) or numbers != sorted(numbers):
        return None

    def clipped(_: int, column: Expression) -> Expression | None:
        found = column
        for name, bound in zip(("at_least", "at_most"), bounds, strict=True):
            if bound is not None:
                if kind_of(column.dtype) not in "if" or not _is_plain(column, bound):
                    return None
                found = FunctionCall(name, (found, bound), column.dtype)
        return found

    return _each(operation.args[0], clipped)


def astype(operation: Operation) -> Table | None:
    """Translate ``astype`` to int64 and float64, of numbers that fit."""
    given = _arguments(operation, "dtype")
    if given is None or isinstance(given.get("dtype"), dict | pd.Series):
        return None
    wanted: Any = pd.api.types.pandas_dtype(given["dtype"])

    def cast(_: int, column: Expression) -> Expression | None:
        kind = kind_of(column.dtype)
        fits = wanted == np.float64 and kind in "biuf"
        fits |= wanted == np.int64 and (kind in "bi" or (kind == "u" and column.dtype.itemsize < 8))
        return FunctionCall("cast", (column,), wanted) if fits else None

    return _each(operation.args[0], cast)


#: Methods by accessor and name.
REPLACEMENTS: dict[tuple[str | None, str], Translation] = {
    (None, "fillna"): fillna,
    (None, "where"): chosen(kept=True),
    (None, "mask"): chosen(kept=False),
    (None, "clip"): clip,
    (None, "astype"): astype,
}
