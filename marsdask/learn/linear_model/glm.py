"""Generalized linear models of positive targets in passes over the samples."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import linear_model
from sklearn.metrics import mean_tweedie_deviance
from sklearn.utils.validation import check_is_fitted

from marsdask.core.node import Node
from marsdask.learn.base import RowsEstimator
from marsdask.learn.batches import check_some
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import add, as_weights, check_lengths, check_weights, fold, held
from marsdask.learn.targets import as_targets, check_given

from .least_squares import dtype_of_samples
from .losses import Square, Tweedie
from .newton import minimum
from .passes import Objective


class TargetSums(NamedTuple):
    """The weight of the samples, and the sum of their targets."""

    weight: Any
    total: Any


class Deviances(NamedTuple):
    """The weighted deviances of the predictions and of the mean."""

    left: Any
    total: Any


class _Glm(RowsEstimator):
    """Common parts of these models: the loss is that of a power of the mean."""

    _takes_sparse = True

    def _power(self) -> float:
        """Return the power of the mean that the variance is."""
        raise NotImplementedError

    def _has_log_link(self) -> bool:
        return True

    def _check_loss(self) -> None:
        """Raise for a loss that passes over lazy samples do not minimize."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        self._validate_params()  # type: ignore[attr-defined]
        if is_lazy(X):
            self._check_loss()
            self._fit_lazy(X, y, sample_weight)
        else:
            super().fit(X, y, sample_weight)  # type: ignore[misc]
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the deviance that is explained."""
        if is_lazy(X):
            return self._score_lazy(X, y, sample_weight)
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]

    def _fit_lazy(self: Any, X: Any, y: Any, sample_weight: Any) -> None:
        check_given(self, y)
        rows = self._samples(X, reset=True)
        targets, weight = as_targets(y, rows), as_weights(sample_weight, rows)
        check_lengths(rows, targets, weight)
        rows, targets, weight = held(rows, targets, weight)
        check_some(self, rows.shape[0])
        self._base_loss = self._get_loss()
        sums = _sums(self, targets, weight)
        check_weights(float(sums.weight))
        loss = Tweedie(self._power()) if self._has_log_link() else Square()
        objective = Objective(rows, targets, weight, loss, 1, bool(self.fit_intercept))
        start = np.zeros(objective.shape[1])
        if self.warm_start and "coef_" in vars(self):
            start = np.append(self.coef_, self.intercept_)[: len(start)].astype(float)
        elif self.fit_intercept:
            mean = sums.total / sums.weight
            start[-1] = np.log(mean) if self._has_log_link() else mean
        solution = minimum(
            objective.penalized(self.alpha),
            start,
            absolute=0.0,
            tol=self.tol,
            max_iter=self.max_iter,
            name=type(self).__name__,
        )
        dtype = dtype_of_samples(X)
        self.n_iter_ = solution.n_iter
        self.coef_ = solution.coefficients[: objective.width].astype(dtype)
        self.intercept_ = dtype(solution.coefficients[-1]) if self.fit_intercept else 0.0

    def _score_lazy(self: Any, X: Any, y: Any, sample_weight: Any) -> float:
        """Return the share of the deviance that is explained."""
        check_is_fitted(self)
        predicted = self.predict(X).node
        targets, weight = as_targets(y, predicted), as_weights(sample_weight, predicted)
        sums = _sums(self, targets, weight)
        mean, power = float(sums.total / sums.weight), self._power()
        deviance = fold(
            deviances, add, targets, predicted, weight, nbytes=16, mean=mean, power=power
        )
        return float(1.0 - deviance.left / deviance.total)


def _sums(model: Any, targets: Node, weight: Node | None) -> TargetSums:
    """Return the sums of the targets, which the loss must be able to take."""
    sums: TargetSums = fold(target_sums, add, targets, weight, nbytes=16, loss=model._get_loss())
    return sums


def target_sums(y: Any, weight: Any = None, *, loss: Any) -> TargetSums:
    """Return the sums of a run; raise scikit-learn's error for targets out of range."""
    if np.isnan(y).any():
        raise ValueError("Input y contains NaN.")
    if not loss.in_y_true_range(y):
        raise ValueError(
            f"Some value(s) of y are out of the valid range of the loss {type(loss).__name__!r}."
        )
    w = np.ones(len(y)) if weight is None else weight
    return TargetSums(float(w.sum()), float(w @ y))


def deviances(
    y: Any, predicted: Any, weight: Any = None, *, mean: float, power: float
) -> Deviances:
    """Return the deviances of a run of predictions."""
    w = np.ones(len(y)) if weight is None else weight
    total = float(w.sum())
    if not total:
        return Deviances(0.0, 0.0)
    parts = (
        mean_tweedie_deviance(y, means, sample_weight=w, power=power) * total
        for means in (predicted, np.full(len(y), mean))
    )
    return Deviances(*parts)


class PoissonRegressor(_Glm, linear_model.PoissonRegressor):
    """Regression of counts. See sklearn.linear_model.PoissonRegressor.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. Every ``solver`` then means Newton's method, or L-BFGS for many features.

    Examples
    --------
    >>> from marsdask.learn.linear_model import PoissonRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0]], chunk_size=2)
    >>> PoissonRegressor(alpha=0).fit(X, mt.array([1, 2, 4])).predict(X).compute().round(2)
    array([1., 2., 4.])
    """

    def _power(self) -> float:
        return 1.0


class GammaRegressor(_Glm, linear_model.GammaRegressor):
    """Regression of positive targets. See sklearn.linear_model.GammaRegressor.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. Every ``solver`` then means Newton's method, or L-BFGS for many features.

    Examples
    --------
    >>> from marsdask.learn.linear_model import GammaRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0]], chunk_size=2)
    >>> GammaRegressor(alpha=0).fit(X, mt.array([1, 2, 4])).predict(X).compute().round(2)
    array([1., 2., 4.])
    """

    def _power(self) -> float:
        return 2.0


class TweedieRegressor(_Glm, linear_model.TweedieRegressor):
    """Regression with a variance of a power of the mean. See sklearn.linear_model.TweedieRegressor.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. Every ``solver`` then means Newton's method, or L-BFGS for many features.

    Examples
    --------
    >>> from marsdask.learn.linear_model import TweedieRegressor
    >>> X = mt.tensor([[0.0], [1.0], [2.0]], chunk_size=2)
    >>> model = TweedieRegressor(power=1.5, alpha=0)
    >>> model.fit(X, mt.array([1, 2, 4])).predict(X).compute().round(2)
    array([1., 2., 4.])
    """

    def _power(self) -> float:
        return float(self.power)

    def _has_log_link(self) -> bool:
        return bool(self.link == "log" or (self.link == "auto" and self.power > 0))

    def _check_loss(self) -> None:
        if not self._has_log_link() and self.power != 0:
            raise NotImplementedError(
                f"link='identity' with power={self.power} is not supported with lazy samples; use "
                "link='log' or power=0"
            )
