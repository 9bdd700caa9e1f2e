"""Merge: broadcast a small side to every chunk of the other, or shuffle both by hash."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import pandas as pd
from pandas.api.extensions import ExtensionDtype

from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid
from marsdask.core.machine.costs import kernel
from marsdask.core.machine.sizing import BROADCAST, SHUFFLED, is_tight, part_bytes, part_count
from marsdask.core.node import Columns, Node
from marsdask.core.sizes import Chunks, Sizes, total, unknown_sizes, upper
from marsdask.core.traits import Level, Partitioning, Traits

from ..elementwise.exemplars import is_time
from ..nodes.frame_node import FrameNode, dtypes_of
from ..nodes.traits import comparable, dtype_of_key, levels
from ..ordered.row_numbers import without_numbers
from ..relations.joins import join, right_join
from ..relations.relation import Table
from ..rows import as_one_chunk, levels_in
from ..schemas.samples import joined_columns, row, without_rows
from ..schemas.schema import types_of
from ..schemas.times import in_one_zone, in_type, type_of_times
from .chunk_sizing import (
    MeasuredGrid,
    may_be_tight,
    measure,
    merge_small,
    repartition,
    split_large,
)
from .merge_types import ANTI, types_of_unlike_keys, with_labels_of_rows
from .shuffle import Counts, casts_of, concat_parts, counted_parts, cut_by_hash, shuffle

#: The sides that may have several chunks while the other side has one.
SPREAD: dict[str, tuple[str, ...]] = {
    "left": ("left",),
    "right": ("right",),
    "inner": ("left", "right"),
    "outer": (),
    "cross": ("left",),
    "left_anti": ("left",),
    "right_anti": ("right",),
}
#: The sides whose keys must be unique for ``validate=``: only a side of one chunk shows it.
UNIQUE = {
    ("1:1", "one_to_one"): ("left", "right"),
    ("1:m", "one_to_many"): ("left",),
    ("m:1", "many_to_one"): ("right",),
}


@dataclass(frozen=True)
class MergeOptions:
    """The arguments of pandas.merge, as data."""

    how: str
    on: tuple[Any, ...] | None
    left_on: tuple[Any, ...] | None
    right_on: tuple[Any, ...] | None
    left_index: bool
    right_index: bool
    suffixes: tuple[Any, ...]
    indicator: bool | str
    validate: str | None

    def __call__(self, left: Any, right: Any) -> Any:
        """Merge two frames with pandas."""
        pairs = [*zip(*self.keys(left, right), strict=False)]
        zones = {
            key: mine
            for key, (mine, theirs) in self._time_keys(left, right, pairs).items()
            if not in_one_zone(mine, theirs)
        }
        for mine, theirs in pairs:
            frame = as_objects(left, mine, right, theirs)
            left, right = frame, as_objects(right, theirs, left, mine)
            right = without_sign(left, mine, right, theirs)
            if mine == theirs:  # which are one in the result
                right = in_zone(right, mine, left)
        merged = pd.merge(
            left,
            right,
            how=self.how,  # type: ignore[arg-type]
            on=_as_list(self.on),
            left_on=_as_list(self.left_on),
            right_on=_as_list(self.right_on),
            left_index=self.left_index,
            right_index=self.right_index,
            suffixes=self.suffixes,
            indicator=self.indicator,
            validate=self.validate,  # type: ignore[arg-type]
        )
        for key, dtype in zones.items():
            merged = in_type(merged, key, dtype)
        return merged

    def time_keys(self, left: Any, right: Any) -> dict[Hashable, tuple[Any, Any]]:
        """Return the two types of the keys that are times, in columns of one name."""
        return self._time_keys(left, right, zip(*self.keys(left, right), strict=False))

    def _time_keys(
        self, left: Any, right: Any, pairs: Iterable[tuple[Hashable, Hashable]]
    ) -> dict[Hashable, tuple[Any, Any]]:
        types = {}
        for key, its in pairs:
            if key != its or isinstance(key, Level):
                continue
            mine, theirs = dtype_of_key(left, key), dtype_of_key(right, key)
            are_times = all(is_time(dtype) and dtype.kind == "M" for dtype in (mine, theirs))
            if are_times and mine != theirs and self.how not in ANTI:
                types[key] = mine, theirs
        return types

    def keys(self, left: Any, right: Any) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...]]:
        """Return the keys of frames of these types."""
        left_on, right_on = self.left_on or self.on or (), self.right_on or self.on or ()
        return (
            levels(left) if self.left_index else left_on,
            levels(right) if self.right_index else right_on,
        )

    @property
    def numbers(self) -> bool:
        """Whether the result's rows are numbered from 0."""
        return not (self.left_index or self.right_index)

    @property
    def spread(self) -> tuple[str, ...]:
        """The sides that may have several chunks while the other side has one."""
        whole = next((sides for names, sides in UNIQUE.items() if self.validate in names), ())
        return tuple(side for side in SPREAD[self.how] if side not in whole)

    @property
    def keyed(self) -> bool:
        """Whether both sides can be shuffled by their keys."""
        return self.how != "cross"

    def beforehand(self, left: int, right: int) -> tuple[str, int]:
        """Choose how to merge sides of which only the numbers of chunks are known.

        Returns the side that keeps its chunks (or ``"shuffled"``, or ``"whole"``), and the number
        of chunks.
        """
        if "left" in self.spread and (right == 1 or not self.keyed):
            return "left", left
        if "right" in self.spread and (left == 1 or not self.keyed):
            return "right", right
        count = max(left, right) if self.keyed else 1
        return ("shuffled", count) if count > 1 else ("whole", 1)


