"""Common types of computed chunks, in place of the declared types."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from marsdask.core.grids.blockwise import map_blocks
from marsdask.core.grids.grid import Grid
from marsdask.core.node import Columns, Node, SameChunks, SameMeta
from marsdask.core.sizes import upper
from marsdask.core.traits import Traits
from marsdask.scheduler.base import ChunkInfo, dtypes_of

from ..rows import all_categories, cast_labels, concat, same_type, with_type
from ..schemas.samples import column
from .frame_node import FrameNode, row_bytes

#: Sources of at most so many bytes are read to find the types of some of their rows.
SMALL_SOURCES = 2**28

#: The types of the columns, and of the levels of the row labels.
Types = tuple[tuple[Any, ...], tuple[Any, ...]]


def meta_from_infos(meta: Any, infos: Sequence[ChunkInfo]) -> Any:
    """Return the meta with the types that concatenating all chunks gives.

    Chunks without rows count only if all are empty. The meta is unchanged if the types of a chunk
    are unknown, or if a chunk has other columns than declared.
    """
    parts = [info for info in infos if info.shape and info.shape[0]] or infos[:1]
    dtypes = _told(parts)
    if not _fit(meta, dtypes):
        return meta
    types = _concat_types(meta, dtypes)
    return types if len(parts) == len(infos) else _with_unused(types, _told(infos))


def cast_chunks(grid: Grid, meta: Any, infos: Sequence[ChunkInfo]) -> Grid:
    """Return the grid with the meta's types in all chunks, or itself if they are equal."""
    dtypes = _told(infos)
    if [*map(_exact, dtypes)] == [_exact(_types_of(meta))] or not _fit(meta, dtypes):
        return grid
    kwargs = {"meta": meta}
    return map_blocks(
        cast, grid, chunks=grid.chunks, meta=meta, itemsize=row_bytes(meta), kwargs=kwargs
    )


def common_meta(blocks: Sequence[Any]) -> Any:
    """Return empty rows of the types that concatenating blocks gives, of which some may differ."""
    dtypes = _distinct(map(_types_of, blocks))
    first = blocks[0].iloc[:0]
    return _concat_types(first, dtypes) if _fit(first, dtypes) else first


def common_labels(parts: Sequence[tuple[pd.Index, Any]], like: pd.Index) -> pd.Index:
    """Return ``like`` with the types that joining indexes gives; pandas infers objects.

    Indexes without rows count where all are numbers, or all have the same categories.
    """
    types = [dtypes_of(index) or () for index, rows in parts if rows]
    if not types or any(len(own) != like.nlevels for own in types):
        return like
    if like.nlevels == 1:
        return _empty_labels(like, (_joined_type(parts),))
    common = tuple(map(_common_of_objects, zip(*types, strict=True)))
    objects = (np.dtype(object),) * len(common)
    whole = [dtypes_of(index) if index.nlevels == len(common) else objects for index, _ in parts]
    return _empty_labels(like, tuple(map(_of_every, common, zip(*whole, strict=True))))


def _joined_type(parts: Sequence[tuple[Any, Any]]) -> Any:
    """Return the type of joined labels: pandas infers that of objects, which the others have."""
    first, *others = (
        pd.Index(_values(index.dtype)) if rows else pd.Index([], index.dtype)  # of pairs: objects
        for index, rows in parts
    )
    return first.append(others).dtype


def common_levels(parts: Sequence[tuple[pd.Index, Any]], like: pd.Index) -> pd.Index:
    """Return ``like`` with the types that joining levels gives: objects count if there are any.

    Labels of other numbers of levels have no common ones.
    """
    types = [[(dtype, rows) for dtype in dtypes_of(index) or ()] for index, rows in parts]
    levels = list(zip(*types, strict=False))[: like.nlevels]
    if len(levels) < like.nlevels:
        return like
    counted = [
        [dtype for dtype, rows in level if rows or dtype != "object"] or [np.dtype(object)]
        for level in levels
    ]
    return _empty_labels(like, tuple(map(_common_of_objects, counted)))


def labels_of_objects(labels: pd.Index) -> pd.Index:
    """Return labels of the types that pandas infers of values which were put among pairs."""
    values = [_values(dtype).to_numpy(object) for dtype in dtypes_of(labels) or ()]
    if labels.nlevels > 1:
        pair = pd.MultiIndex.from_tuples([tuple(level[0] for level in values)])
        return _empty_labels(labels, dtypes_of(pair) or ())
    return pd.Index([], pd.Index(values[0]).dtype, name=labels.name)


