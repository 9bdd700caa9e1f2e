"""The types of keys that are objects: pandas infers them of all values, also of dropped rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..elementwise.exemplars import exemplars_of


def rows_for_types(keys: pd.DataFrame, objects: Sequence[int]) -> Any:
    """Return which rows are grouped: those with all keys, and some that tell types of objects."""
    is_complete = keys.notna().all(axis=1).to_numpy()
    if is_complete.all():
        return slice(None)
    chosen = is_complete.copy()
    for at in objects:
        chosen[_exemplar_rows(keys.iloc[:, at], ~is_complete)] = True
    return chosen


def _exemplar_rows(column: Any, rows: Any) -> list[Any]:
    """Return rows, among some of a column, of one object for each kind."""
    places = np.flatnonzero(rows & column.notna().to_numpy())
    values = column.to_numpy()[places]
    rows_of = dict(zip(map(id, values), places, strict=True))
    return [rows_of[id(value)] for value in exemplars_of(values) if id(value) in rows_of]


def first_objects(grouped: Any, objects: Sequence[int]) -> dict[int, Any]:
    """Return the keys of groups, in order of occurrence, as the objects that rows have.

    The labels of groups have types that the rows of a chunk tell, and not those of all rows.
    """
    if not objects:
        return {}
    numbers = grouped.ngroup().fillna(-1).to_numpy()
    first = np.flatnonzero(np.diff(np.maximum.accumulate(np.append(-1, numbers))))
    keys = {at: grouped.obj[at].iloc[first] for at in objects}
    return {at: key.where(key.notna(), np.nan).array for at, key in keys.items()}


def types_of_objects(
    frame: pd.DataFrame, objects: Sequence[int], *, dropna: bool
) -> dict[int, Any]:
    """Return the types that pandas infers of keys, in which labels of groups are."""
    keys = {at: frame[at].to_frame(0) for at in objects}
    return {
        at: key.groupby(0, sort=False, dropna=dropna).size().index.dtype for at, key in keys.items()
    }


def by_keys(frame: Any, keys: list[int]) -> Any:
    """Sort groups by their keys; among objects pandas puts numbers before texts."""
    try:
        return frame.sort_values(keys)
    except TypeError:
        codes = [pd.factorize(frame[key], sort=True)[0] for key in keys]
        last = [np.where(level < 0, len(frame), level) for level in codes]
        return frame.iloc[np.lexsort(last[::-1])]
