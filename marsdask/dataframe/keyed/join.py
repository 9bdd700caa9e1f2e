"""Merge frames by their keys; join them by their row labels."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray
from pandas.api.types import is_numeric_dtype

from marsdask.core.collection import Collection, wrap
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.traits import Level

from ..arguments.dask_arguments import without
from ..create import as_lazy
from ..elementwise.exemplars import as_scalar, exemplars_of, keys_in_one_type, objects_of
from ..elementwise.rowwise import rowwise
from ..nodes.dtypes import in_one_type
from ..nodes.frame_node import dtypes_of, is_masked
from ..nodes.traits import dtype_of_key
from ..ordered.row_numbers import ResetIndex
from ..reduction.fold import FrameFold
from ..reduction.reductions import collection_of
from ..rows import levels_in
from ..schemas.schema import result_of
from ..whole.fallback import function_with_fallback
from .merge import Merge, MergeOptions
from .merge_types import ANTI

if TYPE_CHECKING:
    from ..frame import DataFrame
    from ..series import Series

#: The column of a right side that has a numeric key as objects.
AS_OBJECTS = "marsdask:key {}"

#: The merges that choose some rows of the left and of the right side.
CHOOSES = {"inner", "right"}, {"inner", "left"}


@public_call
@function_with_fallback
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
    return _rows(sides, spec, sort=sort)


def _rows(sides: list[DataFrame], how: MergeOptions, *, sort: bool) -> DataFrame:
    """Return the merged rows of sides whose arguments have been checked."""
    sides, how, added = of_one_kind(sides, how)
    rows = (_anti if how.how in ANTI and how.numbers else _merged)(sides, how, sort=sort)
    return rows.drop(columns=added) if added else rows


def _merged(sides: list[DataFrame], how: MergeOptions, *, sort: bool) -> DataFrame:
    nodes = [side.node for side in sides]
    keys = how.keys(*(node.meta for node in nodes))
    left, right = (
        in_one_type(node) if how.how in ways else keys_in_one_type(node, labels)
        for node, labels, ways in zip(nodes, keys, CHOOSES, strict=True)
    )
    node: Node = Merge(left, right, how)
    rows: DataFrame = wrap(ResetIndex(node, drop=True) if how.numbers else node)
    return _sorted_by_keys(rows, how, left.meta, right.meta) if sort else rows


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


def _sorted_by_keys(merged: DataFrame, how: MergeOptions, left: Any, right: Any) -> DataFrame:
    """Return the rows sorted by their keys; rows of equal keys keep their order.

    Keys of other names on the two sides have suffixes where the other side has a column so named.
    """
    sides = {"right": how.right_on, "outer": None}
    by = how.on or sides.get(how.how, how.left_on)
    if by and not how.on:
        common = {
            mine for mine, theirs in zip(*how.keys(left, right), strict=True) if mine == theirs
        }
        alike = {*left.columns} & {*right.columns} - common
        suffix = how.suffixes[how.how == "right"]
        by = tuple(f"{key}{suffix}" if key in alike and suffix is not None else key for key in by)
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


def of_one_kind(
    sides: list[DataFrame], how: MergeOptions
) -> tuple[list[DataFrame], MergeOptions, list[str]]:
    """Return sides with objects for numeric keys that meet objects, as pandas casts them.

    pandas infers of all values whether they may meet at all, and a chunk has some of them. Also
    returns the columns that have been added, since the key of the result stays a number.
    """
    metas = [side.node.meta for side in sides]
    if (how.left_index and how.right_index) or not any(map(_has_objects, metas)):
        return sides, how, []
    keys = [list(labels) for labels in how.keys(*metas)]
    unlike = [
        at
        for at, pair in enumerate(zip(*keys, strict=True))
        if _is_unlike([dtype_of_key(meta, key) for meta, key in zip(metas, pair, strict=True)])
    ]
    if not unlike:
        return sides, how, []
    values = [
        _exemplars(side, tuple(labels[at] for at in unlike))
        for side, labels in zip(sides, keys, strict=True)
    ]
    names: list[Hashable] = []
    added: list[tuple[str, Hashable]] = []
    for at in unlike:
        left, right = keys[0][at], keys[1][at]
        names.append(right if isinstance(left, Level) else left)
        is_number = not isinstance(right, Level) and is_numeric_dtype(dtype_of_key(metas[1], right))
        if is_number and right not in names and metas[1].columns.nlevels == 1:
            keys[1][at] = name = AS_OBJECTS.format(at)
            added.append((name, right))
    options: dict[str, Any] = {"names": tuple(names)}
    left = rowwise(with_objects, sides[0], *values, added=(), **options)
    options["gap"] = np.nan
    right = rowwise(with_objects, sides[1], *values, added=tuple(added), **options)
    if added:
        how = replace(how, right_on=tuple(keys[1]))
    return [left, right], how, [name for name, _ in added]


def _has_objects(meta: Any) -> bool:
    return np.dtype(object) in (*dtypes_of(meta), *dtypes_of(meta.index))


def _is_unlike(dtypes: list[Any]) -> bool:
    """Tell whether one key has objects and the other one numbers."""
    return any(dtype == "object" for dtype in dtypes) and any(map(is_numeric_dtype, dtypes))


def _exemplars(side: DataFrame, keys: tuple[Hashable, ...]) -> Any:
    """Return a value of each class of each key, none if there are no rows."""
    are_columns = not any(isinstance(key, Level) for key in keys)
    rows: Any = side[list(dict.fromkeys(keys))] if are_columns else side
    steps = (KeyExemplars(keys), join_exemplars, exemplars_or_types)
    types = tuple(pd.Series([], dtype=dtype_of_key(side.node.meta, key)) for key in keys)
    return collection_of(
        FrameFold(
            np.empty((), object),
            None,
            False,
            "exemplars",
            rows.node,
            steps,
            finished=(("types", types),),
        )
    )


@dataclass(frozen=True)
class KeyExemplars:
    """Finds exemplars of the keys of a chunk, in the types that the keys have."""

    keys: tuple[Hashable, ...]

    @property
    def __name__(self) -> str:
        return "exemplars"

    def __call__(self, block: Any) -> tuple[Any, ...]:
        levels = levels_in(block.index)
        return tuple(
            _of_each_class(levels[key.number].to_series() if isinstance(key, Level) else block[key])
            for key in self.keys
        )


@kernel(scratch=0.0)
def exemplars_or_types(exemplars: Any, types: tuple[Any, ...]) -> Any:
    """Return exemplars as they are passed to every chunk; those of no rows have the types."""
    return as_scalar(types if exemplars is None else exemplars)


@kernel(scratch=0.0)
def join_exemplars(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the exemplars of two chunks."""
    pairs = zip(a, b, strict=True)
    return tuple(_of_each_class(pd.concat(pair, ignore_index=True)) for pair in pairs)