def _common_of_objects(dtypes: Sequence[Any]) -> Any:
    """Return the type of labels of several objects: other categories are no categories."""
    if {type(dtype) for dtype in dtypes} == {pd.CategoricalDtype}:
        first, *indexes = [pd.Index(_values(dtype)) for dtype in dtypes]
        return first.append(indexes).dtype
    return _common(dtypes, pd.Index)


def _of_every(dtype: Any, dtypes: Sequence[Any]) -> Any:
    """Return the common type of numbers, the first of equal categories, or that of the values."""
    types = [getattr(kind, "categories", pd.Index([], kind)).dtype for kind in dtypes]
    if len({*dtypes}) > 1 and all(is_numeric_dtype(t) and not is_bool_dtype(t) for t in types):
        return _common_of_objects(types)
    if not isinstance(dtype, pd.CategoricalDtype):
        return dtype
    return dtypes[0] if len({*dtypes}) == 1 else dtype.categories.dtype


@dataclass(frozen=True, eq=False)
class OneType(SameMeta, SameChunks, FrameNode):
    """The same rows; all chunks have one type, as a column of pandas has."""

    types_by_rows: ClassVar[bool] = False

    @property
    def traits(self) -> Traits:
        # Not the traits of values: different numbers may be equal in the common type.
        return Traits(self.a.alignment)

    def requires(self, wanted: Columns) -> tuple[Columns, ...]:
        return (wanted,)

    def tile(self, a: Grid) -> Generator[Grid, Any, Grid]:
        if len(a) == 1:
            return replace(a, meta=None)
        grid = yield from of_one_type(a, self.meta)
        return grid if grid is a else Grid(grid.rule, grid.chunks, None, grid.itemsize)

    def tile_blind(self, a: Grid) -> Grid:
        return a


def of_one_type(grid: Grid, meta: Any) -> Generator[Grid, Any, Grid]:
    """Run all chunks, and return them in the types that concatenating them gives."""
    infos = yield grid
    return cast_chunks(grid, meta_from_infos(meta, infos), infos)


def in_one_type(node: Node) -> Node:
    """Return a node some of whose rows have the types that pandas gives all of them.

    Of large sources rows keep the types of their chunk: all rows would be computed, and kept,
    before the first one is known.
    """
    by_rows = isinstance(node, FrameNode) and node.types_by_rows
    return OneType(node) if by_rows and is_small(node) else node


def is_small(node: Node) -> bool:
    """Tell whether the sources of a node are read to find the types of some of its rows."""
    return _source_bytes(node) <= SMALL_SOURCES


def _source_bytes(node: Node) -> float:
    """Return how many bytes have to be read or made for a node; infinity if that is unknown."""
    nbytes, nodes, stack = 0.0, {node}, [node]
    while stack:
        source = stack.pop()
        # Frames that were executed, or adopted, are at hand.
        if not source.inputs and (isinstance(source, FrameNode) or _is_array(source)):
            sizes = [math.inf if size is None else size for size in map(upper, source.shape)]
            nbytes += math.prod(sizes) * (source.itemsize or math.inf)
        fresh = [child for child in source.inputs if child not in nodes]
        nodes.update(fresh)
        stack += fresh
    return nbytes


def _is_array(node: Node) -> bool:
    """Tell whether the values of a node are an array, and no frame."""
    return isinstance(node.meta, np.ndarray)


def concat_chunks(blocks: list[Any]) -> Any:
    """Concatenate blocks of types that may differ."""
    parts = [block for block in blocks if len(block)] or blocks[:1]
    dtypes = _distinct(map(_types_of, parts))
    if not _fit(blocks[0], dtypes):
        return concat(parts)
    first = parts[0]
    meta = _concat_types(first[:0] if isinstance(first, pd.Index) else first.iloc[:0], dtypes)
    if len(parts) < len(blocks):
        meta = _with_unused(meta, _distinct(map(_types_of, blocks)))
    if [*map(_exact, dtypes)] == [_exact(_types_of(meta))]:
        return concat(parts)
    return concat([cast(block, meta) for block in parts])


def cast(block: Any, meta: Any) -> Any:
    """Cast the columns and row labels of a chunk to the meta's types."""
    if not len(block):
        return meta
    if isinstance(block, pd.Index):
        return cast_labels(block, meta)
    block = block.copy(deep=False)
    if isinstance(block, pd.Series):
        block = with_type(block, meta.dtype)
    else:
        for position, (old, new) in enumerate(zip(block.dtypes, meta.dtypes, strict=True)):
            if not same_type(old, new):
                block.isetitem(position, with_type(block.iloc[:, position], new))
    block.index = cast_labels(block.index, meta.index)
    return block