def in_zone(right: Any, key: Hashable, left: Any) -> Any:
    """Return the right side with times of the left one's zone, which those of the result have."""
    mine, theirs = dtype_of_key(right, key), dtype_of_key(left, key)
    zoned = isinstance(mine, pd.DatetimeTZDtype) and isinstance(theirs, pd.DatetimeTZDtype)
    if not zoned or mine.tz == theirs.tz:
        return right
    dtype = pd.DatetimeTZDtype(mine.unit, theirs.tz)
    if isinstance(key, Level):
        labels = [
            level.astype(dtype) if at == key.number else level
            for at, level in enumerate(levels_in(right.index))
        ]
        if len(labels) == 1:
            return right.set_axis(labels[0], axis=0)
        return right.set_axis(pd.MultiIndex.from_arrays(labels, names=right.index.names), axis=0)
    result = right.copy(deep=False)
    result[key] = result[key].astype(dtype)
    return result


def as_objects(side: Any, key: Hashable, other: Any, its: Hashable) -> Any:
    """Return a side without rows with a numeric key as objects, if the other one has objects.

    pandas refuses some of them, since no value tells that the objects are numbers.
    """
    if len(side) or len(other):
        return side
    mine, theirs = dtype_of_key(side, key), dtype_of_key(other, its)
    if theirs != "object" or not pd.api.types.is_numeric_dtype(mine):
        return side
    if not isinstance(key, Level):
        return side.astype({key: object})
    return side if side.index.nlevels > 1 else side.set_axis(side.index.astype(object), axis=0)


def without_sign(left: Any, key: Hashable, right: Any, its: Hashable) -> Any:
    """Return the right side with another type of a key where pandas asks no rows for their sign."""
    if len(right) or isinstance(its, Level):
        return right
    mine, theirs = dtype_of_key(left, key), dtype_of_key(right, its)
    unlike = getattr(mine, "kind", "O") == "u" and isinstance(theirs, ExtensionDtype)
    return right.astype({its: "Float64"}) if unlike and theirs.kind == "i" else right


def _as_list(labels: tuple[Any, ...] | None) -> Any:
    return None if labels is None else list(labels)


