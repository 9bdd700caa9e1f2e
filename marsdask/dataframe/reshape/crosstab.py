"""Tables of how often values occur together."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.collection import Collection
from marsdask.core.public import public_call

from ..create import from_pandas
from ..elementwise.rowwise import renamed, rowwise
from ..rows import levels_in, with_level_types
from ..whole.fallback import function_with_fallback
from .concat import concat
from .conversions import of_memory

if TYPE_CHECKING:
    from ..frame import DataFrame


@public_call
@function_with_fallback
def crosstab(
    index: Any,
    columns: Any,
    values: Any = None,
    rownames: Any = None,
    colnames: Any = None,
    aggfunc: Any = None,
    margins: bool = False,
    margins_name: Hashable = "All",
    dropna: bool = True,
    normalize: Any = False,
) -> DataFrame:
    """Count how often values of some columns occur together. See pandas.crosstab.

    Computes the groups at the call. With ``values`` it aggregates these; margins of them are not
    supported.
    """
    arguments = {"values": values, "rownames": rownames, "colnames": colnames, "aggfunc": aggfunc}
    arguments |= {"margins": margins, "margins_name": margins_name}
    arguments |= {"dropna": dropna, "normalize": normalize}
    if not any(isinstance(x, Collection) for x in (*_several(index), *_several(columns), values)):
        of_values: DataFrame = of_memory("crosstab", index, columns, **arguments)
        return of_values
    rows, cols = _listed(index), _listed(columns)
    _check(cols, values, aggfunc, margins=margins, dropna=dropna)
    keys = [*rows, *cols]
    parts = [*keys, *([] if values is None else [values])]
    series: list[Any] = [rowwise(renamed, part, name=at) for at, part in enumerate(parts)]
    frame: Any = concat(series, axis=1, join="inner")
    groups = frame.groupby(list(range(len(keys))), dropna=dropna)
    sizes = groups.size() if values is None else groups[len(keys)].agg(aggfunc)
    counts = sizes.compute()
    names = {"rownames": _names(rows, rownames, "row"), "colnames": _names(cols, colnames, "col")}
    totals = {"values": counts.array, "aggfunc": "sum" if values is None else "first"}
    options: dict[str, Any] = arguments | names | totals
    labels: list[Any] = levels_in(counts.index)
    table: Any = pd.crosstab(labels[: len(rows)], labels[len(rows) :], **options)
    if not margins or len(rows) > 1:  # pandas joins labels with that of margins
        table.index = _as_objects(table.index, labels[: len(rows)])
    table.columns = _as_objects(table.columns, labels[len(rows) :])
    if values is None and normalize is False:
        table = table.fillna(0).astype("int64")
    result: DataFrame = from_pandas(table)
    return result


def _check(others: list[Any], values: Any, aggfunc: Any, *, margins: bool, dropna: bool) -> None:
    """Raise for arguments that do not fit."""
    if values is None and aggfunc is not None:
        raise ValueError("aggfunc cannot be used without values.")
    if values is not None and aggfunc is None:
        raise ValueError("values cannot be used without an aggfunc.")
    if values is not None and margins:
        raise NotImplementedError(
            "crosstab(values=, margins=True) is not supported; use pivot_table(margins=True)"
        )
    times = any(column.node.meta.dtype.kind in "mM" for column in others)
    if margins and (not dropna or (times and len(others) > 1)):
        raise NotImplementedError(
            "crosstab(margins=True, dropna=False), or of times among several columns, is not "
            "supported; use margins=False"
        )


def _as_objects(index: Any, keys: list[Any]) -> Any:
    """Return labels that are objects where the keys are: values that are left out tell so."""
    types = {at: key.dtype for at, key in enumerate(keys) if key.dtype == object}
    return index.astype(object) if types and len(keys) == 1 else with_level_types(index, types)


def _several(keys: Any) -> list[Any]:
    return list(keys) if isinstance(keys, list | tuple) else [keys]


def _listed(keys: Any) -> list[Any]:
    """Return the columns to count by."""
    columns = _several(keys)
    for column in columns:
        if not isinstance(column, Collection) or not isinstance(column.node.meta, pd.Series):
            raise NotImplementedError(
                f"crosstab() of {type(column).__name__} is not supported; use md.Series(x)"
            )
    return columns


def _names(keys: list[Any], names: Any, prefix: str) -> list[Any]:
    if names is not None:
        return list(names)
    labels = [key.node.meta.name for key in keys]
    return [f"{prefix}_{at}" if name is None else name for at, name in enumerate(labels)]
