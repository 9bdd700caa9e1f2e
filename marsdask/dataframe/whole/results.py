"""What pandas returns, as the lazy objects that our methods return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
import pandas as pd
from pandas.api import typing as pandas_types
from pandas.api.types import is_scalar

from marsdask.core.arguments import with_values
from marsdask.core.registry import class_of

#: Methods whose results without axes are lazy, as those by chunks are.
OF_LAZY_SCALARS = {
    *("sum", "prod", "product", "mean", "median", "min", "max", "var", "std", "sem", "skew"),
    *("kurt", "kurtosis", "any", "all", "count", "nunique", "idxmin", "idxmax", "argmin", "argmax"),
    *("corr", "cov", "autocorr", "dot", "quantile", "agg", "aggregate", "cat", "__getitem__"),
}

#: Classes of pandas whose methods need all rows: their objects are handed on with lazy results.
DEFERRED = tuple(
    getattr(pandas_types, name)
    for name in dir(pandas_types)
    if name.endswith("GroupBy")
    or name in {"Expanding", "ExponentialMovingWindow", "Resampler", "Rolling", "Window"}
)

#: Accessors of types that we have no methods of.
ACCESSORS = {"list", "sparse", "struct"}


def from_rows(rows: Any) -> Any:
    """Return a lazy copy of a pandas object."""
    if isinstance(rows, pd.MultiIndex):  # pd.Index() of it has tuples
        return from_rows(pd.Series(0, rows)).index
    return class_of(rows)(rows)


def lazy_result(result: Any, name: str) -> Any:
    """Return the result of a function of pandas, ``name``, with lazy rows in place of rows."""
    if isinstance(result, pd.DataFrame | pd.Series | pd.Index):
        return from_rows(result)
    if isinstance(result, DEFERRED) or name in ACCESSORS:
        return OfAllRows(result)
    if type(result) in (tuple, list):  # scalars in a tuple are a label, whose values are known
        return type(result)(item if is_scalar(item) else lazy_result(item, name) for item in result)
    if isinstance(result, Iterator):
        if isinstance(result, AbstractContextManager):
            return Reader(result)
        return (lazy_result(item, name) for item in result)
    if name in OF_LAZY_SCALARS and is_scalar(result):
        return _lazy_scalar(result)
    return result


def _lazy_scalar(value: Any) -> Any:
    plain = isinstance(value, np.generic | bool | int | float | complex)
    column = pd.Series([value]) if plain else pd.Series([value], dtype=object)
    return from_rows(column).iloc[0]


class OfAllRows:
    """Groups, bins or windows of all rows in memory: pandas's own, with lazy results."""

    def __init__(self, obj: Any) -> None:
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._obj, name)
        if not callable(attribute) or isinstance(attribute, DEFERRED):
            return lazy_result(attribute, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = with_values((args, kwargs))
            return lazy_result(attribute(*args, **kwargs), name)

        return call

    def __getitem__(self, key: Any) -> Any:
        return lazy_result(self._obj[key], "__getitem__")

    def __iter__(self) -> Iterator[Any]:
        return (lazy_result(item, "__iter__") for item in self._obj)

    def __len__(self) -> int:
        return len(self._obj)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._obj!r})"


class Reader(OfAllRows):
    """An open file that pandas reads some rows of at a time, with lazy ones in their place."""

    def __next__(self) -> Any:
        return lazy_result(next(self._obj), "__next__")

    def __enter__(self) -> Self:
        self._obj.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._obj.__exit__(*error)
