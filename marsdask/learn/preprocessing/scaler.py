"""StandardScaler: columns of mean zero and variance one."""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from scipy.sparse import issparse
from sklearn import preprocessing
from sklearn.utils.validation import check_is_fitted

from marsdask.core.collection import Collection, wrap
from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.batches import check_length
from marsdask.learn.moments import Moments, merge_squares
from marsdask.learn.rows import FiniteBlocks, as_weights, check_weights
from marsdask.learn.sparse import column_moments
from marsdask.tensor import Tensor
from marsdask.tensor.sparse.blocks import is_sparse
from marsdask.tensor.typing import ArrayLike

_LEARNT = ("scale_", "n_samples_seen_", "mean_", "var_")


class StandardScaler(RowsEstimator, preprocessing.StandardScaler):
    """Subtract the mean and divide by the standard deviation.

    See sklearn.preprocessing.StandardScaler.

    Differs from scikit-learn: takes tensors and frames, in one pass. Sparse samples need
    ``with_mean=False``, as in scikit-learn.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import StandardScaler
    >>> X = mt.tensor([[0.0], [2.0]], chunk_size=1)
    >>> StandardScaler().fit_transform(X).compute().ravel()
    array([-1.,  1.])
    """

    _keeps_half = True
    _takes_sparse = True

    mean_: Any
    scale_: Any
    var_: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mean and the variance of each column."""
        for name in _LEARNT:
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y, sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more samples."""
        self._validate_params()
        if issparse(X):
            super().partial_fit(X, y, sample_weight)
            return self
        first = not hasattr(self, "n_samples_seen_")
        rows = self._samples(X, reset=first, allow_nan=True)
        self._refuse_centering(rows, "center")
        weights = as_weights(sample_weight, rows)
        moments = column_moments(rows, weights, allow_nan=True)
        if not moments.count.any():
            check_length(self, rows)
        if is_lazy(sample_weight):
            check_weights(float(np.abs(moments.count).max(initial=0.0)))
        if not first:
            moments = merge_squares(self._before(), moments)
        self._learn(moments, np.int64 if sample_weight is None else rows.meta.dtype)
        return self

    def _refuse_centering(self, rows: Node, what: str) -> None:
        """Raise scikit-learn's error for sparse samples that would become dense."""
        if self.with_mean and is_sparse(rows.meta):
            raise ValueError(
                f"Cannot {what} sparse matrices: pass `with_mean=False` instead. See docstring "
                "for motivation and alternatives."
            )

    def _before(self) -> Moments:
        count = np.broadcast_to(np.asarray(self.n_samples_seen_, float), self.n_features_in_)
        mean = np.zeros(len(count)) if self.mean_ is None else self.mean_
        products = 0.0 if self.var_ is None else self.var_ * count
        # Columns without values are nan so far.
        return Moments(count, *(np.where(count == 0, 0.0, item) for item in (mean, products)))

    def _learn(self, seen: Moments, dtype: Any) -> None:
        count = seen.count.astype(dtype)
        self.n_samples_seen_ = count[0] if count.min() == count.max() else count
        unused = not self.with_mean and not self.with_std
        with np.errstate(invalid="ignore", divide="ignore"):
            # Columns without values are nan, as in scikit-learn.
            variance = seen.products / seen.count
        self.mean_ = None if unused else np.where(seen.count == 0, np.nan, seen.mean)
        self.var_ = variance if self.with_std else None
        self.scale_ = None
        if self.with_std:
            self.scale_ = np.where(_constant(seen, variance), 1.0, np.sqrt(variance))

    def transform(self, X: ArrayLike, copy: bool | None = None) -> Any:
        """Scale samples."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().transform(X, copy)
        rows = self._samples(X, reset=False)
        self._refuse_centering(rows, "center")
        if is_sparse(rows.meta):
            return self._predictions("transform", X)
        result = wrap(FiniteBlocks(rows, allow_nan=True))
        if self.with_mean:
            result = result - self.mean_.astype(result.dtype)
        return result / self.scale_.astype(result.dtype) if self.with_std else result

    @overload
    def inverse_transform(self, X: Collection, copy: bool | None = ...) -> Tensor: ...  # type: ignore[overload-overlap]
    @overload
    def inverse_transform(self, X: ArrayLike, copy: bool | None = ...) -> np.ndarray[Any, Any]: ...
    def inverse_transform(self, X: Any, copy: bool | None = None) -> Any:
        """Undo the scaling."""
        check_is_fitted(self)
        if not is_lazy(X):
            return super().inverse_transform(X, copy)
        rows = self._as_rows(X)
        self._refuse_centering(rows, "uncenter")
        if is_sparse(rows.meta):
            return self._predictions("inverse_transform", X)
        original = wrap(rows)
        if self.with_std:
            original = original * self.scale_.astype(original.dtype)
        return original + self.mean_.astype(original.dtype) if self.with_mean else original


def _constant(seen: Moments, variance: Any) -> Any:
    """Tell which columns have no variance beyond rounding errors of equal values."""
    error = seen.count * np.finfo(np.float64).eps
    return variance <= error * variance + (error * seen.mean) ** 2
