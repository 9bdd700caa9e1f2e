"""Concatenate frames along their rows or their columns."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from typing import cast as typed

import numpy as np
import pandas as pd
from pandas.api.extensions import no_default
from pandas.api.types import is_bool, is_numeric_dtype

from marsdask.core.collection import Collection, wrap
from marsdask.core.grids.blockwise import Blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.select import concatenate_grids, cut_axis
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Columns, Node, PartOf, Taken
from marsdask.core.public import public_call
from marsdask.core.sizes import Chunks, known, numbers, total
from marsdask.scheduler.base import dtypes_of

from ..create import as_lazy
from ..elementwise.rowwise import NewLabels, column_of, relabelled, rowwise
from ..keyed.join import join as join_frames
from ..nodes.common_dtypes import are_objects, number_type, type_with_columns, type_with_gaps
from ..nodes.dtypes import (
    common_labels,
    common_levels,
    in_one_type,
    is_small,
    labels_of_objects,
    meta_from_infos,
)
from ..nodes.frame_node import OCCURRENCE, FrameNode, S, axis_number, orders_beside, row_bytes
from ..ordered.row_numbers import reset_index
from ..rows import alignment, cast_labels, same_type, same_types, with_type, without_names
from ..schemas.samples import row, with_a_column, without_rows
from ..schemas.schema import result_of
from ..whole.fallback import function_with_fallback
from .object_labels import beside_no_rows, in_type_of_joined_labels, with_inferred_labels


def _are_alike(one: Any, other: Any) -> bool:
    """Tell whether objects have the same columns, and these the same types."""
    labels = one.columns.equals(other.columns) if isinstance(one, pd.DataFrame) else True
    return labels and same_types(dtypes_of(one) or (), dtypes_of(other) or ())


@kernel(scratch=0.0)
def reindex_columns(block: Any, like: Any) -> Any:
    """Give a chunk the columns of the result."""
    if isinstance(like, pd.DataFrame) and not block.columns.equals(like.columns):
        return block.reindex(columns=like.columns)
    return block.rename(like.name) if isinstance(like, pd.Series) else block


@kernel(scratch=2.0)
def cast_columns(
    block: Any,
    like: Any,
    own: Any,
    settled: bool,
    absent: frozenset[Any] = frozenset(),
    empty: tuple[Any, ...] = (),
) -> Any:
    """Give a chunk the columns of the result, and their types.

    A column of another type than its object declares keeps it. For example, integers of a merge
    are floats if values turn out to be missing. Numbers beside such a column keep theirs, too, but
    hold those of the parts that are ``empty``, since no chunk with rows has the types of these.
    Columns that are ``absent`` from a part get types that hold gaps, whether it has rows or not.
    """
    block = reindex_columns(block, like)
    if isinstance(like, pd.Series):
        if _is_cast(block.dtype, like, own, settled):
            return with_type(block, like.dtype)
        return with_type(block, type_with_columns(block.dtype, empty))
    if not like.columns.is_unique:
        return block
    block = block.copy(deep=False)
    for place, (label, dtype) in enumerate(like.dtypes.items()):
        old = block.dtypes[label]
        is_cast = label not in own.columns or _is_cast(old, like[label], own[label], settled)
        columns = [part[label] for part in empty if label in part.columns]
        held = type_with_gaps(old) if label in absent else number_type(old, like[label].dtype)
        held = type_with_columns(held, columns)
        new = dtype if is_cast else held
        if not same_type(old, new):
            block.isetitem(place, with_type(block.iloc[:, place], new))
    return block


def _is_cast(dtype: Any, like: Any, own: Any, settled: bool) -> bool:
    """Tell whether a column of a chunk takes the type that is declared for the result."""
    # Truth values are declared as objects where only rows tell whether there are gaps.
    of_numbers = is_numeric_dtype(dtype) and is_numeric_dtype(like.dtype)
    of_numbers |= dtype == "bool" and like.dtype == "object"
    return dtype == own.dtype and (settled or not of_numbers)


@kernel(view=True)
def conform_labels(block: Any, like: pd.Index, own: Any) -> Any:
    """Give a chunk labels of the types and the names of the result.

    Labels of another type than their object declares keep it, unless ``own`` is ``None``.
    """
    index = block.index
    if not len(index):
        return block.set_axis(like)
    if index.nlevels != like.nlevels:
        return block.set_axis(index.to_flat_index())
    labels = cast_labels(index, like) if own in {None, dtypes_of(index)} else index
    return block.set_axis(labels.set_names(like.names))


@dataclass(frozen=True, eq=False)
class Concat(FrameNode):
    """The rows of several objects, one object after the other."""

    parts: tuple[Node, ...]
    counts: tuple[Any, ...] | None = None
    """How many rows each part counts as, where that is not as many as it is known to have."""
    key_levels: int | None = None
    """How many levels of labels are keys, if keys or names of levels were given."""

    @property
    def meta(self) -> Any:
        gaps = self._gaps
        types = result_of(Concat, (self.parts, gaps), (), lambda: self._joined_types(gaps))
        return beside_no_rows(types, self.parts)

    @property
    def level_orders(self) -> tuple[Any, ...]:
        if not self.key_levels:
            return ()
        rows = [part.inputs[0] for part in self.parts]
        count = self.meta.index.nlevels - self.key_levels
        same = len({alignment(node) for node in rows}) == 1
        return (OCCURRENCE,) * self.key_levels + (
            orders_beside(rows[0]) if same else (None,) * count
        )

    @property
    def _gaps(self) -> tuple[bool, ...]:
        """Which parts are rows without columns, which are gaps in those of the others."""
        counts = self.counts or [total(part.chunks[0]) for part in self.parts]
        pairs = zip(self.parts, counts, strict=True)
        return tuple(_lacks_columns(part.meta) and count != 0 for part, count in pairs)

    @property
    def settled(self) -> bool:
        by_rows = self._has_rows_by_values or self._has_labels_of_other_kinds
        return not by_rows and super().settled

    @property
    def types_by_rows(self) -> bool:
        return super().types_by_rows or self.has_types_by_parts

    @property
    def has_types_by_parts(self) -> bool:
        """Whether numbers that rows decide keep their types beside others: see `cast_columns`."""
        alike = all(_are_alike(part.meta, self.meta) for part in self.parts)
        return not (self.settled or alike)

    @property
    def _has_rows_by_values(self) -> bool:
        """Whether only values tell if a part without columns has rows, and so if there are gaps."""
        bare = [total(part.chunks[0]) for part in self.parts if _lacks_columns(part.meta)]
        return self.counts is None and 0 < len(bare) < len(self.parts) and not known(bare)

    @property
    def _has_labels_of_other_kinds(self) -> bool:
        """Whether only values tell if a part has rows, whose labels are not those of the others."""
        kinds = {dtypes_of(part.meta.index) or () for part in self.parts}
        has_rows = known([total(part.chunks[0]) for part in self.parts])
        return are_objects(kinds) and not has_rows

    def _joined_types(self, gaps: tuple[bool, ...]) -> Any:
        metas: list[Any] = [part.meta for part in self.parts]
        if not any(gaps) and not any(map(_has_complex, metas)):
            return _with_levels_of(metas, pd.concat(metas))
        rows = [
            row(meta) if meta.ndim == 1 or len(meta.columns) or gap else meta
            for meta, gap in zip(metas, gaps, strict=True)
        ]
        labels = _with_levels_of(metas, pd.concat(with_a_column(metas, gaps)))
        index = _named_by(labels.index, metas)
        return without_rows(pd.concat(rows), labels.set_axis(index, axis=0))

    @property
    def _absent(self) -> frozenset[Any]:
        """The columns that some part lacks, if it has columns or rows."""
        if self.meta.ndim == 1:
            return frozenset()
        if any(self._gaps) and not self._has_rows_by_values:
            return frozenset(self.meta.columns)
        labels = [frozenset(part.meta.columns) for part in self.parts if len(part.meta.columns)]
        every = frozenset(self.meta.columns)
        return every - every.intersection(*labels)

    @property
    def chunks(self) -> Chunks:
        sizes = itertools.chain.from_iterable(part.chunks[0] for part in self.parts)
        return (tuple(sizes),)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        if wanted is None or not isinstance(self.meta, pd.DataFrame):
            return (None,) * len(self.parts)
        # A part without columns has a say in no type: one that has some keeps one.
        columns = [part.meta.columns for part in self.parts]
        return tuple(wanted.intersection(own) or frozenset(own[:1]) for own in columns)

    def sliced(self, taken: Taken, part: PartOf) -> Node | None:
        (rows,) = taken
        lengths = [total(node.chunks[0]) for node in self.parts]
        # Labels and columns of other types are cast to those that all rows decide.
        alike = all(_are_alike(node.meta, self.meta) and node.settled for node in self.parts)
        alike = alike and len({dtypes_of(node.meta.index) for node in self.parts}) == 1
        if rows is None or not rows or not alike or not known(lengths):
            return None
        slices = cut_axis(numbers(lengths), rows)
        runs = [
            part(self.parts[at], (range(*own.indices(lengths[at])),))  # type: ignore[arg-type]
            for at, own in zip(slices.positions, slices.parts, strict=True)
        ]
        return self.replaced(parts=tuple(runs))

    def tile(self, *grids: Grid) -> Grid | Generator[Look, Any, Grid]:
        return self._counted(grids) if self._has_rows_by_values else self._tile(grids)

    def _counted(self, grids: Sequence[Grid]) -> Generator[Look, Any, Grid]:
        """Return the rows in the types that the lengths of parts without columns decide."""
        bare = yield from resolved(*(grid for grid in grids if _lacks_columns(grid.meta)))
        rest = iter(bare)
        grids = [next(rest) if _lacks_columns(grid.meta) else grid for grid in grids]
        counted = replace(self, counts=tuple(total(grid.chunks[0]) for grid in grids))
        tiled = counted._tile(grids)
        grid = tiled if isinstance(tiled, Grid) else (yield from tiled)
        return replace(grid, meta=None)  # its types are not those that are declared

    def _tile(self, grids: Sequence[Grid]) -> Grid | Generator[Look, Any, Grid]:
        # Unless parts have no rows: these do not count.
        kinds = {dtypes_of(grid.meta.index) or () for grid in grids}
        if are_objects(kinds):
            return self._looked(grids)
        if self._has_labels_by_rows(kinds) or self._has_types_of_empty_parts:
            return self._looked(grids)
        return self._joined(grids, self.meta.index)

    def _has_labels_by_rows(self, kinds: set[Any]) -> bool:
        """Whether rows tell if labels of a part are integers, and others are."""
        by_rows = not self.settled and len(kinds) > 1 and is_small(self)
        return by_rows and any(dtype.kind == "f" for dtype in itertools.chain(*kinds))

    @property
    def _has_types_of_empty_parts(self) -> bool:
        """Whether a part without rows may have a type of numbers that the others lack."""
        lengths = [total(part.chunks[0]) for part in self.parts]
        if self.settled or (0 not in lengths and (known(lengths) or not is_small(self))):
            return False
        frames = [
            part.meta.to_frame(0) if part.meta.ndim == 1 else part.meta for part in self.parts
        ]
        kinds = {(label, dtype) for frame in frames for label, dtype in frame.dtypes.items()}
        numbers_of = Counter(label for label, dtype in kinds if is_numeric_dtype(dtype))
        return any(count > 1 for count in numbers_of.values())

    def _looked(self, grids: Sequence[Grid]) -> Generator[Look, Any, Grid]:
        grids = yield from resolved(*grids)
        counts = [total(grid.chunks[0]) for grid in grids]
        metas = yield from self._metas(grids, counts)
        parts = [
            (meta.index, rows)
            for meta, rows, counted in zip(metas, counts, self.counts or counts, strict=True)
            if rows or counted or not _lacks_columns(meta)
        ]
        filled = [(index, rows) for index, rows in parts if rows]
        first, like = (parts[0][0] if parts else metas[0].index), self.meta.index
        among_pairs = like.nlevels < first.nlevels
        if among_pairs and {index.nlevels for index, _ in filled} == {first.nlevels}:
            like, parts = without_names(first), filled
        has_pairs = like.nlevels - (self.key_levels or 0) > 1
        labels = (common_levels if has_pairs else common_labels)(parts, like)
        labels = labels_of_objects(labels) if among_pairs else labels
        by_rows = not self.settled
        empty = [meta for meta, rows in zip(metas, counts, strict=True) if by_rows and rows == 0]
        by_rows = by_rows and is_small(self)
        return self._joined(grids, labels, tuple(empty), by_rows=by_rows)

    def _metas(self, grids: Sequence[Grid], counts: Sequence[Any]) -> Generator[Look, Any, Any]:
        """Return the types of parts: those of their rows, unless these are declared or many."""
        metas = []
        for grid, rows in zip(grids, counts, strict=True):
            meta = grid.meta
            if not self.settled and (rows == 0 or is_small(self)):
                infos = yield Look((grid,))
                meta = meta_from_infos(meta, infos)
            metas.append(meta)
        return metas

    def tile_blind(self, *grids: Grid) -> Grid:
        return self._joined(grids, self.meta.index)

    def _joined(
        self,
        grids: Sequence[Grid],
        labels: pd.Index,
        empty: tuple[Any, ...] = (),
        *,
        by_rows: bool = False,
    ) -> Grid:
        """Return the rows of parts with labels of a type, which may be that of all rows."""
        parts = [self._conformed(self._labelled(grid, labels, by_rows), empty) for grid in grids]
        return concatenate_grids(parts, 0, self.meta, "concat")

    def _labelled(self, grid: Grid, like: pd.Index, by_rows: bool) -> Grid:
        own = grid.meta.index
        is_same = same_types(dtypes_of(own) or (), dtypes_of(like) or ())
        if is_same and not by_rows and own.names == like.names:
            return grid
        kwargs = {"like": like, "own": None if by_rows else dtypes_of(own)}
        meta = grid.meta
        return map_blocks(conform_labels, grid, meta=meta, itemsize=row_bytes(meta), kwargs=kwargs)

    def _conformed(self, grid: Grid, empty: tuple[Any, ...]) -> Grid:
        may_lack_gaps = bool(self._absent) and not self.settled
        if grid.meta is self.meta and not may_lack_gaps and not empty:
            return grid
        alike = not may_lack_gaps and not empty and _are_alike(grid.meta, self.meta)
        kwargs = {"like": self.meta}
        if not alike:
            kwargs |= {"own": grid.meta, "settled": self.settled, "absent": self._absent}
            kwargs |= {"empty": empty} if empty else {}
        rule = Blockwise(reindex_columns if alike else cast_columns, (grid,), ((0,),), kwargs)
        return self.grid(rule, grid.chunks[0])


def _lacks_columns(meta: Any) -> bool:
    return meta.ndim == 2 and not len(meta.columns)


def _has_complex(meta: Any) -> bool:
    """Tell whether numbers are complex: without rows, pandas joins them to others as objects."""
    dtypes = meta.dtypes if meta.ndim == 2 else [meta.dtype]
    return any(getattr(dtype, "kind", "") == "c" for dtype in dtypes)


def _with_levels_of(metas: Sequence[Any], found: Any) -> Any:
    """Return empty rows with levels of the types that rows with values have."""
    labels = [meta.index for meta in metas]
    if found.index.nlevels == 1 or len({dtypes_of(one) for one in labels}) == 1:
        return found
    return found.set_axis(common_levels([(index, 1) for index in labels], found.index), axis=0)


def _named_by(labels: pd.Index[Any], metas: Sequence[Any]) -> pd.Index[Any]:
    """Return labels under the names that all of several objects have."""
    indexes = [meta.index for meta in metas]
    if {index.nlevels for index in indexes} != {labels.nlevels}:
        return labels
    return labels.set_names(indexes[0].append(indexes[1:]).names)


def columns_beside(*blocks: Any, **options: Any) -> Any:
    """Return the columns of several objects with the same rows."""
    return pd.concat(blocks, axis=1, **options)


@kernel(view=True)
def keyed(block: Any, keys: Any, names: Any) -> Any:
    """Return rows with the one key as the first level of their labels."""
    return pd.concat([block], keys=keys, names=names)


@public_call
@function_with_fallback
def concat(
    objs: Iterable[S] | Mapping[Any, S],
    *,
    axis: int | str = 0,
    join: str = "outer",
    ignore_index: bool = False,
    keys: Any = None,
    levels: None = None,
    names: Any = None,
    verify_integrity: bool = False,
    sort: Any = no_default,
) -> S:
    """Concatenate objects along their rows, or their columns. See pandas.concat.

    Columns of rows with other labels are joined by them: the labels then must be unique. Times are
    sorted unless ``sort=False`` is given, as by pandas.
    """
    if not (sort is no_default or is_bool(sort)):
        raise ValueError(f"The 'sort' keyword only accepts boolean values; {sort!r} was passed.")
    sort = None if sort is no_default else bool(sort)
    if isinstance(objs, Mapping):
        keys = list(objs) if keys is None else keys
        objs = [objs[key] for key in keys]
    objs = list(objs)
    if keys is not None:
        keys, names = _listed_keys(keys, names)
    beside = axis_number(pd.DataFrame(), axis) == 1
    if join not in {"outer", "inner"}:
        raise ValueError("Only can inner (intersect) or outer (union) join the other axis")
    if levels is not None or verify_integrity:
        raise NotImplementedError(
            "concat(levels=, verify_integrity=) is not supported; use keys= and names="
        )
    _check_keys(keys, objs, ignore_index=ignore_index)
    pairs = [(at, item) for at, item in enumerate(objs) if item is not None]
    places = [at for at, _ in pairs]
    if keys is not None:
        keys = [keys[at] for at in places] if isinstance(keys, list) else keys[places]
    parts = _checked([as_lazy(item) for _, item in pairs], objs)
    if beside:
        options = {"ignore_index": ignore_index, "keys": keys, "names": names}
        result: S = _beside(parts, join, options, sort=sort)
    else:
        result = _below(parts, join, keys, names, ignore_index=ignore_index, sort=bool(sort))
    return result


def _listed_keys(keys: Any, names: Any) -> tuple[Any, Any]:
    """Return keys as a list or labels of a type, and the names of their levels unless given."""
    if names is None and isinstance(keys, pd.Index) and any(keys.names):
        names = list(keys.names)
    has_type = isinstance(keys, pd.Index) and keys.nlevels == 1
    return keys if has_type else list(keys), names


def _check_keys(keys: Any, objs: list[Any], *, ignore_index: bool) -> None:
    if keys is None:
        return
    if ignore_index:
        raise ValueError("Cannot set ignore_index=True and specify keys. Either should be used.")
    if len(keys) != len(objs):
        raise ValueError(
            f"The length of the keys ({len(keys)}) must match the length of the objects to "
            f"concatenate ({len(objs)})"
        )


def _checked(parts: list[Any], objs: list[Any]) -> list[Any]:
    if not objs:
        raise ValueError("No objects to concatenate")
    if not parts:
        raise ValueError("All objects passed were None")
    for part in parts:
        if not isinstance(part, Collection):
            raise TypeError(
                f"cannot concatenate object of type '{type(part)}'; only Series and "
                "DataFrame objs of marsdask are valid"
            )
    return parts


def _below(
    parts: list[Any], join: Any, keys: Any, names: Any, *, ignore_index: bool, sort: bool
) -> Any:
    """Return the rows of several objects, one object after the other."""
    if len({type(part.node.meta) for part in parts}) > 1:
        # A series among frames is a column.
        parts = [part.to_frame() if part.ndim == 1 else part for part in parts]
    if keys is not None and len({part.node.meta.index.nlevels for part in parts}) > 1:
        raise NotImplementedError(
            "concat(keys=) of labels of different numbers of levels is not supported; use "
            "reset_index() of each"
        )
    given = parts
    if keys is not None:
        parts = [
            rowwise(NewLabels(keyed), part, keys=keys[at : at + 1], names=names)
            for at, part in enumerate(parts)
        ]
    # Below keys, and in an intersection, a part without rows counts, too.
    plain = keys is None and names is None
    levels = None if plain else _levels_of(parts) - _levels_of(given)
    counts = None if plain and join == "outer" else (1,) * len(parts)
    rows = Concat(tuple(part.node for part in parts), counts, levels)
    result = wrap(in_one_type(rows) if rows.has_types_by_parts else rows)
    same = keys is not None and len({alignment(part.node) for part in given}) == 1
    if not ignore_index and not same:  # pandas keeps equal labels below keys
        result = with_inferred_labels(result, given)
    if result.ndim == 2 and (join == "inner" or sort):
        columns = pd.concat([part.node.meta for part in parts], join=join, sort=sort).columns
        result = rowwise(column_of, result, key=list(columns))
        result = result if len(columns) else rowwise(relabelled, result, columns=columns)
    return reset_index(result, drop=True) if ignore_index else result


def _levels_of(parts: list[Any]) -> int:
    return int(parts[0].node.meta.index.nlevels)


def _beside(parts: list[Any], join: str, options: dict[str, Any], *, sort: bool | None) -> Any:
    """Return the columns of several objects, joined by their labels unless these are equal."""
    if sort is None:
        times = all(isinstance(part.node.meta.index, pd.DatetimeIndex) for part in parts)
        sort = join == "outer" and times and len({alignment(part.node) for part in parts}) > 1
    if len({alignment(part.node) for part in parts}) == 1:
        result = rowwise(columns_beside, *parts, **options)
        return result.sort_index() if sort else result
    metas: Any = [part.node.meta for part in parts]
    columns = pd.concat(metas, axis=1, join=typed("Any", join), **options).columns
    in_order = join == "outer" and not sort
    places: list[str] = []
    frames, first = [], 0
    for part in parts:
        frame = part.to_frame() if part.ndim == 1 else part
        labels = pd.RangeIndex(first, first + len(frame.columns))
        frames.append(rowwise(relabelled, frame, columns=labels))
        first += len(labels)
        if in_order:
            places.append(f"place {len(places)}")
            frames[-1] = rowwise(columns_beside, frames[-1], row_numbers(part, places[-1]))
    table = frames[0]
    for frame in frames[1:]:
        table = join_frames(table, frame, how=join, validate="1:1")
    if in_order:
        order = rowwise(first_places, table[places])
        table = rowwise(columns_beside, table.drop(columns=places), order)
        table = table.sort_values(["part", "place"]).drop(columns=["part", "place"])
    table = in_type_of_joined_labels(table, parts, join)
    table = table.sort_index() if sort else table
    names = [tuple(meta.index.names) for meta in metas]
    if len(set(names)) > 1 and len(set(map(len, names))) == 1:
        levels = [set(level) for level in zip(*names, strict=True)]
        common = [level.pop() if len(level) == 1 else None for level in levels]
        table = table.rename_axis(index=common)
    return rowwise(relabelled, table, columns=columns)


def row_numbers(rows: Any, name: str) -> Any:
    """Return for each row its number, from 1 on, as a column."""
    return rowwise(counted, rows, name=name).cumsum()


def counted(block: Any, name: str) -> Any:
    """Return one for each row."""
    return pd.Series(1, index=block.index, name=name)


def first_places(places: Any) -> Any:
    """Return for each row the first object that has its label, and its number there."""
    mask = places.notna().to_numpy(bool)
    part = mask.argmax(axis=1)
    place = places.to_numpy(float)[np.arange(len(places)), part]
    return pd.DataFrame({"part": part, "place": place}, index=places.index)
