"""SimpleImputer: what is missing replaced by a statistic of its column."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn import impute
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.batches import check_some
from marsdask.learn.moments import Moments, merge_counted, refuse, squares
from marsdask.learn.representative_rows import like_columns
from marsdask.learn.rows import RowMap, as_rows, fold
from marsdask.learn.tables import as_table, of_values, refuse_sparse, transformed, value_counts
from marsdask.tensor.quantile.exact import nanmedian


class SimpleImputer(RowsEstimator, impute.SimpleImputer):
    """Replace missing values by a statistic of their column. See sklearn.impute.SimpleImputer.

    Differs from scikit-learn: takes tensors and frames, in one pass; no sparse tensors. For
    "most_frequent" the distinct values of the columns are held.

    Examples
    --------
    >>> from marsdask.learn.impute import SimpleImputer
    >>> X = mt.tensor([[1.0], [np.nan], [3.0]], chunk_size=2)
    >>> SimpleImputer().fit_transform(X).compute().ravel()
    array([1., 2., 3.])
    """

    _takes_sparse = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the statistic of each column."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        refuse_sparse(X)
        table = as_table(self, X, reset=True)
        if callable(self.strategy):
            raise NotImplementedError(
                "a function as strategy is not supported with lazy samples; use 'mean', 'median', "
                "'most_frequent' or 'constant'"
            )
        super().fit(self._frequent(X, table) if self._counts() else self._measured(X), y)
        return self

    def _counts(self) -> bool:
        return self.strategy in ("most_frequent", "constant")

    def _frequent(self, X: Any, table: Node) -> Any:
        """Return samples with the most frequent value of each column, and a missing one."""
        values, tables = [], value_counts(table)
        check_some(self, len(tables[0]))
        for counts in tables:
            is_gap = is_missing(counts.index, self.missing_values)
            if counts.index.dtype.kind == "f" and not pd.isna(self.missing_values):
                refuse(counts.index.to_numpy(), allow_nan=False)
            tally = counts[~is_gap]
            best = [least(tally.index[tally == tally.max()])] if len(tally) else []
            values.append([*best, *counts.index[is_gap][:1]])
        return of_values(X, values)

    def _measured(self, X: Any) -> Any:
        """Return samples of the mean or median that each column has, and a missing value."""
        rows = as_rows(X)
        if not pd.isna(self.missing_values):
            width = int(self.n_features_in_)
            rows = RowMap(without, (rows,), rows.meta.dtype, width, {"value": self.missing_values})
        count, moments = fold(observed, merge_counted, rows, nbytes=24 * self.n_features_in_)
        check_some(self, count)
        values = moments.mean
        if self.strategy == "median":
            there = np.flatnonzero(moments.count)
            values = np.full(len(moments.count), np.nan)
            values[there] = nanmedian(collect(rows)[:, there], axis=0).compute()
        values = np.where(moments.count == 0, np.nan, values).astype(rows.meta.dtype)
        # A statistic that stands for missing values is that of zero and its double.
        away = np.where(values == self.missing_values, np.where(values == 0, 1, values), 0)
        pair = np.stack([values - away, values + away][int((away == 0).all()) :])
        samples = np.concatenate([pair, np.where(moments.count < count, np.nan, pair)])
        return like_columns(X, np.where(np.isnan(samples), self.missing_values, samples))

    def transform(self, X: Any) -> Any:
        """Replace what is missing."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        as_table(self, X, reset=False)
        model = self.to_sklearn()
        model.set_output(transform="default")
        return transformed(model, X, of_values(X, [[0]] * X.shape[1]))


def is_missing(values: Any, missing: Any) -> Any:
    """Tell which values of a column are missing ones; objects may be None, and others nan."""
    if values.dtype != object or missing is pd.NA:
        return pd.isna(values) if pd.isna(missing) else np.asarray(values == missing)
    if missing is None:
        return np.array([value is None for value in values], dtype=bool)
    if pd.isna(missing):
        return np.array([_is_nan(value) for value in values], dtype=bool)
    return np.array([value is not pd.NA and value == missing for value in values], dtype=bool)


def _is_nan(value: Any) -> bool:
    return value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def least(values: Any) -> Any:
    """Return the least of values; those of several types are ordered by these first."""
    try:
        return min(values)
    except TypeError:
        return min(values, key=_type_and_value)


def _type_and_value(value: Any) -> Any:
    return str(type(value)), value


def without(block: Any, *, value: Any) -> Any:
    """Return a run of rows with nan in place of a value; others must be no nan."""
    refuse(block, allow_nan=False)
    return np.where(block == value, block.dtype.type(np.nan), block)


def observed(block: Any) -> tuple[int, Moments]:
    """Return the number of rows, and the moments of what is not nan."""
    return len(block), squares(block, allow_nan=True)
