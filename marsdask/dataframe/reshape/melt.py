"""Columns become rows: a column after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from marsdask.core.machine.costs import kernel
from marsdask.core.public import public_call
from marsdask.core.sizes import total

from ..elementwise.rowwise import Method, NewLabels, relabelled, rowwise
from ..nodes.frame_node import as_node, dtypes_of
from ..ordered.row_numbers import reset_index
from ..reduction.column_blocks import PandasCall, column_blocks, of_all_rows
from ..whole.fallback import function_with_fallback
from .concat import concat
from .explode import at_objects, inferred_objects

if TYPE_CHECKING:
    from ..frame import DataFrame


@kernel(scratch=2.0)
def melted(block: Any, kept: list[int], at: list[int], **names: Any) -> Any:
    """Return one column as rows, with the identifiers of each; columns are given by position."""
    rows = block.iloc[:, [*kept, *at]]
    result = rows.melt(list(block.columns[kept]), ignore_index=False, **names)
    for place in at_objects(rows):  # pandas takes a chunk of texts for texts
        at_end = place == len(kept)
        result.isetitem(result.shape[1] - 1 if at_end else place, rows.iloc[:, place])
    return result


@public_call
@function_with_fallback
def melt(
    frame: DataFrame,
    id_vars: Any = None,
    value_vars: Any = None,
    var_name: Any = None,
    value_name: Any = "value",
    col_level: Any = None,
    ignore_index: bool = True,
) -> DataFrame:
    """Return the columns as rows, one column after the other. See pandas.DataFrame.melt."""
    meta = as_node(frame).meta
    names = {"var_name": var_name, "value_name": value_name}
    like = meta.melt(id_vars, value_vars, col_level=col_level, **names)  # raises pandas's errors
    if col_level is not None:
        labels = meta.columns.get_level_values(col_level)
        frame = rowwise(relabelled, frame, columns=labels)
        meta = as_node(frame).meta
    if not meta.columns.is_unique:
        raise NotImplementedError(
            "melt() of columns of one label is not supported; use set_axis(axis=1) first"
        )
    ids = _places(id_vars, meta.columns)
    values = _places(value_vars, meta.columns)
    if value_vars is None or not (ids or values):
        values = list(range(len(meta.columns)))
    places = [at for at in values if at not in ids]
    if places and (blocks := column_blocks(frame)):
        return _of_blocks(frame, ids, places, len(blocks[0]), like, names, ignore_index)
    # Of no columns there are no rows.
    rows = frame if places else frame.iloc[:0]
    parts = [
        rowwise(NewLabels(melted), rows, kept=ids, at=at, **names)
        for at in [[place] for place in places] or [[]]
    ]
    result: DataFrame = concat(parts)
    types = zip(like.columns, dtypes_of(result.node.meta), dtypes_of(like), strict=True)
    if casts := {label: dtype for label, own, dtype in types if own != dtype}:
        result = rowwise(Method("astype"), result, casts)
    result = inferred_objects(result, [*like.columns[: len(ids)], like.columns[-1]])
    return reset_index(result, drop=True) if ignore_index else result


def _of_blocks(
    frame: DataFrame,
    kept: list[int],
    places: list[int],
    width: int,
    like: Any,
    names: dict[str, Any],
    ignore_index: bool,
) -> DataFrame:
    """Let pandas melt blocks of columns, all rows of each in one task."""
    meta, lengths = as_node(frame).meta, total(as_node(frame).chunks[0])
    runs = [places[start : start + width] for start in range(0, len(places), width)]
    alone = len(runs) == 1
    options = tuple({**names, "ignore_index": ignore_index and alone}.items())
    parts = []
    for run in runs:
        labels = tuple(list(meta.columns[at]) for at in (kept, run))
        rows = lengths * len(run) if isinstance(lengths, int) else None
        part = frame.iloc[:, [*kept, *run]]
        parts.append(of_all_rows(part, PandasCall("melt", labels, options), like, rows))
    result: DataFrame = parts[0] if alone else concat(parts)
    return reset_index(result, drop=True) if ignore_index and not alone else result


def _places(labels: Any, columns: pd.Index) -> list[int]:
    """Return the positions of some columns."""
    if labels is None:
        return []
    single = not pd.api.types.is_list_like(labels) or (
        isinstance(labels, tuple) and columns.nlevels > 1
    )
    place: Any = columns.get_loc
    return list(dict.fromkeys(map(place, [labels] if single else labels)))
