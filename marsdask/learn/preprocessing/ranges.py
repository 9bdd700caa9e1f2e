"""MinMaxScaler and MaxAbsScaler: columns in a range, from one pass over the samples."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn import preprocessing
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect
from marsdask.core.machine.costs import kernel
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.batches import check_some
from marsdask.learn.moments import refuse
from marsdask.learn.representative_rows import like_columns
from marsdask.learn.rows import fold, tiles
from marsdask.tensor.elementwise.ufuncs import clip
from marsdask.tensor.sparse.blocks import is_sparse


class ColumnExtremes(NamedTuple):
    """The number of rows, and the least and the largest value of each column."""

    samples: int
    least: Any
    most: Any


@kernel(scratch=0.1)
def extremes(block: Any) -> ColumnExtremes:
    """Return the extremes of a run of rows; nan is ignored."""
    if is_sparse(block) and block.shape[0]:
        return ColumnExtremes(block.shape[0], *min_max_axis(csr_matrix(block), 0, ignore_nan=True))
    result = ColumnExtremes(0, *np.full((2, block.shape[1]), np.nan, block.dtype))
    for (tile,) in tiles(block) if block.shape[0] else ():
        least, most = np.minimum.reduce(tile, axis=0), np.maximum.reduce(tile, axis=0)
        if np.isnan(least).any():
            least, most = np.fmin.reduce(tile, axis=0), np.fmax.reduce(tile, axis=0)
        if np.isinf(least).any() or np.isinf(most).any():
            refuse(tile, allow_nan=True)
        result = merge_extremes(result, ColumnExtremes(len(tile), least, most))
    return result


def merge_extremes(a: ColumnExtremes, b: ColumnExtremes) -> ColumnExtremes:
    """Return the extremes of both."""
    return ColumnExtremes(a.samples + b.samples, np.fmin(a.least, b.least), np.fmax(a.most, b.most))


class OfExtremes:
    """Learns from the extremes of lazy samples; put it after ``RowsEstimator``."""

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from more samples."""
        if not is_lazy(X):
            super().partial_fit(X, y)  # type: ignore[misc]
            return self
        self._validate_params()  # type: ignore[attr-defined]
        before = getattr(self, "n_samples_seen_", 0)
        rows = self._samples(X, reset=not before, allow_nan=True)  # type: ignore[attr-defined]
        ends = fold(extremes, merge_extremes, rows, nbytes=16 * self.n_features_in_)  # type: ignore[attr-defined]
        check_some(self, ends.samples)
        super().partial_fit(like_columns(X, np.stack([ends.least, ends.most])))  # type: ignore[misc]
        self.n_samples_seen_ = before + ends.samples
        return self


class MinMaxScaler(RowsEstimator, OfExtremes, preprocessing.MinMaxScaler):
    """Scale each column to a range. See sklearn.preprocessing.MinMaxScaler.

    Differs from scikit-learn: takes tensors and frames, in one pass.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import MinMaxScaler
    >>> X = mt.tensor([[1.0], [2.0], [5.0]], chunk_size=2)
    >>> MinMaxScaler().fit_transform(X).compute().ravel()
    array([0.  , 0.25, 1.  ])
    """

    _keeps_half = True

    def transform(self, X: Any) -> Any:
        """Scale samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        rows = collect(self._finite(X, allow_nan=True))
        result = rows * self.scale_.astype(rows.dtype) + self.min_.astype(rows.dtype)
        return clip(result, *self.feature_range) if self.clip else result

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scaling."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X)
        rows = collect(self._as_rows(X))
        return (rows - self.min_.astype(rows.dtype)) / self.scale_.astype(rows.dtype)


class MaxAbsScaler(RowsEstimator, OfExtremes, preprocessing.MaxAbsScaler):
    """Divide each column by its largest absolute value. See sklearn.preprocessing.MaxAbsScaler.

    Differs from scikit-learn: takes tensors and frames, in one pass.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import MaxAbsScaler
    >>> X = mt.tensor([[1.0], [-4.0], [2.0]], chunk_size=2)
    >>> MaxAbsScaler().fit_transform(X).compute().ravel()
    array([ 0.25, -1.  ,  0.5 ])
    """

    _keeps_half = True
    _takes_sparse = True

    def transform(self, X: Any) -> Any:
        """Scale samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        if is_sparse(X.node.meta):
            return self._predictions("transform", X)
        rows = collect(self._finite(X, allow_nan=True))
        result = rows / self.scale_.astype(rows.dtype)
        return clip(result, -1.0, 1.0) if self.get_params().get("clip") else result

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scaling."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X)
        if is_sparse(X.node.meta):
            return self._predictions("inverse_transform", X)
        rows = collect(self._as_rows(X))
        return rows * self.scale_.astype(rows.dtype)
