"""Columns of numbered names become rows: one for each number; groups of columns become one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call

from ..elementwise.rowwise import Method, NewLabels, column_of, rowwise
from ..keyed.unique import duplicated
from ..nodes.frame_node import as_node, dtypes_of
from ..ordered.row_numbers import reset_index
from ..schemas.samples import sample
from ..whole.fallback import function_with_fallback
from .concat import concat
from .explode import inferred_objects
from .flat_map import flat_map

if TYPE_CHECKING:
    from ..frame import DataFrame


@public_call
@function_with_fallback
def wide_to_long(
    df: DataFrame, stubnames: Any, i: Any, j: Any, sep: str = "", suffix: str = r"\d+"
) -> DataFrame:
    r"""Return the columns of numbered names as rows, one for each number.

    See pandas.wide_to_long. Computes at the call whether ``i`` identifies the rows.
    """
    meta = as_node(df).meta
    keys = list(i) if pd.api.types.is_list_like(i) else [i]
    rows = _two_rows(meta, keys)
    like = pd.wide_to_long(rows, stubnames, i, j, sep, suffix)  # raises pandas's errors
    if bool(duplicated(df, subset=keys).any().compute()):
        raise ValueError("the id variables need to uniquely identify each row")
    stubs = list(stubnames) if pd.api.types.is_list_like(stubnames) else [stubnames]
    first = rows[keys].iloc[0].tolist()
    numbers = [label[-1] for label in like.index if list(label[:-1]) == first]
    columns = _columns(meta, stubs, sep, suffix)
    places = tuple((number, tuple(columns.get(number, {}).items())) for number in numbers)
    how = {"keys": tuple(keys), "name": j, "like": like.iloc[:0]}
    single = [key for key in keys if key in meta.columns] if len(keys) == 1 else []
    df = inferred_objects(df, single)  # pandas joins values by several keys as they are
    by_row = len(numbers) > 1 and list(like.index[1][:-1]) == first
    if by_row:
        long: DataFrame = flat_map(lengthened, df, times=len(places), places=places, **how)
        return inferred_objects(long, stubs)
    parts = [rowwise(NewLabels(lengthened), df, places=(place,), **how) for place in places]
    result: DataFrame = concat(parts) if parts else flat_map(lengthened, df, places=(), **how)
    return inferred_objects(result, stubs)


def _two_rows(meta: Any, keys: list[Any]) -> Any:
    """Return two rows of different keys, whose result shows the order and the types of all."""
    rows = sample(meta).iloc[:2].reset_index(drop=True)
    for key in keys:
        if key in rows.columns:
            rows[key] = pd.Series(range(2))
    return rows


def _columns(meta: pd.DataFrame, stubs: list[Any], sep: str, suffix: str) -> dict[Any, Any]:
    """Return for each number the columns of its values, by their stubs."""
    columns: dict[Any, dict[str, Any]] = {}
    for stub in stubs:
        pattern = re.compile(rf"^{re.escape(stub)}{re.escape(sep)}{suffix}$")
        labels = [name for name in meta.columns if isinstance(name, str) and pattern.match(name)]
        texts = pd.Series([re.sub(re.escape(stub + sep), "", name) for name in labels], dtype="str")
        try:
            numbers: Any = pd.to_numeric(texts)
        except (TypeError, ValueError, OverflowError):
            numbers = texts
        for number, label in zip(numbers, labels, strict=True):
            columns.setdefault(number, {})[stub] = label
    return columns


@kernel(scratch=2.0)
def lengthened(block: Any, *, places: Any, keys: tuple[Any, ...], name: Any, like: Any) -> Any:
    """Return the values of some numbers as rows: those of one row together."""
    if not places:
        return like
    parts = [_of_number(block, number, dict(pairs), keys, name, like) for number, pairs in places]
    if len(parts) == 1:
        return parts[0]
    order = pd.Series(range(len(block) * len(parts))) % max(len(block), 1)
    return pd.concat(parts).iloc[order.sort_values(kind="stable").index]


def _of_number(
    block: Any, number: Any, columns: dict[str, Any], keys: Any, name: Any, like: Any
) -> Any:
    stubs = {stub: block[label] for stub, label in columns.items()}
    values = {label: stubs[label] if label in stubs else block.get(label) for label in like}
    rows = pd.DataFrame(
        {at: column for at, column in enumerate(values.values()) if column is not None},
        index=block.index,
    ).reindex(columns=range(len(values)))
    rows.columns = like.columns
    types = dict(zip(like.columns, dtypes_of(like), strict=True))
    gaps = [label for label, column in values.items() if column is None]
    rows = rows.astype({label: types[label] for label in gaps})
    last = pd.Index([number] * len(block), dtype=like.index.levels[-1].dtype)
    rows.index = pd.MultiIndex.from_arrays([*(block[key] for key in keys), last])
    rows.index.names = [*keys, name]
    return rows


@public_call
@function_with_fallback
def lreshape(data: DataFrame, groups: Mapping[Any, list[Any]], dropna: bool = True) -> DataFrame:
    """Return groups of columns as one column each, one below the other. See pandas.lreshape."""
    meta = as_node(data).meta
    like = pd.lreshape(sample(meta), dict(groups), dropna=False)  # raises pandas's errors
    inputs = {label for labels in groups.values() for label in labels}
    ids = [label for label in meta.columns if label not in inputs]
    parts = []
    for place in range(len(next(iter(groups.values())))):
        labels = {labels[place]: target for target, labels in groups.items()}
        part = rowwise(column_of, data, key=[*ids, *labels])
        part = part.set_axis([*ids, *labels.values()], axis=1)
        parts.append(rowwise(column_of, part, key=list(like.columns)))
    frame = concat(parts)
    frame = frame.dropna(subset=list(groups)) if dropna else frame
    rows: DataFrame = reset_index(frame, drop=True)
    types = {
        label: dtype
        for label, dtype in like.dtypes.items()
        if rows.node.meta.dtypes[label] not in (object, dtype)
    }
    result: DataFrame = rowwise(Method("astype"), rows, types) if types else rows
    return inferred_objects(result)
