"""RobustScaler and QuantileTransformer: columns scaled by their quantiles."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn import preprocessing
from sklearn.utils import check_random_state, resample
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import collect, compute, execute
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.batches import check_some
from marsdask.learn.representative_rows import like_columns
from marsdask.learn.rows import FiniteBlocks, held
from marsdask.learn.tables import refuse_sparse
from marsdask.tensor.quantile.exact import nanpercentile


class RobustScaler(RowsEstimator, preprocessing.RobustScaler):
    """Subtract the median and divide by the range of quantiles.

    See sklearn.preprocessing.RobustScaler.

    Differs from scikit-learn: takes tensors and frames; no sparse tensors.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import RobustScaler
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0], [4.0]], chunk_size=2)
    >>> RobustScaler().fit_transform(X).compute().ravel()
    array([-1. , -0.5,  0. ,  0.5,  1. ])
    """

    _keeps_half = True
    _takes_sparse = True
    center_: Any
    scale_: Any

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the median and the range of quantiles of each column."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        refuse_sparse(X)
        rows = self._samples(X, reset=True, allow_nan=True)
        low, high = self.quantile_range
        if not 0 <= low <= high <= 100:
            raise ValueError(f"Invalid quantile range: {self.quantile_range}")
        if not isinstance(rows.shape[0], int):
            (rows,) = held(rows)
        check_some(self, rows.shape[0])
        bounds = _percentiles(rows, [low, 50.0, high])
        self.center_ = bounds[1].astype(rows.meta.dtype) if self.with_centering else None
        self.scale_ = _scales(bounds[2] - bounds[0]) if self.with_scaling else None
        if self.with_scaling and self.unit_variance:
            self.scale_ = self.scale_ / (stats.norm.ppf(high / 100) - stats.norm.ppf(low / 100))
        return self

    def transform(self, X: Any) -> Any:
        """Scale samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X)
        rows = collect(self._finite(X, allow_nan=True))
        if self.with_centering:
            rows = rows - self.center_.astype(rows.dtype)
        return rows / self.scale_.astype(rows.dtype) if self.with_scaling else rows

    def inverse_transform(self, X: Any) -> Any:
        """Undo the scaling."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X)
        rows = collect(self._as_rows(X))
        if self.with_scaling:
            rows = rows * self.scale_.astype(rows.dtype)
        return rows + self.center_.astype(rows.dtype) if self.with_centering else rows


def _percentiles(rows: Node, shares: Any) -> Any:
    """Return exact percentiles of each column; nan is ignored."""
    blocks = FiniteBlocks(rows, allow_nan=True)
    return compute(collect(nanpercentile.node(blocks, np.asarray(shares), axis=0)))[0]


def _scales(widths: Any) -> Any:
    """Return what columns are divided by: one for those without width."""
    return np.where(widths < 10 * np.finfo(widths.dtype).eps, widths.dtype.type(1), widths)


class QuantileTransformer(RowsEstimator, preprocessing.QuantileTransformer):
    """Map each column to a uniform or normal distribution.

    See sklearn.preprocessing.QuantileTransformer.

    Differs from scikit-learn: takes tensors and frames; no sparse tensors. The ``subsample`` rows
    that it draws are brought into memory; without ``subsample`` the quantiles are exact.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import QuantileTransformer
    >>> X = mt.tensor([[0.0], [1.0], [8.0]], chunk_size=2)
    >>> QuantileTransformer(n_quantiles=3).fit_transform(X).compute().ravel()
    array([0. , 0.5, 1. ])
    """

    _keeps_half = True
    _takes_sparse = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the quantiles of each column."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        refuse_sparse(X)
        rows = self._samples(X, reset=True, allow_nan=True)
        if not isinstance(rows.shape[0], int):
            rows = execute(collect(rows)).node
        (samples,) = rows.shape[:1]
        if self.subsample is not None or samples <= self.n_quantiles:
            super().fit(like_columns(X, self._drawn(rows)))
            return self
        self.n_quantiles_ = max(1, self.n_quantiles)
        self.references_ = np.linspace(0, 1, self.n_quantiles_)
        self.quantiles_ = _percentiles(rows, self.references_ * 100)
        return self

    def _drawn(self, rows: Node) -> Any:
        """Return the rows that scikit-learn would draw, in memory."""
        samples = collect(rows)
        if self.subsample is not None and self.subsample < len(samples):
            state = check_random_state(self.random_state)
            samples = resample(samples, replace=False, n_samples=self.subsample, random_state=state)
        return samples.compute()
