"""Methods of accessors for which values of all rows are computed at the call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.collection import Collection, compute
from marsdask.core.machine.costs import FunctionWrapper, kernel

from ..elementwise.exemplars import by_values, with_one_nan
from ..elementwise.operands import aligned_tensor, aligned_values
from ..elementwise.rowwise import Method, rowwise
from ..reshape.flat_map import flat_map
from ..tensors import to_tensor


@dataclass(frozen=True)
class NumberedColumns(FunctionWrapper):
    """Gives a result a number of columns, also where the texts of a chunk make fewer."""

    count: int

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        parts = self.func(with_one_nan(block), *args, **kwargs)
        first = parts.get(0, block)
        # A text of fewer parts has None, or NaN where text is of a type of its own.
        short = first.where(first.isna(), None)
        values = {at: parts.get(at, short) for at in range(self.count)}
        columns = pd.DataFrame(values, index=block.index, dtype=block.dtype)
        return columns.set_axis(range(self.count), axis=1)


@dataclass(frozen=True)
class Indicators(FunctionWrapper):
    """Gives indicators a column for each of some words."""

    words: tuple[str, ...]

    def __call__(self, block: Any, *args: Any, **kwargs: Any) -> Any:
        words = list(self.words)
        dtype: Any = kwargs.get("dtype") or "int64"
        if not block.notna().any():  # pandas raises for them
            return pd.DataFrame(0, block.index, words).astype(dtype)
        frame = self.func(block, *args, **kwargs)
        return frame.reindex(columns=words, fill_value=0).astype(dtype)


def texts_of(rows: Any) -> Any:
    """Return texts, in place of categories: parts of one are not among them."""
    dtype = rows.node.meta.dtype
    is_category = isinstance(dtype, pd.CategoricalDtype)
    return rowwise(Method("astype"), rows, dtype.categories.dtype) if is_category else rows


def split(rows: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """Return the parts of texts, as lists or in columns: then it counts those of the longest."""
    func = Method(name, "str")
    if not kwargs.get("expand"):
        return by_values(func, rows, *args, **kwargs)
    texts = texts_of(rows)
    lists = by_values(func, texts, *args, **{**kwargs, "expand": False})
    longest, count = compute(rowwise(part_counts, lists).max(), texts.isna().count())
    columns = int(count > 0) if pd.isna(longest) else int(longest)
    return by_values(NumberedColumns(func, columns), texts, *args, **kwargs)


def part_counts(block: Any) -> Any:
    """Return the number of parts of each text."""
    counts = [len(parts) if isinstance(parts, list | tuple) else np.nan for parts in block]
    return pd.Series(counts, block.index, float)


def partition(rows: Any, name: str, sep: str = " ", expand: bool = True) -> Any:
    """Return the texts before, of and behind a separator, as tuples or in columns."""
    return split(rows, name, sep=sep, expand=expand)


def get_dummies(rows: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an indicator for each word of any text; computes the distinct texts."""
    # Among objects, 0 equals False, but their texts differ.
    is_objects = rows.node.meta.dtype == object
    texts = rows.map(str, na_action="ignore").astype(object) if is_objects else rows
    texts = texts.drop_duplicates().compute()
    words = texts.str.get_dummies(*args, **kwargs).columns
    func = Indicators(Method("get_dummies", "str"), tuple(words))
    return by_values(func, rows, *args, **kwargs)


def extractall(rows: Any, pat: Any, flags: int = 0) -> Any:
    """Return a row for each match of a pattern, in the order of the texts."""
    rows.node.meta.str.extractall(pat, flags)  # raises pandas's errors
    return flat_map(matches, by_values(texts_only, rows), pat=pat, flags=flags)


def texts_only(block: Any) -> Any:
    """Return texts, in place of other objects what is missing: no text of theirs matches."""
    block.str.isalpha()  # raises pandas's errors
    if block.dtype != object:
        return block
    return block.where([isinstance(value, str) for value in block])