@dataclass(frozen=True, eq=False)
class Merge(FrameNode):
    """The rows of two frames with equal keys, side by side.

    Row labels are right within each chunk only. If pandas numbers the rows, :class:`ResetIndex`
    follows.
    """

    left: Node
    right: Node
    how: MergeOptions

    def runs_inline(self) -> bool:
        return True

    @property
    def meta(self) -> Any:
        """The types if some row has no match, which is unknown before the merge."""
        return types_of(self, self._types)

    def _types(self) -> Any:
        left, right = self.left.meta, self.right.meta
        result = self.how(left, right)
        if self.how.left_index and self.how.right_index:
            result = with_labels_of_rows(self.how, result, left, right)
        alone = []
        if self.how.how in {"left", "outer", "left_anti"}:
            alone.append(self.how(row(left), right))
        if self.how.how in {"right", "outer", "right_anti"}:
            alone.append(self.how(left, row(right)))
        if self.how.left_index != self.how.right_index:
            result = self._by_labels_of_one(left, right, alone)
        else:
            result = without_rows(pd.concat(alone), result) if alone else result
        types = types_of_unlike_keys(self.how, left, right, [result, *alone])
        times = self.how.time_keys(left, right).items()
        return result.astype(types | {key: type_of_times(*types) for key, types in times})

    def _by_labels_of_one(self, left: Any, right: Any, alone: Sequence[Any]) -> Any:
        """Return the types if one side has its keys in the labels: the other's are the result's.

        Only with rows pandas adds the keys as a column, beside columns of their name.
        """
        rows = self.how(left, right)
        with suppress(ValueError):  # objects of a sample may be no numbers
            rows = self.how(row(left), row(right))
        rows = joined_columns(alone, rows) if alone else rows
        return without_rows(rows, right if self.how.left_index else left)

    @property
    def settled(self) -> bool:
        return self.how.how == "inner" and all(child.settled for child in self.inputs)

    @property
    def types_by_rows(self) -> bool:
        """Whether numbers become floats, or truth values objects, if a row has no match."""
        if super().types_by_rows or self.how.how == "inner":
            return super().types_by_rows
        meta = self.how(self.left.meta, self.right.meta)
        return dtypes_of(meta) != dtypes_of(self.meta)

    @property
    def common_keys(self) -> frozenset[Any]:
        if super().types_by_rows:
            return frozenset()
        left, right = (set(zip(n.meta.columns, n.meta.dtypes, strict=True)) for n in self.inputs)
        return frozenset(key for key, _ in left & right if key in (self.how.on or ()))

    @property
    def chunks(self) -> Chunks:
        left, right = self.left.chunks[0], self.right.chunks[0]
        shape, count = self._told.beforehand(len(left), len(right))
        if shape == "shuffled":
            return (unknown_sizes(self.name, [None] * count),)
        rows = (
            (left if shape == "left" else (total(left),)),
            (right if shape == "right" else (total(right),)),
        )
        return (self._out(*(_spread(sizes, count) for sizes in rows)),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if wanted is None:
            return None, None
        how, sides = self.how, [frozenset(side.meta.columns) for side in self.inputs]
        keys = {*(how.on or ()), *(how.left_on or ()), *(how.right_on or ())}
        # Columns of one name on both sides get suffixes, so dropping one renames the other.
        needed = wanted.union(keys, sides[0] & sides[1])
        return tuple(labels & needed for labels in sides)

    def absorb(self, alone: Any) -> Node:
        del alone
        how = self.how
        changes = {
            name: below
            for name, side, flag, keys in (
                ("left", self.left, how.left_index, how.left_on or how.on or ()),
                ("right", self.right, how.right_index, how.right_on or how.on or ()),
            )
            if not flag and (below := without_numbers(side, keys)) is not side and how.numbers
        }
        return self.replaced(**changes) if changes else self

    @property
    def traits(self) -> Traits:
        """Keys of a side stay unique if each of its rows has at most one match."""
        traits = Traits(self.name)
        for side, theirs in (("left", self.right), ("right", self.left)):
            if self._has_lone_rows(side):
                mine = cast(Node, getattr(self, side))
                carry = partial(self._carry, mine.meta, theirs.meta)
                traits = traits.and_those(mine.traits.carried(carry).unordered())
        return traits.carried(comparable(self.meta))

    def _carry(self, mine: Any, other: Any, key: Hashable) -> Hashable | None:
        """Return the column of the result that has the values of a side's column."""
        is_common = key in other.columns and key not in (self.how.on or ())
        if isinstance(key, Level) or is_common or key not in self.meta.columns:
            return None
        return key if dtype_of_key(self.meta, key) == dtype_of_key(mine, key) else None

    def _has_lone_rows(self, side: str) -> bool:
        """Tell whether every row of the result has a row of this side, and no two the same."""
        opposite = "right" if side == "left" else "left"
        return self.how.how in {"inner", side} and opposite in self._unique

    @property
    def _unique(self) -> tuple[str, ...]:
        """The sides whose keys are known to be unique, with the same types on both sides."""
        left, right = self.how.keys(self.left.meta, self.right.meta)
        alike = all(
            dtype_of_key(self.left.meta, left_key) == dtype_of_key(self.right.meta, right_key)
            for left_key, right_key in zip(left, right, strict=True)
        )
        sides = (("left", self.left, left), ("right", self.right, right))
        return tuple(
            name for name, side, keys in sides if alike and keys and side.traits.is_unique(keys)
        )

    @property
    def _told(self) -> MergeOptions:
        """The options for pandas: without ``validate`` if it is known to hold."""
        sides = next((sides for names, sides in UNIQUE.items() if self.how.validate in names), ())
        is_unique = sides and set(sides) <= set(self._unique)
        return replace(self.how, validate=None) if is_unique else self.how

    def _out(self, left: Counts, right: Counts) -> Sizes:
        """Return the sizes of the result's chunks, given the rows of each side in each chunk."""
        counts = [
            rows for side, rows in (("left", left), ("right", right)) if self._has_lone_rows(side)
        ]
        bounds: list[int | None] = [None] * len(left)
        for rows in counts:
            bounds = [
                new if old is None else old if new is None else min(old, new)
                for old, new in zip(bounds, rows, strict=True)
            ]
        return unknown_sizes(self.name, bounds)

    def relation(self, inputs: Sequence[Any]) -> Table | None:
        how = self.how
        plain = how.validate is None and how.indicator is False and how.numbers
        if not plain or how.how not in {"inner", "left", "right"}:
            return None
        sides = self.left.meta.columns, self.right.meta.columns
        if any(labels.nlevels > 1 or not labels.is_unique for labels in sides):
            return None
        keys = [
            [labels.get_loc(label) for label in names]
            for labels, names in zip(sides, how.keys(self.left.meta, self.right.meta), strict=True)
        ]
        common = {
            right for left, right in zip(*keys, strict=True) if sides[0][left] == sides[1][right]
        }
        left, right = inputs
        if how.how == "right":
            table = right_join(left, right, (keys[0], keys[1]), common)
        else:
            table = join(left, right, (keys[0], keys[1]), how.how, common)
        return table if table and len(table.columns) == len(self.meta.columns) else None

    def tile(self, left: Grid, right: Grid) -> Any:
        spread = self._told.spread
        if len(left) == 1 and len(right) == 1 and not may_be_tight(left, right):
            return self._beside(left, right, "left")
        if len(right) == 1 and "left" in spread and _bytes(right) <= BROADCAST:
            return self._beside(left, right, "left")
        return self._chosen(left, right, spread)

    def tile_blind(self, left: Grid, right: Grid) -> Grid:
        shape, count = self._told.beforehand(len(left), len(right))
        if shape == "shuffled":
            return self._shuffled(left, right, count)
        if shape == "whole":
            return self._beside(as_one_chunk(left), as_one_chunk(right), "left")
        return self._beside(left, right, shape)

    def _beside(self, left: Grid, right: Grid, spread: str) -> Grid:
        """Merge each chunk of one side with all rows of the other."""
        many = left if spread == "left" else right
        left, right = (left, as_one_chunk(right)) if many is left else (as_one_chunk(left), right)
        axes = ((0,) if many is left else (None,), (0,) if many is right else (None,))
        if len(many) == 1:
            axes = ((0,), (0,))
        sizes = self._out(*(_spread(grid.chunks[0], len(many)) for grid in (left, right)))
        return self.grid(Blockwise(merge_chunks, (left, right), axes, {"how": self._told}), sizes)

    def _chosen(self, left: Grid, right: Grid, spread: Sequence[str]) -> Any:
        left_source, right_source = yield from measure(left, right)
        left, right = left_source.grid, right_source.grid
        left_bytes, right_bytes = left_source.total, right_source.total
        broadcast = part_bytes(BROADCAST)
        if "left" in spread and right_bytes <= min(broadcast, left_bytes):
            return self._beside(_spread_rows(left_source, right_bytes), right, "left")
        left_is_small = "right" in spread and left_bytes <= min(broadcast, right_bytes)
        if left_is_small and self.how.how == "right":
            return self._beside(left, _spread_rows(right_source, left_bytes), "right")
        count = part_count(left_bytes + right_bytes, SHUFFLED)
        if not self.how.keyed and spread:
            return self._beside(left, right, spread[0])
        if count == 1 or not self.how.keyed:
            return self._beside(as_one_chunk(left), as_one_chunk(right), "left")
        if left_is_small:
            return self._beside(left, _spread_rows(right_source, left_bytes), "right")
        return (yield from self._shuffle_measured(left_source, right_source, max(2, count)))

    def _shuffle_measured(self, left: MeasuredGrid, right: MeasuredGrid, count: int) -> Any:
        if not is_tight(left.total + right.total):
            grids = left.grid, right.grid
            lying = [len(grid) for grid, by in zip(grids, self._by, strict=True) if _lies(grid, by)]
            return self._shuffled(*grids, lying[0] if lying else count)
        # The number of result rows is unknown: repeated keys give more rows than the inputs have.
        count *= 2
        splits = self._cut(repartition(left), repartition(right), count)
        rows = yield from counted_parts(*splits, count=count)
        return self._joined(self._met(splits, rows), rows)

    def _shuffled(self, left: Grid, right: Grid, count: int) -> Grid:
        grids = left, right
        rows: Counts = [None] * count
        parts = self._met(self._cut(left, right, count), (rows, rows))
        sides = [
            grid if _lies(grid, by) and len(grid) == count else side
            for grid, by, side in zip(grids, self._by, parts, strict=True)
        ]
        return self._joined(sides, (rows, rows))

    @property
    def _by(self) -> tuple[Partitioning, Partitioning]:
        """The partitioning of each side in a shuffle by the keys."""
        left, right = self.how.keys(self.left.meta, self.right.meta)
        casts = tuple(
            common_type(_key_type(self.left.meta, a), _key_type(self.right.meta, b))
            for a, b in zip(left, right, strict=True)
        )
        return Partitioning("hash", left, casts), Partitioning("hash", right, casts)

    def _cut(self, left: Grid, right: Grid, count: int) -> tuple[Grid, Grid]:
        """Split both sides by the hash of their keys."""
        keep = "all" if self.how.numbers else "rows"
        of_labels = self.how.left_index, self.how.right_index
        left_parts, right_parts = (
            cut_by_hash(side, () if labels else by.keys, count, casts=by.casts, keep=keep)
            for side, by, labels in zip((left, right), self._by, of_labels, strict=True)
        )
        return left_parts, right_parts

    def _met(self, splits: tuple[Grid, Grid], rows: Sequence[Counts]) -> list[Grid]:
        """Shuffle both sides, so that rows of equal keys are in chunks of equal number."""
        return [
            shuffle(
                split,
                concat_parts,
                unknown_sizes(f"{self.name}:{place}", counts),
                {"labels": not self.how.numbers},
                meta=side.meta,
                width=split.width,
            )
            for place, (side, split, counts) in enumerate(
                zip((self.left, self.right), splits, rows, strict=True)
            )
        ]

    def _joined(self, sides: Sequence[Grid], rows: Sequence[Counts]) -> Grid:
        """Merge each chunk of one side with the chunk of the other that has its keys."""
        return self.mapped(
            merge_chunks,
            *sides,
            chunks=(self._out(*rows),),
            kwargs={"how": self._told},
            partitioning=self._partitioning,
        )

    @property
    def _partitioning(self) -> Partitioning | None:
        """The partitioning of the result, by the keys of a side that it has all."""
        how, metas = self.how, (self.left.meta, self.right.meta)
        names = {"inner": ("left", "right"), "outer": ("left",) if how.on else ()}
        for side in names.get(how.how, (how.how,)):
            mine, theirs = metas if side == "left" else metas[::-1]
            by = self._by[side == "right"]
            carry = comparable(self.meta, partial(self._carry, mine, theirs))
            partitioning = by.carried(carry)
            if partitioning is not None and not any(by.casts):
                return partitioning
        return None


def _key_type(meta: Any, key: Hashable) -> Any:
    """Return the type of a key: of a level of the labels, or of a column of any label."""
    return dtype_of_key(meta, key) if isinstance(key, Level) else meta[key].dtype


def _lies(grid: Grid, by: Partitioning) -> bool:
    """Tell whether a grid already has the partitioning of a shuffle."""
    return len(grid) > 1 and grid.partitioning == by


def _spread_rows(side: MeasuredGrid, whole: int) -> Grid:
    """Return the chunks of a side that are merged with the whole other one, of so many bytes.

    Small ones are put together: pandas looks at all keys of the whole side once a chunk.
    """
    grid = split_large(side.grid)
    return merge_small(side, part_bytes(whole // 2)) if grid is side.grid and whole else grid


def _spread(sizes: Sizes, count: int) -> Counts:
    """Return the bounds of a side's chunks, repeated if one chunk is merged ``count`` times."""
    bounds = [upper(size) for size in sizes]
    return bounds if len(bounds) == count else bounds * count


def _bytes(grid: Grid) -> float:
    """Return the projected bytes of a grid of one chunk, infinite if nothing bounds them."""
    projected = grid.nbytes((0,) * grid.ndim)
    return float("inf") if projected is None else projected


@kernel(scratch=3.5)
def merge_chunks(left: Any, right: Any, how: MergeOptions) -> Any:
    """Merge two chunks."""
    return how(left, right)


def common_type(a: Any, b: Any) -> Any:
    """Return the type to which keys are cast, so that equal ones hash alike; ``None`` for none."""
    if a == b and not isinstance(a, pd.CategoricalDtype):
        return casts_of([a])[0]
    types = [getattr(dtype, "categories", pd.Index([], dtype)).dtype for dtype in (a, b)]
    numeric = [pd.api.types.is_numeric_dtype(dtype) and dtype.kind != "c" for dtype in types]
    flags = [dtype.kind != "O" for dtype, real in zip(types, numeric, strict=True) if not real]
    return float if any(numeric) and not any(flags) else object
