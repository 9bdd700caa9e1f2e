"""The keys of frames in traits, and the keys that remain after operations on rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.traits import VALUES, Carry, Level, Ordering, SortKey, Traits

from ..schemas.schema import once_a_schema


def dtype_of_key(meta: Any, key: Hashable) -> Any:
    """Return the type of a key's values; ``None`` unless exactly one column has the label."""
    if isinstance(key, Level):
        labels = meta.index
        return labels.dtypes.iloc[key.number] if labels.nlevels > 1 else labels.dtype
    if isinstance(meta, pd.Series):
        return meta.dtype if key == VALUES else None
    return once_a_schema(_dtypes, meta).get(key)


def _dtypes(meta: Any) -> dict[Hashable, Any]:
    """Return the types of the columns by their labels."""
    columns = meta.columns
    if columns.nlevels > 1 or not columns.is_unique:
        return {}
    return dict(zip(columns, meta.dtypes, strict=True))


def has_missing_labels(labels: pd.Index) -> bool:
    """Tell whether a label, or a part of one, is missing: it is not equal to itself."""
    if isinstance(labels, pd.MultiIndex):
        missing = any((np.asarray(codes) < 0).any() for codes in labels.codes)
        return missing or any(level.hasnans for level in labels.levels)
    return bool(labels.hasnans)


def full_labels(columns: pd.Index, keys: Iterable[Hashable]) -> frozenset[Hashable] | None:
    """Return the labels of the columns that keys select; a key may name the first levels.

    Of columns without a label, it is ``None`` for all.
    """
    if has_missing_labels(columns):
        return None
    if not isinstance(columns, pd.MultiIndex):
        return frozenset(keys)
    places = np.arange(len(columns))
    return frozenset(
        label for key in keys for label in columns[np.atleast_1d(places[columns.get_loc(key)])]
    )


def is_comparable(dtype: Any) -> bool:
    """Tell whether sorting, hashing and grouping agree on which values are equal.

    They do not for objects (1 and True, None and nan), nor for categories, whose order may differ
    between chunks.
    """
    if isinstance(dtype, np.dtype):
        return dtype.kind in "biufmM"
    return isinstance(dtype, pd.StringDtype | pd.DatetimeTZDtype)


def comparable(meta: Any, carry: Carry | None = None) -> Carry:
    """Restrict a ``carry`` to keys that a result of this meta has, and that are comparable."""
    has_rows = isinstance(meta, pd.DataFrame | pd.Series)

    def carried(key: Hashable) -> Hashable | None:
        new = key if carry is None else carry(key)
        if new is None or not has_rows:
            return None
        return new if is_comparable(dtype_of_key(meta, new)) else None

    return carried


def levels(meta: Any) -> tuple[Level, ...]:
    """Return the keys of the row labels, one per level."""
    return tuple(map(Level, range(meta.index.nlevels)))


def keys_by(meta: Any, by: tuple[Any, ...] | None) -> tuple[Hashable, ...]:
    """Return the keys of ``by``: ``()`` means the row labels, ``None`` the values of a series."""
    if by is None:
        return (VALUES,)
    return by or levels(meta)


def ordering_by(
    keys: Iterable[Hashable], ascending: Iterable[bool], na_first: bool | None
) -> Ordering:
    """Return the order of rows that were sorted by keys."""
    pairs = zip(keys, ascending, strict=True)
    return tuple(SortKey(key, rising, na_first) for key, rising in pairs)


def numbered_rows(rows: str) -> Traits:
    """Return the traits of rows that are labelled from 0."""
    key = Level()
    return Traits(rows, ((SortKey(key),),), (frozenset([key]),))


def of_labels(rows: str, index: pd.Index) -> Traits:
    """Return the traits of rows with these labels, found in one pass."""
    plain = index.nlevels == 1 and isinstance(index.dtype, np.dtype)
    if not plain or not is_comparable(index.dtype) or not index.is_monotonic_increasing:
        return Traits(rows)
    # Increasing labels have no missing ones, and equal ones are neighbours.
    traits = Traits(rows, ((SortKey(Level()),),))
    return traits.and_unique([Level()]) if _is_strict(index) else traits


def _is_strict(index: pd.Index) -> bool:
    """Tell whether sorted labels are unique, without a hash table."""
    if isinstance(index, pd.RangeIndex):
        return True
    values = index.to_numpy()
    return bool((values[1:] != values[:-1]).all())


def kept_labels(key: Hashable) -> Hashable | None:
    """Keep the keys of row labels only: the columns may have changed."""
    return key if isinstance(key, Level) else None


#: Returns the new key for a key of a meta, given the keyword arguments of a function.
Carrying = Callable[[Any, Hashable, dict[str, Any]], Hashable | None]


def carry_column(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a column, or a frame of several."""
    del meta
    columns = kwargs["key"]
    if isinstance(key, Level):
        return key
    if isinstance(columns, list):
        return key if key in columns else None
    return VALUES if key == columns else None


def carry_unassigned(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a frame with some columns added or replaced."""
    del meta
    return None if key in kwargs["names"] else key


def carry_renamed(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a frame some of whose columns have other labels."""
    del meta
    names: dict[Hashable, Hashable] = dict(kwargs["names"])
    return names.get(key, key)


def carry_relabelled(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a frame whose columns have other labels, by position."""
    if isinstance(key, Level):
        return key
    place: int = meta.columns.get_loc(key)
    labels: list[Hashable] = list(kwargs["columns"])
    return labels[place]


def carry_all(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a column of another name."""
    del meta, kwargs
    return key


def carry_to_frame(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry keys into a frame of one column."""
    del meta
    name: Hashable = kwargs["name"]
    return key if isinstance(key, Level) else 0 if name is None else name


def carry_to_labels(meta: Any, key: Hashable, kwargs: dict[str, Any]) -> Hashable | None:
    """Carry columns into row labels."""
    del meta
    columns = kwargs["key"]
    by = columns if isinstance(columns, list) else [columns]
    if isinstance(key, Level) or kwargs["append"] or key not in by:
        return None
    return Level(by.index(key))
