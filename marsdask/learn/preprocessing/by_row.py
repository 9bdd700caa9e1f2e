"""Transformers of each row by itself, which learn no more than the number of columns."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn import preprocessing
from sklearn.utils.validation import validate_data

from marsdask.core.sizes import numbers
from marsdask.learn.base import RowsEstimator, is_lazy
from marsdask.learn.representative_rows import like_columns
from marsdask.tensor.elementwise.ufuncs import astype


class Stateless:
    """Learns the columns of lazy samples; put it after ``RowsEstimator``."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the number and the names of the columns."""
        if is_lazy(X):
            rows = self._samples(X, reset=True)  # type: ignore[attr-defined]
            zeros = np.zeros((1, self.n_features_in_), rows.meta.dtype)  # type: ignore[attr-defined]
            X = like_columns(X, zeros)
        super().fit(X, y)  # type: ignore[misc]
        return self


class Normalizer(RowsEstimator, Stateless, preprocessing.Normalizer):
    """Scale each row to norm one. See sklearn.preprocessing.Normalizer.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import Normalizer
    >>> Normalizer().fit_transform(mt.tensor([[3.0, 4.0]])).compute()
    array([[0.6, 0.8]])
    """

    _keeps_half = True
    _takes_sparse = True


class Binarizer(RowsEstimator, Stateless, preprocessing.Binarizer):
    """Return which values are larger than a threshold. See sklearn.preprocessing.Binarizer.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import Binarizer
    >>> Binarizer(threshold=1).fit_transform(mt.tensor([[0.5], [2.0]], chunk_size=1)).compute()
    array([[0.],
           [1.]])
    """

    _keeps_half = True
    _takes_sparse = True

    def transform(self, X: Any, copy: bool | None = None) -> Any:
        """Return one for larger values, zero for others, of the samples' type."""
        if not is_lazy(X):
            return super().transform(X, copy)
        result = self._predictions("transform", X)
        meta = X.node.meta
        dtypes = meta.dtypes if isinstance(meta, pd.DataFrame) else [meta.dtype]
        plain = all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)
        return astype(result, np.result_type(*dtypes)) if plain else result


class PolynomialFeatures(RowsEstimator, Stateless, preprocessing.PolynomialFeatures):
    """Add products of the columns. See sklearn.preprocessing.PolynomialFeatures.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import PolynomialFeatures
    >>> PolynomialFeatures(2).fit_transform(mt.tensor([[2.0, 3.0]])).compute()
    array([[1., 2., 3., 4., 6., 9.]])
    """

    _keeps_half = True
    _takes_sparse = True


class FunctionTransformer(RowsEstimator, preprocessing.FunctionTransformer):
    """Call a function of the samples. See sklearn.preprocessing.FunctionTransformer.

    Differs from scikit-learn: lazy samples are given to the function as they are.

    Examples
    --------
    >>> from marsdask.learn.preprocessing import FunctionTransformer
    >>> X = mt.tensor([[4.0], [9.0]], chunk_size=1)
    >>> FunctionTransformer(np.sqrt).fit_transform(X).compute()
    array([[2.],
           [3.]])
    """

    _takes_sparse = True

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the samples."""
        if not is_lazy(X):
            super().fit(X, y)
            return self
        self._validate_params()
        meta = X.node.meta
        columns = meta if isinstance(meta, pd.DataFrame) else np.empty((0, *numbers(X.shape[1:])))
        validate_data(self, columns, reset=True, skip_check_array=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return what the function returns."""
        return _called(self.func, X, self.kw_args) if is_lazy(X) else super().transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Return what the inverse function returns."""
        if not is_lazy(X):
            return super().inverse_transform(X)
        return _called(self.inverse_func, X, self.inv_kw_args)


def _called(func: Any, X: Any, options: Any) -> Any:
    return X if func is None else func(X, **(options or {}))
