"""Samples of any type, texts and categories among them: what encoders and imputers look at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import validate_data

from marsdask.core.collection import collect
from marsdask.core.grids.align import common_sizes
from marsdask.core.grids.blockwise import Blockwise
from marsdask.core.grids.grid import Grid, Look
from marsdask.core.grids.lengths import resolved
from marsdask.core.grids.rechunk import recut
from marsdask.core.machine.costs import kernel
from marsdask.core.node import Node
from marsdask.core.sizes import Chunks, numbers, shape_of
from marsdask.core.traits import Traits
from marsdask.dataframe import DataFrame
from marsdask.dataframe.nodes.frame_node import FrameNode
from marsdask.dataframe.rows import recut_rows
from marsdask.tensor.kernels.assembly import assemble
from marsdask.tensor.sparse.blocks import is_sparse

from .representative_rows import result_of
from .rows import ModelMap, fold, typed


def as_table(estimator: Any, X: Any, *, reset: bool) -> Node:
    """Return lazy samples as they are, with their columns checked; ``reset`` stores these."""
    meta = X.node.meta
    if meta.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {meta.ndim}D array instead: {X!r}. Reshape your data."
        )
    columns = meta if isinstance(meta, pd.DataFrame) else np.empty((0, *numbers(X.shape[1:])))
    validate_data(estimator, columns, reset=reset, skip_check_array=True)
    if X.node.shape[0] == 0:
        raise ValueError(
            f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of 1 is required."
        )
    node: Node = X.node
    return node


def refuse_sparse(X: Any) -> None:
    """Raise the error of samples whose blocks are sparse."""
    if is_sparse(X.node.meta):
        raise TypeError(
            "Sparse data was passed for X, but dense data is required. Use '.todense()' to "
            "convert to a dense tensor."
        )


def columns_of(block: Any) -> list[Any]:
    """Return the columns of a run of samples."""
    if isinstance(block, pd.DataFrame):
        return [block.iloc[:, position] for position in range(block.shape[1])]
    return list(block.T)


def counts(block: Any) -> list[pd.Series]:
    """Return how often each value of each column occurs, missing ones too."""
    return [_counted(column) for column in columns_of(block)]


def _counted(column: Any) -> pd.Series:
    if column.dtype == object:
        return _as_series(Counter(map(_one_nan, column.tolist())))
    column = pd.Series(column)
    counts: pd.Series = column.value_counts(dropna=False, sort=False)
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Categories that do not occur are no values.
        counts = counts[counts > 0].set_axis(counts.index[counts > 0].astype(object))
    return counts


def merge_counts(a: list[pd.Series], b: list[pd.Series]) -> list[pd.Series]:
    """Return the counts of both."""
    return [_added(*pair) for pair in zip(a, b, strict=True)]


def _added(a: pd.Series, b: pd.Series) -> pd.Series:
    if a.index.dtype != object:
        groups = pd.concat([a, b]).groupby(level=0, sort=False, dropna=False, observed=True)
        sums: pd.Series = groups.sum()
        return sums
    total: Counter[Any] = Counter()
    for value, count in (*a.items(), *b.items()):
        total[_one_nan(value)] += count
    return _as_series(total)


def _one_nan(value: Any) -> Any:
    """Return a value; every nan as the same object, which equals itself as a key."""
    return np.nan if isinstance(value, float) and np.isnan(value) else value


def _as_series(total: Counter[Any]) -> pd.Series:
    """Return counts of objects; pandas would take None for nan."""
    return pd.Series(list(total.values()), pd.Index(_objects(list(total)), dtype=object))


def _objects(values: Sequence[Any]) -> Any:
    """Return an array of objects, tuples among them."""
    result = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        result[place] = value
    return result


def value_counts(table: Node) -> list[pd.Series]:
    """Compute how often each value of each column occurs; these are held in memory."""
    result: list[pd.Series] = fold(counts, merge_counts, table, nbytes=2**16)
    return result


def of_values(X: Any, values: list[Any]) -> Any:
    """Return samples in memory that have these values in their columns, of the columns' types."""
    meta = X.node.meta
    height = max(map(len, values))
    columns = [np.resize(np.arange(len(column)), height) for column in values]
    if isinstance(meta, pd.DataFrame):
        series = [
            pd.Series(list(column), dtype=dtype).iloc[rows].reset_index(drop=True)
            for column, rows, dtype in zip(values, columns, meta.dtypes, strict=True)
        ]
        return pd.concat(series, axis=1, keys=meta.columns)
    arrays = [_of_type(column, X.dtype)[rows] for column, rows in zip(values, columns, strict=True)]
    return np.stack(arrays, axis=1)


