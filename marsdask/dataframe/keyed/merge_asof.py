"""Merges of ordered frames: by the nearest key, and in the order of the keys."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, total
from marsdask.core.traits import Level, SortKey, Traits

from ..elementwise.exemplars import keys_in_one_type
from ..elementwise.rowwise import index_of, rowwise
from ..nodes.dtypes import OneType, is_small
from ..nodes.frame_node import FrameNode, as_node
from ..ordered.row_numbers import reset_index
from ..reduction.fold import Assembly
from ..reduction.properties import monotonic
from ..reduction.reductions import collection_of
from ..schemas.samples import row, without_rows
from ..schemas.schema import types_of
from ..whole.fallback import function_with_fallback
from .join import check_keys, merge

if TYPE_CHECKING:
    from ..frame import DataFrame

Options = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class MergeAsOf(FrameNode):
    """Each left row with the right row of the nearest key; all right rows are one chunk."""

    label: ClassVar[str] = "merge_asof"
    settled: ClassVar[bool] = False
    types_by_rows: ClassVar[bool] = True

    left: Node
    right: Node
    how: Options
    rises: Node | None
    """Whether the left keys rise, ``None`` if it is known."""

    @property
    def meta(self) -> Any:
        return types_of(self, self._found)

    def _found(self) -> Any:
        plain = pd.merge_asof(self.left.meta, self.right.meta, **dict(self.how))
        try:
            # Of a row without a match; its keys may be of types that have none.
            rows = pd.merge_asof(row(self.left.meta), self.right.meta, **dict(self.how))
        except ValueError:
            return plain
        return without_rows(rows, plain)

    @property
    def traits(self) -> Traits:
        return Traits(self.name)

    @property
    def chunks(self) -> Chunks:
        return self.left.chunks

    def tile(self, left: Grid, right: Grid, *rises: Grid) -> Grid:
        from_right = Assembly(self.right.meta, None, False, "merge_asof", (self.right,), itself)
        whole = from_right.tile(right)
        grids = (left, whole, *rises)
        axes = ((0,), (None,), *(() for _ in rises))
        return self.grid(Blockwise(nearest, grids, axes, {"how": self.how}), left.chunks[0])


def itself(rows: Any) -> Any:
    """Return the rows."""
    return rows


@kernel(scratch=3.0)
def nearest(left: Any, right: Any, rises: Any = True, *, how: Options) -> Any:
    """Merge a chunk of rows with the nearest ones of all rows of the other side."""
    if not rises:
        raise ValueError("left keys must be sorted")
    return pd.merge_asof(left, right, **dict(how))


@public_call
@function_with_fallback
def merge_asof(
    left: Any,
    right: Any,
    on: Hashable = None,
    left_on: Hashable = None,
    right_on: Hashable = None,
    left_index: bool = False,
    right_index: bool = False,
    by: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
    tolerance: Any = None,
    allow_exact_matches: bool = True,
    direction: str = "backward",
) -> DataFrame:
    """Merge each left row with the right row of the nearest key. See pandas.merge_asof.

    The left rows stay in their chunks. All right rows are one chunk, which each of their tasks
    needs: choose their columns first. Keys that are not known to rise are looked at. With
    ``left_index`` and ``right_on`` all rows meet in one task.
    """
    sides = [as_node(side) for side in (left, right)]
    if left_index and right_on is not None and isinstance(sides[0].meta, pd.DataFrame):
        # The right keys are those of the left if any row of all has no match.
        left = collection_of(sides[0]).repartition(npartitions=1)
        sides[0] = left.node
    options: dict[str, Any] = {"on": on, "left_on": left_on, "right_on": right_on, "by": by}
    options |= {"left_index": left_index, "right_index": right_index, "left_by": left_by}
    options |= {"right_by": right_by, "suffixes": suffixes, "tolerance": tolerance}
    options |= {"allow_exact_matches": allow_exact_matches, "direction": direction}
    check_keys("merge_asof", on, left_on, right_on, by, left_by, right_by)
    _check_levels(sides, options)
    keys = [_labels(options, side) for side in ("left", "right")]
    sides = [keys_in_one_type(*pair) for pair in zip(sides, keys, strict=True)]
    try:
        pd.merge_asof(sides[0].meta, sides[1].meta, **options)  # raises pandas's errors
    except pd.errors.MergeError:
        sides = _at_hand(sides)
        pd.merge_asof(sides[0].meta, sides[1].meta, **options)
    left = collection_of(sides[0])
    key: Any = Level() if left_index else _single(left_on if on is None else on)
    is_sorted = sides[0].traits.is_sorted([SortKey(key)])
    rises = None if is_sorted else monotonic(_keys(left, key), rising=True).node
    rows: DataFrame = collection_of(MergeAsOf(sides[0], sides[1], tuple(options.items()), rises))
    return rows if left_index or right_index else reset_index(rows, drop=True)


def _check_levels(sides: list[Node], given: dict[str, Any]) -> None:
    """Raise for keys that are no columns, but a level of the row labels."""
    for side, own in zip(sides, ("left", "right"), strict=True):
        for name in ("on", "by", f"{own}_on", f"{own}_by"):
            labels = given[name] if isinstance(given[name], list) else [given[name]]
            if any(label is not None and label not in side.meta.columns for label in labels):
                raise NotImplementedError(
                    f"merge_asof({name}={given[name]!r}) of a named level of the labels is not "
                    f"supported; use {own}_index=True, or reset_index()"
                )


def _labels(given: dict[str, Any], side: str) -> list[Hashable]:
    """Return the columns that are the keys of a side."""
    keys = [given[name] for name in ("on", "by", f"{side}_on", f"{side}_by")]
    lists = [key if isinstance(key, list) else [key] for key in keys if key is not None]
    return [label for labels in lists for label in labels]


def _at_hand(sides: list[Node]) -> list[Node]:
    """Run small sides whose rows, or the lack of them, decide the types of their keys."""
    are_typed = [side.settled and isinstance(total(side.chunks[0]), int) for side in sides]
    return [
        side if is_typed or not is_small(side) else collection_of(OneType(side)).execute().node
        for side, is_typed in zip(sides, are_typed, strict=True)
    ]


def _single(label: Any) -> Any:
    return label[0] if isinstance(label, list) else label


def _keys(frame: Any, key: Any) -> Any:
    if isinstance(key, Level):
        labels = rowwise(index_of, frame)
        return labels.to_series()
    return frame[key]


@public_call
@function_with_fallback
def merge_ordered(
    left: Any,
    right: Any,
    on: Any = None,
    left_on: Any = None,
    right_on: Any = None,
    left_by: Any = None,
    right_by: Any = None,
    fill_method: str | None = None,
    suffixes: tuple[str | None, str | None] = ("_x", "_y"),
    how: str = "outer",
) -> DataFrame:
    """Merge two frames in the order of their keys. See pandas.merge_ordered.

    With ``fill_method``, groups or keys of two names, all rows of both sides meet in one task.
    """
    sides = [as_node(side) for side in (left, right)]
    arguments: dict[str, Any] = {"on": on, "left_on": left_on, "right_on": right_on, "how": how}
    arguments |= {"left_by": left_by, "right_by": right_by, "fill_method": fill_method}
    arguments["suffixes"] = suffixes
    check_keys("merge_ordered", on, left_on, right_on, left_by, right_by)
    has_groups = left_by is not None or right_by is not None
    # pandas has no groups of no rows.
    metas = [row(side.meta) if has_groups else side.meta for side in sides]
    like = pd.merge_ordered(metas[0], metas[1], **arguments).iloc[:0]  # raises pandas's errors
    if fill_method is None and not has_groups and left_on is None and right_on is None:
        rows: DataFrame = merge(left, right, how, on=on, sort=True, suffixes=suffixes)
        return rows
    options = tuple(arguments.items())
    node = Assembly(like, None, False, "merge_ordered", tuple(sides), merged_in_order, options)
    result: DataFrame = collection_of(node)
    return result


@kernel(scratch=3.0)
def merged_in_order(left: Any, right: Any, **how: Any) -> Any:
    """Merge all rows of two frames in the order of their keys."""
    return pd.merge_ordered(left, right, **how)