def _told(infos: Iterable[ChunkInfo]) -> list[Types]:
    """Return the distinct types of chunks."""
    return _distinct((info.columns or (), info.labels or ()) for info in infos)


def _order(dtype: Any) -> tuple[Any, ...]:
    """Return categories in order, of which types without one are equal in any."""
    return tuple(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) else ()


def _exact(types: Types) -> tuple[Any, ...]:
    return types, tuple(_order(dtype) for side in types for dtype in side)


def _distinct(types: Iterable[Types]) -> list[Types]:
    return list({_exact(kind): kind for kind in types}.values())


def _types_of(obj: Any) -> Types:
    labels = () if isinstance(obj, pd.Index) else dtypes_of(obj.index)
    return dtypes_of(obj) or (), labels or ()


def _fit(meta: Any, found: list[Types]) -> bool:
    """Tell whether there are types, all with the meta's numbers of columns and levels."""
    form = tuple(map(len, _types_of(meta)))
    return bool(found) and all(tuple(map(len, types)) == form for types in found)


def _concat_types(meta: Any, found: list[Types]) -> Any:
    """Return the meta with the types that concatenating rows of these types gives."""
    of_columns, of_labels = zip(*found, strict=True)
    columns = tuple(_common(types, pd.Series) for types in zip(*of_columns, strict=True))
    labels = tuple(_common(types, pd.Index) for types in zip(*of_labels, strict=True))
    return _of_types(meta, columns, labels)


def _with_unused(meta: Any, found: list[Types]) -> Any:
    """Return the meta with the categories of chunks without rows, too."""
    if not _fit(meta, found):
        return meta
    sides = zip(_types_of(meta), zip(*found, strict=True), strict=True)
    columns, labels = (
        tuple(all_categories(dtypes) or own for own, *dtypes in zip(types, *several, strict=True))
        for types, several in sides
    )
    return _of_types(meta, columns, labels)


def _common(dtypes: Sequence[Any], kind: Any) -> Any:
    distinct = list({(dtype, _order(dtype)): dtype for dtype in dtypes}.values())
    if len(distinct) == 1:
        return distinct[0]
    if (whole := all_categories(distinct)) is not None:
        return whole
    if all(isinstance(dtype, np.dtype) and dtype.kind == "S" for dtype in distinct):
        return np.result_type(*distinct)  # pandas joins bytes of two widths as objects
    return concat([kind(_values(dtype)) for dtype in distinct]).dtype


def _values(dtype: Any) -> Any:
    """Return values of a type, at least one of them not missing if possible."""
    if isinstance(dtype, pd.CategoricalDtype) and len(dtype.categories):
        return pd.Series(dtype.categories, dtype=dtype)
    if isinstance(dtype, pd.PeriodDtype):
        return pd.Series(pd.period_range("2000", periods=1, freq=dtype.freq))
    for value in (object(),) if dtype == "object" else (1, "a"):
        with suppress(TypeError, ValueError):
            return pd.Series([value], dtype=dtype)
    return column(dtype)[:1]


def _of_types(meta: Any, columns: tuple[Any, ...], labels: tuple[Any, ...]) -> Any:
    """Return the meta with these types, or itself if it has them."""
    unchanged = _exact((columns, labels)) == _exact(_types_of(meta))
    return meta if unchanged else _with_types(meta, columns, labels)


def _with_types(meta: Any, columns: tuple[Any, ...], labels: tuple[Any, ...]) -> Any:
    """Return an empty object like the meta, with other types."""
    if isinstance(meta, pd.Index):
        return _empty_labels(meta, columns)
    index = _empty_labels(meta.index, labels)
    if isinstance(meta, pd.Series):
        return pd.Series([], index, columns[0], meta.name)
    series = {at: pd.Series([], index, dtype) for at, dtype in enumerate(columns)}
    return pd.DataFrame(series, index).set_axis(meta.columns, axis=1)


def _empty_labels(labels: pd.Index, types: tuple[Any, ...]) -> pd.Index:
    if dtypes_of(labels) == types:
        return labels
    if not isinstance(labels, pd.MultiIndex):
        return pd.Index([], types[0], name=labels.name)
    return pd.MultiIndex.from_arrays([pd.Index([], dtype) for dtype in types], names=labels.names)