def _of_each_class(values: Any) -> Any:
    if values.dtype != object:
        return values.iloc[:1].reset_index(drop=True)
    objects = exemplars_of(values)
    return pd.Series(objects_of(objects, len(objects)), dtype=object)


@kernel(scratch=1.0)
def with_objects(
    block: Any,
    left: Any,
    right: Any,
    names: tuple[Hashable, ...],
    added: tuple[tuple[str, Hashable], ...],
    gap: Any = pd.NA,
) -> Any:
    """Return rows of a side with objects for the keys that pandas casts before it merges them.

    ``left`` and ``right`` are exemplars of the keys. pandas casts none if one side has no rows.
    Masked numbers that are missing are ``gap``, which the right side gives the merged key.
    """
    values: list[Any] = [side.item() for side in (left, right)]
    if any(side is None for side in values):  # only the types are known
        casts = set(names)
    elif len({bool(len(side[0])) for side in values}) > 1:
        casts = set()
    else:
        casts = {
            name
            for name, mine, theirs in zip(names, *values, strict=True)
            if _met(name, mine, theirs).dtype == object
        }
    block = block.assign(**{name: block[key].astype(object) for name, key in added})
    columns = [name for name in names if name in casts and name in block]
    return _as_objects(block, columns, gap)


def _as_objects(block: Any, columns: list[Hashable], gap: Any) -> Any:
    """Return rows with columns of objects, and an object for what is missing of masked ones."""
    dtypes = {name: block[name].dtype for name in columns}
    masked = [name for name, dtype in dtypes.items() if is_masked(dtype) and dtype.kind != "b"]
    block = block.astype(dict.fromkeys(columns, object))
    for name in masked:
        block[name] = block[name].where(block[name].notna(), gap)
    return block


def _met(name: Hashable, left: Any, right: Any) -> Any:
    """Return the common key of exemplars; raise pandas's error if they may not be merged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the merge itself warns
        return pd.merge(left.to_frame(name), right.to_frame(name), on=[name])[name]


def _labels(on: Any) -> tuple[Any, ...] | None:
    if on is None:
        return None
    labels = tuple(on) if isinstance(on, list | tuple) else (on,)
    check_keys("merge", labels)
    for label in labels:
        if not isinstance(label, Hashable):
            raise KeyError(label)
    return labels


def check_keys(name: str, *keys: Any) -> None:
    """Raise for keys that are values in place of labels of columns."""
    labels = [label for key in keys for label in (key if isinstance(key, list | tuple) else [key])]
    values = np.ndarray | pd.Series | pd.Index | ExtensionArray | Collection
    if any(isinstance(label, values) for label in labels):
        raise NotImplementedError(
            f"{name}() by values in place of columns is not supported; use assign() first"
        )


def _as_frame(side: Any) -> DataFrame:
    side = as_lazy(side)
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
    other = as_lazy(other)
    if not isinstance(other, Collection):
        return _join_all(frame, list(map(as_lazy, other)), on, how, suffixes, sort=sort)
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
