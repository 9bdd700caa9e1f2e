"""Shuffle rows by ranges of their keys, or by their hash."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.grids.blockwise import blockwise, map_blocks
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.shuffle import all_to_all
from marsdask.core.grids.tree import gather
from marsdask.core.machine.costs import kernel
from marsdask.core.sizes import Sizes
from marsdask.core.traits import Partitioning

from ..elementwise.rowwise import column_of
from ..nodes.frame_node import label_bytes, row_bytes
from ..row_parts import RowPart, positions, smallest, split_at, unlabelled
from ..rows import concat

#: The rows of each chunk from which the ranges are chosen.
SAMPLE = 512

#: Only so many keys decide the part of a row: codes of more would not fit in 64 bits.
LEADING_KEYS = 7

#: The bytes of a row's position in its chunk.
POSITION_BYTES = 8

#: Up to so many codes of rows, a table tells the part of each.
TABLE = 2**16

#: Comparing with each of so many levels takes less time than searching for values among them.
FEW_LEVELS = 12


def keys_of(block: Any, by: tuple[Any, ...] | None) -> Any:
    """Return the key columns numbered from 0.

    ``()`` means the row labels, ``None`` the values of a series.
    """
    if by == ():
        frame = block.index.to_frame(index=False)
    elif by is None or len(by) == 1:
        # A column is a view, a list of them a copy.
        frame = (block if by is None else block[by[0]]).to_frame()
    else:
        frame = column_of(block, list(by))
    return frame.set_axis(range(frame.shape[1]), axis=1)


def samples_of(source: Grid, by: tuple[Any, ...] | None) -> Grid:
    """Return the keys of some rows of each chunk."""
    return map_blocks(sampled_keys, source, kwargs={"by": by}, itemsize=1.0)


def cut_by_range(
    source: Grid,
    samples: Grid,
    by: tuple[Any, ...] | None,
    count: int,
    *,
    ascending: tuple[bool, ...],
    na_first: bool = False,
    labels: bool = False,
    at: bool = False,
) -> Grid:
    """Split chunks into ``count`` parts by ranges of their keys; equal keys are in one part.

    A task chooses the ranges from the samples. Row labels are kept with ``labels``, and positions
    in the chunk with ``at``.
    """
    kwargs = {"ascending": ascending, "na_first": na_first, "count": count}
    pivots = gather(choose_pivots, samples, chunks=((count - 1,),), kwargs=kwargs)
    return blockwise(
        split_by_range,
        [(source, (0,)), (pivots, (None,))],
        chunks=source.chunks,
        itemsize=None if source.width is None else source.width + 8 * labels + 8 * at,
        kwargs={**kwargs, "by": by, "labels": labels, "at": at},
    )


def casts_of(dtypes: Iterable[Any]) -> tuple[Any, ...]:
    """Return the types to which keys are cast before they are hashed, ``None`` for no cast.

    pandas may infer another type for the objects of one chunk.
    """
    return tuple(object if dtype == "object" else None for dtype in dtypes)


def cut_by_hash(
    source: Grid,
    by: tuple[Any, ...] | None,
    count: int,
    *,
    casts: Sequence[Any] = (),
    keep: str = "all",
) -> Grid:
    """Split chunks into ``count`` parts by the hash of their keys.

    ``keep`` is ``"all"`` for all columns, ``"rows"`` for these with the row labels, ``"at"`` with
    their positions in the chunk, ``"labels"`` with both, or ``"keys"`` for the keys with their
    positions.
    """
    kwargs = {"by": by, "casts": casts, "count": count, "keep": keep}
    return map_blocks(split_by_hash, source, itemsize=_part_width(source, by, keep), kwargs=kwargs)


def _part_width(source: Grid, by: tuple[Any, ...] | None, keep: str) -> float | None:
    """Return the bytes of a row in the parts, of what is known of it."""
    if source.width is None or source.meta is None or keep in {"labels", "rows"}:
        return source.width
    if keep == "keys":
        keys = keys_of(source.meta, by).reset_index(drop=True)
        return min(source.width, row_bytes(keys) + POSITION_BYTES)
    return source.width - label_bytes(source.meta.index)


#: The number of rows of each part, ``None`` if unknown.
Counts = Sequence[int | None]


def counted_parts(*splits: Grid, count: int) -> Generator[Look, Any, tuple[Counts, ...]]:
    """Run the splits of each grid, and return the rows of each part, summed over chunks."""
    grids = tuple(
        map_blocks(
            part_rows, grid, chunks=((count,) * len(grid),), meta=np.empty(0, np.intp), itemsize=8.0
        )
        for grid in splits
    )
    infos = iter((yield Look(grids, keep=splits)))
    totals = []
    for grid in splits:
        rows = [next(infos).sample for _ in range(len(grid))]
        is_known = all(part is not None for part in rows)
        totals.append(list(map(int, sum(rows))) if is_known else [None] * count)
    return tuple(totals)


def shuffle(
    splits: Grid,
    merge: Callable[..., Any],
    sizes: Sizes,
    kwargs: Mapping[str, Any] | None = None,
    *,
    meta: Any = None,
    width: float | None,
    partitioning: Partitioning | None = None,
) -> Grid:
    """Merge the parts of each number: ``merge(parts, **kwargs)`` returns a chunk.

    ``partitioning`` is that of the result, if ``merge`` keeps the keys.
    """
    grid = all_to_all(
        splits, 0, None, merge, sizes, merge_kwargs=kwargs, meta=meta, itemsize=width or None
    )
    return replace(grid, partitioning=partitioning)


@kernel(scratch=0.0)
def part_rows(parts: list[RowPart]) -> Any:
    """Return the number of rows of each part."""
    return np.fromiter((len(part.rows) for part in parts), np.intp, len(parts))


@kernel(scratch=0.1)
def sampled_keys(block: Any, by: tuple[Any, ...] | None) -> Any:
    """Return the keys of a sample of rows, the same in every run."""
    count = min(SAMPLE, len(block))
    rows = np.sort(np.random.default_rng(len(block)).choice(len(block), count, replace=False))
    return unlabelled(keys_of(block.iloc[rows], by))  # names of levels may be those of keys


def choose_pivots(
    samples: list[pd.DataFrame], ascending: tuple[bool, ...], na_first: bool, count: int
) -> Any:
    """Return the keys that divide the rows into ``count`` ranges of about equal sizes."""
    keys = concat(samples)
    rows = keys.sort_values(
        list(keys.columns),
        ascending=list(ascending),
        na_position="first" if na_first else "last",
        ignore_index=True,
    )
    positions = [len(rows) * part // count for part in range(1, count)] if len(rows) else []
    return rows.iloc[positions]


@kernel(scratch=2.1)
def split_by_range(
    block: Any,
    pivots: pd.DataFrame,
    by: tuple[Any, ...] | None,
    ascending: tuple[bool, ...],
    na_first: bool,
    count: int,
    labels: bool,
    at: bool = False,
) -> list[RowPart]:
    """Split a chunk into ``count`` parts by the ranges of its keys between the pivots."""
    keys = keys_of(block, by)
    codes, marks, spread = np.zeros(len(keys), np.uint8), np.zeros(len(pivots), np.uint8), 1
    for label, rising in list(zip(keys.columns, ascending, strict=True))[:LEADING_KEYS]:
        levels = pivots[label].dropna().drop_duplicates().sort_values()
        radix = 2 * len(levels) + 3
        spread *= radix
        # The type has to hold the new codes before they are computed: NumPy's integers wrap.
        kind = smallest(spread)
        codes, marks = (
            before.astype(kind, copy=False) * radix
            + _ranks(values[label], levels, rising, na_first).astype(kind, copy=False)
            for before, values in ((codes, keys), (marks, pivots))
        )
    if spread <= TABLE:
        places = np.searchsorted(marks, np.arange(spread), side="right").astype(smallest(count))
        places = places[codes]
    else:
        places = np.searchsorted(marks, codes, side="right")
    return split_at(block, places, count, positions(len(block)) if at else None, labels=labels)


def _ranks(values: pd.Series, levels: pd.Series, rising: bool, na_first: bool) -> Any:
    """Return the rank of each value on or between the levels; nulls are first or last."""
    null = values.isna().to_numpy()
    top = 2 * len(levels)
    if len(levels):
        if isinstance(levels.dtype, pd.CategoricalDtype):
            levels, values = levels.cat.codes, values.cat.codes
        elif null.any():
            values = values.fillna(levels.iloc[0])
        ranks = _ranks_among(values, levels)
    else:
        ranks = np.zeros(len(values), np.uint8)
    ranks = (ranks if rising else top - ranks) + 1
    if null.any():
        ranks[null] = 0 if na_first else top + 2
    return ranks


def _ranks_among(values: pd.Series, levels: pd.Series) -> Any:
    """Return twice the number of levels below each value, and one more where it is a level."""
    if len(levels) <= FEW_LEVELS and _is_plain(values) and _is_plain(levels):
        ranks = np.zeros(len(values), np.uint8)
        block = values.to_numpy()
        for level in levels.to_numpy():
            ranks += block >= level
            ranks += block > level
        return ranks
    lower = levels.searchsorted(values, side="left")
    return lower + levels.searchsorted(values, side="right")


def _is_plain(values: pd.Series) -> bool:
    """Tell whether values are numbers or times of NumPy."""
    return isinstance(values.dtype, np.dtype) and values.dtype.kind in "biufmM"


@kernel(scratch=2.3)
def split_by_hash(
    block: Any, by: tuple[Any, ...] | None, casts: Sequence[Any], count: int, keep: str
) -> list[RowPart]:
    """Split a chunk into ``count`` parts by the hash of its keys, each cast to a common type."""
    keys = keys_of(block, by)
    at = None if keep in {"all", "rows"} else positions(len(block))
    rows, places = keys if keep == "keys" else block, places_of(keys, casts, count)
    return split_at(rows, places, count, at, labels=keep in {"labels", "rows"})


def places_of(keys: pd.DataFrame, casts: Sequence[Any], count: int) -> Any:
    """Return the part of each row, among ``count``, by the hash of its keys.

    Keys cast to ``float`` hash alike for all numeric types; other values become missing ones.
    """
    codes = np.zeros(len(keys), np.uint64)
    for label, dtype in zip(keys.columns, casts or [None] * keys.shape[1], strict=True):
        values: Any = keys[label]
        if dtype is object or (dtype and isinstance(values.dtype, pd.CategoricalDtype)):
            values = values.astype(object)
        if dtype is float:
            values = pd.to_numeric(values, errors="coerce").to_numpy(float, na_value=np.nan)
        values = _alike(getattr(values, "values", values))
        codes = codes * np.uint64(1_000_003) + pd.util.hash_array(values, categorize=False)
    # The high bits are the well mixed ones; a product with the count gives even parts.
    places = ((codes >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    return places.astype(np.int64)


def _alike(values: Any) -> Any:
    """Return values such that equal ones hash alike.

    In a chunk with missing values, integers are floats and booleans are objects.
    """
    kind = values.dtype.kind if isinstance(values, np.ndarray) else None
    if kind == "b":
        return np.array(["0", "1"], object)[values.view(np.int8)]
    if kind == "O":
        return _objects_alike(values)
    # 0.0 and -0.0 hash alike, too.
    return values.astype(float) + 0.0 if kind in {"i", "u", "f"} else values


def _objects_alike(values: Any) -> Any:
    """Return texts for objects: one text for equal objects, and one for missing values."""
    missing = pd.isna(values)
    if missing.any():
        values = np.where(missing, np.nan, values)
    if pd.api.types.infer_dtype(values, skipna=True) in {"string", "empty"}:
        return values
    texts = np.empty(len(values), object)
    texts[:] = [_text(value) for value in values]
    return texts


def _text(value: Any) -> str:
    """Return a text of a key that is the same for all keys equal to it."""
    if isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return str(tuple(map(_text, value)))
    not_a_number = isinstance(value, float) and math.isnan(value)
    if value is None or value is pd.NA or value is pd.NaT or not_a_number:
        return "nan"
    if isinstance(value, numbers.Number | np.bool):
        return str(hash(value))  # 1, 1.0 and True are equal
    aware = isinstance(value, datetime) and value.tzinfo is not None
    return str(value.astimezone(UTC) if aware else value)


@kernel(scratch=1.0)
def concat_parts(parts: list[Any], labels: bool = False) -> Any:
    """Join the parts of a chunk in order, with their labels or without."""
    return concat(parts, labels=labels)
