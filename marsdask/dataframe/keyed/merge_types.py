"""The types of merged rows that follow from those of keys, which differ on the two sides."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.traits import Level

from ..elementwise.exemplars import is_time
from ..nodes.traits import dtype_of_key
from ..schemas.samples import column, row

if TYPE_CHECKING:
    from .merge import MergeOptions

#: The merges that return the rows of one side without a match.
ANTI = ("left_anti", "right_anti")


def with_labels_of_rows(how: MergeOptions, result: Any, left: Any, right: Any) -> Any:
    """Return the types with labels that have the names and the type of those with rows."""
    one_level = max(left.index.nlevels, right.index.nlevels) == 1
    unlike = one_level and left.index.dtype != right.index.dtype and how.how not in ANTI
    if not unlike and left.index.names == right.index.names:
        return result
    labels = how(row(left), row(right)).index
    if unlike:
        result = result.set_axis(result.index.astype(labels.dtype), axis=0)
    return result.rename_axis(index=labels.names)


def types_of_unlike_keys(
    how: MergeOptions, left: Any, right: Any, parts: Sequence[Any]
) -> dict[Hashable, Any]:
    """Return the types of the columns of keys whose types differ on the two sides.

    pandas makes the types of such keys one only where both sides have rows.
    """
    pairs = {
        key: types
        for mine, theirs in zip(*how.keys(left, right), strict=False)
        if (types := (dtype_of_key(left, mine), dtype_of_key(right, theirs)))[0] != types[1]
        for key in (mine, theirs)
        if not isinstance(key, Level)
    }
    if not pairs or how.how in ANTI:
        return {}
    with suppress(ValueError):  # objects of a sample may be no numbers
        rows = how(row(left), row(right))
        columns = {key: [rows[key]] for key in rows.columns if key in pairs}
        mine, theirs = map(set, how.keys(left, right))
        for key, values in columns.items():
            if how.how == "left" and key in theirs - mine:  # rows without a match lack it
                values += [part[key] for part in parts if key in part]
            if how.how in {"right", "outer"} or all(map(is_time, pairs[key])):
                values += [column(dtype)[:1] for dtype in pairs[key]]
                values += [part[key] for part in parts if key in part]
        return {key: pd.concat(values).dtype for key, values in columns.items()}
    return {}
