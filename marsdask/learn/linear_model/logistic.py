"""Logistic regression in passes over the samples."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn import linear_model
from sklearn.utils.class_weight import compute_class_weight

from marsdask.learn.base import RowsEstimator
from marsdask.learn.lazy import is_lazy
from marsdask.learn.rows import add, as_weights, check_lengths, check_weights, fold, held
from marsdask.learn.targets import as_classes, check_given

from .least_squares import dtype_of_samples
from .losses import Binomial, Multinomial
from .newton import head_start, minimum
from .passes import Objective


class LogisticRegression(RowsEstimator, linear_model.LogisticRegression):
    """Classification by the logarithmic loss. See sklearn.linear_model.LogisticRegression.

    Differs from scikit-learn: takes tensors and frames, which are computed once and held during
    the fit. Every ``solver`` then means Newton's method, with the Hessian while features times
    classes are few, and L-BFGS when they are many; each takes every penalty, and none penalizes
    the intercept. Several classes are fitted together.

    Examples
    --------
    >>> from marsdask.learn.linear_model import LogisticRegression
    >>> X = mt.tensor([[0.0], [1.0], [2.0], [3.0]], chunk_size=2)
    >>> LogisticRegression().fit(X, mt.tensor(["a", "a", "b", "b"])).predict(X).compute().tolist()
    ['a', 'a', 'b', 'b']
    """

    _takes_sparse = True
    coef_: Any
    intercept_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the coefficients."""
        self._validate_params()
        if not is_lazy(X):
            super().fit(X, y, sample_weight)
            return self
        check_given(self, y)
        rows = self._samples(X, reset=True)
        weight = as_weights(sample_weight, rows)
        labels, codes = as_classes(y, rows)
        check_lengths(rows, codes, weight)
        if len(labels) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {labels[0]!r}"
            )
        rows, codes, weight = held(rows, codes, weight)
        outputs = 1 if len(labels) == 2 else len(labels)
        counts = _counts(codes, weight, len(labels))
        check_weights(float(counts.sum()))
        of_classes = self._class_weights(labels, counts)
        total = float(np.sum(counts if of_classes is None else counts * of_classes))
        loss = Binomial() if outputs == 1 else Multinomial()
        objective = Objective(
            rows, codes, weight, loss, outputs, bool(self.fit_intercept), of_classes
        )
        self.classes_ = labels
        self._minimize(objective, total, dtype_of_samples(X))
        return self

    def _class_weights(self, labels: Any, counts: Any) -> Any:
        """Return the weight of each class, ``None`` if all are one."""
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            return counts.sum() / (len(labels) * counts)
        return compute_class_weight(self.class_weight, classes=labels, y=labels)

    def _penalties(self) -> tuple[float, float]:
        """Return the strengths of the squared and of the absolute penalty, of all samples."""
        penalty, share = self.penalty, float(self.l1_ratio or 0.0)
        if penalty is None or not math.isfinite(self.C):
            return 0.0, 0.0
        share = {"l1": 1.0, "l2": 0.0}.get(penalty, share)
        return (1.0 - share) / self.C, share / self.C

    def _start(self, objective: Objective, absolute: float) -> Any:
        """Return the coefficients to begin with."""
        start = np.zeros(objective.shape)
        if self.warm_start and "coef_" in vars(self):
            start[:, : objective.width] = self.coef_
            if objective.intercept:
                start[:, -1] = self.intercept_
            return start.ravel()
        result = head_start(objective, absolute, math.log(max(2, objective.outputs)))
        return start.ravel() if result is None else result

    def _minimize(self, objective: Objective, total: float, dtype: Any) -> None:
        squared, absolute = self._penalties()
        objective = objective.penalized(squared / total)
        solution = minimum(
            objective,
            self._start(objective, absolute / total),
            absolute=absolute / total,
            tol=self.tol,
            max_iter=self.max_iter,
            name=type(self).__name__,
        )
        coefficients = solution.coefficients.reshape(objective.shape)
        if objective.outputs > 1:
            # What all classes share changes no probability: without a penalty its mean is zero.
            free = slice(0 if squared == absolute == 0.0 else objective.width, None)
            coefficients[:, free] -= coefficients[:, free].mean(axis=0)
        coefficients = coefficients.astype(dtype)
        self.n_iter_ = np.array([solution.n_iter], np.int32)
        self.coef_ = np.ascontiguousarray(coefficients[:, : objective.width])
        self.intercept_ = (
            coefficients[:, -1].copy()
            if objective.intercept
            else np.zeros(objective.outputs, dtype)
        )


def _counts(codes: Any, weight: Any, classes: int) -> Any:
    """Return the weight of each class."""
    (counts,) = fold(count_classes, add, codes, weight, nbytes=8 * classes, classes=classes)
    return counts


def count_classes(codes: Any, weight: Any = None, *, classes: int) -> tuple[Any]:
    """Return the weight of each class in a run."""
    return (np.bincount(codes, weight, minlength=classes).astype(float),)
