"""Least squares: scikit-learn's solvers on few rows that stand for all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn import linear_model

from marsdask.learn.base import RowsEstimator
from marsdask.learn.batches import check_some
from marsdask.learn.fitted_values import sklearn_class
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import as_weights, check_lengths, check_weights
from marsdask.learn.targets import as_targets, check_given

from .condensed import Condensed, condensed

#: Samples in memory from which on one pass is faster than scikit-learn's own decomposition.
TALL = 20_000


def is_tall(X: Any) -> bool:
    """Tell whether samples in memory are many more than their columns."""
    shape: tuple[int, ...] = () if issparse(X) else getattr(X, "shape", ())
    return len(shape) == 2 and shape[0] >= TALL and shape[0] >= 4 * shape[1]


def condensed_of(model: Any, X: Any, y: Any, sample_weight: Any) -> Condensed:
    """Return few rows in place of the samples, and store the names of their columns."""
    check_given(model, y)
    rows = model._samples(X, reset=True)
    targets = as_targets(y, rows, several=True)
    weight = as_weights(sample_weight, rows)
    check_lengths(rows, targets, weight)
    result = condensed(rows, targets, weight, center=model.fit_intercept)
    check_some(model, result.rows)
    if weight is not None:
        check_weights(result.weight)
    return result


def solved(model: Any, few: Condensed, **options: Any) -> Any:
    """Return scikit-learn's estimator, fitted on the few rows without an intercept."""
    kind = sklearn_class(type(model))
    params = {name: getattr(model, name) for name in kind._get_param_names()}
    twin = kind(**{**params, "fit_intercept": False, "copy_X": True, **options})
    if params.get("warm_start") and "coef_" in vars(model):
        twin.coef_ = np.array(model.coef_, np.float64)
    return twin.fit(few.samples, few.targets)


def learn(model: Any, twin: Any, few: Condensed, dtype: Any) -> None:
    """Take over what scikit-learn has found, and the intercept."""
    for name, value in vars(twin).items():
        if not name.endswith("_") or name in ("n_features_in_", "intercept_"):
            continue
        isfloat = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        setattr(model, name, value.astype(dtype) if isfloat else value)
    if not model.fit_intercept:
        model.intercept_ = 0.0
        return
    offset = few.target_mean - np.dot(few.mean, np.transpose(twin.coef_))
    model.intercept_ = np.asarray(offset, dtype)[()]


class _LeastSquares(RowsEstimator):
    """Common parts of these models: lazy samples, and tall ones, are condensed to few rows."""

    _takes_sparse = True

    def _solved(self, few: Condensed) -> Any:
        """Return scikit-learn's estimator, fitted on the few rows."""
        return solved(self, few)

    def _fit_few(self, X: Any, y: Any, sample_weight: Any) -> bool:
        """Fit to samples that are lazy or tall; tell whether they were."""
        self._validate_params()  # type: ignore[attr-defined]
        if not (is_lazy(X) or is_tall(X)):
            return False
        few = condensed_of(self, X, y, sample_weight)
        learn(self, self._solved(few), few, dtype_of_samples(X))
        return True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        if not self._fit_few(X, y, sample_weight):
            super().fit(X, y, sample_weight)  # type: ignore[misc]
        return self


class _Descent(_LeastSquares):
    """What coordinate descent solves."""

    def _solved(self: Any, few: Condensed) -> Any:
        # Of so many rows as the few rows are, the penalty is larger.
        share = few.weight / len(few.samples)
        twin = solved(self, few, alpha=self.alpha * share, precompute=False)
        twin.dual_gap_ = (
            np.float64(twin.dual_gap_ / share)
            if few.targets.ndim == 1
            else (np.asarray(twin.dual_gap_) / share)
        )
        return twin

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Self:
        """Find the coefficients."""
        if not self._fit_few(X, y, sample_weight):
            super(_LeastSquares, self).fit(X, y, sample_weight, check_input)  # type: ignore[misc]
        return self


class LinearRegression(_LeastSquares, linear_model.LinearRegression):
    """Ordinary least squares. See sklearn.linear_model.LinearRegression.

    Differs from scikit-learn: takes tensors and frames, in one pass over the products of their
    columns, or two if these are ill-conditioned. So do many samples in memory. Sparse samples are
    solved exactly and not by iterations.

    Examples
    --------
    >>> from marsdask.learn.linear_model import LinearRegression
    >>> X = mt.tensor([[1.0], [2.0], [3.0]], chunk_size=2)
    >>> LinearRegression().fit(X, 2 * X[:, 0] + 1).predict(X).compute().round(6)
    array([3., 5., 7.])
    """


class Ridge(_LeastSquares, linear_model.Ridge):
    """Least squares with a penalty on squared coefficients. See sklearn.linear_model.Ridge.

    Differs from scikit-learn: takes tensors and frames, in one pass. ``solver`` "sag" and "saga"
    mean "auto" then.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Ridge
    >>> X = mt.tensor([[1.0], [2.0], [3.0]], chunk_size=2)
    >>> Ridge(alpha=2.0).fit(X, 2 * X[:, 0] + 1).coef_.round(6).tolist()
    [1.0]
    """

    def _solved(self, few: Condensed) -> Any:
        return solved(self, few, **({"solver": "auto"} if self.solver in ("sag", "saga") else {}))


class ElasticNet(_Descent, linear_model.ElasticNet):
    """Least squares with both penalties. See sklearn.linear_model.ElasticNet.

    Differs from scikit-learn: takes tensors and frames, in one pass; the iterations are
    scikit-learn's and need no samples.

    Examples
    --------
    >>> from marsdask.learn.linear_model import ElasticNet
    >>> X = mt.tensor([[1.0], [2.0], [3.0]], chunk_size=2)
    >>> ElasticNet(alpha=0.5).fit(X, 2 * X[:, 0] + 1).coef_.round(6).tolist()
    [1.181818]
    """


class Lasso(_Descent, linear_model.Lasso):
    """Least squares with a penalty on absolute coefficients. See sklearn.linear_model.Lasso.

    Differs from scikit-learn: takes tensors and frames, in one pass; the iterations are
    scikit-learn's and need no samples.

    Examples
    --------
    >>> from marsdask.learn.linear_model import Lasso
    >>> X = mt.tensor([[1.0], [2.0], [3.0]], chunk_size=2)
    >>> Lasso(alpha=0.5).fit(X, 2 * X[:, 0] + 1).coef_.round(6).tolist()
    [1.25]
    """


def dtype_of_samples(X: Any) -> Any:
    """Return the type of what is learnt: float32 only of such samples."""
    types = set(getattr(X, "dtypes", [getattr(X, "dtype", None)]))
    return np.float32 if types == {np.dtype(np.float32)} else np.float64
