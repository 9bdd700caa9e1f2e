"""Merge frames by their keys; join them by their row labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.traits import Level

from ..arguments.dask_arguments import without
from ..ordered.row_numbers import ResetIndex
from ..schemas.schema import result_of
from .merge import ANTI, Merge, MergeOptions

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series


@public_call
@without("shuffle_method", "npartitions", "broadcast")
def merge(
    left: Any,
    right: Any,
    how: str = "inner",
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_index: bool = False,
    right_index: bool = False,
    sort: bool = False,
    suffixes: tuple[Any, ...] = ("_x", "_y"),
    indicator: bool | str = False,
    validate: str | None = None,
) -> DataFrame:
    """Merge two frames by their keys. See pandas.merge.

    Rows are in pandas's order unless the sides are too large for one chunk. An inner merge with a
    small left side then has the order of the right. A merge of two large sides has rows of equal
    keys together, but the keys in no order; ``sort=True`` sorts by the keys. As in Dask,
    ``how="leftsemi"`` returns the left rows that have a match; Dask's ``shuffle_method``,
    ``npartitions`` and ``broadcast`` change nothing, since sizes decide.
    """
    sides = [_as_frame(side) for side in (left, right)]
    left_meta, right_meta = (side.node.meta for side in sides)
    options: dict[str, Any] = {
        "how": how,
        "on": on,
        "left_on": left_on,
        "right_on": right_on,
        "left_index": left_index,
        "right_index": right_index,
        "suffixes": suffixes,
        "indicator": indicator,
        "validate": validate,
    }
    if how == "leftsemi":
        return _semi(sides, options, sort=sort)
    has_keys = on is not None or left_on is not None or left_index or right_index or how == "cross"
    if not has_keys:
        common = [label for label in left_meta.columns if label in right_meta.columns]
        options["on"] = common or None  # of none pandas tells
    keys = {name: _labels(options[name]) for name in ("on", "left_on", "right_on")}
    spec = MergeOptions(**{**options, **keys})
    # Raise at once, as in pandas.
    schema_key = (*(side.node for side in sides), options)
    result_of(pd.merge, schema_key, (), lambda: spec(left_meta, right_meta))
    spec = replace(spec, suffixes=tuple(suffixes))
    _check_supported(spec, left_meta, right_meta)
    return (_anti if how in ANTI and spec.numbers else _merged)(sides, spec, sort=sort)


def _merged(sides: list[DataFrame], how: MergeOptions, *, sort: bool) -> DataFrame:
    node: Node = Merge(sides[0].node, sides[1].node, how)
    rows: DataFrame = wrap(ResetIndex(node, drop=True) if how.numbers else node)
    return _sorted_by_keys(rows, how) if sort else rows


def _anti(sides: list[DataFrame], how: MergeOptions, *, sort: bool) -> DataFrame:
    """Return the rows without a match, numbered as pandas does: among those of all rows."""
    side = how.how.removesuffix("_anti")
    mark = how.indicator if isinstance(how.indicator, str) else "_merge"
    rows = _merged(sides, replace(how, how=side, indicator=mark), sort=sort)
    alone = rows[rows[mark] == f"{side}_only"]
    return alone if how.indicator else alone.drop(columns=mark)


def _semi(sides: list[DataFrame], options: dict[str, Any], *, sort: bool) -> DataFrame:
    """Return the left rows that have a match: a merge with each key of the right side once."""
    if options["left_index"] or options["right_index"] or options["indicator"]:
        raise NotImplementedError(
            "merge(how='leftsemi') by labels or with an indicator is not supported; use "
            "reset_index() and on="
        )
    on = options["on"]
    if on is None and options["left_on"] is None:
        on = [label for label in sides[0].columns if label in sides[1].columns]
    mine, theirs = (list(_labels(options[name] or on) or ()) for name in ("left_on", "right_on"))
    right = sides[1][theirs].drop_duplicates().set_axis(mine, axis=1)
    return merge(sides[0], right, on=mine, sort=sort)


def _sorted_by_keys(merged: DataFrame, how: MergeOptions) -> DataFrame:
    """Return the rows sorted by their keys; rows of equal keys keep their order."""
    sides = {"right": how.right_on, "outer": None}
    by = how.on or sides.get(how.how, how.left_on)
    if by is None or not how.numbers:
        raise NotImplementedError(
            f"merge(how={how.how!r}, sort=True) by labels or by keys of other names is not "
            "supported; use sort_index() or sort_values() afterwards"
        )
    return merged.sort_values(list(by), ignore_index=True)


def _check_supported(how: MergeOptions, left: Any, right: Any) -> None:
    mine, theirs = how.keys(left, right)
    columns = zip((*mine, *theirs), (left,) * len(mine) + (right,) * len(theirs), strict=True)
    if any(not isinstance(key, Level) and key not in side.columns for key, side in columns):
        raise NotImplementedError(
            "merge() by a named level of the labels, or by an array, is not supported; use "
            "reset_index(), or assign() a column"
        )
    if len(mine) != len(theirs):
        raise NotImplementedError(
            f"merge() by {len(mine)} and {len(theirs)} keys is not supported; use reset_index() "
            "and on="
        )


def _labels(on: Any) -> tuple[Any, ...] | None:
    if on is None:
        return None
    return tuple(on) if isinstance(on, list | pd.Index) else (on,)


def _as_frame(side: Any) -> DataFrame:
    if not isinstance(side, Collection):
        raise TypeError(f"Can only merge marsdask Series or DataFrame objects, got {type(side)}")
    if isinstance(side.node.meta, pd.Series) and side.node.meta.name is None:
        raise ValueError("Cannot merge a Series without a name")
    frame: Any = side
    result: DataFrame = frame if isinstance(side.node.meta, pd.DataFrame) else frame.to_frame()
    return result


def join(
    frame: DataFrame,
    other: DataFrame | Series | Iterable[DataFrame | Series],
    on: Any = None,
    how: str = "left",
    lsuffix: str = "",
    rsuffix: str = "",
    sort: bool = False,
    validate: str | None = None,
    *,
    suffixes: tuple[Any, ...] | None = None,
) -> DataFrame:
    """Join columns of other frames by their row labels. See pandas.DataFrame.join.

    Rows are in the order that merge() gives: see there for sides that are too large for one chunk.
    """
    if suffixes is not None and (lsuffix or rsuffix):
        raise ValueError("Cannot specify both 'suffixes' and 'lsuffix'/'rsuffix'.")
    suffixes = (lsuffix, rsuffix) if suffixes is None else suffixes
    if not isinstance(other, Collection):
        return _join_all(frame, list(other), on, how, suffixes, sort=sort)
    if isinstance(other.node.meta, pd.Series) and other.node.meta.name is None:
        raise ValueError("Other Series must have a name")
    options: dict[str, Any] = {"suffixes": suffixes, "validate": validate}
    if how == "cross":
        return merge(frame, other, how=how, on=on, sort=sort, **options)
    rows = merge(frame, other, how, left_on=on, left_index=on is None, right_index=True, **options)
    if sort and on is not None:
        return rows.sort_values(on)
    return rows.sort_index() if sort else rows


def _join_all(
    frame: DataFrame, others: list[Any], on: Any, how: str, suffixes: Any, *, sort: bool
) -> DataFrame:
    """Join several frames one after the other."""
    if on is not None:
        raise ValueError("Joining multiple DataFrames only supported for joining on index")
    if any(suffixes):
        raise ValueError("Suffixes not supported when joining multiple DataFrames")
    if how not in {"left", "inner", "outer"}:
        raise NotImplementedError(
            f"join(how={how!r}) of several frames is not supported; use a join of one frame for "
            "each"
        )
    metas = [side.node.meta for side in (frame, *others)]
    labels = Counter(
        label
        for meta in metas
        for label in (meta.columns if isinstance(meta, pd.DataFrame) else [meta.name])
    )
    if repeated := [label for label, count in labels.items() if count > 1]:
        raise NotImplementedError(
            f"join() of several frames that have columns {repeated} is not supported; use a join "
            "with suffixes= for each"
        )
    for side in others:
        frame = join(frame, side, how=how)
    return frame.sort_index() if sort else frame
