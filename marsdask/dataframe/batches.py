"""Iterate over lazy rows, one chunk at a time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from marsdask.core.results.stored import Stored

from .elementwise.row_functions import no_columns, row_function
from .elementwise.rowwise import columns_at, rowwise
from .rows import concat, take


def batches(rows: Any) -> Iterator[Any]:
    """Compute, and yield one chunk after the other as pandas objects.

    Each chunk is fetched when it is needed; until then the scheduler holds it, and may spill it.
    """
    collection = rows.persist()
    node = collection.node
    assert isinstance(node, Stored)
    for key in node.result.layout.keys.values():
        (block,) = node.result.scheduler.gather([key])
        yield block


def sized_batches(rows: Any, batch_size: int = 1000) -> Iterator[Any]:
    """Compute, and yield ``batch_size`` rows at a time as pandas objects; the last ones are fewer.

    Mars's name of this is ``iterbatch``.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be positive, got {batch_size}")
    blocks: list[Any] = []
    for block in batches(rows):
        blocks.append(block)
        frame = concat(blocks)
        stop = len(frame) - len(frame) % batch_size
        for start in range(0, stop, batch_size):
            yield take(frame, slice(start, start + batch_size))
        blocks = [take(frame, slice(stop, None))]
    if blocks and len(blocks[0]):
        yield blocks[0]


def values(rows: Any) -> Iterator[Any]:
    """Iterate over the values, as Python objects if pandas returns these."""
    for block in batches(rows):
        yield from block


def labelled_values(series: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over pairs of label and value. See pandas.Series.items."""
    for block in batches(series):
        yield from block.items()


def columns(frame: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate over pairs of label and lazy column. See pandas.DataFrame.items."""
    labels = frame.columns
    for position, label in enumerate(labels):
        yield label, columns_at(frame, position)


def labelled_rows(frame: Any) -> Iterator[tuple[Any, pd.Series]]:
    """Iterate over pairs of label and row. See pandas.DataFrame.iterrows."""
    gaps = _of_one_extension(frame) and bool(frame.isna().any().compute().iloc[0])
    for block in batches(frame):
        yield from _rows_beside_gaps(block) if gaps else block.iterrows()


def _of_one_extension(frame: Any) -> bool:
    """Tell whether the dtype of the rows depends on missing values."""
    dtypes = frame.dtypes
    return len(dtypes) == 1 and isinstance(dtypes.iloc[0], pd.api.extensions.ExtensionDtype)


def _rows_beside_gaps(block: Any) -> Iterator[tuple[Any, pd.Series]]:
    """Iterate over rows as pandas does if another row has a missing value."""
    gap = block.iloc[:1].mask(np.array([[True]])[: len(block)])
    return itertools.islice(pd.concat([block, gap]).iterrows(), len(block))


def tuples(
    frame: Any, index: bool = True, name: str | None = "Pandas"
) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows as namedtuples. See pandas.DataFrame.itertuples."""
    for block in batches(frame):
        yield from block.itertuples(index=index, name=name)


def holds_label(index: Any, label: Any) -> bool:
    """Compute whether a label is in an index."""
    hash(label)  # raises at once, as in pandas
    return bool(rowwise(contains_label, index, label=label).any().compute())


@row_function(no_columns)
def contains_label(block: Any, label: Any) -> Any:
    """Return, once for each row, whether any row has the label."""
    return pd.Series(label in block, index=range(len(block)), dtype=bool)
