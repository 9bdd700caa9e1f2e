"""Rows sent to where their keys belong: by ranges of the keys, or by their hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.chunk import Grid
from marsdask.core.config import options
from marsdask.core.shapes import Grouped, all_to_all, gather, kernel, map_blocks
from marsdask.core.types import Sizes, total, unknown_sizes, upper

from .rows import concat

#: Rows of each chunk that are looked at to find where to cut.
SAMPLE = 512

#: More keys than this decide nothing about where a row goes: their codes would not fit in 64 bits.
LEADING_KEYS = 7


def reduce_rows(grid: Grid, func: Callable[..., Any], kwargs: Mapping[str, Any]) -> Grid:
    """Combine chunks, a list at a time, down to one: ``func(blocks, **kwargs)``."""
    while len(grid) > 1:
        width = max(2, options.split_every)
        (sizes,) = grid.chunks
        groups = [sizes[start : start + width] for start in range(0, len(sizes), width)]
        bounds = [upper(total(group)) for group in groups]
        rule = Grouped(func, grid, (width,), dict(kwargs))
        grid = Grid(rule, (unknown_sizes(grid.name, bounds),), grid.meta, grid.itemsize)
    return grid


def keys_of(block: Any, by: tuple[Any, ...] | None) -> Any:
    """Return the key columns numbered from 0.

    ``()`` stands for the row labels, ``None`` for the values of a series.
    """
    if by == ():
        frame = block.index.to_frame(index=False)
    else:
        frame = block.to_frame() if by is None else block[list(by)]
    return frame.set_axis(range(frame.shape[1]), axis=1)


def range_shuffle(
    source: Grid,
    by: tuple[Any, ...] | None,
    merge: Callable[..., Any],
    sizes: Sizes,
    *,
    ascending: tuple[bool, ...],
    na_first: bool = False,
    merge_kwargs: Mapping[str, Any] | None = None,
    meta: Any = None,
    itemsize: float | None = None,
) -> Grid:
    """Send rows to chunks by ranges of their keys; equal keys meet in one chunk, in order.

    ``merge(parts, **merge_kwargs)`` makes a chunk. Where to cut is found by sampling, inside the
    graph: nothing is looked at beforehand.
    """
    samples = map_blocks(sampled_keys, source, kwargs={"by": by}, itemsize=1.0)
    order = {"ascending": ascending, "na_first": na_first}
    kwargs = {**order, "count": len(sizes)}
    pivots = gather(choose_pivots, samples, chunks=((len(sizes) - 1,),), kwargs=kwargs)
    return all_to_all(
        source,
        0,
        split_by_range,
        merge,
        sizes,
        split_with=(pivots,),
        split_kwargs={**kwargs, "by": by},
        merge_kwargs=merge_kwargs,
        meta=meta,
        itemsize=itemsize,
    )


@kernel(scratch=0.1)
def sampled_keys(block: Any, by: tuple[Any, ...] | None) -> Any:
    """Return the keys of some rows, the same ones each time."""
    count = min(SAMPLE, len(block))
    rows = np.sort(np.random.default_rng(len(block)).choice(len(block), count, replace=False))
    return keys_of(block.iloc[rows], by)


def choose_pivots(
    samples: list[pd.DataFrame], ascending: tuple[bool, ...], na_first: bool, count: int
) -> Any:
    """Return the keys at which ``count`` chunks of about equal sizes begin."""
    keys = concat(samples)
    ordered = keys.sort_values(
        list(keys.columns),
        ascending=list(ascending),
        na_position="first" if na_first else "last",
        ignore_index=True,
    )
    positions = [len(ordered) * part // count for part in range(1, count)] if len(ordered) else []
    return ordered.iloc[positions]


@kernel(scratch=2.0)
def split_by_range(
    block: Any,
    pivots: pd.DataFrame,
    by: tuple[Any, ...] | None,
    ascending: tuple[bool, ...],
    na_first: bool,
    count: int,
) -> list[Any]:
    """Cut a chunk into ``count`` parts by where its keys lie among the pivots."""
    keys = keys_of(block, by)
    codes, marks = np.zeros(len(keys), np.int64), np.zeros(len(pivots), np.int64)
    for label, rising in list(zip(keys.columns, ascending, strict=True))[:LEADING_KEYS]:
        levels = pivots[label].dropna().drop_duplicates().sort_values()
        radix = 2 * len(levels) + 3
        codes = codes * radix + _ranks(keys[label], levels, rising, na_first)
        marks = marks * radix + _ranks(pivots[label], levels, rising, na_first)
    return split_at(block, np.searchsorted(marks, codes, side="right"), count)


def _ranks(values: pd.Series, levels: pd.Series, rising: bool, na_first: bool) -> Any:
    """Return where values lie: between which levels or on which, nulls before or behind."""
    null = values.isna().to_numpy()
    top = 2 * len(levels)
    if len(levels):
        if isinstance(levels.dtype, pd.CategoricalDtype):
            levels, values = levels.cat.codes, values.cat.codes
        elif null.any():
            values = values.fillna(levels.iloc[0])
        left = levels.searchsorted(values, side="left")
        ranks = left + levels.searchsorted(values, side="right")
    else:
        ranks = np.zeros(len(values), np.int64)
    ranks = (ranks if rising else top - ranks) + 1
    ranks[null] = 0 if na_first else top + 2
    return ranks


def split_at(block: Any, places: Any, count: int) -> list[Any]:
    """Return ``count`` parts of a chunk: each row goes to its place, order kept within."""
    small = places.astype(np.uint8 if count <= 256 else np.uint16 if count <= 2**16 else np.int64)
    order = np.argsort(small, kind="stable")
    ends = np.cumsum(np.bincount(small, minlength=count))
    block = block.take(order)
    return [block.iloc[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


@kernel(scratch=2.0)
def split_by_hash(
    block: pd.DataFrame, by: tuple[Any, ...], casts: Sequence[Any], count: int
) -> list[Any]:
    """Cut a chunk into ``count`` parts by the hash of its keys, each cast to a common type."""
    codes = np.zeros(len(block), np.uint64)
    keys = keys_of(block, by)
    for label, cast in zip(keys.columns, casts, strict=True):
        values: Any = (keys[label] if cast is None else keys[label].astype(cast)).values
        if getattr(values.dtype, "kind", "O") == "f":
            values = values + 0.0  # equal zeros of either sign hash alike
        codes = codes * np.uint64(1_000_003) + pd.util.hash_array(values, categorize=False)
    # The high bits are the well mixed ones; a product with the count keeps the parts even.
    places = ((codes >> np.uint64(32)) * np.uint64(count)) >> np.uint64(32)
    return split_at(block, places.astype(np.int64), count)


@kernel(scratch=1.0)
def joined(parts: list[Any]) -> Any:
    """Join the parts of a chunk in order."""
    return concat(parts)
