"""The accessors of a series: ``.str``, ``.dt`` and ``.cat``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.collection import Collection
from marsdask.core.compilation.costs import FunctionWrapper

from ..elementwise.rowwise import Member, Method, rowwise
from ..schemas.dtypes import OneType

if TYPE_CHECKING:
    from ..series import Series

#: What needs all values of a column at once, and what to use instead.
NEEDS_ALL_ROWS: dict[tuple[str, str], str] = {
    ("str", "extractall"): "str.findall(), and explode() of its lists",
    ("str", "get_dummies"): "str.contains() for each of the words",
    ("dt", "freq"): "diff() of the values",
    ("dt", "to_pytimedelta"): "the values as they are, or compute() first",
    ("cat", "remove_unused_categories"): "cat.set_categories(column.unique().compute())",
}

#: Methods of ``.str`` whose results have as many columns as the longest list of any row.
WIDE = {"split", "rsplit"}

#: Methods of ``.str`` that return three columns.
THREE = {"partition", "rpartition"}


class Accessor:
    """An accessor of a series: ``.str``, ``.dt`` or ``.cat``."""

    def __init__(self, series: Any, kind: str) -> None:
        node = series.node
        getattr(node.meta, kind)  # raises for other types at once, as in pandas
        # Categories may differ between chunks before they are computed.
        self._rows = OneType(node) if kind == "cat" and not node.settled else series
        self._meta = node.meta
        self._kind = kind

    def __getitem__(self, key: Any) -> Series:
        """Return characters by position. See pandas.Series.str.get."""
        characters: Series = rowwise(Method("__getitem__", self._kind), self._rows, key)
        return characters

    def __dir__(self) -> list[str]:
        return dir(getattr(self._meta, self._kind))

    def __getattr__(self, name: str) -> Any:
        found = getattr(getattr(self._meta, self._kind), name)
        if callable(found):
            return partial(self._call, name)
        self._check(name)
        if not isinstance(found, pd.Series | pd.DataFrame):
            return found  # a fact of the type: the unit, the time zone, the categories
        return rowwise(Member(name, self._kind), self._rows)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        self._check(name)
        if (self._kind, name) == ("str", "cat"):
            return _joined(self._rows, *args, **kwargs)
        if name in WIDE and kwargs.get("expand"):
            raise NotImplementedError(
                f"str.{name}(expand=True) is not supported, since the longest list decides how "
                f"many columns there are; use str.{name}(), and str.get() for each column"
            )
        if name == "tz_localize" and _is_by_neighbours(*args, **kwargs):
            raise NotImplementedError(
                "dt.tz_localize(ambiguous='infer') is not supported, since it looks at all rows; "
                "use ambiguous='NaT', True or False"
            )
        func: Callable[..., Any] = Method(name, self._kind)
        if name in THREE and kwargs.get("expand", True):
            func = ThreeColumns(func)
        return rowwise(func, self._rows, *args, **kwargs)

    def _check(self, name: str) -> None:
        if instead := NEEDS_ALL_ROWS.get((self._kind, name)):
            raise NotImplementedError(
                f"{self._kind}.{name} is not supported, since it needs all rows; use {instead}"
            )


@dataclass(frozen=True)
class ThreeColumns(FunctionWrapper):
    """Gives a result three columns, also where all text of a chunk is missing."""

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        found = self.func(block, *args, **kwargs)
        if len(found.columns) == 3:
            return found
        values = {at: found.get(0, block) for at in range(3)}
        return pd.DataFrame(values, index=block.index, dtype=block.dtype)


def _is_by_neighbours(tz: Any = None, ambiguous: Any = "raise", **options: Any) -> bool:
    del tz, options
    return isinstance(ambiguous, str) and ambiguous == "infer"


def _joined(
    rows: Any, others: Any = None, sep: str | None = None, na_rep: str | None = None, join: str = ""
) -> Any:
    """Return the texts of rows, with those of other columns behind. See pandas.Series.str.cat."""
    del join  # the labels are equal
    if others is None:
        raise NotImplementedError(
            "str.cat() of one column is not supported; use sep.join(column.dropna().compute())"
        )
    several = others if isinstance(others, list | tuple) else [others]
    if not all(isinstance(one, Collection) for one in several):
        raise NotImplementedError(
            "str.cat() with values in memory is not supported; use assign(), then the column"
        )
    return rowwise(join_texts, rows, *several, sep=sep, na_rep=na_rep)


def join_texts(block: Any, *others: Any, sep: str | None, na_rep: str | None) -> Any:
    """Return the texts of rows with those of other columns behind."""
    return block.str.cat(list(others), sep=sep, na_rep=na_rep)