@kernel(scratch=2.0)
def matches(block: Any, pat: str, flags: int) -> Any:
    """Return a row for each match of a pattern."""
    return block.str.extractall(pat, flags)


def cat(
    rows: Any, others: Any = None, sep: str | None = None, na_rep: str | None = None, join: str = ""
) -> Any:
    """Return the texts of rows with those of other columns behind; without any, all in one text."""
    del join  # the labels are equal
    if others is None:
        return rows.compute().str.cat(sep=sep, na_rep=na_rep)
    if isinstance(others, Collection) and isinstance(others.node.meta, pd.DataFrame):
        frame: Any = others
        others = [frame.iloc[:, at] for at in range(len(frame.columns))]
    elif isinstance(others, np.ndarray) and others.ndim == 2:
        others = list(others.T)
    is_list = isinstance(others, list | tuple) and any(
        pd.api.types.is_list_like(item) or isinstance(item, Collection) for item in others
    )
    several = [_column(rows, item) for item in (others if is_list else [others])]
    return by_values(join_texts, rows, *several, sep=sep, na_rep=na_rep)


def _column(rows: Any, values: Any) -> Any:
    if isinstance(values, Collection) and isinstance(values.node.meta, pd.Series | pd.Index):
        return values
    if isinstance(values, pd.Series | pd.DataFrame):
        raise NotImplementedError(
            "str.cat() with a pandas object in memory is not supported; use its values, or "
            "md.Series(x)"
        )
    message = "If `others` contains arrays or lists (or other list-likes without an index), these "
    message += "must all be of the same length as the calling Series/Index."
    lazy = isinstance(values, Collection)
    return (aligned_tensor if lazy else aligned_values)(rows, values, message)


def join_texts(block: Any, *others: Any, sep: str | None, na_rep: str | None) -> Any:
    """Return the texts of rows with those of other columns behind."""
    return block.str.cat(list(others), sep=sep, na_rep=na_rep)


def repeat(rows: Any, repeats: Any) -> Any:
    """Return texts repeated, each as often as told."""
    if pd.api.types.is_list_like(repeats):
        complaint = "operands could not be broadcast together with shapes ({1},) ({0},)"
        # Numbers beside missing ones stay whole.
        numbers = pd.Series(list(repeats), dtype=object).array
        repeats = aligned_values(rows, numbers, complaint)
    return by_values(Method("repeat", "str"), rows, repeats)


def freq(rows: Any) -> Any:
    """Compute the distance of times that are equally far apart, ``None`` for others."""
    return rows.compute().dt.freq


def to_pytimedelta(rows: Any) -> Any:
    """Return the standard library's objects, as an array."""
    return to_tensor(rowwise(durations, rows))


def durations(block: Any) -> Any:
    """Return durations as objects of the standard library."""
    return pd.Series(block.array.to_pytimedelta(), index=block.index, dtype=object)


def remove_unused_categories(rows: Any) -> Any:
    """Drop the categories that no row has; computes the distinct ones."""
    values = rows.drop_duplicates().compute().cat.remove_unused_categories()
    return rowwise(Method("set_categories", "cat"), rows, values.cat.categories)


#: Methods of ``.str`` by name whose results may have a number of columns that values tell.
WIDE: dict[str, Callable[..., Any]] = {
    "partition": partition,
    "rpartition": partition,
    "rsplit": split,
    "split": split,
}

#: The methods by accessor and name, and the properties.
METHODS: dict[tuple[str, str], Callable[..., Any]] = {
    ("str", "cat"): cat,
    ("str", "extractall"): extractall,
    ("str", "get_dummies"): get_dummies,
    ("str", "repeat"): repeat,
    ("dt", "to_pytimedelta"): to_pytimedelta,
    ("cat", "remove_unused_categories"): remove_unused_categories,
}
PROPERTIES: dict[tuple[str, str], Callable[..., Any]] = {("dt", "freq"): freq}