def _of_type(values: Any, dtype: Any) -> Any:
    """Return values in an array of a type; objects stay what they are."""
    return _objects(list(values)) if dtype.hasobject else np.asarray(values, dtype)


def transformed(
    model: Any, X: Any, sample: Any, method: str = "transform", dtype: Any = None
) -> Any:
    """Return lazily what a plain estimator makes of each run.

    ``sample`` tells the type (see :func:`~marsdask.learn.stand_ins.result_of`), unless ``dtype``
    is given.
    """
    if not isinstance(X.node.meta, pd.DataFrame):
        vars(model).pop("feature_names_in_", None)
    like = result_of(getattr(model, method), X, sample)
    like = like[:0] if is_sparse(like) else np.asarray(like, dtype)[:0]
    width = like.shape[1] if like.ndim == 2 else None
    kwargs = {"model": model, "method": method, "like": like}
    return collect(ModelMap(of_table, (X.node,), like.dtype, width, kwargs, is_sparse(like)))


@kernel(scratch=3.0)
def of_table(block: Any, *, model: Any, method: str, like: Any) -> Any:
    """Return what a method of an estimator gives for a run of rows, whole types kept."""
    if not block.shape[0]:
        return like
    result = getattr(model, method)(block)
    return result if is_sparse(result) else typed(result, like.dtype)


@dataclass(frozen=True, eq=False)
class LabelledRows(FrameNode):
    """The rows of a tensor with the row labels of a frame that has as many."""

    a: Node
    labels: Node
    columns: Any

    @property
    def meta(self) -> Any:
        rows = np.empty((0, len(self.columns)), self.a.meta.dtype)
        return labelled(rows, self.labels.meta, columns=self.columns)

    @property
    def chunks(self) -> Chunks:
        return self.labels.chunks

    @property
    def traits(self) -> Traits:
        """The rows are those of the frame."""
        return Traits(self.labels.traits.rows)

    def tile(self, a: Grid, labels: Grid) -> Generator[Look, Any, Grid]:
        if a.chunks[0] != labels.chunks[0]:
            a, labels = yield from resolved(a, labels)
            sizes = common_sizes([a.chunks[0], labels.chunks[0]])
            a, labels = recut(a, (sizes, a.chunks[1]), assemble), recut_rows(labels, sizes)
        a = recut(a, (a.chunks[0], shape_of(a.chunks[1:])), assemble)
        rule = Blockwise(labelled, (a, labels), ((0, None), (0,)), {"columns": self.columns})
        return self.grid(rule, labels.chunks[0])


def labelled(block: Any, labels: Any, *, columns: Any) -> Any:
    """Return a run of rows as a frame."""
    return pd.DataFrame(block, index=labels, columns=columns)


def as_frame(rows: Any, X: Any, columns: Any) -> Any:
    """Return what became of samples as a frame, with the row labels of the samples."""
    if isinstance(rows.node.meta, pd.DataFrame):
        return rows.set_axis(columns, axis=1)
    if is_sparse(rows.node.meta):
        raise ValueError(
            "Pandas output does not support sparse data. Set sparse_output=False to output pandas "
            'dataframes or disable Pandas output via set_output(transform="default").'
        )
    if isinstance(X.node.meta, pd.DataFrame | pd.Series):
        return collect(LabelledRows(rows.node, X.index.node, pd.Index(columns)))
    return DataFrame(rows, columns=columns)
